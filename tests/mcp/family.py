"""Who is below a process, and what each is doing."""

import os


def stat(pid):
    try:
        text = open(f"/proc/{pid}/stat").read()
        rest = text.rsplit(")", 1)[1].split()
        return rest[0], int(rest[1])
    except (OSError, IndexError, ValueError):
        return None


def below(root):
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (found := stat(name)):
            parents[int(name)] = found
    family, grew = {root}, True
    while grew:
        more = {pid for pid, (_, parent) in parents.items() if parent in family and pid not in family}
        family |= more
        grew = bool(more)
    return {pid: parents[pid][0] for pid in family - {root} if pid in parents}


def word(pid):
    try:
        return open(f"/proc/{pid}/cmdline").read().replace("\0", " ")
    except OSError:
        return ""
