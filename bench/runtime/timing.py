"""One JSON line per figure, in the same form as the Rust side prints them."""
import json
import time


def figure(what, times):
    times = sorted(times)
    ms = lambda seconds: round(seconds * 1000, 2)
    at = lambda part: times[min(len(times) - 1, int(len(times) * part))]
    print(json.dumps({"what": what, "runs": len(times), "min_ms": ms(times[0]), "p50_ms": ms(at(0.5)), "p95_ms": ms(at(0.95))}), flush=True)


def timed(work, count):
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return times
