//! The filter, run as the kernel runs it, beside one that compares number by number.

use super::*;

/// What the filter sees of a call.
#[derive(Clone, Copy)]
struct Call {
    number: u32,
    kind: u32,
    arguments: [u64; 6],
}

const OWN_KIND: u32 = if cfg!(target_arch = "x86_64") { 0xC000_003E } else { 0xC000_00B7 };
const OTHER_KIND: u32 = 0x4000_0003;

impl Call {
    fn word(&self, offset: u32) -> u32 {
        let index = usize::try_from(offset.saturating_sub(16) / 8).unwrap();
        match offset {
            0 => self.number,
            4 => self.kind,
            8 | 12 => 0,
            _ if offset.is_multiple_of(8) => self.arguments[index] as u32,
            _ => (self.arguments[index] >> 32) as u32,
        }
    }
}

/// Runs a filter and counts its steps.
fn verdict(program: &[sock_filter], call: Call) -> (u32, usize) {
    let (mut at, mut value, mut steps) = (0usize, 0u32, 0);
    loop {
        let it = program.get(at).unwrap();
        let jump = |taken: bool| usize::from(if taken { it.jt } else { it.jf });
        steps += 1;
        at += 1;
        match it.code {
            0x20 => value = call.word(it.k),
            0x54 => value &= it.k,
            0x05 => at += usize::try_from(it.k).unwrap(),
            0x15 => at += jump(value == it.k),
            0x25 => at += jump(value > it.k),
            0x35 => at += jump(value >= it.k),
            0x06 => return (it.k, steps),
            other => panic!("an instruction that is not known: {other:#x}"),
        }
    }
}

/// The same rules, every one of them by the library.
fn plain(sockets: Sockets) -> BpfProgram {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        denied(sockets).into_iter().map(|it| (it, Vec::new())).collect();
    rules.extend(by_arguments(sockets).unwrap());
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let refused = SeccompAction::Errno(EPERM);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    unknown_calls().into_iter().chain(program).collect()
}

#[test]
fn the_tree_says_what_a_list_would_say() {
    let values =
        [0, 1, 2, 3, 6, 10, 16, 17, 0o4755, 0o2711, 0x5412, 0x541C, 0x1000_0000, 0x41, u64::MAX];
    for sockets in [Sockets::OwnNetwork, Sockets::None] {
        let (ours, plain) = (program(sockets).unwrap(), plain(sockets));
        for number in (0..700).chain([0x4000_0000, 0x4000_0065, u32::MAX]) {
            for kind in [OWN_KIND, OTHER_KIND] {
                for (index, value) in values.iter().enumerate() {
                    let mut arguments = [*value; 6];
                    arguments[0] = values[(index + 3) % values.len()];
                    arguments[1] = values[(index + 5) % values.len()];
                    let call = Call { number, kind, arguments };
                    let (found, expected) = (verdict(&ours, call).0, verdict(&plain, call).0);
                    assert_eq!(found, expected, "{sockets:?}, call {number} of {kind:#x}: {value}");
                }
            }
        }
    }
}

#[test]
fn every_denied_call_is_refused_and_others_are_found_soon() {
    let program = program(Sockets::OwnNetwork).unwrap();
    let call = |number: c_long| Call {
        number: u32::try_from(number).unwrap(),
        kind: OWN_KIND,
        arguments: [0; 6],
    };
    for (name, number) in DENIED_SYSCALLS {
        assert_eq!(verdict(&program, call(*number)).0, libc::SECCOMP_RET_ERRNO | EPERM, "{name}");
    }
    // The kernel asks about each of them when it takes the filter over.
    let steps: usize = (0..NEWEST_SYSCALL).map(|it| verdict(&program, call(it.into())).1).sum();
    assert!(steps < 100 * NEWEST_SYSCALL as usize, "{steps} steps");
}
