import type { Transport } from "./transport.js";
import { type CallOptions, type Schemas, segment, unique } from "./wire.js";

/** Workspaces that outlive a sandbox. */
export class Cargos {
    constructor(private readonly transport: Transport) {}

    /** A new cargo; give its id to a sandbox as `cargo_id`. */
    create(wish: Schemas["CreateCargo"] = {}, options: CallOptions & { idempotencyKey?: string } = {}): Promise<Schemas["CargoInfo"]> {
        const idempotencyKey = options.idempotencyKey ?? unique();
        return this.transport.call({ method: "POST", path: "/v1/cargos", body: wish, idempotencyKey, signal: options.signal });
    }

    /** One that is there. */
    get(cargoId: string, options: CallOptions = {}): Promise<Schemas["CargoInfo"]> {
        return this.transport.call({ method: "GET", path: `/v1/cargos/${segment(cargoId)}`, ...options });
    }

    /** One page of those that you made; with `managed: true`, of those that were made for a sandbox and go with it. */
    list(page: { managed?: boolean; limit?: number; cursor?: string } = {}, options: CallOptions = {}): Promise<Schemas["CargoList"]> {
        return this.transport.call({ method: "GET", path: "/v1/cargos", query: page, ...options });
    }

    /** The same as `list`, page by page to the end. */
    async *all({ managed, ...options }: CallOptions & { managed?: boolean } = {}): AsyncGenerator<Schemas["CargoInfo"]> {
        const which = managed === undefined ? {} : { managed };
        let cursor: string | null | undefined;
        do {
            const page: Schemas["CargoList"] = await this.list(cursor ? { ...which, cursor } : which, options);
            yield* page.items;
            cursor = page.next_cursor;
        } while (cursor);
    }

    /** Deletes one; refused while a sandbox uses it. */
    async delete(cargoId: string, options: CallOptions = {}): Promise<void> {
        await this.transport.send({ method: "DELETE", path: `/v1/cargos/${segment(cargoId)}`, ...options });
    }
}
