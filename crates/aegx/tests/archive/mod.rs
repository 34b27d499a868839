//! The zip form of a bundle: what is refused, what survives damage, what others make of it.

mod damage;
mod extraction;
mod hostile;
mod interop;
mod limits;
mod support;
mod vectors;
mod writing;
mod zip_builder;
