//! `lazaret models test`.

use std::time::Instant;

use llm::{Answer, Block, Flow, Message, Request, Role};
use serde_json::json;

use super::session::{As, within};
use crate::failure::{Exit, Failure};
use crate::output;

/// The question.
const QUESTION: &str = "Answer with one word: ready";
/// Enough for one word, and for what a model thinks before it.
const TOKENS_MAX: u32 = 1024;

/// Ask a model for one word, through the gate, with its key, and on record.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    who: As,
    /// A task (default, fast, thinking, coding), or `provider/model`.
    #[arg(default_value = "default")]
    model: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let content = vec![Block::Text { text: QUESTION.to_owned() }];
    let request = Request {
        model: args.model.clone(),
        system: String::new(),
        messages: vec![Message { role: Role::User, content }],
        tools: Vec::new(),
        max_tokens: Some(TOKENS_MAX),
        temperature: None,
        effort: None,
    };
    let begun = Instant::now();
    let (answer, cost) = within(&args.who, |models, who| {
        let answer = models.ask(who, &request, &mut |_| Flow::Continue);
        let answer = answer.map_err(Failure::refused)?;
        let cost = models.catalog().price_of(&answer.model).map(|it| it.cost(&answer.usage));
        Ok((answer, cost))
    })?;
    show(args, &answer, cost, begun.elapsed().as_millis());
    Ok(Exit::Done)
}

fn show(args: &Args, answer: &Answer, cost: Option<u64>, took_ms: u128) {
    let said: String = answer.content.iter().map(words).collect();
    let usage = answer.usage;
    if args.json {
        output::json(&json!({
            "cost_microdollars": cost,
            "model": answer.model,
            "said": said,
            "stop": answer.stop.as_str(),
            "usage": usage,
        }));
        return;
    }
    let cost = match cost {
        Some(cost) => format!("{cost} micro-dollars"),
        None => "no price for it in config.yaml".to_owned(),
    };
    let estimate = if usage.estimated { " (estimated)" } else { "" };
    let said = aegx::verify::printable(&said).to_string();
    output::line(&format!("{}: {said}", answer.model));
    output::line(&format!(
        "{} tokens in, {} out{estimate}, {cost}, {took_ms} ms",
        usage.input_tokens, usage.output_tokens
    ));
}

fn words(block: &Block) -> &str {
    match block {
        Block::Text { text } => text,
        Block::ToolUse { .. } | Block::ToolResult { .. } => "",
    }
}
