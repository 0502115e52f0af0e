"""What a neighbour and Bay notice while one sandbox runs a bomb: `neighbour.py COVE [--without-groups] [SECONDS] [BOMB …]`.

Two sandboxes of 1 GiB each. One calls `true` all the time; the other runs each bomb in turn, for SECONDS (6). Beside them
`/health` is asked. Printed: p50 and p95 of the neighbour's call and of `/health`, idle and during each bomb, the ratio of
the p95s (goal: at most 3), what the bomber was told, and how much memory of the machine was gone at the most.
"""
import ctypes
import http.client
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from bombs import BOMBS, program

KEY = "sk-bay-bench-neighbour-0123456789abcdef"
CONFIG = """
profiles:
  - id: small
    resources: {cpus: 1, memory: 1g}
    capabilities: [python, shell, filesystem]
"""
GOAL = 3.0


class Served:
    """A `cove serve` of our own in a temporary folder."""

    def __init__(self, cove: str, folder: str, groups: bool, text: str = CONFIG):
        config = pathlib.Path(folder, "bay.yaml")
        config.write_text(text + ("" if groups else "driver: {local: {control_groups: false}}\n"))
        env = {**os.environ, "BAY_API_KEY": KEY, "COVE_DATA_DIR": folder, "COVE_LOG": "error"}
        command = [cove, "serve", "--port", "0", "--json", "--config", str(config)]
        self.process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        self.port = int(json.loads(self.process.stdout.readline())["listening"].rsplit(":", 1)[1].strip("/"))

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


class Caller:
    """One connection, kept open as a client would; a refused or broken call is an answer, too."""

    def __init__(self, port: int):
        self.port = port
        self.connection = None

    def call(self, method: str, path: str, body=None, wait: float = 120):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=wait)
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        try:
            self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = self.connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        except OSError as error:
            self.connection = None
            return 0, {"error": {"code": "connection", "message": str(error)}}


class Pulse:
    """Asks the same thing again and again, and keeps how long each took."""

    def __init__(self, port: int, method: str, path: str, body, pause: float):
        self.caller, self.ask, self.pause = Caller(port), (method, path, body), pause
        self.ms, self.failures, self.going = [], [], True
        self.thread = threading.Thread(target=self.beat)
        self.thread.start()

    def beat(self):
        while self.going:
            began = time.perf_counter()
            status, answer = self.caller.call(*self.ask)
            self.ms.append((time.perf_counter() - began) * 1000)
            if status != 200 or not answer.get("success", True):
                self.failures.append((status, json.dumps(answer)[:160]))
            time.sleep(self.pause)

    def end(self):
        self.going = False
        self.thread.join()
        return self


def take_short_turns():
    """The callers stand for some on other machines: what is measured must not be how long they wait for a processor here."""
    attributes = (ctypes.c_uint64 * 6)(48, 0, 0, 100_000, 0, 0)
    ctypes.CDLL(None).syscall(314, 0, attributes, 0)


def available_mb() -> float:
    for line in open("/proc/meminfo"):
        if line.startswith("MemAvailable"):
            return int(line.split()[1]) / 1024
    return 0.0


def watch(port: int, box: str, run) -> dict:
    """Runs something while the neighbour and `/health` are asked."""
    before, least = available_mb(), [available_mb()]
    shell = {"command": "true", "timeout": 60}
    calls = Pulse(port, "POST", f"/v1/sandboxes/{box}/shell/exec", shell, 0.01)
    health = Pulse(port, "GET", "/health", None, 0.01)
    going = threading.Event()

    def look():
        while not going.wait(0.05):
            least[0] = min(least[0], available_mb())

    looker = threading.Thread(target=look)
    looker.start()
    told = run()
    calls.end(), health.end(), going.set(), looker.join()
    p = lambda values, n: statistics.quantiles(values, n=100, method="inclusive")[n - 1]
    return {
        "calls": len(calls.ms),
        "exec_p50": p(calls.ms, 50), "exec_p95": p(calls.ms, 95), "exec_max": max(calls.ms),
        "health_p50": p(health.ms, 50), "health_p95": p(health.ms, 95),
        "failures": calls.failures + health.failures, "told": told, "gone_mb": before - least[0],
    }


def said(status: int, answer) -> str:
    """What the bomber was told, in a few words."""
    if status != 200:
        error = (answer or {}).get("error", {})
        return f"{status} {error.get('code')}: {error.get('message', '')[:90]}"
    text = (answer.get("error") or answer.get("output") or "").strip().splitlines()
    return f"exit {answer.get('exit_code')} {text[-1][:90] if text else ''}"


def main():
    words = [word for word in sys.argv[1:] if word != "--without-groups"]
    groups = len(words) == len(sys.argv) - 1
    cove, seconds = words[0], float(words[1]) if len(words) > 1 else 6
    wanted = words[2:] or list(BOMBS)
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        bay = Served(cove, folder, groups)
        try:
            take_short_turns()
            caller = Caller(bay.port)
            create = lambda: caller.call("POST", "/v1/sandboxes", {"profile": "small"})[1]["id"]
            box = create()
            caller.call("POST", f"/v1/sandboxes/{box}/shell/exec", {"command": "true", "timeout": 60})
            watch(bay.port, box, lambda: time.sleep(1))
            idle = watch(bay.port, box, lambda: time.sleep(seconds))
            print("| bomb | exec p50 | p95 (ms) | ÷ idle | /health p95 | ÷ idle | memory gone (MB) | the bomber was told |")
            print("|---|---|---|---|---|---|---|---|")
            print(f"| none | {idle['exec_p50']:.1f} | {idle['exec_p95']:.1f} | 1 | {idle['health_p95']:.1f} | 1 | {idle['gone_mb']:.0f} | |")
            for name in wanted:
                bomber = create()

                def bomb():
                    began = time.monotonic()
                    path = f"/v1/sandboxes/{bomber}"
                    status, _ = caller.call("PUT", f"{path}/filesystem/files", {"path": "bomb.py", "content": program(name, seconds)})
                    command = {"command": "exec python3 bomb.py", "timeout": int(seconds) + 5}
                    told = said(*caller.call("POST", f"{path}/shell/exec", command))
                    # What was ended early may have left something behind: watch for the whole time.
                    time.sleep(max(0.0, seconds - (time.monotonic() - began)))
                    return told

                seen = watch(bay.port, box, bomb)
                deleted, _ = caller.call("DELETE", f"/v1/sandboxes/{bomber}")
                ratio, health = seen["exec_p95"] / idle["exec_p95"], seen["health_p95"] / idle["health_p95"]
                print(f"| {name} | {seen['exec_p50']:.1f} | {seen['exec_p95']:.1f} | {ratio:.1f} | {seen['health_p95']:.1f} | {health:.1f} "
                      f"| {seen['gone_mb']:.0f} | {seen['told']} |", flush=True)
                if ratio > GOAL:
                    missed.append(f"{name}: {ratio:.1f}")
                if health > GOAL:
                    missed.append(f"{name}: /health {health:.1f}")
                for failure in seen["failures"][:3]:
                    missed.append(f"{name}: the neighbour was told {failure}")
                if deleted != 204:
                    missed.append(f"{name}: the bomber could not be deleted ({deleted})")
            caller.call("DELETE", f"/v1/sandboxes/{box}")
        finally:
            bay.end()
    print(f"\nmissed (goal: p95 at most {GOAL} × idle): {'; '.join(missed)}" if missed else "\nthe goal was reached by all")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
