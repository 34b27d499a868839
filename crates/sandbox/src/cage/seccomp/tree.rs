//! Calls that are refused by their number alone, found by halving.
//!
//! For every call that exists the kernel walks the filter once when it takes it over: one comparison after the other
//! would cost a start more than everything else that is done for it.

use std::collections::BTreeSet;

use libc::c_long;
use seccompiler::sock_filter;

use super::{JUMP_IF_EQUAL, LOAD_WORD, RETURN};

/// `BPF_JMP | BPF_JGE | BPF_K`.
const JUMP_IF_NOT_LESS: u16 = 0x35;
/// Where the kind of processor stands in what a filter sees.
const KIND_OFFSET: u32 = 4;
/// `AUDIT_ARCH_X86_64` and `AUDIT_ARCH_AARCH64`.
#[cfg(target_arch = "x86_64")]
const KIND: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const KIND: u32 = 0xC000_00B7;
/// A jump leads at most this far.
const JUMP_MAX: usize = 255;

/// Returns `errno` for these numbers, if they are those of this kind of processor. Others go on behind it.
pub(super) fn refusing(numbers: &BTreeSet<c_long>, errno: u32) -> Result<Vec<sock_filter>, String> {
    let numbers = numbers.iter().map(|it| u32::try_from(*it).map_err(|error| error.to_string()));
    let numbers = numbers.collect::<Result<Vec<u32>, _>>()?;
    let count = nodes(numbers.len());
    // Behind the tree stands the refusal, and behind that the rest of the filter.
    let (load, refusal) = (1, 1);
    let all = count + load + refusal;
    if numbers.is_empty() || all > JUMP_MAX {
        return Err(format!("{} calls cannot be refused", numbers.len()));
    }
    let mut program = vec![
        statement(LOAD_WORD, KIND_OFFSET),
        // What follows judges another kind: by killing it.
        jump(JUMP_IF_EQUAL, KIND, 0, all)?,
        statement(LOAD_WORD, 0),
    ];
    let begin = program.len();
    grow(&numbers, begin + count, &mut program)?;
    program.push(statement(RETURN, libc::SECCOMP_RET_ERRNO | errno));
    Ok(program)
}

/// How many there are in a tree with so many leaves.
fn nodes(leaves: usize) -> usize {
    (2 * leaves).saturating_sub(1)
}

/// Adds the tree over some numbers. `refusal` is where they lead if one is met, one further if not.
fn grow(numbers: &[u32], refusal: usize, program: &mut Vec<sock_filter>) -> Result<(), String> {
    let next = program.len() + 1;
    match numbers {
        [] => Ok(()),
        [only] => {
            program.push(jump(JUMP_IF_EQUAL, *only, refusal - next, refusal + 1 - next)?);
            Ok(())
        }
        _ => {
            let (less, more) = numbers.split_at(numbers.len() / 2);
            let middle = more.first().copied().unwrap_or_default();
            program.push(jump(JUMP_IF_NOT_LESS, middle, nodes(less.len()), 0)?);
            grow(less, refusal, program)?;
            grow(more, refusal, program)
        }
    }
}

fn statement(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

fn jump(code: u16, k: u32, if_so: usize, if_not: usize) -> Result<sock_filter, String> {
    let far = |it: usize| u8::try_from(it).map_err(|error| error.to_string());
    Ok(sock_filter { code, jt: far(if_so)?, jf: far(if_not)?, k })
}
