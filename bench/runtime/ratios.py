"""The ratios of what stands side by side; p50 of the other by p50 of ours."""
import json
import sys

figures = {line["what"]: line["p50_ms"] for line in map(json.loads, open(sys.argv[1]))}
pairs = [
    ("docker run to the first shell result", "sandbox from nothing to the first shell result"),
    ("docker exec, shell command", "shell command, warm"),
    ("ipykernel, first snippet", "python, first snippet"),
    ("ipykernel snippet, warm", "python snippet, warm"),
    ("ipykernel print, warm", "python print, warm"),
]
print()
for theirs, ours in pairs:
    if theirs in figures and ours in figures:
        print(f"{theirs} / {ours}: {figures[theirs] / figures[ours]:.1f}")
