//! The mark by which a process is known as a program's descendant, whatever it does: fork twice, leave its session, lose
//! its parents.
//!
//! It is two numbers in two resource limits that limit nothing: the kernel has not counted file locks since Linux 2.4, and
//! real-time work is closed to guests. Children inherit limits, and without privilege a limit can only be lowered. One
//! half grows with a program's number while the other shrinks, so no mark can be turned into another program's: one of
//! the halves would have to rise. One that was tampered with still says between which numbers the true one is.
//!
//! Nobody stands between Ship and a program to keep its family together, so there is nobody whom guests could stop.

/// How many copies of one program can be told apart.
const COPIES: u64 = 1 << 20;

/// The largest number of a program; Ship begins at one of its own below half of it.
const LAST: u64 = 1 << 40;

/// A program's mark, or that of one of its copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    program: u64,
    /// Which copy of the program; `None`: the program itself and all copies.
    copy: Option<u64>,
}

impl Mark {
    /// The number of a Ship's first program: two Ships without walls on one machine must not meet.
    pub(super) fn first_program() -> std::io::Result<u64> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(std::io::Error::other)?;
        Ok(u64::from_ne_bytes(random) % (LAST / 2))
    }

    pub(super) fn of_program(program: u64) -> Self {
        Self { program, copy: None }
    }

    /// The mark of one of its copies: both halves lower, so that the program can give it, and none of them another's.
    pub(crate) fn of_copy(self, number: u64) -> Self {
        Self { copy: Some(number % (COPIES - 1)), ..self }
    }

    /// The two limits.
    pub(crate) fn limits(self) -> [u64; 2] {
        let (up, down) = self.copy.map_or((COPIES - 1, COPIES - 1), |copy| (copy, COPIES - 1 - copy));
        [self.program * COPIES + up, (LAST - self.program) * COPIES + down]
    }

    /// Whether a process with these limits is, or may be, one of this mark's.
    pub(crate) fn owns(self, found: [u64; 2]) -> bool {
        let Some((least, most)) = programs(found) else { return false };
        if !(least..=most).contains(&self.program) {
            return false;
        }
        match self.copy {
            // Tampered with: it may be one of the copy's, and ends with it.
            Some(_) if least != most => true,
            Some(copy) => (found[0] % COPIES..=COPIES - 1 - found[1] % COPIES).contains(&copy),
            None => true,
        }
    }
}

/// Between which numbers is the program of a process with these limits? `None`: it has no mark.
fn programs(found: [u64; 2]) -> Option<(u64, u64)> {
    let (least, most) = (found[0] / COPIES, LAST.checked_sub(found[1] / COPIES)?);
    (least <= most).then_some((least, most))
}

/// Whether a process with these limits belongs to one of the programs from `first` to before `next`.
pub(super) fn is_between(found: [u64; 2], first: u64, next: u64) -> bool {
    programs(found).is_some_and(|(least, most)| least < next && most >= first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_cannot_become_another_one() {
        let all = [5, 6, 7, LAST / 2].map(Mark::of_program);
        for mark in all {
            let [up, down] = mark.limits();
            for other in all.into_iter().filter(|other| *other != mark) {
                assert!(!other.owns([up, down]));
                let [other_up, other_down] = other.limits();
                assert!(other_up > up || other_down > down, "{mark:?} can be lowered to {other:?}");
            }
            // Whatever is lowered, it stays one of its own program's.
            for lowered in [[0, down], [up, 0], [0, 0], [up - 1, down - 1], [up - COPIES, down]] {
                assert!(mark.owns(lowered), "{mark:?} {lowered:?}");
            }
            assert!(!mark.owns([u64::MAX; 2]) && !mark.owns([up, u64::MAX]) && !mark.owns([u64::MAX, down]));
            assert!(is_between([up, down], mark.program, mark.program + 1));
            assert!(!is_between([up, down], mark.program + 1, mark.program + 9));
            assert!(!is_between([up, down], 0, mark.program));
        }
    }

    #[test]
    fn copies_are_told_apart_and_the_original_is_none_of_them() {
        let program = Mark::of_program(9);
        let (a, b) = (program.of_copy(1), program.of_copy(2));
        assert!(program.owns(a.limits()) && program.owns(b.limits()) && program.owns(program.limits()));
        assert!(a.owns(a.limits()) && !a.owns(b.limits()) && !b.owns(a.limits()) && !a.owns(program.limits()));
        let ([a_up, a_down], [b_up, b_down]) = (a.limits(), b.limits());
        assert!(b_up > a_up && a_down > b_down, "one copy can be lowered to another");
        assert!(a.owns([a_up - 1, a_down]) && b.owns([b_up, b_down - 1]));
    }
}
