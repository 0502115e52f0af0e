// A plain JSON-RPC client of `cove mcp` over standard streams, and how many tokens a text is.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

export class Server {
    #answers = new Map();
    #number = 0;
    /** Answers what the server asks of its client. */
    onAsked = undefined;
    /** Hears of notifications. */
    onTold = undefined;

    constructor(program, args, env = {}, before = ["mcp"]) {
        this.process = spawn(program, [...before, ...args], {
            env: { ...process.env, ...env },
            stdio: ["pipe", "pipe", "ignore"],
        });
        createInterface({ input: this.process.stdout }).on("line", (line) => {
            const message = JSON.parse(line);
            if (message.method !== undefined && message.id !== undefined) {
                void Promise.resolve(this.onAsked?.(message)).then((result) => this.say({ id: message.id, result }));
                return;
            }
            if (message.method !== undefined) this.onTold?.(message);
            this.#answers.get(message.id)?.(message);
            this.#answers.delete(message.id);
        });
        this.process.on("exit", (code) => {
            for (const tell of this.#answers.values()) tell({ error: { message: `the server has ended (${code})` } });
        });
    }

    /** A server after the handshake; another program than `cove mcp` says what comes `before` its arguments. */
    static async start(program, args, env, capabilities = {}, before = ["mcp"]) {
        const server = new Server(program, args, env, before);
        const clientInfo = { name: "cove-tests", version: "1" };
        await server.ask("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo });
        server.say({ method: "notifications/initialized" });
        return server;
    }

    say(message) {
        this.process.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
    }

    /** The whole message that answers. */
    ask(method, params = {}) {
        const id = ++this.#number;
        return new Promise((resolve) => {
            this.#answers.set(id, resolve);
            this.say({ id, method, params });
        });
    }

    call(name, args) {
        return this.ask("tools/call", { name, arguments: args });
    }

    async close() {
        const ended = once(this.process, "exit");
        this.process.stdin.end();
        await ended;
    }
}

/** In OpenAI's `o200k_base`, whose data is part of its package. Other models count a little differently. */
export const tokens = (text) => countTokens(text, { disallowedSpecial: new Set() });
