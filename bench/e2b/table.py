"""Times of E2B's own SDK against a server with a warm pool; for each, the time that the server itself took, as its log says it."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROUNDS = int(os.environ["ROUNDS"])
KEY = "e2b-bench-key-0123456789"
WARM = {"id": "warm", "warm_pool_size": 4, "containers": [{"name": "ship", "runtime_type": "ship"}]}


class Server:
    """`cove serve`, and how long its log says that requests took."""

    def __init__(self, folder):
        config = os.path.join(folder, "config.json")
        with open(config, "w") as file:
            json.dump({"profiles": [WARM]}, file)
        self.took = []
        words = [os.environ["COVE"], "serve", "--ephemeral", "--config", config]
        environ = {**os.environ, "BAY_API_KEY": KEY}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environ)
        threading.Thread(target=self.hear, daemon=True).start()
        self.url = self.process.stdout.readline().strip()

    def hear(self):
        for line in self.process.stderr:
            try:
                self.took.append(json.loads(line)["ms"])
            except (ValueError, KeyError):
                pass

    def own(self, count):
        """The time of the requests since the last question, once all of them are in the log."""
        end = time.monotonic() + 1
        while len(self.took) < count and time.monotonic() < end:
            time.sleep(0.001)
        took, self.took = self.took, []
        return sum(took)


def measure(server, name, work, requests, before=lambda: None):
    whole, own = [], []
    for _ in range(ROUNDS):
        before()
        time.sleep(0.2)
        server.took = []
        begin = time.perf_counter()
        work()
        whole.append((time.perf_counter() - begin) * 1000)
        own.append(server.own(requests))
    median, share = statistics.median(whole), statistics.median(own)
    print(f"| {name} | {median:.1f} | {max(whole):.1f} | {max(median - share, 0):.1f} |")


with tempfile.TemporaryDirectory() as folder:
    server = Server(folder)
    os.environ.update(E2B_API_URL=f"{server.url}/e2b", E2B_SANDBOX_URL=f"{server.url}/e2b", E2B_API_KEY=KEY)
    from e2b_code_interpreter import Sandbox

    sandbox = Sandbox.create()
    sandbox.run_code("1")
    megabyte = os.urandom(1 << 20)
    made = []

    def first():
        made.append(Sandbox.create("warm"))
        made[-1].commands.run("true")

    def clear():
        while made:
            made.pop().kill()

    def file():
        sandbox.files.write("megabyte", megabyte)
        assert sandbox.files.read("megabyte", format="bytes") == megabyte

    print(f"medians of {ROUNDS} rounds, milliseconds\n")
    print("| | median | worst | of it the SDK's |\n|---|---|---|---|")
    measure(server, "create (warm) and first command", first, 2, clear)
    measure(server, "a command", lambda: sandbox.commands.run("true"), 1)
    measure(server, "`run_code`, warm", lambda: sandbox.run_code("1 + 1"), 1)
    measure(server, "1 MB written and read", file, 2)
    clear()
    sandbox.kill()
    server.process.stdin.close()
    sys.exit(server.process.wait())
