"""Two builds of Cove turn by turn in one run: medians, minima and ratios of what every run pays.

Each side is a folder with the program `cove` and `examples/latency` (`cargo build --release -p cove --bin cove` and
`cargo build --release -p cove-embedded --example latency`), or the program itself. In each round both sides are asked, and the one
that goes first changes, so that a machine that is busy for a while is busy for both.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

TRIVIAL = Path(__file__).parent / "trivial.js"
# Starts of `cove run` in each round.
COLD_STARTS = 15
# In so many of the rounds a thousand sessions are opened and weighed.
WEIGHINGS = 3
SECONDS = 300

# The rows: what it is called, its unit, and the figure of the latency example (None: measured here).
ROWS = [
    ("fresh trivial run", "ms", "fresh_trivial"),
    ("the same, back to back", "ms", "fresh_trivial_back_to_back"),
    ("100 awaits of a tool", "ms", "fresh_100_awaited_tools"),
    ("run in an open session", "ms", "warm_session"),
    ("cold `cove run`", "ms", None),
    ("idle session's own memory", "KB", "sessions_open_at_once"),
]


class Side:
    def __init__(self, given: str) -> None:
        path = Path(given).resolve()
        folder = path.parent if path.is_file() else path
        self.cove, self.latency = folder / "cove", folder / "examples" / "latency"
        if not self.cove.is_file():
            sys.exit(f"{given}: there is no `cove` in it")
        # For each row the median and the least value of each round.
        self.seen: dict[str, list[tuple[float, float]]] = {title: [] for title, _, _ in ROWS}

    def examples(self, part: str) -> None:
        """One part of the latency example: a JSON object in each line."""
        said = subprocess.run([self.latency, part], capture_output=True, text=True, check=True, timeout=SECONDS)
        for line in map(json.loads, said.stdout.splitlines()):
            for title, _, name in ROWS:
                if name is not None and line["name"] == name:
                    self.seen[title].append((line["pss_kb_each"],) * 2 if "pss_kb_each" in line else (line["p50"], line["min"]))

    def cold(self) -> float:
        """One `cove run` from start to end, in milliseconds."""
        begin = time.perf_counter()
        subprocess.run([self.cove, "run", TRIVIAL], capture_output=True, check=True, timeout=SECONDS)
        return (time.perf_counter() - begin) * 1e3


def main() -> int:
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: bench/embedded/run --compare BEFORE AFTER [ROUNDS]")
    before, after = Side(sys.argv[1]), Side(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) == 4 else 8
    has_examples = before.latency.is_file() and after.latency.is_file()
    if not has_examples:
        missing = [str(side.latency) for side in (before, after) if not side.latency.is_file()]
        print(f"only `cove run` is measured: {' and '.join(missing)} is not there", file=sys.stderr)
    for number in range(rounds):
        sides = [before, after] if number % 2 == 0 else [after, before]
        if has_examples:
            for part in ["one"] + ["thousand"] * (number < WEIGHINGS):
                for side in sides:
                    side.examples(part)
        times: dict[Side, list[float]] = {side: [] for side in sides}
        for start in range(COLD_STARTS + 1):
            for side in sides:
                taken = side.cold()
                # The first one reads the program from the disk.
                if start > 0:
                    times[side].append(taken)
        for side in sides:
            side.seen["cold `cove run`"].append((statistics.median(times[side]), min(times[side])))
    print(f"\n{rounds} rounds, turn by turn; the median of the rounds' medians, and the least value of all\n")
    print("| what | before | after | after ÷ before | least before | least after | least ÷ least |\n|---|---|---|---|---|---|---|")
    for title, unit, _ in ROWS:
        if not before.seen[title]:
            continue
        medians = [statistics.median(median for median, _ in side.seen[title]) for side in (before, after)]
        least = [min(value for _, value in side.seen[title]) for side in (before, after)]
        digits = 3 if unit == "ms" else 0
        cells = [f"{value:.{digits}f}" for value in (*medians, *least)]
        print(
            f"| {title} ({unit}) | {cells[0]} | {cells[1]} | {medians[1] / medians[0]:.3f} | {cells[2]} | {cells[3]} "
            f"| {least[1] / least[0]:.3f} |"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
