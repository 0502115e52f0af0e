"""Clients that the official SDKs are not: old, rude, in a hurry, gone. Plain JSON-RPC over standard streams.

Usage: raw.py COVE
Run by crates/cli/tests/it/mcp.rs. Fails with an AssertionError; says what it saw on standard output.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

from family import below, stat, word

COVE = sys.argv[1]
PATIENCE = 60
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Server:
    """A server that runs. What it says beside the answer that is waited for is left out."""

    def __init__(self, *more, name="raw", version="2025-11-25"):
        command = [COVE, "mcp", "--profile", "python-default", *more]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0
        if version:
            client = {"name": name, "version": "1"}
            hello = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
            self.version = hello["result"]["protocolVersion"]
            self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def line(self, data):
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def say(self, message):
        self.line(json.dumps(message).encode())

    def begin(self, method, **params):
        self.number += 1
        self.say({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def hear(self):
        line = self.process.stdout.readline()
        assert line, f"the server has ended: {self.process.wait()}"
        return json.loads(line)

    def ask(self, method, **params):
        number = self.begin(method, **params)
        while True:
            message = self.hear()
            if message.get("id") == number:
                return message

    def call(self, tool, **arguments):
        return self.ask("tools/call", name=tool, arguments=arguments)["result"]

    def close(self):
        family = [self.process.pid, *below(self.process.pid)]
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0
        until("nothing of it is left", lambda: not any(stat(pid) and stat(pid)[0] not in "ZX" for pid in family))


def until(what, holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"waited in vain until {what}"
        time.sleep(0.03)


def check_revisions():
    for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"):
        with contextlib.closing(Server(version=version)) as server:
            assert server.version == version
            assert len(server.ask("tools/list")["result"]["tools"]) == 13
            assert server.call("run_javascript", code="return 6 * 7")["content"][0]["text"] == "42"
    # The newest has no handshake; one that nobody knows gets the newest that has.
    with contextlib.closing(Server(version=None)) as server:
        assert "2026-07-28" in server.ask("server/discover", _meta=META)["result"]["supportedVersions"]
        arguments = {"code": "return 6 * 7"}
        answer = server.ask("tools/call", name="run_javascript", arguments=arguments, _meta=META)["result"]
        assert answer["structuredContent"]["result"] == 42, answer
    with contextlib.closing(Server(version="1999-01-01")) as server:
        assert server.version == "2025-11-25"


def check_rubbish(server):
    lines = [b"garbage", b"", b"{", b"\xff\xfe\x00", b"[]", b"[1]", b"null", b"42", b'"x"', b'{"jsonrpc":"2.0"}']
    lines += [b'{"jsonrpc":"1.0","id":5,"method":"ping"}', b'{"jsonrpc":"2.0","id":{},"method":"ping"}']
    lines += [b'{"jsonrpc":"2.0","id":99,"result":{}}', b"{" * 5_000, b'{"a":' * 100_000, b"x" * 3_000_000]
    lines += [b'[{"jsonrpc":"2.0","id":701,"method":"ping"}]']
    for line in lines:
        server.line(line)
        assert "result" in server.ask("ping"), line[:60]


def check_refusals(server):
    script = lambda **arguments: {"name": "run_javascript", "arguments": arguments}
    for method, params, code, words in [
        ("no/such", {}, -32601, "no/such"),
        ("tools/call", {}, -32602, "name"),
        ("tools/call", {"name": 5}, -32602, "name"),
        ("tools/call", {"name": "ls", "arguments": []}, -32602, "arguments"),
        ("tools/call", {"name": "nope"}, -32602, "run_javascript"),
        ("resources/read", {}, -32602, "uri"),
        ("resources/read", {"uri": "file:///etc/passwd"}, -32002, "passwd"),
        ("tools/call", script(), None, "`code`"),
        ("tools/call", script(code=5), None, "`code`"),
        ("tools/call", script(code="return 1", timeout=-1), None, "`timeout`"),
        ("tools/call", script(code="return 1", timeout_ms=1.5), None, "`timeout_ms`"),
        ("tools/call", {"name": "execute_python", "arguments": {"code": "1", "timeout": "x"}}, None, "`timeout`"),
    ]:
        answer = server.ask(method, **params)
        if code is None:
            result = answer["result"]
            assert result["isError"] and result["structuredContent"]["error"]["next_step"], answer
            assert words in result["content"][0]["text"], answer
        else:
            assert answer["error"]["code"] == code and words in answer["error"]["message"], (method, params, answer)


def check_crowd(server):
    kinds = [("run_javascript", "code", "return 'n{}'"), ("execute_shell", "command", "echo n{}"), ("ls", None, "")]
    asked = {}
    for n in range(100):
        tool, name, value = kinds[n % 3]
        asked[server.begin("tools/call", name=tool, arguments={name: value.format(n)} if name else {})] = (n, tool)
    while asked:
        message = server.hear()
        n, tool = asked.pop(message["id"])
        assert message["result"]["isError"] is False, message
        assert tool == "ls" or f"n{n}" in message["result"]["content"][0]["text"], message


def check_forms():
    """Who shows its model fields instead of content gets no fields; who asks for schemas gets them; marks are in both."""
    code = "getCanvas(8, 8).getContext('2d').fillRect(0, 0, 8, 8); return 1"
    for name, more, fields, schemas in [
        ("claude-code", [], False, False),
        ("codex-mcp-client", [], False, False),
        ("somebody", [], True, False),
        ("somebody", ["--answers", "content"], False, False),
        ("claude-code", ["--answers", "both"], True, True),
    ]:
        with contextlib.closing(Server(*more, name=name)) as server:
            tools = server.ask("tools/list")["result"]["tools"]
            assert all(("outputSchema" in tool) == schemas for tool in tools), name
            drawn = server.call("run_javascript", code=code)
            assert [block["type"] for block in drawn["content"]] == ["text", "image", "resource_link"], drawn
            assert ("structuredContent" in drawn) == fields, name
            said = server.call("execute_shell", command="echo heard from https://somewhere.example")
            for text in [said["content"][0]["text"], *([said["structuredContent"]["output"]] if fields else [])]:
                begin, end = text.index("<untrusted-content"), text.index("</untrusted-content")
                assert begin < text.index("heard from") < end, text


def check_own():
    """What was not found is not the sandbox: the server keeps its own."""
    with contextlib.closing(Server("--tools", "all")) as server:
        server.call("write", path="kept.txt", content="kept")
        assert server.call("get_execution", execution_id="exec-000000000000")["isError"]
        assert server.call("read", path="kept.txt")["content"][0]["text"] == "kept"


def check_gone(server):
    """A client that is gone with calls on their way leaves nothing that runs."""
    for n, (tool, arguments) in enumerate([
        ("execute_shell", {"command": "exec sleep 4243", "timeout": 200}),
        ("run_javascript", {"code": "for (;;);", "timeout": 200_000}),
    ]):
        server.begin("tools/call", name=tool, arguments=arguments)
        if n == 0:
            until("it runs", lambda: any("sleep 4243" in word(pid) for pid in below(server.process.pid)))
    server.close()
    left = [name for name in os.listdir("/tmp") if name.startswith(f"cove-mcp-{server.process.pid}-")]
    assert not left, left


# A read that waits for ever is a fault, too.
signal.alarm(5 * PATIENCE)
check_revisions()
check_forms()
check_own()
server = Server()
check_rubbish(server)
check_refusals(server)
check_crowd(server)
check_gone(server)
print("raw: as it should be")
