"""How soon sandboxes of two builds answer, side by side: `starts.py BEFORE AFTER [ROUNDS]`.

Each build serves in a folder of its own, and both are asked in turn, so that whatever else the machine does meets both.
Printed: p50 and minimum in milliseconds of each, and the ratio of the p50s.
"""
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "neighbour"))
from neighbour import Caller, Served  # noqa: E402

CONFIG = """
profiles:
  - id: cold
    resources: {cpus: 1, memory: 1g}
    capabilities: [python, shell, filesystem]
  - id: warm
    resources: {cpus: 1, memory: 1g}
    capabilities: [python, shell, filesystem]
    warm_pool_size: 2
"""
# A pool is filled again between two creates.
REFILL = 0.3


class Build:
    def __init__(self, cove: str, folder: str):
        self.bay = Served(cove, folder, True, CONFIG)
        self.caller = Caller(self.bay.port)
        self.ms = {}
        self.box = self.create("cold")
        self.execute(self.box)

    def create(self, profile: str) -> str:
        status, answer = self.caller.call("POST", "/v1/sandboxes", {"profile": profile})
        assert status in (200, 201), (status, answer)
        return answer["id"]

    def execute(self, box: str):
        status, answer = self.caller.call("POST", f"/v1/sandboxes/{box}/shell/exec", {"command": "true", "timeout": 60})
        assert status == 200 and answer["success"], (status, answer)

    def timed(self, what: str, work):
        began = time.perf_counter()
        result = work()
        self.ms.setdefault(what, []).append((time.perf_counter() - began) * 1000)
        return result

    def start(self, profile: str) -> str:
        box = self.create(profile)
        self.execute(box)
        return box

    def round(self):
        for what, profile in (("create + first exec, cold", "cold"), ("create + first exec, warm pool", "warm")):
            box = self.timed(what, lambda: self.start(profile))
            self.caller.call("DELETE", f"/v1/sandboxes/{box}")
            time.sleep(REFILL)
        for _ in range(5):
            self.timed("warm exec", lambda: self.execute(self.box))


def main():
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        builds = []
        try:
            for cove, folder in zip(sys.argv[1:3], (one, other)):
                builds.append(Build(cove, folder))
            for number in range(rounds):
                for build in builds if number % 2 else builds[::-1]:
                    build.round()
        finally:
            for build in builds:
                build.bay.end()
    before, after = builds
    print("| ms | before p50 | minimum | after p50 | minimum | p50 ÷ |\n|---|---|---|---|---|---|")
    for what, old in before.ms.items():
        new = after.ms[what]
        p50 = [statistics.median(old), statistics.median(new)]
        print(f"| {what} | {p50[0]:.2f} | {min(old):.2f} | {p50[1]:.2f} | {min(new):.2f} | {p50[1] / p50[0]:.2f} |")


if __name__ == "__main__":
    main()
