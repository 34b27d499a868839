//! The section `models`: what is taken, and what is refused with a reason.

use super::super::Global;
use super::*;

fn read(text: &str) -> Result<Models, String> {
    let read = Global::parse(&format!("models:\n  {text}\n"));
    read.map(|it| it.models().clone()).map_err(|it| it.to_string())
}

fn named(text: &str) -> ModelRef {
    ModelRef::parse(text).unwrap()
}

#[test]
fn a_chain_is_one_model_or_a_list_of_them() {
    let one = read("default: anthropic/claude-sonnet-4-5").unwrap();
    assert_eq!(one.chains[&Task::Default], [named("anthropic/claude-sonnet-4-5")]);
    assert_eq!(one.anthropic.key.as_deref(), Some("ANTHROPIC_API_KEY"));
    assert_eq!(one.openai.url, "https://api.openai.com");
    let many = read("fast: [local/llama3.2:3b, openai/org/name]").unwrap();
    assert_eq!(many.chains[&Task::Fast][0].to_string(), "local/llama3.2:3b");
    assert_eq!(many.chains[&Task::Fast][1].model, "org/name");
}

#[test]
fn what_is_not_understood_is_refused() {
    for wrong in [
        "default: claude",
        "default: gemini/pro",
        "default: router/x",
        "default: anthropic/",
        "default: \"anthropic/a b\"",
        "default: []",
        "default: [openai/a, openai/a]",
        "slow: openai/a",
        "local: {}",
        "local: {url: \"ftp://127.0.0.1\"}",
        "openai: {url: \"http://api.example.com\"}",
        "openai: {url: \"https://api.example.com/?a=b\"}",
        "openai: {api: grpc}",
        "anthropic: {api: chat}",
        "anthropic: {key: \"no key\"}",
        "anthropic: {apiKey: sk-x}",
        "mock: {file: x}",
        "prices: {openai/a: {input: -1, output: 2}}",
        "prices: {openai/a: {input: 1}}",
        "prices: {openai/a: {input: \"1\", output: 2}}",
        "prices: {a: {input: 1, output: 2}}",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn prices_are_exact_in_micro_dollars() {
    let text = "prices: {openai/a: {input: 2.5, output: 10, cacheRead: 0.025}}";
    let price = read(text).unwrap().prices[&named("openai/a")];
    let expected =
        Price { input: 2_500_000, output: 10_000_000, cache_read: 25_000, cache_write: 2_500_000 };
    assert_eq!(price, expected);
}
