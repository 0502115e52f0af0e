import { Approvals } from "./approvals.js";
import { Cargos } from "./cargos.js";
import type { Sandbox } from "./sandbox.js";
import { Sandboxes } from "./sandboxes.js";
import { Skills } from "./skills.js";
import { Transport } from "./transport.js";
import type { CallOptions, Schemas } from "./wire.js";

/** Which server, and how to speak with it. */
export interface CoveOptions {
    /** The server's address, as `http://127.0.0.1:8114`. */
    url: string;
    /** Its API key. */
    key?: string | undefined;
    /** How often a call that may be repeated is sent again (3). */
    retries?: number | undefined;
    /** Another `fetch`: for proxies, certificates, recording. */
    fetch?: typeof fetch | undefined;
}

/** A client. In Node.js, `connect` of `@cove/sdk/node` finds a server or starts one. */
export class Cove implements AsyncDisposable {
    /** Sandboxes: make, find, list. */
    readonly sandboxes: Sandboxes;
    /** Cargos: workspaces that outlive a sandbox. */
    readonly cargos: Cargos;
    /** Approvals: calls that wait for a person. */
    readonly approvals: Approvals;
    /** Skills: what was learnt from executions. */
    readonly skills: Skills;
    readonly #transport: Transport;
    #end: (() => Promise<void>) | undefined;

    /** `end` is called once when the client is closed. */
    constructor(options: CoveOptions, end?: () => Promise<void>) {
        this.#transport = new Transport({
            url: options.url,
            key: options.key,
            retries: options.retries ?? 3,
            fetch: options.fetch ?? ((...call) => globalThis.fetch(...call)),
        });
        this.sandboxes = new Sandboxes(this.#transport);
        this.cargos = new Cargos(this.#transport);
        this.approvals = new Approvals(this.#transport);
        this.skills = new Skills(this.#transport);
        this.#end = end;
    }

    /** The server's address. */
    get url(): string {
        return this.#transport.url;
    }

    /** A new sandbox; with `await using` it is deleted at the end of the block. */
    sandbox(wish: Partial<Schemas["CreateSandbox"]> = {}, options: CallOptions & { idempotencyKey?: string } = {}): Promise<Sandbox> {
        return this.sandboxes.create(wish, options);
    }

    /** The profiles from which sandboxes are created. */
    async profiles(options: CallOptions & { detail?: boolean } = {}): Promise<Schemas["ProfileInfo"][]> {
        const { detail, ...rest } = options;
        return (await this.#transport.call<Schemas["ProfileList"]>({ method: "GET", path: "/v1/profiles", query: { detail }, ...rest })).items;
    }

    /** Whether the server is there, and its version. */
    health(options: CallOptions = {}): Promise<Schemas["Health"]> {
        return this.#transport.call({ method: "GET", path: "/health", ...options });
    }

    /** Ends the server if this client started it. May be called again. */
    async close(): Promise<void> {
        const end = this.#end;
        this.#end = undefined;
        await end?.();
    }

    async [Symbol.asyncDispose](): Promise<void> {
        await this.close();
    }
}
