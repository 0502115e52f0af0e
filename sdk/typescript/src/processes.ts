import { followed, type Transport } from "./transport.js";
import { body, type CallOptions, type Schemas, segment } from "./wire.js";

/** How to start a process. */
export type ProcessOptions = Partial<Omit<Schemas["CreateProcess"], "argv">> & CallOptions;

/** Servers, watchers, long jobs: started here, they run until they end, are killed, or the sandbox stops. */
export class Processes {
    constructor(private readonly transport: Transport, private readonly base: string) {}

    /** Starts a program and leaves it running. A string is a line for bash; a list is a program with its arguments. */
    start(command: string | readonly string[], options: ProcessOptions = {}): Promise<Schemas["ProcessInfo"]> {
        const argv = typeof command === "string" ? ["/bin/bash", "-lc", command] : [...command];
        return this.transport.call({
            method: "POST",
            path: `${this.base}/processes`,
            body: { ...body(options), argv },
            signal: options.signal,
        });
    }

    /** Those that were started and are remembered, the oldest first. Starts nothing. */
    async list(options: CallOptions = {}): Promise<Schemas["ProcessInfo"][]> {
        const request = { method: "GET", path: `${this.base}/processes`, ...options } as const;
        return (await this.transport.call<Schemas["ProcessList"]>(request)).processes;
    }

    /** One of them, with what it has written: the beginning and the end, where that is much. */
    get(id: string, options: CallOptions = {}): Promise<Schemas["ProcessInfo"]> {
        return this.transport.call({ method: "GET", path: this.#path(id), ...options });
    }

    /** What happens to it, until it has ended. `from: 0` begins with all that it has written and that is still kept. */
    follow(id: string, options: CallOptions & { from?: number } = {}): AsyncGenerator<Schemas["ProcessFrame"]> {
        return followed(this.transport, `${this.#path(id)}/follow`, { from: options.from }, options.signal);
    }

    /** Writes to its standard input, or to its terminal; `end` closes that. `data` is bytes in base64. */
    write(id: string, text: string, options: CallOptions & { data?: string; end?: boolean } = {}): Promise<Schemas["ProcessInfo"]> {
        const input = { ...body(options), text };
        return this.transport.call({ method: "POST", path: `${this.#path(id)}/input`, body: input, signal: options.signal });
    }

    /** Sends it a signal: 15 asks it to end, 2 interrupts it, 9 ends it with everything that it has started. */
    signal(id: string, signal = 15, options: CallOptions = {}): Promise<Schemas["ProcessInfo"]> {
        return this.transport.call({ method: "POST", path: `${this.#path(id)}/signal`, body: { signal }, ...options });
    }

    /** Ends it with everything that it has started. */
    kill(id: string, options: CallOptions = {}): Promise<Schemas["ProcessInfo"]> {
        return this.signal(id, 9, options);
    }

    /** Gives its terminal another size. */
    resize(id: string, size: Schemas["TerminalSize"], options: CallOptions = {}): Promise<Schemas["ProcessInfo"]> {
        const path = `${this.#path(id)}/resize`;
        return this.transport.call({ method: "POST", path, body: size, harmless: true, ...options });
    }

    #path(id: string): string {
        return `${this.base}/processes/${segment(id)}`;
    }
}
