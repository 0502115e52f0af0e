/**
 * A sandbox as tools for LangChain:
 *
 *     const agent = createAgent({ model, tools: sandboxTools(sandbox) });
 */

import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import { z } from "zod";
import type { Sandbox } from "../src/index.js";

/** What a model may do in a sandbox. */
export function sandboxTools(sandbox: Sandbox): StructuredToolInterface[] {
    return [
        tool(
            async ({ code, input }) => {
                const run = await sandbox.javascript.run(code, input);
                return run.success ? JSON.stringify(run.value ?? null) : `It failed: ${run.error}`;
            },
            {
                name: "run_javascript",
                description:
                    "Runs JavaScript or TypeScript in a sandbox and gives back what it returns. " +
                    "The code is a function body: use `return`. `input` is the variable of that name.",
                schema: z.object({ code: z.string(), input: z.any().optional() }),
            },
        ),
        tool(
            async ({ code }) => {
                const run = await sandbox.python.exec(code);
                return run.success ? run.output : `${run.output}\nIt failed: ${run.error}`;
            },
            {
                name: "execute_python",
                description: "Runs Python in a sandbox. Variables stay for the next call; files are in the working folder.",
                schema: z.object({ code: z.string() }),
            },
        ),
        tool(
            async ({ command }) => {
                const run = await sandbox.shell.exec(command);
                return `${run.output}\n(exit code ${run.exit_code})`;
            },
            {
                name: "execute_shell",
                description: "Runs a shell command in a sandbox.",
                schema: z.object({ command: z.string() }),
            },
        ),
    ];
}
