import type { Transport } from "./transport.js";
import { type CallOptions, type Schemas, segment } from "./wire.js";

/** Calls of code that wait until a person decides, of all of the caller's sandboxes. */
export class Approvals {
    constructor(private readonly transport: Transport) {}

    /** Those that wait, oldest first. */
    list(options: CallOptions = {}): Promise<Schemas["ApprovalList"]> {
        return this.transport.call({ method: "GET", path: "/v1/approvals", ...options });
    }

    /** The call is made, once. With `remember: true` further calls of this tool by this session are not asked about. */
    async approve(approvalId: string, { remember = false, ...options }: CallOptions & { remember?: boolean } = {}): Promise<void> {
        await this.transport.send({ method: "POST", path: `/v1/approvals/${segment(approvalId)}/approve`, body: { remember }, ...options });
    }

    /** The call is not made; the code gets an error with the reason. */
    async deny(approvalId: string, { reason, ...options }: CallOptions & { reason?: string } = {}): Promise<void> {
        await this.transport.send({ method: "POST", path: `/v1/approvals/${segment(approvalId)}/deny`, body: { reason: reason ?? null }, ...options });
    }
}
