//! The tests of `lazaret-hook`, in one program: the real program against sockets that act as the daemon.

mod absent;
mod answers;
mod failures;
mod one_start;
mod pinned;
mod world;
