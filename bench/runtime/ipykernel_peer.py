"""What ipykernel takes for the same: from nothing to its first result, and a snippet in one that runs."""
from jupyter_client.manager import KernelManager

from timing import figure, timed


def start():
    manager = KernelManager(transport="ipc")
    manager.start_kernel()
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    return manager, client


def stop(manager, client):
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run(client, code):
    client.execute_interactive(code, timeout=30, output_hook=lambda message: None)


def cold():
    kernels.append(start())
    run(kernels[-1][1], "1")


kernels = []
figure("ipykernel, first snippet", timed(cold, 8))
manager, client = kernels[0]
for code, what in [("x = 1", "ipykernel snippet, warm"), ("print('hello')", "ipykernel print, warm")]:
    timed(lambda: run(client, code), 10)
    figure(what, timed(lambda: run(client, code), 100))
for kernel in kernels:
    stop(*kernel)
