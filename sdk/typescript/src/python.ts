import { type HeardOptions, run } from "./calls.js";
import { fromBundle, type Image } from "./image.js";
import type { PythonRun } from "./results.js";
import type { Transport } from "./transport.js";
import { body, type CallOptions, GRACE_MS, type Schemas } from "./wire.js";

/** How to run Python. */
export type PythonOptions = Partial<Omit<Schemas["PythonExecRequest"], "code" | "output_tag">> & CallOptions & HeardOptions;

/** One interpreter that remembers: what a call defines, the next one finds. */
export class Python {
    constructor(private readonly transport: Transport, private readonly base: string) {}

    /** Runs code for at most `timeout` seconds (30). The last expression's value is part of the output. */
    async exec(code: string, options: PythonOptions = {}): Promise<PythonRun> {
        const answer = await run<Schemas["PythonExecResult"]>(
            this.transport,
            this.base,
            {
                method: "POST",
                path: `${this.base}/python/exec`,
                body: { ...body(options), code },
                timeoutMs: (options.timeout ?? 30) * 1_000 + GRACE_MS,
                signal: options.signal,
            },
            options.onOutput,
        );
        const bundles = (answer.data?.output.images ?? []) as Array<Record<string, unknown>>;
        return { ...answer, images: bundles.map(fromBundle).filter((image): image is Image => image !== undefined) };
    }
}
