//! seccomp: a list of the system calls that exist; the rest does not.
//!
//! Three filters. The list of what is allowed answers `ENOSYS` to everything else, so that C libraries fall back to older
//! calls, and calls of another processor mode never match. On top of it, what is refused on purpose answers `EPERM`,
//! and what file systems need not be able to do, `EOPNOTSUPP`. Where nobody counts memory there is a fourth: what it
//! names has no effect.

use std::io::{self, Read, Write};

use cove_walls::seccomp::{Action, Argument, Calls, Filter, SeccompError};

use super::guest_walls::GuestWalls;
use super::syscalls::{ALLOWED, ALLOWED_HERE, ALLOWED_IF_COUNTED, LANDLOCK, REFUSED, REFUSED_HERE};

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

/// Of the two internet families the protocols that ordinary programs use. Others (`UDP-Lite`, multipath TCP, SCTP) hold
/// memory that nobody counts, and are loaded into the kernel for whoever asks.
const PROTOCOLS: [i32; 3] = [0, libc::IPPROTO_TCP, libc::IPPROTO_UDP];

/// Linux, Linux without address randomisation (as debuggers ask for), and "what is it now?".
const PERSONALITIES: [u32; 3] = [0, 0x0004_0000, 0xffff_ffff];

/// Fakes keys on a terminal, or drives the machine's console.
const REFUSED_IOCTLS: [u32; 2] = [0x5412, 0x541c];

/// `fallocate` by another name: reserving a file's blocks, with their size in 32 and in 64 bits, and zeroing a range.
const RESERVING_IOCTLS: [u32; 3] = [0x4030_5828, 0x4030_582a, 0x4030_5839];

/// Options of sockets for which the kernel keeps memory that neither a control group nor the watch sees, up to 128 KiB a
/// socket: programs that filter packets, memberships of groups, extension headers, keys. The last one lends the socket to
/// another part of the kernel.
const REFUSED_OPTIONS: [(i32, &[i32]); 4] = [
    (
        libc::SOL_SOCKET,
        &[libc::SO_ATTACH_FILTER, libc::SO_ATTACH_BPF, libc::SO_ATTACH_REUSEPORT_CBPF, libc::SO_ATTACH_REUSEPORT_EBPF],
    ),
    (
        libc::IPPROTO_IP,
        &[
            libc::IP_ADD_MEMBERSHIP,
            libc::IP_ADD_SOURCE_MEMBERSHIP,
            libc::IP_BLOCK_SOURCE,
            libc::IP_MSFILTER,
            libc::MCAST_JOIN_GROUP,
            libc::MCAST_BLOCK_SOURCE,
            libc::MCAST_JOIN_SOURCE_GROUP,
            libc::MCAST_MSFILTER,
        ],
    ),
    (
        libc::IPPROTO_IPV6,
        &[
            libc::IPV6_ADD_MEMBERSHIP,
            libc::IPV6_JOIN_ANYCAST,
            libc::IPV6_2292PKTOPTIONS,
            libc::IPV6_FLOWLABEL_MGR,
            libc::IPV6_HOPOPTS,
            libc::IPV6_RTHDRDSTOPTS,
            libc::IPV6_RTHDR,
            libc::IPV6_DSTOPTS,
            libc::MCAST_JOIN_GROUP,
            libc::MCAST_BLOCK_SOURCE,
            libc::MCAST_JOIN_SOURCE_GROUP,
            libc::MCAST_MSFILTER,
        ],
    ),
    (libc::IPPROTO_TCP, &[libc::TCP_MD5SIG, libc::TCP_MD5SIG_EXT, TCP_AO_ADD_KEY, libc::TCP_ULP]),
];

/// A number of the kernel's that the C library does not have.
const TCP_AO_ADD_KEY: i32 = 38;

/// A read that does not wait for the disk.
const RWF_NOWAIT: i32 = 0x8;

/// The bits of `mmap`'s flags that say what kind of mapping it is.
const MAP_KIND: i32 = 0x0f;

/// What of a sandbox decides which calls there are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Conditions {
    pub(super) shared: Shared,
    /// Whether a control group counts memory, also what no process maps.
    pub(super) memory_counted: bool,
}

