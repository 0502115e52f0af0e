//! seccomp: a list of the system calls that exist; the rest does not.
//!
//! Three filters. The list of what is allowed answers `ENOSYS` to everything else, so that C libraries fall back to older
//! calls, and calls of another processor mode never match. On top of it, what is refused on purpose answers `EPERM`,
//! and what file systems need not be able to do, `EOPNOTSUPP`.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

use super::guest_walls::GuestWalls;
use super::syscalls::{ALLOWED, ALLOWED_HERE, ALLOWED_IF_COUNTED, LANDLOCK, REFUSED, REFUSED_HERE};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Every way to ask for a new namespace.
const NAMESPACES: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET;

/// Sockets of these families stay inside the network namespace. `AF_VSOCK`, for one, does not: it leads to the
/// hypervisor. `AF_PACKET`, `AF_ALG` and the like are doors into the kernel that ordinary programs do not use.
const FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Linux, Linux without address randomisation (as debuggers ask for), and "what is it now?".
const PERSONALITIES: [u64; 3] = [0, 0x0004_0000, 0xffff_ffff];

/// Fakes keys on a terminal, or drives the machine's console.
const REFUSED_IOCTLS: [u64; 2] = [0x5412, 0x541c];

/// `fallocate` by another name: reserving a file's blocks, with their size in 32 and in 64 bits, and zeroing a range.
const RESERVING_IOCTLS: [u64; 3] = [0x4030_5828, 0x4030_582a, 0x4030_5839];

/// A read that does not wait for the disk.
const RWF_NOWAIT: u64 = 0x8;

/// The bits of `mmap`'s flags that say what kind of mapping it is.
const MAP_KIND: i32 = 0x0f;

/// What of a sandbox decides which calls there are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Conditions {
    pub(super) shared: Shared,
    /// Whether a control group counts memory, also what no process maps.
    pub(super) memory_counted: bool,
}

/// Which inodes guests have in common with the machine: what would be seen or held up through them is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shared {
    /// Folders of programs.
    pub(super) system: bool,
    /// `/dev/null` and its like.
    pub(super) devices: bool,
}

impl Shared {
    /// Whether a watch would show what others do.
    pub(super) fn watchable(self) -> bool {
        self.system || self.devices
    }
}

fn when(argument: u8, operator: SeccompCmpOp, value: u64) -> Outcome<SeccompRule> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?;
    Ok(SeccompRule::new(vec![condition])?)
}

fn compile(rules: Rules, otherwise: SeccompAction, matched: SeccompAction) -> Outcome<BpfProgram> {
    let arch = std::env::consts::ARCH.try_into()?;
    Ok(SeccompFilter::new(rules, otherwise, matched, arch)?.try_into()?)
}

fn plain(lists: &[&[libc::c_long]]) -> Rules {
    lists.iter().copied().flatten().map(|call| (*call, Vec::new())).collect()
}

fn errno(number: i32) -> SeccompAction {
    SeccompAction::Errno(number.unsigned_abs())
}

fn allowed(Conditions { shared, memory_counted }: Conditions) -> Outcome<BpfProgram> {
    let mut rules = plain(&[ALLOWED, ALLOWED_HERE, LANDLOCK, if memory_counted { ALLOWED_IF_COUNTED } else { &[] }]);
    if shared.watchable() {
        rules.remove(&libc::SYS_inotify_add_watch);
    }
    if shared.system {
        rules.remove(&libc::SYS_flock);
    }
    for looked_at in [libc::SYS_clone, libc::SYS_socket, libc::SYS_personality, libc::SYS_ioctl, libc::SYS_mknodat] {
        rules.insert(looked_at, Vec::new());
    }
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_mknod, Vec::new());
    compile(rules, errno(libc::ENOSYS), SeccompAction::Allow)
}

