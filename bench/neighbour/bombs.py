"""The bombs: what one hostile sandbox does, each as a Python program for the system's own Python, nothing to install.

Each runs until it is ended or its seconds are over, and holds on to what it got. Each is bounded (bytes, count), so that the
machine survives when a wall does not: none takes more than 3 GiB, all together run one after another.
"""

HEAD = """
import os, sys, time, socket, ctypes, threading, mmap, errno
end = time.monotonic() + {seconds}
libc = ctypes.CDLL(None, use_errno=True)
MOST = 3 << 30
kept = []
def hold():
    while time.monotonic() < end:
        time.sleep(0.05)
"""

BOMBS = {
    "memory": """
got = 0
while got < MOST and time.monotonic() < end:
    kept.append(bytearray(b"x") * (16 << 20)); got += 16 << 20
hold()
""",
    "memfd": """
got = 0
while got < MOST and time.monotonic() < end:
    try:
        fd = os.memfd_create("m")
    except OSError as e:
        print(e); break
    kept.append(fd)
    for _ in range(16):
        got += os.write(fd, b"x" * (16 << 20))
hold()
""",
    "shared memory": """
got = 0
while got < MOST and time.monotonic() < end:
    shm = libc.shmget(0, 64 << 20, 0o1600)
    if shm < 0:
        print(os.strerror(ctypes.get_errno())); break
    libc.shmat.restype = ctypes.c_void_p
    at = libc.shmat(shm, None, 0)
    ctypes.memset(at, 1, 64 << 20); libc.shmdt(ctypes.c_void_p(at)); got += 64 << 20
for n in range(48):
    if time.monotonic() > end: break
    try:
        with open(f"/dev/shm/{{n}}", "wb") as f: f.write(b"x" * (64 << 20))
    except OSError as e:
        print(e); break
hold()
""",
    "sockets": """
for _ in range(5):
    if os.fork() == 0: break
got = 0
while got < MOST // 6 and time.monotonic() < end:
    try:
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    except OSError as e:
        break
    a.setblocking(False); kept.append((a, b))
    try:
        while True: got += a.send(b"x" * 100000)
    except OSError: pass
hold()
""",
    "pipes": """
got = 0
while got < MOST and time.monotonic() < end:
    try:
        r, w = os.pipe()
    except OSError as e:
        print(e); break
    os.set_blocking(w, False); libc.fcntl(w, 1031, 1 << 20); kept.append((r, w))
    try:
        while True: got += os.write(w, b"x" * 65536)
    except OSError: pass
hold()
""",
    "inodes": """
n = 0
for place in ("/tmp", "."):
    try:
        while n < 300_000 and time.monotonic() < end:
            os.close(os.open(f"{{place}}/i{{n}}", os.O_CREAT | os.O_WRONLY)); n += 1
    except OSError as e:
        print(e)
hold()
""",
    "disk": """
got = 0
try:
    while got < MOST and time.monotonic() < end:
        with open(f"d{{got}}", "wb") as f: got += f.write(b"x" * (16 << 20))
except OSError as e:
    print(e)
hold()
""",
    "forks": """
n = 0
while n < 20_000 and time.monotonic() < end:
    try:
        if os.fork() == 0:
            n = 0
    except OSError:
        time.sleep(0.001)
    n += 1
hold()
""",
    "threads": """
n = 0
try:
    while n < 20_000 and time.monotonic() < end:
        threading.Thread(target=hold, daemon=True).start(); n += 1
except RuntimeError as e:
    print(n, e)
hold()
""",
    "inotify": """
while len(kept) < 100_000 and time.monotonic() < end:
    fd = libc.inotify_init1(0)
    if fd < 0: break
    kept.append(fd)
for fd in kept:
    for name in os.listdir("/usr/bin"):
        if time.monotonic() > end or libc.inotify_add_watch(fd, b"/usr/bin/" + name.encode(), 0xfff) < 0: break
hold()
""",
    "logs": """
line = "x" * 65535 + chr(10)
while time.monotonic() < end:
    sys.stdout.write(line); sys.stderr.write(line)
""",
    "processor": """
for _ in range(7):
    if os.fork() == 0: break
while time.monotonic() < end: pass
""",
}


def program(name: str, seconds: float) -> str:
    """The whole program of one bomb."""
    return HEAD.format(seconds=seconds) + BOMBS[name].replace("{{", "{").replace("}}", "}")
