/**
 * A sandbox as tools for the Vercel AI SDK (`ai`):
 *
 *     const { text } = await generateText({ model, tools: sandboxTools(sandbox), stopWhen: stepCountIs(10), prompt });
 */

import { type Tool, tool } from "ai";
import { z } from "zod";
import type { Sandbox } from "../src/index.js";

/** What a model may do in a sandbox. */
export function sandboxTools(sandbox: Sandbox) {
    return {
        run_javascript: tool({
            description:
                "Runs JavaScript or TypeScript in a sandbox and gives back what it returns. " +
                "The code is a function body: use `return`. `input` is the variable of that name.",
            inputSchema: z.object({ code: z.string(), input: z.unknown().optional() }),
            execute: async ({ code, input }, { abortSignal }) => {
                const run = await sandbox.javascript.run(code, input, { signal: abortSignal });
                return run.success ? { value: run.value, logs: run.logs } : { error: run.error };
            },
        }),
        execute_python: tool({
            description: "Runs Python in a sandbox. Variables stay for the next call; files are in the working folder.",
            inputSchema: z.object({ code: z.string(), timeout: z.number().int().min(1).max(300).default(30) }),
            execute: async ({ code, timeout }, { abortSignal }) => {
                const run = await sandbox.python.exec(code, { timeout, signal: abortSignal });
                return run.success ? { output: run.output } : { output: run.output, error: run.error };
            },
        }),
        execute_shell: tool({
            description: "Runs a shell command in a sandbox.",
            inputSchema: z.object({ command: z.string(), cwd: z.string().optional() }),
            execute: async ({ command, cwd }, { abortSignal }) => {
                const run = await sandbox.shell.exec(command, { cwd, signal: abortSignal });
                return { output: run.output, exit_code: run.exit_code };
            },
        }),
        write_file: tool({
            description: "Writes a text file in the sandbox's workspace.",
            inputSchema: z.object({ path: z.string(), content: z.string() }),
            execute: async ({ path, content }) => {
                await sandbox.files.write(path, content);
                return { written: path };
            },
        }),
        read_file: tool({
            description: "Reads a text file of the sandbox's workspace.",
            inputSchema: z.object({ path: z.string() }),
            execute: async ({ path }) => ({ content: await sandbox.files.read(path) }),
        }),
    } satisfies Record<string, Tool>;
}
