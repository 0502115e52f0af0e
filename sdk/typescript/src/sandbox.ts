import { Artifacts } from "./artifacts.js";
import { Browser } from "./browser.js";
import { Files } from "./files.js";
import { History } from "./history.js";
import { JavaScript } from "./javascript.js";
import { Processes } from "./processes.js";
import { Python } from "./python.js";
import { Shell } from "./shell.js";
import { followed, type Transport } from "./transport.js";
import { type CallOptions, type Schemas, segment, unique } from "./wire.js";

/** A sandbox. `info` is what the server last said about it; `refresh` asks again. With `await using` it is deleted at the end. */
export class Sandbox implements AsyncDisposable {
    readonly javascript: JavaScript;
    readonly python: Python;
    readonly shell: Shell;
    readonly processes: Processes;
    readonly files: Files;
    readonly browser: Browser;
    readonly history: History;
    readonly artifacts: Artifacts;
    readonly #base: string;

    constructor(private readonly transport: Transport, public info: Schemas["SandboxInfo"]) {
        this.#base = `/v1/sandboxes/${segment(info.id)}`;
        this.javascript = new JavaScript(transport, this.#base);
        this.python = new Python(transport, this.#base);
        this.shell = new Shell(transport, this.#base);
        this.processes = new Processes(transport, this.#base);
        this.files = new Files(transport, this.#base);
        this.browser = new Browser(transport, this.#base);
        this.history = new History(transport, this.#base);
        this.artifacts = new Artifacts(transport, this.#base);
    }

    /** Its name for the server. */
    get id(): string {
        return this.info.id;
    }

    /** What it was doing when the server last spoke of it. */
    get status(): Schemas["SandboxStatus"] {
        return this.info.status;
    }

    /** Asks the server about it. */
    async refresh(options: CallOptions = {}): Promise<this> {
        this.info = await this.transport.call({ method: "GET", path: this.#base, ...options });
        return this;
    }

    /** Moves its end by so many seconds, counted from its end or from now, whichever is later. */
    async extendTtl(seconds: number, options: CallOptions & { idempotencyKey?: string } = {}): Promise<this> {
        this.info = await this.transport.call({
            method: "POST",
            path: `${this.#base}/extend_ttl`,
            body: { extend_by: seconds },
            idempotencyKey: options.idempotencyKey ?? unique(),
            signal: options.signal,
        });
        return this;
    }

    /** Puts off the end of its session for want of calls. Starts nothing. */
    async keepalive(options: CallOptions = {}): Promise<void> {
        await this.transport.send({ method: "POST", path: `${this.#base}/keepalive`, harmless: true, ...options });
    }

    /** Ends its processes and keeps its files; the next call starts it again. */
    async stop(options: CallOptions = {}): Promise<void> {
        await this.transport.send({ method: "POST", path: `${this.#base}/stop`, harmless: true, ...options });
    }

    /** Ends it for good, with its files unless they are a cargo's of their own. */
    async delete(options: CallOptions = {}): Promise<void> {
        await this.transport.send({ method: "DELETE", path: this.#base, ...options });
    }

    /** The ports on which programs in it listen. Starts nothing. */
    async ports(options: CallOptions = {}): Promise<Schemas["PortInfo"][]> {
        return (await this.transport.call<Schemas["PortList"]>({ method: "GET", path: `${this.#base}/ports`, ...options })).items;
    }

    /** An address by which whoever has it uses a port in a browser; it works for an hour unless `seconds` says otherwise. */
    async portUrl(port: number, { seconds, ...options }: CallOptions & { seconds?: number } = {}): Promise<string> {
        const path = `${this.#base}/port_links`;
        const body = seconds === undefined ? { port } : { port, seconds };
        return (await this.transport.call<Schemas["CreatedPortLink"]>({ method: "POST", path, body, harmless: true, ...options })).url;
    }

    /** The links to its ports that work, without their addresses. */
    async portLinks(options: CallOptions = {}): Promise<Schemas["PortLink"][]> {
        return (await this.transport.call<Schemas["PortLinkList"]>({ method: "GET", path: `${this.#base}/port_links`, ...options })).items;
    }

    /** Revokes a link: nobody gets in with it any more. */
    async revokePortLink(id: string, options: CallOptions = {}): Promise<void> {
        await this.transport.send({ method: "DELETE", path: `${this.#base}/port_links/${segment(id)}`, ...options });
    }

    /** The hosts that it may reach, and its last connections. Starts nothing. */
    async network(options: CallOptions = {}): Promise<Schemas["SandboxNetwork"]> {
        return this.transport.call<Schemas["SandboxNetwork"]>({ method: "GET", path: `${this.#base}/network`, ...options });
    }

    /** Opens these hosts and no others, at once, also for connections that are open; null: those of its profile. */
    async setNetwork(allowHosts: string[] | null, options: CallOptions = {}): Promise<Schemas["SandboxNetwork"]> {
        const body = { allow_hosts: allowHosts };
        return this.transport.call<Schemas["SandboxNetwork"]>({ method: "PUT", path: `${this.#base}/network`, body, harmless: true, ...options });
    }

    /** What happens in it, as it happens; `after` goes on behind that number. Ends with the sandbox, or with the loop. */
    async *events(options: CallOptions & { after?: number } = {}): AsyncGenerator<Schemas["Event"]> {
        yield* followed<Schemas["Event"]>(this.transport, `${this.#base}/events`, { after: options.after }, options.signal);
    }

    async [Symbol.asyncDispose](): Promise<void> {
        await this.delete();
    }
}
