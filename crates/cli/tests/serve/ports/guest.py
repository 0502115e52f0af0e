"""A server of a guest: one that behaves, and some that do not, by path. Argument: its port."""

import asyncio
import base64
import hashlib
import sys

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


async def serve(reader, writer):
    try:
        await answer(reader, writer)
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    writer.close()


async def answer(reader, writer):
    head = await reader.readuntil(b"\r\n\r\n")
    path = head.split(b" ")[1].decode("latin1")
    lines = head.decode("latin1").split("\r\n")[1:]
    named = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}

    async def say(status, headers, body=b""):
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
        writer.write(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin1") + body)
        await writer.drain()

    if path.startswith("/echo"):
        body = b""
        if "content-length" in named:
            body = await reader.readexactly(int(named["content-length"]))
        elif named.get("transfer-encoding") == "chunked":
            while size := int(await reader.readline(), 16):
                body += await reader.readexactly(size)
                await reader.readline()
        said = head + body
        await say("200 OK", [
            ("content-type", "text/plain"), ("content-length", len(said)), ("set-cookie", "a=1; Domain=localhost; Path=/"),
            ("set-cookie", "cove-port=forged; Path=/"), ("clear-site-data", '"*"'), ("connection", "x-mine"),
            ("x-mine", "1"), ("x-kept", "1"), ("alt-svc", 'h3=":443"'),
        ], said)
    elif path == "/size":
        count = 0
        left = int(named["content-length"])
        while count < left:
            count += len(await reader.read(1 << 16))
        await say("200 OK", [("content-length", len(str(count)))], str(count).encode())
    elif path == "/sse":
        await say("200 OK", [("content-type", "text/event-stream")])
        for number in range(3):
            writer.write(b"data: %d\n\n" % number)
            await writer.drain()
            # The next one is written when this one has been taken.
            await reader.read(1) if number == 2 else await asyncio.sleep(0.05)
    elif path == "/ws":
        key = base64.b64encode(hashlib.sha1(named["sec-websocket-key"].encode() + MAGIC).digest()).decode()
        await say("101 Switching Protocols", [("connection", "Upgrade"), ("upgrade", "websocket"),
                                             ("sec-websocket-accept", key)])
        while True:
            first, size = await reader.readexactly(2)
            mask = await reader.readexactly(4)
            text = bytes(byte ^ mask[at % 4] for at, byte in enumerate(await reader.readexactly(size & 127)))
            writer.write(bytes([first, len(text)]) + text)
            await writer.drain()
            if first & 15 == 8:
                return
    elif path == "/endless":
        await say("200 OK", [("content-type", "text/plain")])
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()
    elif path == "/huge":
        await say("200 OK", [("x-huge", "x" * 1_000_000)])
    elif path == "/many":
        await say("200 OK", [(f"x-{number}", "1") for number in range(1_000)])
    elif path == "/junk":
        writer.write(b"hello\n")
        await writer.drain()
    elif path == "/two":
        await say("200 OK", [("content-length", "2"), ("content-length", "3")], b"abc")
    elif path == "/split":
        await say("200 OK", [("x-a", "b\nset-cookie: c=d"), ("content-length", "0")])
    elif path == "/upgraded":
        await say("101 Switching Protocols", [("connection", "upgrade"), ("upgrade", "websocket")])
    elif path == "/short":
        await say("200 OK", [("content-length", "100")], b"abc")
    elif path == "/more":
        await say("200 OK", [("content-length", "3")], b"abcHTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged")
    elif path == "/moved":
        await say("302 Found", [("location", f"http://localhost:{sys.argv[1]}/echo"), ("content-length", "0")])
    elif path == "/cookies":
        page = b"<script>document.cookie='own=1; Domain=localhost; Path=/'</script><p>" + named.get("cookie", "").encode()
        await say("200 OK", [("content-type", "text/html"), ("content-length", len(page))], page)
    elif path == "/silent":
        await reader.read()
    else:
        await say("404 Not Found", [("content-length", "0")])


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
