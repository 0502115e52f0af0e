//! From a table of system calls to a filter in the kernel.
//!
//! A [`Calls`] table says which calls are meant, some of them only with certain arguments. [`Calls::compile`] makes a filter
//! of it: one answer for what is in the table, another for the rest. Which calls are in a table is the caller's decision.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use crate::tree::{self, answer};

/// A filter could not be compiled or put on.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SeccompError(String);

fn told(error: impl std::fmt::Display) -> SeccompError {
    SeccompError(error.to_string())
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It is made.
    Allow,
    /// It fails with this number.
    Fail(i32),
    /// It ends the process.
    Kill,
}

impl From<Action> for SeccompAction {
    fn from(answer: Action) -> Self {
        match answer {
            Action::Allow => Self::Allow,
            Action::Fail(number) => Self::Errno(number.unsigned_abs()),
            Action::Kill => Self::KillProcess,
        }
    }
}

/// What an argument of a call must be. Only its low 32 bits are looked at, unless it is a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// This value.
    Is(u32),
    /// Any value but this one.
    IsNot(u32),
    /// This value where the mask has bits.
    Masked {
        /// The bits that are looked at.
        mask: u32,
        /// What they must be.
        value: u32,
    },
    /// A pointer that is not null.
    IsPointer,
}

impl Argument {
    /// None of these bits.
    pub const fn without(bits: i32) -> Self {
        Self::Masked { mask: bits.cast_unsigned(), value: 0 }
    }

    /// All of these bits.
    pub const fn with(bits: i32) -> Self {
        Self::Masked { mask: bits.cast_unsigned(), value: bits.cast_unsigned() }
    }

    /// A flag or an order of the C library, which are signed there.
    pub const fn is(value: i32) -> Self {
        Self::Is(value.cast_unsigned())
    }

    /// Anything but that.
    pub const fn is_not(value: i32) -> Self {
        Self::IsNot(value.cast_unsigned())
    }

    fn condition(self, position: u8) -> Result<SeccompCondition, SeccompError> {
        let (length, operator, value) = match self {
            Self::Is(value) => (SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value),
            Self::IsNot(value) => (SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value),
            Self::Masked { mask, value } => (SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask.into()), value),
            Self::IsPointer => (SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0),
        };
        SeccompCondition::new(position, length, operator, value.into()).map_err(told)
    }
}

/// Arguments by their position that must all be as it says, for a call to be meant.
pub type Arguments = Vec<(u8, Argument)>;

/// A table of system calls.
#[derive(Debug, Clone, Default)]
pub struct Calls(BTreeMap<i64, Vec<Arguments>>);

impl Calls {
    /// All calls of these lists, whatever their arguments.
    pub fn of(lists: &[&[libc::c_long]]) -> Self {
        Self(lists.iter().copied().flatten().map(|call| (*call, Vec::new())).collect())
    }

    /// Takes a call in, whatever its arguments.
    pub fn insert(&mut self, call: libc::c_long) {
        self.0.insert(call, Vec::new());
    }

    /// Takes a call in if its arguments are as one of these says. Says it anew if the call was in the table.
    pub fn insert_when(&mut self, call: libc::c_long, cases: impl IntoIterator<Item = Arguments>) {
        self.0.insert(call, cases.into_iter().collect());
    }

    /// Takes a call in if one argument is one of these.
    pub fn insert_when_any(&mut self, call: libc::c_long, position: u8, values: impl IntoIterator<Item = Argument>) {
        self.insert_when(call, values.into_iter().map(|value| vec![(position, value)]));
    }

    /// Takes a call out.
    pub fn remove(&mut self, call: libc::c_long) {
        self.0.remove(&call);
    }

    /// A filter with one answer for what is in the table, and another for everything else.
    pub fn compile(self, matched: Action, otherwise: Action) -> Result<Filter, SeccompError> {
        let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(told)?;
        // Of an empty table the library makes a look at the architecture and one answer.
        let empty = SeccompFilter::new(BTreeMap::new(), otherwise.into(), matched.into(), arch).map_err(told)?;
        let mut program = BpfProgram::try_from(empty).map_err(told)?;
        program.pop();
        program.push(LOAD_NUMBER);
        let [matched, otherwise] = [matched, otherwise].map(|one| answer(SeccompAction::from(one).into()));
        let mut calls = Vec::with_capacity(self.0.len());
        for (call, cases) in self.0 {
            let mut code = BpfProgram::new();
            for arguments in &cases {
                let conditions = arguments.iter().map(|(position, argument)| argument.condition(*position));
                let rule = SeccompRule::new(conditions.collect::<Result<_, _>>()?).map_err(told)?;
                // Who does not match goes on behind the answer.
                code.extend(BpfProgram::from(rule));
                code.push(matched.clone());
            }
            code.push(if cases.is_empty() { matched.clone() } else { otherwise.clone() });
            calls.push((u32::try_from(call).map_err(told)?, code));
        }
        program.extend(tree::grow(&tree::parts(calls, &vec![otherwise])));
        Ok(Filter(program))
    }
}

