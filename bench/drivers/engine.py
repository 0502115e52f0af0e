"""The engine without Bay: the container that Bay orders, ordered by hand, and what `docker` itself takes. For a cluster see `pod`."""
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time

from memory import parent


def command(*words: str) -> str:
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout.strip()


def shims(containers):
    """What keeps each container: the parents of their first processes."""
    if not containers:
        return []
    pids = command("docker", "inspect", "-f", "{{.State.Pid}}", *containers).split()
    return sorted({parent(int(pid)) for pid in pids})


class Line(http.client.HTTPConnection):
    """HTTP over a socket file."""

    def __init__(self, path: str):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def ask(self, method: str, path: str, body=None):
        self.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
        answer = self.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None


class Timed:
    """Keeps how long each thing took."""

    def __init__(self):
        self.ms = {}

    def timed(self, what: str, work):
        began = time.perf_counter()
        result = work()
        self.ms.setdefault(what, []).append((time.perf_counter() - began) * 1000)
        return result


class Bare(Timed):
    """Orders copies of the container that a Bay has ordered for a sandbox."""

    def __init__(self, sandbox: str, top: str):
        super().__init__()
        self.number, self.folder = 0, pathlib.Path(top, "bare")
        found = command("docker", "ps", "-q", "--filter", f"label=cove.sandbox={sandbox}")
        seen = json.loads(command("docker", "inspect", found))[0]
        self.image, self.config, self.host = seen["Config"]["Image"], seen["Config"], seen["HostConfig"]
        self.uid, self.gid = (int(word) for word in self.config["User"].split(":"))
        self.engine = Line(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://"))
        self.there = set()

    def begin(self):
        self.warm, self.line = self.start()

    def order(self, folder: pathlib.Path):
        """The same order with folders of its own, as Bay makes them."""
        mounts = []
        for number, mount in enumerate(self.host["Mounts"]):
            source, here = pathlib.Path(mount["Source"]), folder / str(number)
            if source.is_file():
                shutil.copy(source, here)
            elif mount["Target"] == "/run/cove-lease":
                here = source
            else:
                here.mkdir(parents=True)
                os.chown(here, self.uid, self.gid)
            mounts.append({**mount, "Source": str(here)})
        names = ("User", "WorkingDir", "Entrypoint", "Cmd", "Env", "Image", "Healthcheck")
        return {**{name: self.config.get(name) for name in names}, "HostConfig": {**self.host, "Mounts": mounts}}

    def start(self):
        self.number += 1
        folder, name = self.folder / str(self.number), f"cove-bare-{os.getpid()}-{self.number}"
        folder.mkdir(parents=True)
        order = self.order(folder)
        status, told = self.engine.ask("POST", f"/containers/create?name={name}", order)
        assert status == 201, told
        self.there.add(name)
        status, told = self.engine.ask("POST", f"/containers/{name}/start")
        assert status == 204, told
        shared = next(mount["Source"] for mount in order["HostConfig"]["Mounts"] if mount["Target"] == "/run/cove")
        line = Line(str(pathlib.Path(shared, "runtime.sock")))
        while True:
            try:
                self.execute(line)
                return name, line
            except (FileNotFoundError, ConnectionRefusedError):
                line.close()
                time.sleep(0.005)

    def execute(self, line: Line):
        status, told = line.ask("POST", "/shell/exec", {"command": "true", "timeout": 60})
        assert status == 200 and told["success"], told

    def remove(self, name: str):
        status, told = self.engine.ask("DELETE", f"/containers/{name}?force=1&v=1")
        assert status == 204, told
        self.there.remove(name)
        shutil.rmtree(self.folder / name.rsplit("-", 1)[1])

    def round(self):
        name, _ = self.timed("first", self.start)
        for _ in range(5):
            self.timed("warm", lambda: self.execute(self.line))
        self.timed("delete", lambda: self.remove(name))
        self.timed("run", lambda: command("docker", "run", "--rm", "--network", "none", "--entrypoint", "true", self.image))
        self.timed("exec", lambda: command("docker", "exec", self.warm, "true"))

    def end(self):
        for name in list(self.there):
            self.remove(name)
