//! A filter as a tree of comparisons: which answer a call gets is found in some eight steps, however many calls there are.
//!
//! One comparison after the other would do as well, but the kernel tries every call there is while it puts a filter on:
//! a list of three hundred calls took it a millisecond, which each sandbox had to wait for.

use seccompiler::{BpfProgram, sock_filter};

/// `if nr >= k`, an unconditional jump, and the end, as the kernel's classic filters have them.
const IF_AT_LEAST: u16 = 0x35;
const JUMP: u16 = 0x05;
const RETURN: u16 = 0x06;

/// The end of a filter with this answer.
pub(crate) fn answer(action: u32) -> sock_filter {
    sock_filter { code: RETURN, jt: 0, jf: 0, k: action }
}

/// What is done from one number on, until the next part begins.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) from: u32,
    pub(crate) code: BpfProgram,
}

/// All numbers, in parts: what these calls get, and `otherwise` between them. The calls must be in order.
pub(crate) fn parts(calls: impl IntoIterator<Item = (u32, BpfProgram)>, otherwise: &BpfProgram) -> Vec<Part> {
    let mut parts = vec![Part { from: 0, code: otherwise.clone() }];
    let mut add = |from: u32, code: BpfProgram| match parts.last_mut() {
        Some(last) if last.from == from => last.code = code,
        Some(last) if last.code == code => {}
        _ => parts.push(Part { from, code }),
    };
    for (call, code) in calls {
        add(call, code);
        if let Some(next) = call.checked_add(1) {
            add(next, otherwise.clone());
        }
    }
    parts
}

/// The tree over these parts; the number must have been loaded.
pub(crate) fn grow(parts: &[Part]) -> BpfProgram {
    let (low, high) = match parts {
        [] => return BpfProgram::new(),
        [one] => return one.code.clone(),
        more => more.split_at(more.len() / 2),
    };
    let from = high.first().map_or(0, |part| part.from);
    let (low, high) = (grow(low), grow(high));
    let mut all = BpfProgram::with_capacity(low.len() + high.len() + 2);
    match u8::try_from(low.len()) {
        Ok(distance) => all.push(sock_filter { code: IF_AT_LEAST, jt: distance, jf: 0, k: from }),
        // Further than a condition can jump.
        Err(_) => {
            all.push(sock_filter { code: IF_AT_LEAST, jt: 0, jf: 1, k: from });
            all.push(sock_filter { code: JUMP, jt: 0, jf: 0, k: u32::try_from(low.len()).unwrap_or(u32::MAX) });
        }
    }
    all.extend(low);
    all.extend(high);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks through a tree as the kernel does; gives the answer and the number of steps.
    fn walk(program: &[sock_filter], number: u32) -> (u32, usize) {
        let (mut at, mut steps) = (0, 0);
        loop {
            let one = &program[at];
            steps += 1;
            at += 1;
            match one.code {
                IF_AT_LEAST => at += usize::from(if number >= one.k { one.jt } else { one.jf }),
                JUMP => at += one.k as usize,
                RETURN => return (one.k, steps),
                other => panic!("{other:#x}"),
            }
        }
    }

    #[test]
    fn every_number_finds_its_answer_and_soon() {
        const NO: u32 = 1000;
        // Neighbours with the same answer, gaps, the first and the last number, and leaves of more than a jump's reach.
        let own = |call: u32| if call % 7 < 4 { 1 } else { call };
        let calls: Vec<u32> = (0..470).filter(|call| call % 5 != 3).chain([u32::MAX]).collect();
        for padding in [0, 40] {
            let code = |call: &u32| {
                let step = sock_filter { code: JUMP, jt: 0, jf: 0, k: 0 };
                let mut code = vec![step; padding];
                code.push(answer(own(*call)));
                (*call, code)
            };
            let parts = parts(calls.iter().map(code), &vec![answer(NO)]);
            let program = grow(&parts);
            for number in (0..2000).chain([u32::MAX - 1, u32::MAX, 0x4000_0000, 0x4000_0001]) {
                let expected = if calls.contains(&number) { own(number) } else { NO };
                let (found, steps) = walk(&program, number);
                assert_eq!(found, expected, "{number}");
                assert!(steps <= 2 * 10 + padding, "{number}: {steps}");
            }
        }
        assert_eq!(walk(&grow(&parts([], &vec![answer(NO)])), 5), (NO, 1));
    }
}