/// Loads the number of the call, with which the record about it begins.
const LOAD_NUMBER: sock_filter = sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 };

/// One instruction in bytes: its code, two distances, and a number.
const INSTRUCTION_BYTES: usize = 8;

/// A compiled filter.
#[derive(Debug, Clone)]
pub struct Filter(BpfProgram);

impl Filter {
    /// Puts it on, for this thread and everybody whom it starts. It never comes off; of several, the strictest answer
    /// counts, and among equally strict ones the last one's.
    #[expect(clippy::disallowed_methods, reason = "this file applies filters")]
    pub fn put_on(&self) -> Result<(), SeccompError> {
        apply_filter(&self.0).map_err(told)
    }

    /// Writes a number that was not known before in the place of one that stood for it. Allocates nothing.
    pub fn fill_in(&mut self, stand_in: u32, value: u32) {
        for instruction in self.0.iter_mut().filter(|instruction| instruction.k == stand_in) {
            instruction.k = value;
        }
    }

    /// What another process can [put together again](Self::from_bytes).
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = |one: &sock_filter| {
            let [code, k] = [one.code.to_le_bytes().to_vec(), one.k.to_le_bytes().to_vec()];
            [code, vec![one.jt, one.jf], k].concat()
        };
        self.0.iter().flat_map(bytes).collect()
    }

    /// The filter of these bytes. They must come from somebody who could put on any filter as well.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let one = |eight: &[u8; INSTRUCTION_BYTES]| {
            let [low, high, jt, jf, k @ ..] = *eight;
            sock_filter { code: u16::from_le_bytes([low, high]), jt, jf, k: u32::from_le_bytes(k) }
        };
        Self(bytes.as_chunks().0.iter().map(one).collect())
    }

    /// How many instructions it has.
    pub fn instructions(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// A filter is its thread's own: a thread puts it on and tries.
    fn behind(calls: Calls, matched: Action, otherwise: Action, attempt: fn() -> bool) -> bool {
        let tried = thread::spawn(move || {
            rustix::thread::set_no_new_privs(true).unwrap();
            calls.compile(matched, otherwise).unwrap().put_on().unwrap();
            attempt()
        });
        tried.join().unwrap()
    }

    #[test]
    fn a_call_in_the_table_gets_its_answer() {
        let refused = || rustix::process::getpriority_process(None) == Err(rustix::io::Errno::PERM);
        let table = Calls::of(&[&[libc::SYS_getpriority]]);
        assert!(behind(table.clone(), Action::Fail(libc::EPERM), Action::Allow, refused));
        let mut emptied = table;
        emptied.remove(libc::SYS_getpriority);
        emptied.insert(libc::SYS_acct);
        assert!(!behind(emptied, Action::Fail(libc::EPERM), Action::Allow, refused));
    }

    #[test]
    fn arguments_decide() {
        const PROCESS: i32 = 0;
        let refused = || rustix::process::getpriority_process(None).is_err();
        for (argument, expected) in [
            (Argument::is(PROCESS), true),
            (Argument::is_not(PROCESS), false),
            (Argument::without(1), true),
            (Argument::with(1), false),
            (Argument::IsPointer, false),
        ] {
            let mut calls = Calls::default();
            calls.insert_when_any(libc::SYS_getpriority, 0, [argument]);
            assert_eq!(behind(calls, Action::Fail(libc::EPERM), Action::Allow, refused), expected, "{argument:?}");
        }
    }

    #[test]
    fn a_number_is_filled_in_later() {
        const STAND_IN: u32 = 0x5afe_c0de;
        let mut calls = Calls::default();
        calls.insert_when_any(libc::SYS_tgkill, 0, [Argument::IsNot(STAND_IN)]);
        let mut filter = calls.compile(Action::Kill, Action::Allow).unwrap();
        let length = filter.instructions();
        filter.fill_in(STAND_IN, 7);
        assert!(!format!("{filter:?}").contains(&STAND_IN.to_string()));
        assert_eq!(filter.instructions(), length);
    }
}
