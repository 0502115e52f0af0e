"""What an unmodified E2B client must be able to do here. Run by scripts/test-e2b with each version of the SDK.

It talks to a real `cove serve`: E2B_API_URL, E2B_SANDBOX_URL and E2B_API_KEY name it.
"""

import asyncio
import concurrent.futures
import gzip
import importlib.metadata
import inspect
import io
import os
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

import e2b
from e2b import CommandExitException, NotFoundException, Sandbox, SandboxException, SandboxQuery, SandboxState, TimeoutException

VERSION = tuple(int(part) for part in importlib.metadata.version("e2b").split(".")[:2])
CASES = []


def case(function):
    CASES.append(function)
    return function


def until(look, seconds=20.0):
    """Waits for what has no event, and not for ever."""
    end = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def raises(kind, work):
    try:
        work()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__} was raised")


@case
def a_command_has_output_an_exit_code_and_an_environment(sandbox):
    done = sandbox.commands.run("echo out; echo err >&2; pwd; echo $WORD $OWN; exit 0", envs={"OWN": "mine"})
    assert done.exit_code == 0 and done.stderr == "err\n", done
    assert done.stdout == "out\n/workspace\nof the sandbox mine\n", done
    failed = raises(CommandExitException, lambda: sandbox.commands.run("echo gone; exit 3"))
    assert (failed.exit_code, failed.stdout) == (3, "gone\n"), failed
    assert sandbox.commands.run("pwd", cwd="/tmp").stdout == "/tmp\n"
    raises(SandboxException, lambda: sandbox.commands.run("true", user="root"))


@case
def output_comes_while_a_command_runs_and_none_of_it_is_lost(sandbox):
    told = []
    done = sandbox.commands.run("for n in 1 2 3; do echo $n; sleep 0.2; done", on_stdout=lambda text: told.append((time.monotonic(), text)))
    assert done.stdout == "1\n2\n3\n" and told[-1][0] - told[0][0] > 0.25, told
    much = sandbox.commands.run("head -c 3000000 /dev/zero | tr '\\0' x")
    assert len(much.stdout) == 3_000_000, len(much.stdout)


@case
def standard_input_signals_and_lists(sandbox):
    cat = sandbox.commands.run("cat; echo end", background=True, stdin=True)
    sandbox.commands.send_stdin(cat.pid, "typed\n")
    assert cat.pid in [one.pid for one in sandbox.commands.list()]
    if VERSION >= (2, 30):
        sandbox.commands.close_stdin(cat.pid)
        assert cat.wait().stdout == "typed\nend\n"
    else:
        assert cat.kill()
    asleep = sandbox.commands.run("sleep 600", background=True)
    found = [one for one in sandbox.commands.list() if one.pid == asleep.pid]
    assert found and found[0].cmd == "/bin/bash" and "sleep 600" in found[0].args, found
    assert sandbox.commands.kill(asleep.pid) and not sandbox.commands.kill(asleep.pid)
    raises(CommandExitException, asleep.wait)
    assert not sandbox.commands.kill(999_999)


@case
def a_running_command_is_connected_to_again(sandbox):
    first = sandbox.commands.run("sleep 0.5; echo late; sleep 0.1; exit 7", background=True)
    first.disconnect()
    again = sandbox.commands.connect(first.pid)
    ended = raises(CommandExitException, again.wait)
    assert (ended.exit_code, ended.stdout) == (7, "late\n"), ended
    raises(NotFoundException, lambda: sandbox.commands.connect(first.pid))


@case
def a_command_ends_with_its_time(sandbox):
    began = time.monotonic()
    # The older one's own transport may be the first to say so.
    late = TimeoutException if VERSION >= (2, 30) else Exception
    raises(late, lambda: sandbox.commands.run("sleep 600 & wait", timeout=1))
    assert time.monotonic() - began < 5
    until(lambda: not [one for one in sandbox.commands.list() if "sleep 600" in str(one.args)])


@case
def a_terminal_is_typed_into_and_resized(sandbox):
    size = e2b.PtySize(rows=24, cols=80) if hasattr(e2b, "PtySize") else None
    if size is None:
        from e2b.sandbox.commands.command_handle import PtySize

        size = PtySize(rows=24, cols=80)
    said = []
    terminal = sandbox.pty.create(size, timeout=30)
    sandbox.pty.resize(terminal.pid, type(size)(rows=40, cols=100))
    sandbox.pty.send_stdin(terminal.pid, b"stty size; exit 5\n")
    ended = raises(CommandExitException, lambda: terminal.wait(on_pty=said.append))
    assert b"40 100" in b"".join(said) and ended.exit_code == 5, (said, ended)


