//! A zygote that speaks nonsense, or nothing, or dies: the host hears it and goes on.

use std::os::fd::AsFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::*;

const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn control_pair() -> (OwnedFd, OwnedFd) {
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
}

fn ready() -> Vec<u8> {
    Notice::Ready(br#"{"walls":[]}"#.to_vec()).encode()
}

#[tokio::test]
async fn a_zygote_that_cannot_start_says_why() {
    let cases: [(&[u8], &str); 4] = [
        (b"Fno engine", "no engine"),
        (b"", "the worker ended before it was ready"),
        (b"\xff\xff\xff", "the worker ended before it was ready"),
        (b"R{\"walls\":7}", "invalid type: integer `7`, expected a sequence at line 1 column 10"),
    ];
    for (said, expected) in cases {
        let (ours, theirs) = control_pair();
        control::send(&theirs, said, &[]).unwrap();
        drop(theirs);
        let error = WorkerPool::attend(ours, None, 2, PATIENCE).await.err().unwrap();
        assert_eq!(error, expected);
    }
    let (ours, _silent) = control_pair();
    let error = WorkerPool::attend(ours, None, 2, Duration::from_millis(20)).await.err().unwrap();
    assert_eq!(error, "the worker was not ready within 20 ms");
}

/// Asked for two spares it forks two; what waits gets a child, a failure, or the news that the zygote is gone.
#[tokio::test]
async fn children_failures_and_the_end_reach_whoever_waits() {
    let (ours, theirs) = control_pair();
    control::send(&theirs, &ready(), &[]).unwrap();
    let pool = WorkerPool::attend(ours, None, 2, PATIENCE).await.unwrap();
    let asked = || Fork::decode(&control::receive(&theirs).unwrap().unwrap().0).unwrap().0;
    assert_eq!(asked(), 2);

    // A child without its descriptors is none, and nobody waits for it yet.
    control::send(&theirs, &Notice::Forked(1).encode(), &[]).unwrap();
    control::send(&theirs, &Notice::ForkFailed("no memory".into()).encode(), &[]).unwrap();
    // Notices are heard in order: when this one has been, the two above have, too.
    control::send(&theirs, &Notice::Died(9, 6).encode(), &[]).unwrap();
    assert!(pool.cause_of_death(9).await.is_some());

    let failing = async {
        assert_eq!(asked(), 3, "one for who waits, two to spare");
        control::send(&theirs, &Notice::ForkFailed("no memory".into()).encode(), &[]).unwrap();
    };
    let (missing, ()) = tokio::join!(biased; pool.take(), failing);
    assert_eq!(missing.unwrap_err(), NoChild::ForkFailed("no memory".into()));

    let (socket, process) = (UnixStream::pair().unwrap().0, own_process());
    control::send(&theirs, &Notice::Forked(2).encode(), &[socket.as_fd(), process.as_fd()]).unwrap();
    let child = pool.take().await.unwrap();
    assert_eq!(child.number, 2);
    std::mem::forget(child); // its process is this very test

    control::send(&theirs, &Notice::Died(2, 11).encode(), &[]).unwrap();
    assert_eq!(pool.cause_of_death(2).await.and_then(|status| status.signal()), Some(11));
    drop(theirs);
    assert_eq!(pool.take().await.unwrap_err(), NoChild::ZygoteGone);
    assert!(!pool.is_alive());
}

fn own_process() -> OwnedFd {
    rustix::process::pidfd_open(rustix::process::getpid(), rustix::process::PidfdFlags::empty()).unwrap()
}
