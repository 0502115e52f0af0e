"""What a sandbox costs on each driver: `drivers.py COVE ROUNDS IDLE`; see `run`.

All ways are asked in turn in each round, so that whatever else the machine does meets all of them. What Bay adds to an engine is told
by its peer: the very container or Pod that Bay orders, ordered without Bay, asked in the same way, and deleted in the same way.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "neighbour"))
from engine import Bare, Timed, command, shims  # noqa: E402
from memory import available_mb, weigh_mb  # noqa: E402
from neighbour import KEY, Caller, Served  # noqa: E402
from pod import Pod  # noqa: E402

IMAGE = "cove-bench:1"
PROFILE = """
security: {allow_anonymous: false}
limits: {max_sandboxes: 10000}
profiles:
  - id: p
    resources: {cpus: 1, memory: 512m}
    capabilities: [python, shell, filesystem]
    idle_timeout: 3600
"""
DOCKER = "driver: {type: docker, image_pull_policy: never, docker: {ship_image: '%s'}}\n" % IMAGE
NAMESPACE = os.environ.get("COVE_BENCH_NAMESPACE", "default")
KUBERNETES = "driver: {type: k8s, image_pull_policy: if_not_present, k8s: {ship_image: '%s', namespace: %s, chown_volumes: true}}\n" % (IMAGE, NAMESPACE)
# Written by Bay on each of its containers.
RECORDS = "cove.records"
GOAL_OVERHEAD, GOAL_WARM_MS, GOAL_DENSE = 1.10, 5.0, 5.0
SECCOMP = pathlib.Path(__file__).resolve().parents[2] / "packaging/container/seccomp.json"


class Way(Timed):
    """One way to have sandboxes: a Bay and what it is asked."""

    def __init__(self, name: str, port: int):
        super().__init__()
        self.name, self.caller = name, Caller(port)
        self.warm = self.create()
        self.execute(self.warm)

    def create(self) -> str:
        status, answer = self.caller.call("POST", "/v1/sandboxes", {"profile": "p"})
        assert status == 201, (self.name, status, answer)
        return answer["id"]

    def execute(self, box: str):
        status, answer = self.caller.call("POST", f"/v1/sandboxes/{box}/shell/exec", {"command": "true", "timeout": 60})
        assert status == 200 and answer["success"], (self.name, status, answer)

    def delete(self, box: str):
        status, answer = self.caller.call("DELETE", f"/v1/sandboxes/{box}")
        assert status in (200, 204), (self.name, status, answer)

    def start(self) -> str:
        box = self.create()
        self.execute(box)
        return box

    def round(self):
        box = self.timed("first", self.start)
        for _ in range(5):
            self.timed("warm", lambda: self.execute(self.warm))
        self.timed("delete", lambda: self.delete(box))


class Dense(Served):
    """Bay in one container, with local walls inside."""

    def __init__(self, cove: str, folder: str):
        config = pathlib.Path(folder, "bay.yaml")
        config.write_text(PROFILE)
        self.container = command(
            "docker", "run", "-d", "--network", "host", "--user", "1000:1000", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
            "--security-opt", f"seccomp={SECCOMP}", "--security-opt", "systempaths=unconfined", "--tmpfs", "/data:mode=0700,uid=1000,gid=1000",
            "-e", f"BAY_API_KEY={KEY}", "-e", "COVE_DATA_DIR=/data/cove", "-e", "COVE_LOG=error", "-v", f"{config}:/bay.yaml:ro",
            "--entrypoint", "cove", IMAGE, "serve", "--port", "0", "--json", "--config", "/bay.yaml")
        said = ""
        while "listening" not in said:
            said = command("docker", "logs", self.container)
            assert command("docker", "inspect", "-f", "{{.State.Running}}", self.container) == "true", said
            time.sleep(0.05)
        self.port = int(json.loads(said.splitlines()[0])["listening"].rsplit(":", 1)[1].strip("/"))

    def end(self):
        subprocess.run(["docker", "rm", "-f", self.container], check=True, stdout=subprocess.DEVNULL)


def roots(bay, way: Way):
    """The processes below which everything of a Bay's is: its own; of containers what keeps each, which is no child of Bay's."""
    if isinstance(bay, Dense):
        return shims([bay.container])
    if way.name == "kubernetes":
        # Where its engine is this one: a Pod is two containers, one of which only holds the other's network.
        return [bay.process.pid, *shims(command("docker", "ps", "-q", "--filter", f"label=io.kubernetes.pod.namespace={NAMESPACE}").split())]
    if way.name == "docker":
        return [bay.process.pid, *shims(command("docker", "ps", "-q", "--filter", f"label={RECORDS}={way.records}").split())]
    return [bay.process.pid]


def idle_mb(bay, way: Way, count: int):
    """What `count` more sandboxes that have run something weigh, each: by the processes' own count, and by the machine's."""
    before, free = weigh_mb(roots(bay, way)), available_mb()
    boxes = [way.start() for _ in range(count)]
    # A Bay's watches and an engine's own upkeep come to rest.
    time.sleep(2)
    after, left = weigh_mb(roots(bay, way)), available_mb()
    for box in boxes:
        way.delete(box)
    return (after - before) / count, (free - left) / count


def figures(ms) -> str:
    return f"{statistics.median(ms):.1f} ({min(ms):.1f})" if ms else "–"


def main():
    cove, rounds, idle = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    has_engine = "COVE_BENCH_ENGINE" in os.environ
    bays, ways, bare, pod, weights = [], [], None, None, {}
    with tempfile.TemporaryDirectory(prefix="drivers") as top:
        os.chmod(top, 0o711)

        def open_bay(name: str, make):
            folder = pathlib.Path(top, name)
            folder.mkdir(mode=0o711)
            os.environ["BAY_RUNTIME_DIR"] = str(folder / "run")
            bays.append(make(str(folder)))
            ways.append(Way(name, bays[-1].port))

        try:
            open_bay("local", lambda folder: Served(cove, folder, True, PROFILE))
            if has_engine:
                open_bay("docker", lambda folder: Served(cove, folder, True, PROFILE + DOCKER))
                open_bay("dense", lambda folder: Dense(cove, folder))
                bare = Bare(ways[1].warm, top)
                ways[1].records = bare.config["Labels"][RECORDS]
                bare.begin()
            if os.environ.get("KUBECONFIG"):
                try:
                    open_bay("kubernetes", lambda folder: Served(cove, folder, True, PROFILE + KUBERNETES))
                    pod = Pod(ways[-1].warm, NAMESPACE)
                    pod.begin()
                except (ValueError, AssertionError, OSError, subprocess.CalledProcessError) as error:
                    print(f"NOT MEASURED on Kubernetes: {error}", file=sys.stderr)
            for number in range(rounds):
                for way in ways if number % 2 else ways[::-1]:
                    way.round()
                for peer in filter(None, (bare, pod)):
                    peer.round()
            for bay, way in zip(bays, ways):
                weights[way.name] = idle_mb(bay, way, idle)
        finally:
            for peer in filter(None, (bare, pod)):
                peer.end()
            for bay in bays:
                bay.end()
    print(f"\np50 (minimum) in ms, {rounds} rounds; MB of one idle sandbox of {idle}: by its processes (PSS), and by what the machine has less (of use where nobody else is at work)\n")
    print("| | create → first exec | warm exec | delete | MB, processes | MB, machine |\n|---|---|---|---|---|---|")
    names = {"local": "Bay, local walls", "docker": "Bay, Docker", "dense": "Bay in a container, local walls", "kubernetes": "Bay, Kubernetes"}
    for way in ways:
        by_process, by_machine = weights[way.name]
        print(f"| {names[way.name]} | {figures(way.ms['first'])} | {figures(way.ms['warm'])} | {figures(way.ms['delete'])} | {by_process:.1f} | {by_machine:.1f} |")
    if not bare:
        return
    print(f"| the same container, without Bay | {figures(bare.ms['first'])} | {figures(bare.ms['warm'])} | {figures(bare.ms['delete'])} | | |")
    print(f"| `docker run --rm … true`; `docker exec … true` | {figures(bare.ms['run'])} | {figures(bare.ms['exec'])} | | | |")
    if pod:
        print(f"| the same Pod and claim, without Bay | {figures(pod.ms['first'])} | {figures(pod.ms['warm'])} | {figures(pod.ms['delete'])} | | |")
    docker = next(way for way in ways if way.name == "docker")
    ratio = lambda what, way=docker, peer=bare: statistics.median(way.ms[what]) / statistics.median(peer.ms[what])
    least = lambda what, way=docker, peer=bare: min(way.ms[what]) / min(peer.ms[what])
    verdict = lambda kept: "kept" if kept else "MISSED"
    warm, dense = statistics.median(docker.ms["warm"]), weights["docker"][0] / weights["dense"][0]
    print("\n| goal | | |\n|---|---|---|")
    print(f"| Bay on Docker ÷ the same container without Bay, create → first exec: at most {GOAL_OVERHEAD} | {ratio('first'):.2f} (of minima {least('first'):.2f}) | {verdict(ratio('first') <= GOAL_OVERHEAD)} |")
    if pod:
        way = next(way for way in ways if way.name == "kubernetes")
        for what, named in (("first", "create → first exec"), ("delete", "delete")):
            now = ratio(what, way, pod)
            print(f"| Bay on Kubernetes ÷ the same Pod without Bay, {named}: at most {GOAL_OVERHEAD} | {now:.2f} (of minima {least(what, way, pod):.2f}) | {verdict(now <= GOAL_OVERHEAD)} |")
    print(f"| warm exec on Docker: at most {GOAL_WARM_MS:.0f} ms | {warm:.1f} | {verdict(warm <= GOAL_WARM_MS)} |")
    if "kubernetes" in weights:
        pods = weights["kubernetes"][0] / weights["dense"][0]
        print(f"| idle sandboxes in a GiB, dense ÷ one Pod each: at least {GOAL_DENSE:.0f} | {pods:.1f} | {verdict(pods >= GOAL_DENSE)} |")
    print(f"| idle sandboxes in a GiB, dense ÷ one container each: at least {GOAL_DENSE:.0f} | {dense:.1f} | {verdict(dense >= GOAL_DENSE)} |")


main()
