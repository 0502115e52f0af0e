"""Times each program in both ways, turn by turn, and prints medians, their ratio, and what the promise allows."""

import json
import os
import statistics
import subprocess
import time
from pathlib import Path

COVE, ROUNDS = os.environ["COVE"], int(os.environ["ROUNDS"])
PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.js"))


def run(program: Path, engine: str) -> tuple[float, dict]:
    """The seconds from start to end of `cove run`, and what it said."""
    begin = time.monotonic()
    done = subprocess.run(
        [COVE, "run", str(program), "--json", "--engine", engine, "--timeout-ms", "120000"], capture_output=True, text=True
    )
    return time.monotonic() - begin, json.loads(done.stdout)


def main() -> int:
    print(f"{'program':<12}{'browser':>9}{'embedded':>10}{'auto':>9}{'auto ÷ browser':>16}{'allowed':>9}  who answered")
    missed = 0
    for program in PROGRAMS:
        times: dict[str, list[float]] = {"browser": [], "auto": []}
        alone, first = run(program, "embedded")
        winners = []
        for _ in range(ROUNDS):
            for engine, taken in times.items():
                seconds, said = run(program, engine)
                assert said["ok"] and said["result"] == first["result"], (program, engine, said)
                taken.append(seconds)
                if engine == "auto":
                    winners.append(said["engine"]["name"])
        browser, auto = (statistics.median(times[engine]) for engine in ("browser", "auto"))
        allowed = 1.3 * browser + 1
        missed += auto > allowed
        who = ", ".join(f"{name} {winners.count(name)}" for name in sorted(set(winners)))
        mark = "" if auto <= allowed else "  missed"
        print(
            f"{program.stem:<12}{browser:>8.2f}s{alone:>9.2f}s{auto:>8.2f}s{auto / browser:>15.2f}×{allowed:>8.2f}s  {who}{mark}"
        )
    print(f"{len(PROGRAMS) - missed} of {len(PROGRAMS)} within 1.3 × browser + 1 s (medians of {ROUNDS})")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
