//! A small encoder that reads whether the user's own words ask for a tool.
//!
//! It sees the user's words and the pinned name and description of tools, and nothing else: no arguments and no text from
//! outside, so that nobody can steer it. How it was trained, on what, and where it errs: `model/README.md`.

mod cache;
mod encoder;
mod network;
mod tokens;
mod weights;

pub use encoder::Encoder;