@case
def files_are_written_read_listed_moved_and_removed(sandbox):
    files = sandbox.files
    info = files.write("folder/hello.txt", "hello äöü")
    assert (info.path, info.name) == ("/home/user/folder/hello.txt", "hello.txt"), info
    assert files.read("folder/hello.txt") == "hello äöü" == files.read("/workspace/folder/hello.txt")
    assert sandbox.commands.run("cat /home/user/folder/hello.txt").stdout == "hello äöü"
    blob = bytes(range(256)) * 4096
    files.write("/home/user/blob", blob)
    assert files.read("blob", format="bytes") == blob and b"".join(files.read("blob", format="stream")) == blob
    files.write("/tmp/elsewhere/blob", blob)
    assert files.read("/tmp/elsewhere/blob", format="bytes") == blob
    names = sorted(entry.path for entry in files.list("/home/user", depth=2) if "hello" in entry.path or entry.name == "blob")
    assert names == ["/home/user/blob", "/home/user/folder/hello.txt"], names
    assert files.exists("blob") and not files.exists("nothing")
    stat = files.get_info("blob")
    assert stat.size == len(blob) and stat.permissions == "-rw-r--r--" and stat.type.value == "file", stat
    assert files.make_dir("new/deep") and not files.make_dir("new/deep")
    assert files.rename("blob", "new/deep/blob").path == "/home/user/new/deep/blob"
    files.remove("new")
    assert not files.exists("new/deep/blob")
    raises(NotFoundException, lambda: files.read("nothing"))
    raises(NotFoundException, lambda: files.list("nothing"))
    raises(SandboxException, lambda: files.write("/etc/passwd", "no"))
    many = files.write_files([{"path": f"many/{n}", "data": f"{n}"} for n in range(5)])
    assert len(many) == 5 and files.read("many/4") == "4"
    if VERSION >= (2, 40):
        files.write("packed", b"x" * 2_000_000, gzip=True)
        assert files.get_info("packed").size == 2_000_000
        files.write("streamed", io.BytesIO(b"y" * 300_000))
        assert files.read("streamed") == "y" * 300_000


@case
def signed_addresses_need_no_key_and_expire(sandbox):
    sandbox.files.write("signed.txt", "read me")
    address = sandbox.download_url("signed.txt", use_signature_expiration=60)
    assert urllib.request.urlopen(address).read() == b"read me"
    wrong = raises(urllib.error.HTTPError, lambda: urllib.request.urlopen(address.replace("signed.txt", "other.txt")))
    assert wrong.code == 401, wrong
    late = sandbox.download_url("signed.txt", use_signature_expiration=-5)
    assert raises(urllib.error.HTTPError, lambda: urllib.request.urlopen(late)).code == 401


@case
def a_folder_is_watched(sandbox):
    sandbox.files.make_dir("watched")
    watch = sandbox.files.watch_dir("watched", recursive=True)
    sandbox.commands.run("cd watched; echo a > a; mkdir d; mv a b; rm b")
    seen = []

    def all_there():
        seen.extend((event.name, event.type.value) for event in watch.get_new_events())
        return {("a", "create"), ("a", "write"), ("d", "create"), ("a", "rename"), ("b", "create"), ("b", "remove")} <= set(seen)

    until(all_there)
    sandbox.files.write("watched/d/deep", "x")
    until(lambda: [event for event in watch.get_new_events() if event.name == "d/deep"])
    watch.stop()
    if "include_entry" in inspect.signature(sandbox.files.watch_dir).parameters:
        watch = sandbox.files.watch_dir("watched", include_entry=True)
        sandbox.commands.run("cd watched; echo four > new; mv new gone; rm gone; echo seven77 > kept; chmod 600 kept")
        told = []
        until(lambda: told.extend(watch.get_new_events()) or [one for one in told if one.type.value == "chmod"])
        entry = [one for one in told if one.type.value == "chmod"][0].entry
        assert (entry.path, entry.size, entry.permissions) == ("/home/user/watched/kept", 8, "-rw-------"), entry
        assert all(one.entry is None for one in told if one.name == "gone"), told
        watch.stop()


