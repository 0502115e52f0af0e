//! Guests that make the kernel hold what no list of it shows: in sockets of which no process has an end, beside sockets,
//! and beside processes.

use serde_json::json;

use super::memory::{all_are_held, small};
use crate::hosts::on_every_host;

/// What waits for whoever does not read it, when whoever has sent it is gone.
const SENDERS_GONE: &[(&str, &str)] = &[
    (
        "local streams whose sender has gone",
        "
while held < WANTED:
    a, b = socket.socketpair(); a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30); a.setblocking(False)
    try:
        while True: hold(a.send(BLOCK))
    except BlockingIOError: pass
    a.close(); kept.append(b)",
    ),
    (
        "datagrams whose sender has gone",
        "
while held < WANTED:
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
    a.setblocking(False)
    try:
        while True: a.send(b'x' * 60000); hold(60000)
    except BlockingIOError: pass
    a.close(); kept.append(b)",
    ),
    (
        "single bytes whose sender has gone",
        "
def work():
    taken = 0
    try:
        for n in range(60):
            a, b = socket.socketpair(); a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20); a.setblocking(False)
            try:
                while True: a.send(b'x'); taken += 768
            except BlockingIOError: pass
            a.close(); kept.append(b)
    except OSError: pass
    return taken
crowd(work)",
    ),
    (
        "local connections that nobody accepts",
        "
listener = socket.socket(socket.AF_UNIX); listener.bind('\\0unread'); listener.listen(4096)
while held < WANTED:
    a = socket.socket(socket.AF_UNIX); a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30); a.connect('\\0unread')
    a.setblocking(False)
    try:
        while True: hold(a.send(BLOCK))
    except BlockingIOError: pass
    a.close()",
    ),
];

/// The same over TCP, where no control group is charged before somebody accepts.
const NEVER_ACCEPTED: &[(&str, &str)] = &[
    (
        "connections that nobody accepts",
        "
while held < WANTED:
    listener = socket.create_server(('127.0.0.1', 0), backlog=4096); kept.append(listener)
    for n in range(100):
        a = socket.create_connection(listener.getsockname()); a.setblocking(False)
        try:
            while True: hold(a.send(BLOCK))
        except BlockingIOError: pass
        a.close()",
    ),
    (
        "connections that were reset before anybody accepted them",
        "
while held < WANTED:
    listener = socket.create_server(('127.0.0.1', 0), backlog=4096); kept.append(listener)
    for n in range(4000):
        a = socket.socket(); a.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        a.connect(listener.getsockname()); a.close(); hold(3000)",
    ),
];

/// What the kernel keeps beside a process, and shows in none of its figures.
const BESIDE_PROCESSES: &[(&str, &str)] = &[
    (
        "tables for waiting threads",
        "
libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
def work(): return 64 << 20 if libc.prctl(78, 1, 1 << 20, 0, 0) == 0 else 0
checked(libc.prctl(78, 1, 16, 0, 0)); crowd(work)",
    ),
    (
        "texts about locks",
        "
fd = os.open('locked', os.O_RDWR | os.O_CREAT)
for n in range(12000): fcntl.lockf(fd, fcntl.LOCK_EX, 1, n * 2)
while held < WANTED: kept.append(os.open('/proc/self/fdinfo/%d' % fd, os.O_RDONLY)); os.read(kept[-1], 1); hold(1 << 20); time.sleep(.02)",
    ),
];

#[tokio::test]
async fn what_is_kept_beside_processes_is_held() {
    all_are_held("attacks::unseen::what_is_kept_beside_processes_is_held", BESIDE_PROCESSES).await;
}

#[tokio::test]
async fn what_senders_leave_behind_is_held() {
    all_are_held("attacks::unseen::what_senders_leave_behind_is_held", SENDERS_GONE).await;
}

#[tokio::test]
async fn what_nobody_accepts_is_held() {
    all_are_held("attacks::unseen::what_nobody_accepts_is_held", NEVER_ACCEPTED).await;
}

/// Every one of these is refused, whatever its argument: `EPERM`, and not what the kernel says who has looked at it.
const REFUSED: &str = r"
import ctypes, errno, socket
libc = ctypes.CDLL(None, use_errno=True)
tries = 0
def refused(what, result):
    global tries
    tries += 1
    if result != -1 or ctypes.get_errno() != errno.EPERM: print('BREACH', what, result, errno.errorcode.get(ctypes.get_errno()))
# UDP-Lite, multipath TCP, SCTP, DCCP, L2TP, SMC.
for kind, protocol in ((2, 136), (1, 262), (1, 132), (5, 132), (6, 33), (2, 115), (1, 256)):
    for family in (2, 10): refused((family, kind, protocol), libc.socket(family, kind, protocol))
options = {
    # Programs that look at packets: of either kind, and for a group of sockets.
    1: (26, 50, 51, 52),
    # Memberships of groups, and lists of senders.
    0: (35, 38, 39, 41, 42, 43, 46, 48),
    # The same, anycast, sticky options, flow labels, extension headers.
    41: (20, 27, 6, 32, 54, 55, 57, 59, 42, 43, 46, 48),
    # Keys of connections, and another part of the kernel for a socket.
    6: (14, 32, 38, 31),
}
sockets = {1: socket.socket(socket.AF_UNIX), 0: socket.socket(type=socket.SOCK_DGRAM), 41: socket.socket(10, 2), 6: socket.socket()}
for level, names in options.items():
    for name in names: refused((level, name), libc.setsockopt(sockets[level].fileno(), level, name, b'\0' * 256, 256))
print(tries)
";

/// What people do with sockets, and with many of them.
const WORK: &str = r"
import socket, threading
a, b = socket.socketpair(); a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20); b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
a.sendall(b'x' * 1000); a.close(); assert b.recv(2000) == b'x' * 1000 and b.recv(1) == b''
u = socket.socket(type=socket.SOCK_DGRAM); u.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1); u.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 9)
listener = socket.create_server(('127.0.0.1', 0), backlog=256); listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
def echo(connection):
    with connection: connection.sendall(connection.recv(1000))
def serve():
    for n in range(400): echo(listener.accept()[0])
threading.Thread(target=serve, daemon=True).start()
for n in range(2):
    clients = [socket.create_connection(listener.getsockname()) for n in range(200)]
    for client in clients: client.sendall(b'y' * 1000)
    for client in clients: assert len(client.recv(1000)) == 1000; client.close()
print('done')
";

#[tokio::test]
async fn records_with_sockets_are_refused_and_work_goes_on() {
    on_every_host("attacks::unseen::records_with_sockets_are_refused_and_work_goes_on", async |host| {
        let guest = small(host).await;
        for (name, code, said) in [("refused.py", REFUSED, "42"), ("work.py", WORK, "done")] {
            guest.ok("/fs/write_file", json!({"path": name, "content": code})).await;
            assert_eq!(guest.out(&format!("exec python3 {name}")).await, said, "{host:?}");
        }
    })
    .await;
}
