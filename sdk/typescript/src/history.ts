import type { Transport } from "./transport.js";
import { body, type CallOptions, type Schemas, segment } from "./wire.js";

/** Which entries. */
export interface HistoryQuery extends CallOptions {
    exec_type?: Schemas["ExecType"];
    success_only?: boolean;
    limit?: number;
    offset?: number;
    tags?: string;
    without_tags?: string;
    barred?: boolean;
    failed_only?: boolean;
    has_notes?: boolean;
    has_description?: boolean;
}

/** The record of what ran in a sandbox, newest first. */
export class History {
    constructor(private readonly transport: Transport, private readonly base: string) {}

    /** One page of it. */
    list(query: HistoryQuery = {}): Promise<Schemas["HistoryList"]> {
        return this.transport.call({ method: "GET", path: `${this.base}/history`, query: body(query), signal: query.signal });
    }

    /** The last entry, or the last of a kind. */
    last(query: Pick<HistoryQuery, "exec_type" | "signal"> = {}): Promise<Schemas["HistoryEntry"]> {
        return this.transport.call({ method: "GET", path: `${this.base}/history/last`, query: body(query), signal: query.signal });
    }

    /** One entry. */
    get(executionId: string, options: CallOptions = {}): Promise<Schemas["HistoryEntry"]> {
        return this.transport.call({ method: "GET", path: `${this.base}/history/${segment(executionId)}`, ...options });
    }

    /** Notes something with an entry; what is not given stays as it is. */
    annotate(executionId: string, note: Schemas["Annotation"], options: CallOptions = {}): Promise<Schemas["HistoryEntry"]> {
        return this.transport.call({ method: "PATCH", path: `${this.base}/history/${segment(executionId)}`, body: note, ...options });
    }
}
