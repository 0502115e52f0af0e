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

    /** One page. */
    list(page: { limit?: number; cursor?: string } = {}, options: CallOptions = {}): Promise<Schemas["CargoList"]> {
        return this.transport.call({ method: "GET", path: "/v1/cargos", query: page, ...options });
    }

    /** All of them, page by page. */
    async *all(options: CallOptions = {}): AsyncGenerator<Schemas["CargoInfo"]> {
        let cursor: string | null | undefined;
        do {
            const page: Schemas["CargoList"] = await this.list(cursor ? { cursor } : {}, options);
            yield* page.items;
            cursor = page.next_cursor;
        } while (cursor);
    }

    /** Deletes one; refused while a sandbox uses it. */
    async delete(cargoId: string, options: CallOptions = {}): Promise<void> {
        await this.transport.send({ method: "DELETE", path: `/v1/cargos/${segment(cargoId)}`, ...options });
    }
}