impl Conditions {
    /// As they usually are: nothing is shared.
    pub(super) fn usual(memory_counted: bool) -> Self {
        Self { shared: Shared { system: false, devices: false }, memory_counted }
    }
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

fn allowed(Conditions { shared, memory_counted }: Conditions) -> Result<Filter, SeccompError> {
    let counted = if memory_counted { ALLOWED_IF_COUNTED } else { &[] };
    let mut calls = Calls::of(&[ALLOWED, ALLOWED_HERE, LANDLOCK, counted]);
    if shared.watchable() {
        calls.remove(libc::SYS_inotify_add_watch);
    }
    if shared.system {
        calls.remove(libc::SYS_flock);
    }
    for looked_at in [libc::SYS_clone, libc::SYS_socket, libc::SYS_personality, libc::SYS_ioctl, libc::SYS_mknodat] {
        calls.insert(looked_at);
    }
    #[cfg(target_arch = "x86_64")]
    calls.insert(libc::SYS_mknod);
    calls.compile(Action::Allow, Action::Fail(libc::ENOSYS))
}

fn refused(counted: bool) -> Result<Filter, SeccompError> {
    let mut calls = Calls::of(&[REFUSED, REFUSED_HERE]);
    // One case per flag: any of them is enough.
    let namespaces = (0..32).map(|bit| 1_i32 << bit).filter(|flag| NAMESPACES & flag != 0);
    calls.insert_when_any(libc::SYS_clone, 0, namespaces.map(Argument::with));
    let unknown_family = FAMILIES.map(|family| (0, Argument::is_not(family))).to_vec();
    // Of netlink only what lists interfaces: the rest speaks to the firewall, the audit log and other parts.
    let netlink = vec![(0, Argument::is(libc::AF_NETLINK)), (2, Argument::is_not(libc::NETLINK_ROUTE))];
    let unknown_protocol = [libc::AF_INET, libc::AF_INET6].map(|family| {
        let others = PROTOCOLS.map(|protocol| (2, Argument::is_not(protocol)));
        [vec![(0, Argument::is(family))], others.to_vec()].concat()
    });
    calls.insert_when(libc::SYS_socket, [unknown_family, netlink].into_iter().chain(unknown_protocol));
    let options = REFUSED_OPTIONS.iter().flat_map(|(level, names)| names.iter().map(move |name| (level, name)));
    let option = |(level, name): (&i32, &i32)| vec![(1, Argument::is(*level)), (2, Argument::is(*name))];
    calls.insert_when(libc::SYS_setsockopt, options.map(option));
    calls.insert_when(libc::SYS_personality, [PERSONALITIES.map(|value| (0, Argument::IsNot(value))).to_vec()]);
    calls.insert_when_any(libc::SYS_ioctl, 1, REFUSED_IOCTLS.map(Argument::Is));
    // Huge pages are the machine's own store, which no limit counts. Shared memory without a file belongs to no process:
    // it stays when its pages are unmapped, so only a control group sees it.
    let mut mappings = vec![Argument::with(libc::MAP_HUGETLB)];
    if !counted {
        for kind in [libc::MAP_SHARED, libc::MAP_SHARED_VALIDATE] {
            mappings.push(masked(MAP_KIND | libc::MAP_ANONYMOUS, kind | libc::MAP_ANONYMOUS));
        }
    }
    calls.insert_when_any(libc::SYS_mmap, 3, mappings);
    // Device nodes; FIFOs and sockets are files like others.
    let devices = [libc::S_IFCHR, libc::S_IFBLK].map(|device| Argument::Masked { mask: libc::S_IFMT, value: device });
    calls.insert_when_any(libc::SYS_mknodat, 2, devices);
    #[cfg(target_arch = "x86_64")]
    calls.insert_when_any(libc::SYS_mknod, 1, devices);
    // Locks of open files belong to no process: every sandbox's list of locks shows them, and nobody can tell whose they are.
    let fcntls = [libc::F_SETLEASE, libc::F_NOTIFY, libc::F_OFD_SETLK, libc::F_OFD_SETLKW];
    calls.insert_when_any(libc::SYS_fcntl, 1, fcntls.map(Argument::is));
    calls.insert_when_any(libc::SYS_prctl, 0, [Argument::Is(PR_FUTEX_HASH)]);
    // Pages of the machine's files, thrown out by one guest, are slow for the next to read: a signal between them.
    calls.insert_when_any(libc::SYS_fadvise64, 3, [Argument::is(libc::POSIX_FADV_DONTNEED)]);
    calls.insert_when_any(libc::SYS_madvise, 2, [libc::MADV_COLD, libc::MADV_PAGEOUT].map(Argument::is));
    calls.compile(Action::Fail(libc::EPERM), Action::Allow)
}

/// Gives a process a table of its own for waiting threads, as large as it likes: memory that no figure of a process shows.
const PR_FUTEX_HASH: u32 = 78;

const fn masked(mask: i32, value: i32) -> Argument {
    Argument::Masked { mask: mask.cast_unsigned(), value: value.cast_unsigned() }
}

/// What few file systems can do, so that every program can do without.
fn unsupported() -> Result<Filter, SeccompError> {
    let mut calls = Calls::default();
    // "Only if it is in memory" asks which files of the machine somebody has read.
    calls.insert_when_any(libc::SYS_preadv2, 5, [Argument::with(RWF_NOWAIT)]);
    // Takes any amount of disk in no time, before anybody can look. C libraries write zeros instead; holes may be made.
    calls.insert_when_any(libc::SYS_fallocate, 1, [Argument::without(libc::FALLOC_FL_PUNCH_HOLE)]);
    calls.insert_when_any(libc::SYS_ioctl, 1, RESERVING_IOCTLS.map(Argument::Is));
    calls.compile(Action::Fail(libc::EOPNOTSUPP), Action::Allow)
}

/// What a program may wish for and cannot rely on, for the kernel has limits of its own: a larger buffer for what it sends.
/// It is told that all is well. Where nobody counts memory, how much waits in a local socket whose sender has gone is
/// known only by how much a sender may send.
fn without_effect() -> Result<Filter, SeccompError> {
    let mut calls = Calls::default();
    let size = vec![(1, Argument::is(libc::SOL_SOCKET)), (2, Argument::is(libc::SO_SNDBUF))];
    calls.insert_when(libc::SYS_setsockopt, [size]);
    calls.compile(Action::Fail(0), Action::Allow)
}

/// The filters of a sandbox, compiled.
#[derive(Debug)]
pub(super) struct Filters {
    conditions: Conditions,
    /// In the order in which they are put on. The last one on speaks first: its EPERM wins over the other's ENOSYS.
    all: Vec<Filter>,
}

impl Filters {
    pub(super) fn compile(conditions: Conditions) -> Result<Self, SeccompError> {
        let counted = conditions.memory_counted;
        let mut all = vec![allowed(conditions)?, refused(counted)?, unsupported()?];
        if !counted {
            all.push(without_effect()?);
        }
        Ok(Self { conditions, all })
    }

