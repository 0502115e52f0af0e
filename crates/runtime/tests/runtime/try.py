# Tools for the tries: each says `held` when the wall held and `BREACH` when it did not, and nothing in between.
import ctypes, errno, os, socket, sys

libc = ctypes.CDLL(None, use_errno=True)
NO = {errno.EPERM, errno.ENOSYS, errno.EACCES, errno.EROFS, errno.ENOENT, errno.ESRCH, errno.EAFNOSUPPORT, errno.ENETUNREACH,
      errno.ECONNREFUSED, errno.ENODEV, errno.ENXIO, errno.EXDEV, errno.EINVAL}


def say(breached, detail=""):
    print("BREACH" if breached else "held", detail)


def call(number, *args):
    """A system call by its number must be refused; EINVAL and the like would mean that it was tried."""
    ctypes.set_errno(0)
    args = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    result = libc.syscall(ctypes.c_long(number), *args)
    code = ctypes.get_errno()
    say(result != -1 or code not in (errno.EPERM, errno.ENOSYS, errno.EACCES), f"{result} {errno.errorcode.get(code, code)}")


def fails(work):
    """The work must end with an OSError of the kind that a wall gives."""
    try:
        result = work()
    except OSError as error:
        say(error.errno not in NO and not isinstance(error, socket.gaierror), repr(error))
    else:
        say(True, repr(result))


def unreadable(path):
    def work():
        with open(path, "rb") as file:
            return file.read(64)
    try:
        got = work()
    except OSError as error:
        say(error.errno not in NO, repr(error))
    else:
        # Masked files are empty.
        say(got != b"", repr(got))


def unwritable(path, text="1"):
    def work():
        with open(path, "w") as file:
            file.write(text)
    fails(work)


def no_connection(host, port, kind=socket.SOCK_STREAM):
    def work():
        with socket.socket(socket.AF_INET, kind) as s:
            s.settimeout(1)
            s.connect((host, port))
            s.send(b"x")
    try:
        work()
    except TimeoutError:
        say(True, "packets went somewhere")
    except OSError as error:
        say(error.errno not in NO, repr(error))
    else:
        say(True)


exec(sys.argv[1])
