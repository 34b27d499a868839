//! The tests of `setup`, in one program: linking one is cheaper than linking many.

mod corpus;
mod earlier;
mod fresh;
mod gateway;
mod managed;
mod plugin;
mod refused;
mod shown;
mod state;
mod support;
mod taken_back;
mod unguarded;
