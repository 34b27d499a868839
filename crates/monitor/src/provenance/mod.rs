//! Where each argument of a call came from, and whether it may decide what it decides.
//!
//! A session's [`Ledger`] keeps an index of atoms (addresses, pages, accounts, ids, names) with what is
//! known of each: the user said it, the user's own system lists it, a row lists it that others can
//! write, prose mentions it, an order in prose names it, a text that speaks to the assistant names it.
//! [`Ledger::trace`] looks up the values of a call by what their parameters decide. It only objects.
//!
//! **What holds.** Content from outside never makes a stopped call pass by its prose: prose can only add
//! flags that stop, unless the user handed on that very source. A typed field can make a destination
//! known, if its row has to do with what the user said. What the agent writes changes nothing.
//!
//! No I/O, no clock. Deciding is a bounded number of look-ups, however much was seen.

mod acts;
mod answer;
mod asked;
mod atoms;
mod bits;
mod catalogue;
mod days;
mod decode;
mod delegating;
mod delegation;
mod facts;
mod fields;
mod flags;
mod given;
mod handed;
mod hash;
mod heard;
mod infer;
mod just_so;
mod label;
mod ledger;
mod levels;
mod lines;
mod marked;
mod mentions;
mod norm;
mod own_words;
mod parameter;
mod parts;
mod pointing;
mod rivals;
mod rows;
mod segments;
mod structure;
mod tasks;
mod tie;
mod tokens;
mod trace;
mod user;
mod values;
mod verdict;
mod weigh;
mod words;
mod written_out;
mod yamlish;

pub use acts::Act;
pub(crate) use acts::name_words;
pub use catalogue::{CATALOGUE_BYTES_MAX, Catalogue, CatalogueError, Trusted};
pub use facts::Scan;
pub(crate) use flags::orders;
pub use flags::orders_to_assistant;
pub use infer::{EGRESS_HINT, infer};
pub use ledger::{Delta, INDEX_KEYS_MAX, Ledger, ROWS_KEPT_MAX};
pub use structure::Body;
pub(crate) use trace::Unseen;
pub use trace::VALUES_PER_CALL_MAX;
pub use verdict::{Label, Sink, Traced};
