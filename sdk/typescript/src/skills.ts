import type { Transport } from "./transport.js";
import { type CallOptions, type Schemas, segment } from "./wire.js";

/** Which candidates. */
export interface CandidateQuery {
    status?: Schemas["CandidateStatus"];
    skill_key?: string;
    limit?: number;
    offset?: number;
}

/** Which releases. */
export interface ReleaseQuery {
    skill_key?: string;
    active_only?: boolean;
    stage?: Schemas["ReleaseStage"];
    limit?: number;
    offset?: number;
}

/** Skills: learnt from executions, evaluated, released and monitored. */
export class Skills {
    constructor(private readonly transport: Transport) {}

    /** Keeps a payload. */
    createPayload(payload: object, kind = "generic", options: CallOptions = {}): Promise<Schemas["PayloadRef"]> {
        return this.transport.call({ method: "POST", path: "/v1/skills/payloads", body: { payload, kind }, ...options });
    }

    /** A payload that was kept. */
    payload(payloadRef: string, options: CallOptions = {}): Promise<Schemas["PayloadInfo"]> {
        return this.transport.call({ method: "GET", path: `/v1/skills/payloads/${segment(payloadRef)}`, ...options });
    }

    /** A new candidate from executions of the caller's own. */
    createCandidate(wish: Schemas["CreateCandidate"], options: CallOptions = {}): Promise<Schemas["CandidateInfo"]> {
        return this.transport.call({ method: "POST", path: "/v1/skills/candidates", body: wish, ...options });
    }

    /** One page of candidates, newest first. */
    listCandidates(query: CandidateQuery = {}, options: CallOptions = {}): Promise<Schemas["CandidateList"]> {
        return this.transport.call({ method: "GET", path: "/v1/skills/candidates", query: { ...query }, ...options });
    }

    /** One candidate. */
    candidate(id: string, options: CallOptions = {}): Promise<Schemas["CandidateInfo"]> {
        return this.transport.call({ method: "GET", path: `/v1/skills/candidates/${segment(id)}`, ...options });
    }

    /** Deletes a candidate. */
    deleteCandidate(id: string, wish: Schemas["DeleteRequest"] = {}, options: CallOptions = {}): Promise<Schemas["Deleted"]> {
        return this.transport.call({ method: "DELETE", path: `/v1/skills/candidates/${segment(id)}`, body: wish, ...options });
    }

    /** Notes what an evaluation found. */
    evaluate(id: string, found: Schemas["Evaluate"], options: CallOptions = {}): Promise<Schemas["EvaluationInfo"]> {
        return this.transport.call({ method: "POST", path: `/v1/skills/candidates/${segment(id)}/evaluate`, body: found, ...options });
    }

    /** Releases a candidate whose last evaluation passed. */
    promote(id: string, wish: Schemas["Promote"] = {}, options: CallOptions = {}): Promise<Schemas["ReleaseInfo"]> {
        return this.transport.call({ method: "POST", path: `/v1/skills/candidates/${segment(id)}/promote`, body: wish, ...options });
    }

    /** One page of releases, newest first. */
    listReleases(query: ReleaseQuery = {}, options: CallOptions = {}): Promise<Schemas["ReleaseList"]> {
        return this.transport.call({ method: "GET", path: "/v1/skills/releases", query: { ...query }, ...options });
    }

    /** One release. */
    release(id: string, options: CallOptions = {}): Promise<Schemas["ReleaseInfo"]> {
        return this.transport.call({ method: "GET", path: `/v1/skills/releases/${segment(id)}`, ...options });
    }

    /** Deletes a release. */
    deleteRelease(id: string, wish: Schemas["DeleteRequest"] = {}, options: CallOptions = {}): Promise<Schemas["Deleted"]> {
        return this.transport.call({ method: "DELETE", path: `/v1/skills/releases/${segment(id)}`, body: wish, ...options });
    }

    /** Takes a release back: the one before it is active again. */
    rollback(id: string, options: CallOptions = {}): Promise<Schemas["ReleaseInfo"]> {
        return this.transport.call({ method: "POST", path: `/v1/skills/releases/${segment(id)}/rollback`, ...options });
    }

    /** How a release does, beside what was before it. */
    releaseHealth(id: string, options: CallOptions = {}): Promise<Schemas["ReleaseHealth"]> {
        return this.transport.call({ method: "GET", path: `/v1/skills/releases/${segment(id)}/health`, ...options });
    }
}
