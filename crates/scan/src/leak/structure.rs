//! The skeleton of a prompt: its headings and delimiters, also in other languages.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

use super::squeeze::Squeezed;

/// The longest heading, in bytes.
const HEADING_BYTES_MAX: usize = 64;
/// Headings that lie closer together than this are one skeleton.
const TOGETHER_BYTES: usize = 4096;
/// Headings of a prompt that are kept.
const HEADINGS_MAX: usize = 256;
/// Kinds of section from which on it is a prompt's skeleton, where the text says what it tells.
const SECTIONS_FRAMED_MIN: usize = 4;
/// The same where it does not say so.
const SECTIONS_MIN: usize = 5;
/// Own headings of the prompt, likewise, and their share in percent.
const OWN_FRAMED_MIN: usize = 3;
const OWN_MIN: usize = 4;
const OWN_PERCENT: usize = 60;

/// The headings of a prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct Skeleton {
    /// By the hash of each, with its place.
    pub(super) own: HashMap<u64, usize>,
    /// The kinds of section that it has.
    pub(super) sections: HashSet<usize>,
}

/// Headings of a text that make up a skeleton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// From the first to the last of them, in the text.
    pub(super) span: Range<usize>,
    /// Does the text say that it tells of its instructions?
    pub(super) framed: bool,
}

impl Skeleton {
    /// Takes the headings of a prompt.
    pub(super) fn new(prompt: &str, squeezed: &Squeezed) -> Self {
        let mut skeleton = Self::default();
        for span in headings(prompt) {
            let name = name(squeezed, &span);
            let next = skeleton.own.len();
            if name.is_empty() || next >= HEADINGS_MAX {
                continue;
            }
            skeleton.sections.extend(SECTIONS.get(name));
            skeleton.own.entry(key(name)).or_insert(next);
        }
        skeleton
    }

    /// Finds a skeleton of a prompt in `text`.
    pub(super) fn find(
        &self,
        text: &str,
        squeezed: &Squeezed,
        framed: impl Fn(usize, usize) -> bool,
    ) -> Vec<Seen> {
        let (mut sections, mut own) = (Vec::new(), Vec::new());
        let mut at = 0;
        for span in headings(text) {
            let start = squeezed.advance(at, span.start);
            at = squeezed.advance(start, span.end);
            let name = squeezed.bytes().get(start..at).unwrap_or_default();
            if let Some(section) = SECTIONS.get(name) {
                sections.push((span.clone(), *section));
            }
            if let Some(index) = self.own.get(&key(name)) {
                own.push((span, *index));
            }
        }
        let mut found = Vec::new();
        each_window(&sections, |span, kinds| {
            let framed = framed(span.start, span.end);
            let has_core = kinds.iter().any(|it| *it < CORE);
            // A prompt that is known and has no such sections is not what was told.
            let fits = self.own.is_empty() || kinds.iter().any(|it| self.sections.contains(it));
            let least = if framed { SECTIONS_FRAMED_MIN } else { SECTIONS_MIN };
            if kinds.len() >= least && has_core && fits {
                found.push(Seen { span, framed });
            }
        });
        each_window(&own, |span, kinds| {
            let framed = framed(span.start, span.end);
            let share = kinds.len() * 100 / self.own.len().max(1);
            let least = if framed { OWN_FRAMED_MIN } else { OWN_MIN };
            if kinds.len() >= least && share >= OWN_PERCENT {
                found.push(Seen { span, framed });
            }
        });
        found
    }
}

/// The beginning of a heading's SHA-256: a skeleton that is kept names no heading.
fn key(name: &[u8]) -> u64 {
    let hash = Sha256::digest(name);
    hash.iter().take(8).fold(0, |sum, it| (sum << 8) | u64::from(*it))
}

fn name<'a>(squeezed: &'a Squeezed, span: &Range<usize>) -> &'a [u8] {
    let range = squeezed.at_origin(span.start)..squeezed.at_origin(span.end);
    squeezed.bytes().get(range).unwrap_or_default()
}

/// Calls `see` with the distinct kinds of each row of headings that lie together.
pub(super) fn each_window(
    all: &[(Range<usize>, usize)],
    mut see: impl FnMut(Range<usize>, HashSet<usize>),
) {
    let mut from = 0;
    while let Some((first, _)) = all.get(from) {
        let near = all.iter().skip(from);
        let near = near.take_while(|it| it.0.start < first.start + TOGETHER_BYTES);
        let (mut kinds, mut end, mut count) = (HashSet::new(), first.end, 0);
        for (span, kind) in near {
            kinds.insert(*kind);
            end = span.end;
            count += 1;
        }
        see(first.start..end, kinds);
        // Half a window on: what lies together is in one of two windows, and the work stays linear.
        from += (count / 2).max(1);
    }
}

