import { Artifacts } from "./artifacts.js";
import { runWithTools, specs, type Tools } from "./calls.js";
import type { JavaScriptRun } from "./results.js";
import type { Transport } from "./transport.js";
import { body, type CallOptions, GRACE_MS, type Request, type Schemas, unique } from "./wire.js";

/** Where JavaScript runs. */
export type Engine = "auto" | "embedded" | "browser";

/** How to run JavaScript. */
export interface JavaScriptOptions
    extends Partial<Pick<Schemas["JavaScriptExecRequest"], "timeout" | "include_code" | "description" | "tags">>,
        CallOptions {
    engine?: Engine;
    /** Whether pictures come as bytes (they do, unless told otherwise). */
    images?: boolean;
}

/** How to open a session. */
export interface SessionOptions {
    /** Who gives the same name finds the same state. */
    name?: string;
    /** Functions of yours that its code may call. */
    tools?: Tools;
    engine?: Engine;
}

/** JavaScript and TypeScript. */
export class JavaScript {
    constructor(private readonly transport: Transport, private readonly base: string) {}

    /** Runs a function body: `return` gives the value, `await` works, `input` is what is given here. */
    async run<T = unknown>(code: string, input?: unknown, options: JavaScriptOptions = {}): Promise<JavaScriptRun<T>> {
        const { images = true, ...rest } = options;
        const answer = await this.transport.call<Schemas["JavaScriptExecResult"]>(exec(this.base, { ...rest, code, input }));
        return finish(this.transport, this.base, answer, images);
    }

    /** A session: variables stay from run to run, `tools` are functions of yours that its code may call. */
    session(options: SessionOptions = {}): JavaScriptSession {
        return new JavaScriptSession(this.transport, this.base, options);
    }
}

/** A session. With `await using` its state is forgotten at the end of the block. */
export class JavaScriptSession implements AsyncDisposable {
    readonly name: string;
    readonly #tools: Tools;
    readonly #engine: Engine | undefined;

    constructor(private readonly transport: Transport, private readonly base: string, options: SessionOptions) {
        this.name = options.name ?? `session-${unique().slice(0, 12)}`;
        this.#tools = options.tools ?? {};
        this.#engine = options.engine;
        specs(this.#tools);
    }

    /** Runs statements; the last one's value is the result, `final_answer(x)` ends the task. */
    async run<T = unknown>(code: string, input?: unknown, options: Omit<JavaScriptOptions, "engine"> = {}): Promise<JavaScriptRun<T>> {
        const { images = true, ...rest } = options;
        const tools = specs(this.#tools);
        const request = exec(this.base, { ...rest, engine: this.#engine, code, input, session: this.name, tools });
        const answer =
            tools.length === 0
                ? await this.transport.call<Schemas["JavaScriptExecResult"]>(request)
                : await runWithTools<Schemas["JavaScriptExecResult"]>(this.transport, this.base, request, this.name, this.#tools);
        return finish(this.transport, this.base, answer, images);
    }

    /** Forgets all state. */
    async reset(options: CallOptions = {}): Promise<void> {
        const path = `${this.base}/javascript/reset`;
        await this.transport.send({ method: "POST", path, query: { session: this.name }, harmless: true, ...options });
    }

    async [Symbol.asyncDispose](): Promise<void> {
        await this.reset();
    }
}

function exec(base: string, options: Partial<Schemas["JavaScriptExecRequest"]> & CallOptions): Request {
    const timeoutMs = (options.timeout ?? 30) * 1_000 + GRACE_MS;
    return { method: "POST", path: `${base}/javascript/exec`, body: body(options), timeoutMs, signal: options.signal };
}

async function finish<T>(
    transport: Transport,
    base: string,
    answer: Schemas["JavaScriptExecResult"],
    images: boolean,
): Promise<JavaScriptRun<T>> {
    const artifacts = new Artifacts(transport, base);
    const drawn = images ? (answer.data?.images ?? []) : [];
    const result = answer.data?.result;
    return {
        ...answer,
        value: answer.success ? (result as T) : undefined,
        failure: answer.success ? undefined : ((result ?? undefined) as Record<string, unknown> | undefined),
        logs: answer.data?.logs ?? "",
        warnings: answer.data?.warnings ?? [],
        isFinal: answer.data?.is_final ?? false,
        images: await Promise.all(drawn.map((image) => artifacts.image(image))),
    };
}
