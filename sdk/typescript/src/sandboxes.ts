import { Sandbox } from "./sandbox.js";
import type { Transport } from "./transport.js";
import { type CallOptions, type Schemas, segment, unique } from "./wire.js";

/** Which page of sandboxes. */
export interface SandboxQuery {
    limit?: number;
    cursor?: string;
    status?: Schemas["SandboxStatus"];
    /** Whether to count what each session uses. */
    usage?: boolean;
}

/** The caller's sandboxes. */
export class Sandboxes {
    constructor(private readonly transport: Transport) {}

    /** A new sandbox that ends after `ttl` seconds (none: never). Nothing starts before its first call. */
    async create(
        wish: Partial<Schemas["CreateSandbox"]> = {},
        options: CallOptions & { idempotencyKey?: string } = {},
    ): Promise<Sandbox> {
        const info = await this.transport.call<Schemas["SandboxInfo"]>({
            method: "POST",
            path: "/v1/sandboxes",
            body: wish,
            // A key of its own, so that a call which broke off can be repeated and still makes one sandbox.
            idempotencyKey: options.idempotencyKey ?? unique(),
            signal: options.signal,
        });
        return new Sandbox(this.transport, info);
    }

    /** One that is there. */
    async get(sandboxId: string, options: CallOptions = {}): Promise<Sandbox> {
        const path = `/v1/sandboxes/${segment(sandboxId)}`;
        return new Sandbox(this.transport, await this.transport.call({ method: "GET", path, ...options }));
    }

    /** One page. */
    list(query: SandboxQuery = {}, options: CallOptions = {}): Promise<Schemas["SandboxList"]> {
        return this.transport.call({ method: "GET", path: "/v1/sandboxes", query: { ...query }, ...options });
    }

    /** All of them, page by page. */
    async *all(query: Pick<SandboxQuery, "status"> = {}, options: CallOptions = {}): AsyncGenerator<Sandbox> {
        let cursor: string | null | undefined;
        do {
            const page: Schemas["SandboxList"] = await this.list(cursor ? { ...query, cursor } : query, options);
            for (const info of page.items) yield new Sandbox(this.transport, info);
            cursor = page.next_cursor;
        } while (cursor);
    }

    /** Deletes one; also fine when it is gone. */
    async delete(sandboxId: string, options: CallOptions = {}): Promise<void> {
        await this.transport.send({ method: "DELETE", path: `/v1/sandboxes/${segment(sandboxId)}`, ...options });
    }
}