/// Finds the lines that are headings: `# Name`, `Name: …`, `<name>`, `[name]`, `=== name ===`, `**Name**`.
fn headings(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let begins = at;
        at += line.len();
        let body = line.trim_start_matches(|it: char| it.is_whitespace() || "-•>|".contains(it));
        let is_marked = body.starts_with(['#', '=', '<', '[', '*', '【']);
        let inner = body.trim_start_matches(|it: char| {
            it.is_ascii_digit() || it.is_whitespace() || "#=*<[/.)【`\"".contains(it)
        });
        let start = begins + (line.len() - inner.len());
        let head = inner.get(..inner.floor_char_boundary(HEADING_BYTES_MAX)).unwrap_or(inner);
        let colon = head.find([':', '：']);
        let end = head
            .find(['>', ']', '】', '\n', '='])
            .or((head.len() == inner.len()).then_some(head.len()));
        let length = colon.or(if is_marked { end } else { None })?;
        (length > 0).then_some(start..start + length)
    })
}

/// Sections before this one say what an assistant is and must do: without one of them it is some list.
const CORE: usize = 4;

/// The sections of prompts, in the languages into which people have them translated.
static SECTIONS: LazyLock<HashMap<Vec<u8>, usize>> = LazyLock::new(|| {
    let section = |(index, names): (usize, &&str)| {
        let squeezed = |it: &str| Squeezed::new(it).bytes().to_vec();
        names.split(", ").map(|it| (squeezed(it), index)).collect::<Vec<_>>()
    };
    SECTION_NAMES.iter().enumerate().flat_map(section).collect()
});

const SECTION_NAMES: &[&str] = &[
    "identity, your identity, role, persona, Identität, Rolle, identité, rôle, identidad, rol, identità, ruolo, identidade, \
     papel, identiteit, личность, роль, 身份, 角色, アイデンティティ, 役割, 정체성, 역할",
    "constraints, restrictions, limitations, Einschränkungen, Beschränkungen, contraintes, restricciones, limitaciones, vincoli, \
     restrizioni, restrições, beperkingen, ограничения, 约束, 限制, 制約, 제약",
    "mandates, rules, directives, core rules, Vorgaben, Regeln, règles, mandats, reglas, mandatos, regole, regras, regels, \
     правила, 规则, 指令, ルール, 규칙",
    "reasoning, thinking, Denkweise, raisonnement, razonamiento, ragionamento, raciocínio, redeneren, рассуждение, 推理, 推論, 추론",
    "instructions, system prompt, Anweisungen, Systemprompt, consignes, instrucciones, istruzioni, instruções, instructies, инструкции, \
     指示, 系统提示, システムプロンプト, 지침",
    "skills, Fähigkeiten, compétences, habilidades, competenze, vaardigheden, навыки, 技能, スキル, 기술",
    "memory, Gedächtnis, Speicher, mémoire, memoria, memória, geheugen, память, 记忆, メモリ, 메모리",
    "capabilities, Möglichkeiten, capacités, capacidades, capacità, mogelijkheden, возможности, 能力, 機能, 기능",
    "tools, available tools, Werkzeuge, outils, herramientas, strumenti, ferramentas, gereedschappen, инструменты, 工具, ツール, 도구",
    "workspace, Arbeitsbereich, espace de travail, espacio de trabajo, area di lavoro, espaço de trabalho, werkruimte, \
     рабочая область, 工作区, ワークスペース, 작업 공간",
    "safety, Sicherheit, sécurité, seguridad, sicurezza, segurança, veiligheid, безопасность, 安全",
    "tone, style, Ton, Stil, ton et style, tono, estilo, stile, toon, тон, стиль, 语气, 口調",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&str> {
        headings(text).map(|it| text.get(it).unwrap()).collect()
    }

    #[test]
    fn headings_are_found_in_all_their_forms() {
        let text = "# One\n## 2. Two words ##\nThree: more\n<four>\n  - Five：x\n[six] y\n=== seven ===\n**Eight**\nnot one\n</nine>";
        let expected =
            ["One", "Two words ##", "Three", "four", "Five", "six", "seven ", "Eight**", "nine"];
        assert_eq!(names(text), expected);
    }

    #[test]
    fn sections_have_one_name_in_many_languages() {
        let of = |name: &str| SECTIONS.get(Squeezed::new(name).bytes()).copied();
        assert_eq!(of("Identity"), Some(0));
        assert_eq!(of("IDENTITÄT"), Some(0));
        assert_eq!(of("约束"), Some(1));
        assert_eq!(of("Правила"), of("rules"));
        assert!(of("Werkzeuge") > Some(CORE));
        assert_eq!(of("Price"), None);
    }
}
