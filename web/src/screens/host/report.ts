// What `GET /page/host` answers.

export interface HostReport {
    embedded: { walls: { walls: { name: string; state: "active" | "missing"; detail: string }[] } | null; problem: string | null };
    browser: { found: boolean; problem: string | null };
    /** What does not hold sandboxes as it should. */
    sandbox_warnings: string[];
    memory_is_enforced: boolean;
    sessions: number;
    memory: { process_bytes: number; total_bytes: number; available_bytes: number };
    profiles: {
        id: string;
        warm_pool_size: number;
        warm_ready: number;
    }[];
}