@case
def time_is_given_and_sandboxes_are_found_by_metadata(sandbox):
    info = sandbox.get_info()
    assert info.sandbox_id == sandbox.sandbox_id and info.metadata["test"] == "of a matrix & more", info
    before = info.end_at
    sandbox.set_timeout(900)
    assert sandbox.get_info().end_at > before
    assert sandbox.is_running()

    def listed(query, limit=None):
        pages, found = Sandbox.list(query=query, limit=limit), []
        while pages.has_next:
            found += pages.next_items()
        return [one.sandbox_id for one in found]

    assert listed(SandboxQuery(metadata={"test": "of a matrix & more"})) == [sandbox.sandbox_id]
    assert listed(SandboxQuery(metadata={"test": "other"})) == []
    others = [Sandbox.create(timeout=60, metadata={"page": "yes"}) for _ in range(3)]
    assert sorted(listed(SandboxQuery(metadata={"page": "yes"}), limit=2)) == sorted(one.sandbox_id for one in others)
    assert all(one.kill() for one in others) and not others[0].kill()
    assert not others[0].is_running()
    again = Sandbox.connect(sandbox.sandbox_id, timeout=300)
    assert again.commands.run("echo again").stdout == "again\n"
    assert sandbox.get_metrics()[0].mem_used > 0


@case
def a_paused_sandbox_keeps_its_files(_):
    sandbox = Sandbox.create(timeout=60)
    sandbox.files.write("kept", "yes")
    pause = sandbox.pause if hasattr(sandbox, "pause") else sandbox.beta_pause
    pause()
    states = SandboxQuery(state=[SandboxState.PAUSED])
    assert sandbox.sandbox_id in [one.sandbox_id for one in Sandbox.list(query=states).next_items()]
    assert not sandbox.is_running()
    raises(Exception, lambda: sandbox.commands.run("true"))
    again = Sandbox.connect(sandbox.sandbox_id)
    assert again.is_running() and again.files.read("kept") == "yes"
    assert again.kill()


def paused(sandbox):
    """Whether the server says that it is."""
    pages = Sandbox.list(query=SandboxQuery(state=[SandboxState.PAUSED]), limit=100)
    while pages.has_next:
        if sandbox.sandbox_id in [one.sandbox_id for one in pages.next_items()]:
            return True
    return False


@case
def a_sandbox_whose_time_is_over_is_paused_and_nothing_runs_in_it(_):
    sandbox = Sandbox.create(timeout=3, lifecycle={"on_timeout": "pause"})
    sandbox.files.write("kept", "yes")
    sandbox.commands.run("while true; do date +%s.%N > beat.new && mv beat.new beat; sleep 0.05; done", background=True)
    end = sandbox.get_info().end_at.timestamp()
    until(lambda: paused(sandbox))
    assert not sandbox.is_running()
    raises(Exception, lambda: sandbox.commands.run("true"))
    until(lambda: time.time() > end + 3)
    again = Sandbox.connect(sandbox.sandbox_id, timeout=60)
    # It ended by itself, long before anybody came back.
    last = float(again.files.read("beat"))
    assert last < end + 2, f"it ran for {last - end:.1f} s after its time"
    assert again.files.read("kept") == "yes" and again.commands.list() == []
    assert again.kill()


@case
def traffic_wakes_a_paused_sandbox_where_that_was_asked_for(_):
    sandbox = Sandbox.create(timeout=2, lifecycle={"on_timeout": "pause", "auto_resume": True})
    asleep = sandbox.commands.run("sleep 600", background=True)
    until(lambda: paused(sandbox))
    assert sandbox.commands.run("echo awake").stdout == "awake\n"
    assert asleep.pid not in [one.pid for one in sandbox.commands.list() if "sleep 600" in str(one.args)]
    assert not paused(sandbox) and sandbox.kill()


def asked(host, path, headers):
    """Asks a port's own host, whatever the resolver of this machine makes of names below `localhost`."""
    address = urllib.parse.urlsplit(os.environ["E2B_API_URL"])
    request = urllib.request.Request(f"http://{address.netloc}{path}", headers={"Host": host, **headers})
    return urllib.request.urlopen(request, timeout=20)