fn refused(counted: bool) -> Outcome<BpfProgram> {
    let mut rules = plain(&[REFUSED, REFUSED_HERE]);
    let bits = |value: i32| u64::from(value.cast_unsigned());
    // One rule per flag: any of them is enough.
    let namespaces = (0..32).map(|bit| 1_i32 << bit).filter(|flag| NAMESPACES & flag != 0);
    let namespaces = namespaces.map(|flag| when(0, SeccompCmpOp::MaskedEq(bits(flag)), bits(flag)));
    rules.insert(libc::SYS_clone, namespaces.collect::<Outcome<_>>()?);
    let differs = |argument, value| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value);
    let families = FAMILIES.map(|family| differs(0, bits(family))).into_iter().collect::<Result<Vec<_>, _>>()?;
    // Of netlink only what lists interfaces: the rest speaks to the firewall, the audit log and other parts.
    let netlink = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, bits(libc::AF_NETLINK))?;
    let netlink = SeccompRule::new(vec![netlink, differs(2, bits(libc::NETLINK_ROUTE))?])?;
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(families)?, netlink]);
    let known = PERSONALITIES.map(|value| differs(0, value)).into_iter().collect::<Result<Vec<_>, _>>()?;
    rules.insert(libc::SYS_personality, vec![SeccompRule::new(known)?]);
    let ioctls = REFUSED_IOCTLS.map(|request| when(1, SeccompCmpOp::Eq, request));
    rules.insert(libc::SYS_ioctl, ioctls.into_iter().collect::<Outcome<_>>()?);
    // Huge pages are the machine's own store, which no limit counts. Shared memory without a file belongs to no process:
    // it stays when its pages are unmapped, so only a control group sees it.
    let flags = |mask: i32, value: i32| when(3, SeccompCmpOp::MaskedEq(bits(mask)), bits(value));
    let mut mappings = vec![flags(libc::MAP_HUGETLB, libc::MAP_HUGETLB)?];
    if !counted {
        for kind in [libc::MAP_SHARED, libc::MAP_SHARED_VALIDATE] {
            mappings.push(flags(MAP_KIND | libc::MAP_ANONYMOUS, kind | libc::MAP_ANONYMOUS)?);
        }
    }
    rules.insert(libc::SYS_mmap, mappings);
    // Device nodes; FIFOs and sockets are files like others.
    let kind = SeccompCmpOp::MaskedEq(u64::from(libc::S_IFMT));
    let devices = |argument| -> Outcome<Vec<SeccompRule>> {
        let kinds = [libc::S_IFCHR, libc::S_IFBLK].map(|device| when(argument, kind.clone(), u64::from(device)));
        kinds.into_iter().collect()
    };
    rules.insert(libc::SYS_mknodat, devices(2)?);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_mknod, devices(1)?);
    let leases = [libc::F_SETLEASE, libc::F_NOTIFY].map(|order| when(1, SeccompCmpOp::Eq, bits(order)));
    rules.insert(libc::SYS_fcntl, leases.into_iter().collect::<Outcome<_>>()?);
    // Pages of the machine's files, thrown out by one guest, are slow for the next to read: a signal between them.
    rules.insert(libc::SYS_fadvise64, vec![when(3, SeccompCmpOp::Eq, bits(libc::POSIX_FADV_DONTNEED))?]);
    let advice = [libc::MADV_COLD, libc::MADV_PAGEOUT].map(|advice| when(2, SeccompCmpOp::Eq, bits(advice)));
    rules.insert(libc::SYS_madvise, advice.into_iter().collect::<Outcome<_>>()?);
    compile(rules, SeccompAction::Allow, errno(libc::EPERM))
}

/// What few file systems can do, so that every program can do without.
fn unsupported() -> Outcome<BpfProgram> {
    let mut rules = Rules::new();
    // "Only if it is in memory" asks which files of the machine somebody has read.
    rules.insert(libc::SYS_preadv2, vec![when(5, SeccompCmpOp::MaskedEq(RWF_NOWAIT), RWF_NOWAIT)?]);
    // Takes any amount of disk in no time, before anybody can look. C libraries write zeros instead; holes may be made.
    let hole = u64::from(libc::FALLOC_FL_PUNCH_HOLE.cast_unsigned());
    rules.insert(libc::SYS_fallocate, vec![when(1, SeccompCmpOp::MaskedEq(hole), 0)?]);
    let reserving = RESERVING_IOCTLS.map(|request| when(1, SeccompCmpOp::Eq, request));
    rules.insert(libc::SYS_ioctl, reserving.into_iter().collect::<Outcome<_>>()?);
    compile(rules, SeccompAction::Allow, errno(libc::EOPNOTSUPP))
}

/// Puts the filters on for this process and everybody below.
pub(super) fn put_on(conditions: Conditions) -> Result<String, String> {
    let outcome = (|| {
        let refused = refused(conditions.memory_counted)?;
        let (allowed, unsupported) = (allowed(conditions)?, unsupported()?);
        // The last one on speaks first: its EPERM wins over the other's ENOSYS.
        apply_filter(&allowed)?;
        apply_filter(&refused)?;
        apply_filter(&unsupported)?;
        Outcome::Ok(())
    })();
    outcome.map(|()| "a list of allowed calls".to_owned()).map_err(|error| error.to_string())
}

/// Calls with a process in this argument that change how it runs.
const TARGETED: [(libc::c_long, u8); 6] = [
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
];

/// The two of them that can name all processes of a user, and by which number.
const OF_USER: [(libc::c_long, u64); 2] = [(libc::SYS_setpriority, 2), (libc::SYS_ioprio_set, 3)];

/// Puts on what guests may not do to Ship, whose threads these are: guests have its user, and without this they could
/// give it the lowest priority or take its files and processor time away by a limit. Where no control group counts memory,
/// they have no Landlock: their own walls of that kind must be up by now.
pub(super) fn put_on_guests(threads: &[u64], walls: &GuestWalls) -> Result<(), String> {
    let outcome = (|| {
        let mut rules = Rules::new();
        for (call, argument) in TARGETED {
            let mut refused = Vec::new();
            for thread in threads {
                refused.push(when(argument, SeccompCmpOp::Eq, *thread)?);
            }
            if let Some((_, user)) = OF_USER.iter().find(|(other, _)| *other == call) {
                refused.push(when(0, SeccompCmpOp::Eq, *user)?);
            }
            rules.insert(call, refused);
        }
        if !walls.processors.is_empty() {
            // They are the limit: nobody takes others.
            rules.insert(libc::SYS_sched_setaffinity, Vec::new());
        }
        let another = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0)?;
        let set = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
        rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![another, set])?]);
        // Who cannot be looked into holds files that an ordinary user's supervisor cannot count.
        let dumpable = when(0, SeccompCmpOp::Eq, u64::from(libc::PR_SET_DUMPABLE.cast_unsigned()))?;
        rules.insert(libc::SYS_prctl, vec![dumpable]);
        apply_filter(&compile(rules, SeccompAction::Allow, errno(libc::EPERM))?)?;
        if !walls.memory_counted {
            apply_filter(&compile(plain(&[LANDLOCK]), SeccompAction::Allow, errno(libc::ENOSYS))?)?;
        }
        Outcome::Ok(())
    })();
    outcome.map_err(|error| error.to_string())
}
