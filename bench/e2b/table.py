"""Times of E2B's own SDK against `cove serve`, and how much of each is the SDK's own.

In each round the same requests are also sent bare, over one connection that is kept: what the SDK takes beyond that is its
own. Ends with 1 where a goal is missed.
"""

import http.client
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

ROUNDS = int(os.environ["ROUNDS"])
KEY = "e2b-bench-key-0123456789"
WARM = {"id": "warm", "warm_pool_size": 4, "containers": [{"name": "ship", "runtime_type": "ship"}]}
COLD = {"id": "cold", "warm_pool_size": 0, "containers": [{"name": "ship", "runtime_type": "ship"}]}
ENVD, CODE = 49983, 49999
CONNECT = {"Content-Type": "application/connect+json", "Connect-Protocol-Version": "1"}


class Bare:
    """The SDK's requests without the SDK."""

    def __init__(self, url):
        address = urllib.parse.urlsplit(url)
        self.line = http.client.HTTPConnection(address.hostname, address.port, timeout=60)

    def ask(self, method, path, body=None, headers=None):
        self.line.request(method, f"/e2b{path}", body=body, headers={"X-API-KEY": KEY, **(headers or {})})
        answer = self.line.getresponse()
        said = answer.read()
        assert answer.status < 300, (answer.status, said)
        return said

    def create(self, template):
        wish = json.dumps({"templateID": template, "timeout": 300})
        return json.loads(self.ask("POST", "/sandboxes", wish, {"Content-Type": "application/json"}))

    @staticmethod
    def to(sandbox, port):
        token = sandbox["envdAccessToken"]
        return {"E2b-Sandbox-Id": sandbox["sandboxID"], "E2b-Sandbox-Port": str(port), "X-Access-Token": token}

    def command(self, sandbox):
        process = {"cmd": "/bin/bash", "args": ["-l", "-c", "true"], "envs": {}}
        message = json.dumps({"process": process, "stdin": False}).encode()
        body = struct.pack(">BI", 0, len(message)) + message
        said = self.ask("POST", "/process.Process/Start", body, {**self.to(sandbox, ENVD), **CONNECT})
        assert b'"exitCode":0' in said, said

    def code(self, sandbox):
        headers = {**self.to(sandbox, CODE), "Content-Type": "application/json"}
        said = self.ask("POST", "/execute", json.dumps({"code": "1 + 1"}), headers)
        assert b'"2"' in said, said

    def file(self, sandbox, content):
        line = "of-the-bench"
        head = f'--{line}\r\nContent-Disposition: form-data; name="file"; filename="megabyte"\r\n\r\n'.encode()
        body = head + content + f"\r\n--{line}--\r\n".encode()
        headers = {**self.to(sandbox, ENVD), "Content-Type": f"multipart/form-data; boundary={line}"}
        self.ask("POST", "/files?path=bare", body, headers)
        assert self.ask("GET", "/files?path=bare", None, self.to(sandbox, ENVD)) == content

    def kill(self, sandbox):
        self.ask("DELETE", f"/sandboxes/{sandbox['sandboxID']}")


def took(work):
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


class Table:
    """Its lines, and whether every goal was reached."""

    def __init__(self):
        self.missed = False

    def line(self, name, goal, work, bare, before=lambda: None):
        whole, alone = [], []
        for number in range(ROUNDS):
            # Each goes first as often as the other.
            for times, one in [(whole, work), (alone, bare)][:: 1 if number % 2 else -1]:
                before()
                times.append(took(one))
        median, own = statistics.median(whole), statistics.median(alone)
        verdict = "" if goal is None else f"{goal} ({'missed' if median > goal else 'reached'})"
        self.missed |= goal is not None and median > goal
        print(f"| {name} | {median:.1f} | {max(whole):.1f} | {own:.1f} | {median - own:.1f} | {verdict} |", flush=True)


def main(url):
    os.environ.update(E2B_API_URL=f"{url}/e2b", E2B_SANDBOX_URL=f"{url}/e2b", E2B_API_KEY=KEY)
    from e2b_code_interpreter import Sandbox

    bare, table, made = Bare(url), Table(), []
    sandbox, plain = Sandbox.create(), bare.create("base")
    sandbox.run_code("1")
    bare.code(plain)
    megabyte = os.urandom(1 << 20)

    def sdk_first(template):
        made.append(Sandbox.create(template))
        made[-1].commands.run("true")

    def bare_first(template):
        made.append(bare.create(template))
        bare.command(made[-1])

    def clear():
        while made:
            one = made.pop()
            bare.kill(one) if isinstance(one, dict) else one.kill()
        # The pool is filled again.
        time.sleep(0.3)

    def file():
        sandbox.files.write("megabyte", megabyte)
        assert sandbox.files.read("megabyte", format="bytes") == megabyte

    print(f"medians of {ROUNDS} rounds, milliseconds\n")
    print("| | median | worst | the same requests bare | the SDK's own | goal |\n|---|---|---|---|---|---|")
    table.line("create (warm) and first command", 25, lambda: sdk_first("warm"), lambda: bare_first("warm"), clear)
    table.line("create (cold) and first command", None, lambda: sdk_first("cold"), lambda: bare_first("cold"), clear)
    table.line("a command", None, lambda: sandbox.commands.run("true"), lambda: bare.command(plain))
    table.line("`run_code`, warm", 5, lambda: sandbox.run_code("1 + 1"), lambda: bare.code(plain))
    table.line("1 MB written and read", 15, file, lambda: bare.file(plain, megabyte))
    clear()
    sandbox.kill()
    bare.kill(plain)
    return table.missed


with tempfile.TemporaryDirectory() as folder:
    config = os.path.join(folder, "config.json")
    with open(config, "w") as file:
        json.dump({"profiles": [WARM, COLD]}, file)
    words = [os.environ["COVE"], "serve", "--ephemeral", "--config", config]
    pipe, environ = subprocess.PIPE, {**os.environ, "BAY_API_KEY": KEY}
    server = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environ)
    # What it logs must be taken, or it would wait.
    threading.Thread(target=server.stderr.read, daemon=True).start()
    try:
        missed = main(server.stdout.readline().strip())
    finally:
        server.stdin.close()
        ended = server.wait()
    sys.exit(ended or int(missed))
