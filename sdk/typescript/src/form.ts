/** A form with a path and a file. */

import { Flow, unique } from "./wire.js";

/** What can be sent as a file. */
export type Content =
    | Uint8Array<ArrayBuffer>
    | string
    | Blob
    | ReadableStream<Uint8Array>
    | AsyncIterable<Uint8Array>;

/** The path comes first: then the server need not keep the file until it knows where it goes. */
export function form(path: string, content: Content): FormData | Flow {
    const name = path.split("/").at(-1) || "file";
    if (typeof content !== "string" && !(content instanceof Blob) && !ArrayBuffer.isView(content)) {
        return flow(path, name, content);
    }
    const made = new FormData();
    made.set("path", path);
    made.set("file", content instanceof Blob ? content : new Blob([content]), name);
    return made;
}

/** `FormData` takes no stream, so this form is written by hand. */
function flow(path: string, name: string, content: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): Flow {
    const boundary = `cove-${unique()}`;
    const quoted = name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
    const part = `--${boundary}\r\nContent-Disposition: form-data; name=`;
    const head = `${part}"path"\r\n\r\n${path}\r\n${part}"file"; filename="${quoted}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
    const text = new TextEncoder();
    async function* pieces(): AsyncGenerator<Uint8Array> {
        yield text.encode(head);
        if (content instanceof ReadableStream) {
            yield* read(content);
        } else {
            yield* content;
        }
        yield text.encode(`\r\n--${boundary}--\r\n`);
    }
    return new Flow(`multipart/form-data; boundary=${boundary}`, streamed(pieces()));
}

/** Not every browser's streams can be iterated. */
async function* read(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    const reader = stream.getReader();
    try {
        for (;;) {
            const { done, value } = await reader.read();
            if (done) return;
            yield value;
        }
    } finally {
        await reader.cancel().catch(() => undefined);
    }
}

/** One piece for each that is asked for; an empty one would be an error. */
function streamed(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
    return new ReadableStream({
        async pull(controller) {
            for (;;) {
                const { done, value } = await pieces.next();
                if (done) return controller.close();
                if (value.length > 0) return controller.enqueue(value);
            }
        },
        async cancel() {
            await pieces.return(undefined);
        },
    });
}