    /// The same for these conditions.
    pub(super) fn under(self, conditions: Conditions) -> Result<Self, SeccompError> {
        if self.conditions == conditions { Ok(self) } else { Self::compile(conditions) }
    }

    /// Puts them on for this process and everybody below.
    pub(super) fn put_on(&self) -> Result<String, SeccompError> {
        self.all.iter().try_for_each(Filter::put_on)?;
        Ok("a list of allowed calls".to_owned())
    }

    /// Hands them to the init: compiling takes a millisecond, which the supervisor has while the init builds its root.
    pub(super) fn send(&self, mut to: impl Write) -> io::Result<()> {
        for filter in &self.all {
            let bytes = filter.to_bytes();
            let length = u32::try_from(bytes.len()).map_err(|_| io::Error::other("a filter is too long"))?;
            to.write_all(&[&length.to_be_bytes()[..], &bytes].concat())?;
        }
        Ok(())
    }

    /// What was [sent](Self::send), compiled under these conditions.
    pub(super) fn receive(mut from: impl Read, conditions: Conditions) -> io::Result<Self> {
        let one = |_| {
            let mut length = [0; 4];
            from.read_exact(&mut length)?;
            let mut bytes = Vec::new();
            from.by_ref().take(u32::from_be_bytes(length).into()).read_to_end(&mut bytes)?;
            Ok::<_, io::Error>(Filter::from_bytes(&bytes))
        };
        let number = if conditions.memory_counted { 3 } else { 4 };
        Ok(Self { conditions, all: (0..number).map(one).collect::<io::Result<_>>()? })
    }
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
const OF_USER: [(libc::c_long, u32); 2] = [(libc::SYS_setpriority, 2), (libc::SYS_ioprio_set, 3)];

/// Puts on what guests may not do to Ship, whose threads these are: guests have its user, and without this they could
/// give it the lowest priority or take its files and processor time away by a limit. Where no control group counts memory,
/// they have no Landlock: their own walls of that kind must be up by now.
pub(super) fn put_on_guests(threads: &[u32], walls: &GuestWalls) -> Result<(), SeccompError> {
    let mut calls = Calls::default();
    for (call, argument) in TARGETED {
        let ours = threads.iter().map(|thread| vec![(argument, Argument::Is(*thread))]);
        let user = OF_USER.iter().filter(|(other, _)| *other == call);
        calls.insert_when(call, ours.chain(user.map(|(_, user)| vec![(0, Argument::Is(*user))])));
    }
    if !walls.processors.is_empty() {
        // They are the limit: nobody takes others.
        calls.insert(libc::SYS_sched_setaffinity);
    }
    calls.insert_when(libc::SYS_prlimit64, [vec![(0, Argument::IsNot(0)), (2, Argument::IsPointer)]]);
    // Who cannot be looked into holds files that an ordinary user's supervisor cannot count.
    calls.insert_when_any(libc::SYS_prctl, 0, [Argument::is(libc::PR_SET_DUMPABLE)]);
    calls.compile(Action::Fail(libc::EPERM), Action::Allow)?.put_on()?;
    if !walls.memory_counted {
        Calls::of(&[LANDLOCK]).compile(Action::Fail(libc::ENOSYS), Action::Allow)?.put_on()?;
    }
    Ok(())
}
