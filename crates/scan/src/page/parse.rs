//! Feeds the parser of browsers and stops it before hostile markup makes it slow.
//!
//! Its work for one tag grows with the number of open elements and with the number of attributes that
//! stand before it in the same tag. Both are looked at as the page goes in, piece by piece.

use std::cell::Cell;

use encoding_rs::WINDOWS_1252;
use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::Tracer;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};

use super::builder::{Builder, Handle};
use super::tree::Tree;

/// The names of encodings that `<meta>` tell in the first bytes of a page.
pub(super) fn labels(start: &[u8]) -> Vec<String> {
    let tokenizer = tokenizer();
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from(&*WINDOWS_1252.decode_without_bom_handling(start).0));
    let mut found = Vec::new();
    loop {
        match tokenizer.feed(&queue) {
            TokenizerResult::Done => return found,
            TokenizerResult::Script(_) => {}
            TokenizerResult::EncodingIndicator(label) => found.push(label.to_string()),
        }
    }
}

fn tokenizer() -> Tokenizer<Gate> {
    let options = TreeBuilderOpts { drop_doctype: true, ..TreeBuilderOpts::default() };
    let inner = TreeBuilder::new(Builder::new(), options);
    let gate = Gate { inner, tokens: Cell::new(0), full: Cell::new(false) };
    Tokenizer::new(gate, TokenizerOpts::default())
}

/// The tree of `html`, and whether it stops early.
pub(super) fn parse(html: &str) -> (Tree, bool) {
    let tokenizer = tokenizer();
    let gate = &tokenizer.sink;
    let mut quiet = 0_usize;
    let mut effort = 0_usize;
    for piece in pieces(html) {
        let before = gate.tokens.get();
        let queue = BufferQueue::default();
        queue.push_back(StrTendril::from(piece));
        // A script or a word about the encoding: neither is heeded, and the rest is read.
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
        // As long as no token comes out, the pieces may be the inside of one tag, where every new
        // attribute is compared with all before it.
        let separators = piece.bytes().filter(|it| b" \t\n\x0c\r/\"'".contains(it)).count();
        effort = effort.saturating_add(separators.saturating_mul(quiet));
        quiet = if gate.tokens.get() == before { quiet + separators } else { separators };
        if gate.full.get() || effort > EFFORT_MAX {
            return (gate.inner.sink.take(), true);
        }
    }
    tokenizer.end();
    (gate.inner.sink.take(), gate.full.get())
}

/// In parts so short that what is compared within one does not matter.
fn pieces(html: &str) -> impl Iterator<Item = &str> {
    let mut rest = html;
    std::iter::from_fn(move || {
        let least = rest.len().min(PIECE_BYTES);
        let end = (least..=rest.len()).find(|it| rest.is_char_boundary(*it))?;
        let (piece, after) = rest.split_at_checked(end)?;
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Stands before the tree builder and lets nothing more through once the page is too much.
struct Gate {
    inner: TreeBuilder<Handle, Builder>,
    tokens: Cell<usize>,
    full: Cell<bool>,
}

impl TokenSink for Gate {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        if !matches!(token, Token::ParseError(_)) {
            self.tokens.set(self.tokens.get() + 1);
        }
        if self.full.get() {
            return TokenSinkResult::Continue;
        }
        if self.tokens.get().is_multiple_of(LOOK_TOKENS) {
            let open = Count(Cell::new(0));
            self.inner.trace_handles(&open);
            self.full.set(open.0.get() > OPEN_MAX);
        }
        let result = self.inner.process_token(token, line);
        if self.inner.sink.work() > WORK_MAX {
            self.full.set(true);
        }
        result
    }

    fn end(&self) {
        self.inner.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.inner.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Counts the elements that the parser holds open.
struct Count(Cell<usize>);

impl Tracer for Count {
    type Handle = Handle;

    fn trace_handle(&self, _: &Handle) {
        self.0.set(self.0.get() + 1);
    }
}

/// Elements that may be open at once, those of formatting counted twice. Browsers stop at about as many.
const OPEN_MAX: usize = 1024;
/// Every so many tokens the open elements are counted.
const LOOK_TOKENS: usize = 64;
/// Nodes and attributes of a page.
const WORK_MAX: usize = 1_000_000;
/// What goes to the parser at once, in bytes.
const PIECE_BYTES: usize = 1024;
/// Comparisons of attributes with attributes.
const EFFORT_MAX: usize = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice the markup makes at most twice the nodes, or the page is cut.
    #[test]
    fn nodes_grow_with_the_markup_and_no_faster() {
        let some: String = (0..200).map(|it| format!(" a{it}=b")).collect();
        for piece in [
            "<div>",
            "<p><b id=1><b id=2><b id=3></p>",
            "<p><i><b><u><a href=x></p>",
            "<table><b>x",
            "<a><p>",
            "</p>",
            "<b></p><p></b>",
            "<font color=a><font color=b><table>",
            &format!("<p{some}>"),
        ] {
            let count = |times: usize| {
                let (tree, cut) = parse(&piece.repeat(times));
                (tree.elements().count(), cut)
            };
            let (once, _) = count(1000);
            let (twice, cut) = count(2000);
            assert!(twice <= 2 * once + 64 || cut, "{piece}: {once}, {twice}");
            assert!(twice <= WORK_MAX + 2 * OPEN_MAX, "{piece}: {twice}");
        }
    }

    #[test]
    fn pieces_are_the_whole_and_cut_between_characters() {
        let text = "aé日👩<p>".repeat(1000);
        assert_eq!(pieces(&text).collect::<String>(), text);
        assert!(pieces(&text).all(|it| it.len() <= PIECE_BYTES + 3));
        assert_eq!(pieces("").count(), 0);
    }
}
