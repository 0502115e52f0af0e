"""What Docker takes for the same: a container from nothing to its first result, and a command in one that runs."""
import subprocess
import sys

from timing import figure, timed


def docker(*args):
    done = subprocess.run(["docker", *args], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip()


def run():
    assert docker("run", "--rm", "--network", "none", "--entrypoint", "bash", sys.argv[1], "-c", "echo hi") == "hi"


run()
figure("docker run to the first shell result", timed(run, 15))
container = docker("run", "-d", "--rm", "--network", "none", "--entrypoint", "sleep", sys.argv[1], "600")
try:
    figure("docker exec, shell command", timed(lambda: docker("exec", container, "bash", "-c", "true"), 30))
finally:
    docker("rm", "-f", container)
