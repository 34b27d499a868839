//! Where each argument of a call came from, and whether it may decide what it decides.
mod acts;
mod atoms;
mod decode;
mod hash;
mod lexicon;
mod lines;
mod norm;
mod segments;
mod structure;
