import { Files } from "./files.js";
import type { BrowserBatch, BrowserReplay, BrowserRun, Screenshot } from "./results.js";
import type { Transport } from "./transport.js";
import { body, type CallOptions, GRACE_MS, type Schemas, segment, unique } from "./wire.js";

/** How to run a command. */
export type BrowserOptions = Partial<Omit<Schemas["BrowserExecRequest"], "cmd">> & CallOptions;
/** How to run several. */
export type BatchOptions = Partial<Omit<Schemas["BrowserBatchRequest"], "commands">> & CallOptions;
/** How to replay a skill. */
export type ReplayOptions = Partial<Schemas["BrowserSkillRequest"]> & CallOptions;
/** How long a step may take, in seconds. */
export interface StepOptions extends CallOptions {
    timeout?: number;
}

/** One browser for the sandbox. What pages say is in the output: it is not to be trusted. */
export class Browser {
    readonly #files: Files;

    constructor(private readonly transport: Transport, private readonly base: string) {
        this.#files = new Files(transport, base);
    }

    /** One agent-browser command without its first word: `open https://example.com`, `snapshot -i`, `click @e1`. */
    exec(cmd: string, options: BrowserOptions = {}): Promise<BrowserRun> {
        return this.#call("exec", { cmd }, options);
    }

    /** Several commands, one after the other, in `timeout` seconds (60) for all. */
    batch(commands: string[], options: BatchOptions = {}): Promise<BrowserBatch> {
        return this.#call("exec_batch", { commands }, options, 60);
    }

    /** Opens a page. */
    navigate(url: string, options: StepOptions = {}): Promise<BrowserRun> {
        return this.#call("navigate", { url }, options);
    }

    /** What is on the page, as text with references (`@e1`) for `click` and `fill`. */
    snapshot(options: StepOptions & { interactive?: boolean } = {}): Promise<BrowserRun> {
        return this.#call("snapshot", {}, options);
    }

    /** Clicks what the last snapshot calls `ref`. */
    click(ref: string, options: StepOptions = {}): Promise<BrowserRun> {
        return this.#call("click", { ref }, options);
    }

    /** Fills in a field; whatever is in `text`, it is text. */
    fill(ref: string, text: string, options: StepOptions = {}): Promise<BrowserRun> {
        return this.#call("fill", { ref, text }, options);
    }

    /** A picture of the page: in the workspace, and here as bytes. */
    async screenshot(options: StepOptions & { path?: string; full_page?: boolean } = {}): Promise<Screenshot> {
        const path = options.path ?? `screenshot-${unique().slice(0, 8)}.png`;
        const taken = await this.#call<BrowserRun>("screenshot", { path }, options);
        const data = taken.success ? await this.#files.download(path, { signal: options.signal }) : undefined;
        return { ...taken, path, image: data && { data, media_type: "image/png", name: path } };
    }

    /** Replays the active release of a browser skill. */
    runSkill(skillKey: string, options: ReplayOptions = {}): Promise<BrowserReplay> {
        return this.#call(`skills/${segment(skillKey)}/run`, {}, options, 60);
    }

    /** Every step of a call that was made with `include_trace`. */
    trace(traceRef: string, options: CallOptions = {}): Promise<Schemas["BrowserTrace"]> {
        return this.transport.call({ method: "GET", path: `${this.base}/browser/traces/${segment(traceRef)}`, ...options });
    }

    #call<T>(verb: string, said: object, options: StepOptions, seconds = 30): Promise<T> {
        return this.transport.call({
            method: "POST",
            path: `${this.base}/browser/${verb}`,
            body: { ...body(options), ...said },
            timeoutMs: (options.timeout ?? seconds) * 1_000 + GRACE_MS,
            signal: options.signal,
        });
    }
}
