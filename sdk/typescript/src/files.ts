import { type Content, form } from "./form.js";
import type { FileAnswer } from "./results.js";
import { followed, type Transport } from "./transport.js";
import { body, type CallOptions, type Schemas, segment, TRANSFER_MS } from "./wire.js";

/** What `grep` may be told besides the pattern. */
export interface GrepOptions extends CallOptions {
    path?: string;
    glob?: string;
    ignoreCase?: boolean;
    literal?: boolean;
    context?: number;
    limit?: number;
}

/** What `find` may be told besides the pattern. */
export interface FindOptions extends CallOptions {
    path?: string;
    limit?: number;
}

/** The workspace. Paths are relative to it. */
export class Files {
    constructor(private readonly transport: Transport, private readonly base: string) {}

    /** A text file's content. */
    async read(path: string, options: CallOptions = {}): Promise<string> {
        const request = { method: "GET", path: `${this.base}/filesystem/files`, query: { path }, ...options } as const;
        return (await this.transport.call<Schemas["FileContent"]>(request)).content;
    }

    /** Writes a text file; folders on the way are made. */
    async write(path: string, content: string, options: CallOptions = {}): Promise<void> {
        await this.transport.send({ method: "PUT", path: `${this.base}/filesystem/files`, body: { path, content }, ...options });
    }

    /** Deletes a file or a folder. */
    async delete(path: string, options: CallOptions = {}): Promise<void> {
        await this.transport.send({ method: "DELETE", path: `${this.base}/filesystem/files`, query: { path }, ...options });
    }

    /** A folder's entries, hidden ones too. */
    async list(path = ".", options: CallOptions = {}): Promise<Schemas["FileInfo"][]> {
        const request = { method: "GET", path: `${this.base}/filesystem/directories`, query: { path }, ...options } as const;
        return (await this.transport.call<Schemas["DirectoryList"]>(request)).entries;
    }

    /**
     * Takes a file into the workspace: bytes, a `Blob` (in Node.js, `openAsBlob` makes one of a file), or pieces as they come.
     * A blob and pieces are sent as they are read and never whole in memory; pieces, only once: what breaks is not sent again.
     */
    upload(path: string, content: Content, options: CallOptions = {}): Promise<Schemas["UploadResult"]> {
        return this.transport.call({
            method: "POST",
            path: `${this.base}/filesystem/upload`,
            body: form(path, content),
            timeoutMs: TRANSFER_MS,
            // The same bytes at the same place: sent twice, the result is the same.
            harmless: true,
            ...options,
        });
    }

    /** A file's bytes as they come; for large files. In Node.js, `writeFile(place, stream)` of `node:fs/promises` keeps them. */
    stream(path: string, options: CallOptions = {}): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
        const request = { method: "GET", path: `${this.base}/filesystem/download`, query: { path }, timeoutMs: TRANSFER_MS } as const;
        return this.transport.stream({ ...request, ...options });
    }

    /** A file's bytes, in memory. */
    download(path: string, options: CallOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
        const request = { method: "GET", path: `${this.base}/filesystem/download`, query: { path }, timeoutMs: TRANSFER_MS } as const;
        return this.transport.bytes({ ...request, ...options });
    }

    /** Replaces a text that occurs exactly once; answers with what changed. */
    edit(path: string, oldText: string, newText: string, options: CallOptions = {}): Promise<FileAnswer> {
        return this.#tool("edit", { path, oldText, newText }, options);
    }

    /** Lines that match a regular expression (or a plain text, with `literal`). */
    grep(pattern: string, options: GrepOptions = {}): Promise<FileAnswer> {
        return this.#tool("grep", { pattern, ...body(options) }, options);
    }

    /** Files whose names match: `*.rs` at any depth, a path with `src/**` before it. */
    find(pattern: string, options: FindOptions = {}): Promise<FileAnswer> {
        return this.#tool("find", { pattern, ...body(options) }, options);
    }

    async #tool(tool: string, sent: object, options: CallOptions): Promise<FileAnswer> {
        const path = `${this.base}/filesystem/tools/${segment(tool)}`;
        const answer = await this.transport.call<Omit<FileAnswer, "text">>({ method: "POST", path, body: sent, signal: options.signal });
        const text = answer.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
        return { ...answer, text };
    }

    /** What changes in a folder. The first word is `watching`: from then on nothing is missed. Ends with the loop. */
    watch(path = ".", options: CallOptions & { recursive?: boolean } = {}): AsyncGenerator<Schemas["WatchFrame"]> {
        const query = { path, recursive: options.recursive };
        return followed(this.transport, `${this.base}/filesystem/watch`, query, options.signal);
    }
}
