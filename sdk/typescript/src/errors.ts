/**
 * Every way to be refused, a class for each code.
 *
 * A program that fails *inside* a sandbox is no error here: it is a result with `success: false` (see `check`).
 * What is thrown is what the caller, the server or the road between them did wrong.
 */

import type { Schemas } from "./wire.js";

/** The stable code of a refusal. */
export type ErrorCode = Schemas["ErrorCode"];

/** Whatever this package throws. */
export class CoveError extends Error {
    constructor(message: string, options?: ErrorOptions) {
        super(message, options);
        this.name = new.target.name;
    }
}

/** No server was named, none runs here, and none could be started. */
export class ServerNotFoundError extends CoveError {}

/** The server could not be reached, or the connection broke and the call could not be repeated safely. */
export class TransportError extends CoveError {}

/** The server answered with something that is not its interface. */
export class ProtocolError extends CoveError {}

/** Guest code failed, and `check` was asked to throw it. `result` has everything. */
export class RunFailedError<T = unknown> extends CoveError {
    constructor(message: string, readonly result: T) {
        super(message);
    }
}

/** What the server said with a refusal. */
export interface Refusal {
    code: string;
    status: number;
    details: Record<string, unknown>;
    requestId: string | undefined;
}

/** The server refused. `code` is stable; `details` is for programs; `requestId` finds it in the server's log. */
export class ApiError extends CoveError implements Refusal {
    readonly code: string;
    readonly status: number;
    readonly details: Record<string, unknown>;
    readonly requestId: string | undefined;

    constructor(message: string, refusal: Refusal) {
        super(message);
        this.code = refusal.code;
        this.status = refusal.status;
        this.details = refusal.details;
        this.requestId = refusal.requestId;
    }
}

/** Not found, or owned by another owner. */
export class NotFoundError extends ApiError {}
/** Missing or invalid API key. */
export class UnauthorizedError extends ApiError {}
/** The API key may not do this. */
export class ForbiddenError extends ApiError {}
/** Quota or rate limit exceeded. */
export class QuotaExceededError extends ApiError {}
/** The session is still starting; `retryAfterMs` says when to come back. */
export class SessionNotReadyError extends ApiError {
    get retryAfterMs(): number | undefined {
        const value = this.details["retry_after_ms"];
        return typeof value === "number" ? value : undefined;
    }
}
/** The work timed out. */
export class ExecTimeoutError extends ApiError {}
/** The sandbox's runtime failed. */
export class ShipError extends ApiError {}
/** The resource is not in a state for this. */
export class ConflictError extends ApiError {}
/** The sandbox has expired. */
export class SandboxExpiredError extends ConflictError {}
/** A sandbox without an expiry cannot be extended. */
export class SandboxTtlInfiniteError extends ConflictError {}
/** Invalid value, or the request does not fit its schema (`details.problems`). */
export class ValidationError extends ApiError {}
/** No such file in the workspace. */
export class WorkspaceFileNotFoundError extends NotFoundError {}
/** The sandbox's profile does not support this; `details` says what it can. */
export class CapabilityNotSupportedError extends ApiError {}
/** Invalid path, or a path outside the workspace; `details.reason`. */
export class InvalidPathError extends ApiError {}
/** No program listens on this port of the sandbox. */
export class PortClosedError extends ApiError {}
/** The link to a port has expired. */
export class LinkExpiredError extends ApiError {}
/** Internal server error. */
export class InternalError extends ApiError {}

/** The class of each code; the compiler holds it complete. A code that this client does not know yet is an `ApiError`. */
export const BY_CODE: Record<ErrorCode, typeof ApiError> = {
    not_found: NotFoundError,
    unauthorized: UnauthorizedError,
    forbidden: ForbiddenError,
    quota_exceeded: QuotaExceededError,
    session_not_ready: SessionNotReadyError,
    timeout: ExecTimeoutError,
    ship_error: ShipError,
    conflict: ConflictError,
    sandbox_expired: SandboxExpiredError,
    sandbox_ttl_infinite: SandboxTtlInfiniteError,
    validation_error: ValidationError,
    file_not_found: WorkspaceFileNotFoundError,
    capability_not_supported: CapabilityNotSupportedError,
    invalid_path: InvalidPathError,
    port_closed: PortClosedError,
    link_expired: LinkExpiredError,
    internal_error: InternalError,
};

/** The error that a body of the server's own says. */
export function fromBody(body: Schemas["ErrorBody"], status = 0, requestId?: string): ApiError {
    const { code, message, details } = body.error;
    const kind = Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : ApiError;
    const known: unknown = details?.["available"];
    const thereAre = Array.isArray(known) && known.length > 0 ? `; there are: ${known.join(", ")}` : "";
    return new kind((message || code) + thereAre, {
        code,
        status,
        details: (details ?? {}) as Record<string, unknown>,
        requestId: body.error.request_id || requestId,
    });
}

/** The error for an answer that is one. Says something useful also when a proxy answered instead. */
export async function fromAnswer(response: Response): Promise<ApiError> {
    const status = response.status;
    const requestId = response.headers.get("x-request-id") ?? undefined;
    const text = await response.text().catch(() => "");
    let said: Partial<Schemas["ErrorBody"] & Schemas["SchemaErrors"]> = {};
    try {
        said = JSON.parse(text) ?? {};
    } catch {
        // Not JSON: not the server's own words.
    }
    if (typeof said.error?.code === "string") return fromBody({ error: said.error }, status, requestId);
    if (status === 422 && Array.isArray(said.detail)) {
        const message = said.detail.map((one) => `${one.loc?.join(".")}: ${one.msg}`).join("; ");
        const details = { problems: said.detail };
        return new ValidationError(message || "invalid request", { code: "validation_error", status, details, requestId });
    }
    const shown = text.split(/\s+/).join(" ").trim().slice(0, 200);
    return new ApiError(`HTTP ${status}${shown === "" ? "" : `: ${shown}`}`, { code: "", status, details: {}, requestId });
}