@case
def a_port_has_a_host_and_is_reached_with_the_sandboxs_token(sandbox):
    sandbox.files.write("site/index.html", "from inside")
    server = sandbox.commands.run("python3 -m http.server 3000", cwd="/home/user/site", background=True)
    host = sandbox.get_host(3000)
    port = urllib.parse.urlsplit(os.environ["E2B_API_URL"]).port
    assert host == f"3000-{sandbox.sandbox_id}.localhost:{port}", host
    token = {"E2b-Traffic-Access-Token": sandbox.traffic_access_token}

    def answered():
        try:
            return asked(host, "/", token).read() == b"from inside"
        except urllib.error.HTTPError as error:
            assert error.code == 502, error
            return False

    until(answered)
    for headers in [{}, {"E2b-Traffic-Access-Token": "0" * 48}]:
        assert raises(urllib.error.HTTPError, lambda: asked(host, "/", headers)).code == 401
    other = Sandbox.create(timeout=60)
    theirs = {"E2b-Traffic-Access-Token": other.traffic_access_token}
    assert raises(urllib.error.HTTPError, lambda: asked(host, "/", theirs)).code == 401
    assert other.kill() and server.kill()


@case
def a_file_is_taken_at_a_signed_address(sandbox):
    address = sandbox.upload_url("taken.txt", use_signature_expiration=60)
    boundary = "of-the-test"
    part = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="taken.txt"\r\n\r\ntaken\r\n--{boundary}--\r\n'
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    for packed in [False, True]:
        body = gzip.compress(part.encode()) if packed else part.encode()
        more = {"Content-Encoding": "gzip"} if packed else {}
        request = urllib.request.Request(address, data=body, headers={**headers, **more}, method="POST")
        assert urllib.request.urlopen(request, timeout=20).status == 200
        assert sandbox.files.read("taken.txt") == "taken"
        sandbox.files.remove("taken.txt")


@case
def the_client_that_awaits_does_the_same(_):
    async def main():
        sandbox = await e2b.AsyncSandbox.create(timeout=60, metadata={"async": "yes"})
        done = await asyncio.gather(*(sandbox.commands.run(f"echo {number}") for number in range(4)))
        assert [one.stdout for one in done] == [f"{number}\n" for number in range(4)]
        await sandbox.files.write("a", "b")
        assert await sandbox.files.read("a") == "b"
        watch = await sandbox.files.watch_dir("/home/user", on_event=seen.append)
        await sandbox.files.write("new", "x")
        for _ in range(1_000):
            if any(event.name == "new" for event in seen):
                break
            await asyncio.sleep(0.02)
        assert any(event.name == "new" for event in seen), seen
        await watch.stop()
        assert (await sandbox.get_metrics())[0].mem_used > 0
        assert await sandbox.kill()

    seen = []
    asyncio.run(main())


@case
def what_is_not_there_is_refused_with_a_sentence(sandbox):
    error = raises(Exception, lambda: Sandbox.create(template="no-such-template"))
    assert "no-such-template" in str(error), error
    if hasattr(sandbox, "create_snapshot"):
        assert "snapshot" in str(raises(Exception, sandbox.create_snapshot))
    raises(Exception, lambda: Sandbox.create(api_key="e2b_" + "0" * 40))


@case
def sixty_four_at_once(_):
    all_there = threading.Barrier(64, timeout=300)

    def one(number):
        with Sandbox.create(timeout=600) as sandbox:
            first = sandbox.commands.run(f"echo {number}").stdout
            # Each has run something; now all of them are alive at one time.
            all_there.wait()
            return first + sandbox.commands.run("echo again").stdout

    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        assert list(pool.map(one, range(64))) == [f"{number}\nagain\n" for number in range(64)]


def main():
    sandbox = Sandbox.create(timeout=300, metadata={"test": "of a matrix & more"}, envs={"WORD": "of the sandbox"})
    failed = []
    for function in CASES:
        began = time.monotonic()
        try:
            function(sandbox)
            print(f"ok    {function.__name__} {time.monotonic() - began:.2f}s")
        except BaseException:
            failed.append(function.__name__)
            print(f"FAILED {function.__name__}")
            traceback.print_exc()
    sandbox.kill()
    print(f"e2b {'.'.join(map(str, VERSION))}: {len(CASES) - len(failed)} of {len(CASES)} hold")
    raise SystemExit(1 if failed else 0)


main()
