

# The zygote: an interpreter that has imported what cells will want, runs none of them, and is copied for every life of
# the kernel. A copy costs a fork and shares its memory with the original until one of them writes.
#
# Between the zygote and its copy stands a keeper, as between Ship and everything else that it starts: a process that
# adopts the orphans below it, says how the copy ended, and goes when the last one below it has gone.
PR_SET_NAME = 15
PR_SET_CHILD_SUBREAPER = 36
KEEPER, STARTED, ENDED = 2, 0, 1


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
        import ctypes
        import gc
        import socket

        self.receive = socket.recv_fds
        self.line = socket.socket(fileno=channel.number)
        self.prctl = ctypes.CDLL(None).prctl
        if not can_be_copied():
            self.line.detach()
            raise RuntimeError("something that was imported has started a thread")
        # Collecting writes to every object that it looks at, and so would end the sharing.
        gc.collect()
        gc.freeze()
        # The kernel buries the keepers.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    def live(self):
        """Returns in every copy, with its own line to Ship; never in the original."""
        while True:
            _, numbers, _, _ = self.receive(self.line, 1, 4)
            if len(numbers) != 4:
                os._exit(0)
            flush()
            try:
                if fork() == 0:
                    return self.divide(*numbers)
            except OSError:
                # Ship sees the ends of the pipes.
                pass
            for number in numbers:
                os.close(number)

    def divide(self, line, output, error, news):
        """In the copy: becomes the keeper, and returns only in the copy of it that is to run cells."""
        self.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.write(news, struct.pack("=ii", KEEPER, os.getpid()))
        try:
            worker = fork()
        except OSError:
            os._exit(1)
        if worker:
            self.keep(worker, news)
        os.setsid()
        os.dup2(output, 1)
        os.dup2(error, 2)
        for number in (output, error, news):
            os.close(number)
        self.line.close()
        return Channel(line)

    def keep(self, worker, news):
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            self.prctl(PR_SET_NAME, b"keeper", 0, 0, 0)
            # The worker's pipes must end when the worker's side ends, not when its keeper does.
            os.closerange(0, news)
            os.closerange(news + 1, os.sysconf("SC_OPEN_MAX"))
            os.write(news, struct.pack("=ii", STARTED, worker))
            while True:
                ended, status = os.waitpid(-1, 0)
                if ended == worker:
                    os.write(news, struct.pack("=ii", ENDED, status))
        finally:
            # No child is left.
            os._exit(0)


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
    ready = {"version": sys.version.split()[0], "zygote": False}
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
    channel.send(ready)
    serve(channel, cells)


main(int(sys.argv[1]), *sys.argv[2:5])
