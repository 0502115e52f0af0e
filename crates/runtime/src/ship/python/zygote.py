

# The zygote: an interpreter that has imported what cells will want, runs none of them, and is copied for every life of
# the kernel. A copy costs a fork and shares its memory with the original until one of them writes.
#
# A copy is forked twice, so that it falls to Ship, which is told of its end. It gets a mark of its own: the limits by
# which Ship knows everybody whom the copy starts.
MARKS = (10, 15)  # RLIMIT_LOCKS, RLIMIT_RTTIME
WORD = struct.Struct("=QQ")


def preload(names, wish):
    """Imports ahead of the first cell what it will want; what is not there is not missed."""
    import ast  # noqa: F401
    import base64  # noqa: F401
    import importlib
    import traceback  # noqa: F401

    wanted = [*names.split(","), "IPython.core.interactiveshell" if wish == "always" else ""]
    for name in filter(None, wanted):
        try:
            importlib.import_module(name)
        except Exception:
            pass


def fork():
    """A fork without the warning about threads: that there are none was seen before."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return os.fork()


def can_be_copied():
    """Whether a copy would be whole. A fork takes one thread along; who waits for another one waits for ever.

    Libraries that know of forks (OpenBLAS) end their threads before one and start them again when they are needed.
    That is why the threads are counted after a fork that was made for nothing else.
    """
    import threading

    if threading.active_count() > 1:
        return False
    trial = fork()
    if trial == 0:
        os._exit(0)
    os.waitpid(trial, 0)
    return len(os.listdir("/proc/self/task")) == 1


class Zygote:
    def __init__(self, channel):
        import gc
        import resource
        import socket
        import time

        self.receive = socket.recv_fds
        self.line = socket.socket(fileno=channel.number)
        self.limit = resource.setrlimit
        self.sleep = time.sleep
        if not can_be_copied():
            self.line.detach()
            raise RuntimeError("something that was imported has started a thread")
        # Collecting writes to every object that it looks at, and so would end the sharing.
        gc.collect()
        gc.freeze()
        # The kernel buries those who only fork once more.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    def live(self):
        """Returns in every copy, with its own line to Ship; never in the original."""
        while True:
            word, numbers, _, _ = self.receive(self.line, WORD.size, 3)
            if len(numbers) != 3 or len(word) != WORD.size:
                os._exit(0)
            flush()
            try:
                if fork() == 0:
                    return self.divide(WORD.unpack(word), *numbers)
            except OSError:
                # Ship sees the end of the socket.
                pass
            for number in numbers:
                os.close(number)

    def divide(self, mark, line, output, error):
        """In the first copy, which ends: makes the second, and returns there when it has fallen to Ship."""
        first = os.getpid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            if fork():
                os._exit(0)
        except OSError:
            os._exit(1)
        while os.getppid() == first:
            self.sleep(0.0002)
        for kind, most in zip(MARKS, mark):
            self.limit(kind, (most, most))
        os.setsid()
        os.dup2(output, 1)
        os.dup2(error, 2)
        for number in (output, error):
            os.close(number)
        self.line.close()
        return Channel(line)


def sow():
    """Gives a copy chance of its own. Python's `random` does so by itself."""
    numpy = sys.modules.get("numpy")
    try:
        numpy.random.seed()
    except Exception:
        pass


def main(number, wish, role, ahead):
    channel = Channel(number)
    os.environ.setdefault("MPLBACKEND", "agg")
    prepare_paths()
    cells = Cells(wish)
    signal.signal(signal.SIGINT, cells.interrupt)
    ready = {"version": sys.version.split()[0], "zygote": False, "pid": os.getpid()}
    if role == "zygote":
        preload(ahead, wish)
        try:
            zygote = Zygote(channel)
        except Exception:
            # It cannot be copied; it is a good interpreter all the same.
            zygote = None
        if zygote is not None:
            channel.send({**ready, "zygote": True})
            channel = zygote.live()
            sow()
    ready["pid"] = os.getpid()
    channel.send(ready)
    serve(channel, cells)


main(int(sys.argv[1]), *sys.argv[2:5])
