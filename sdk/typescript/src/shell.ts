import { type HeardOptions, run } from "./calls.js";
import type { ShellRun } from "./results.js";
import type { Transport } from "./transport.js";
import { body, type CallOptions, GRACE_MS, type Schemas } from "./wire.js";

/** How to run a command. */
export type ShellOptions = Partial<Omit<Schemas["ShellExecRequest"], "command" | "output_tag">> & CallOptions & HeardOptions;

/** Each command is a shell of its own; what they share is the workspace. */
export class Shell {
    constructor(private readonly transport: Transport, private readonly base: string) {}

    /** Runs a command for at most `timeout` seconds (30), in `cwd` (relative to the workspace). */
    exec(command: string, options: ShellOptions = {}): Promise<ShellRun> {
        return run<ShellRun>(
            this.transport,
            this.base,
            {
                method: "POST",
                path: `${this.base}/shell/exec`,
                body: { ...body(options), command },
                timeoutMs: (options.timeout ?? 30) * 1_000 + GRACE_MS,
                signal: options.signal,
            },
            options.onOutput,
        );
    }
}
