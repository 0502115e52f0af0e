"""What sandboxes weigh: the processes below some, each page that several share counted in parts; and what the machine has left."""
import collections
import os


def read(pid: int, name: str) -> str:
    try:
        with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""


def parent(pid: int) -> int:
    words = read(pid, "stat").rpartition(")")[2].split()
    return int(words[1]) if words else 0


def weigh_mb(roots) -> float:
    """These processes and all below them."""
    children = collections.defaultdict(list)
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        children[parent(pid)].append(pid)
    total, ahead = 0, list(roots)
    while ahead:
        pid = ahead.pop()
        ahead += children[pid]
        total += sum(int(line.split()[1]) for line in read(pid, "smaps_rollup").splitlines() if line.startswith("Pss:"))
    return total / 1024


def available_mb() -> float:
    with open("/proc/meminfo", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("MemAvailable")) / 1024
