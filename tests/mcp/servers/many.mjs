// A server with as many tools as it is told, for tests and measurements of `cove mcp --wrap`: plain JSON-RPC, no library.
//
// Usage: node many.mjs [HOW MANY]
import { createInterface } from "node:readline";

const count = Number(process.argv[2] ?? 10_000);
const verbs = ["create", "list", "get", "update", "delete", "archive", "search", "export", "import", "merge"];
const nouns = ["invoice", "customer", "ticket", "repository", "calendar event", "shipment", "contract", "payment", "image", "report"];
const tool = (n) => {
    const [verb, noun] = [verbs[n % 10], nouns[Math.floor(n / 10) % 10]];
    const name = `${verb}_${noun.replaceAll(" ", "_")}_${n}`;
    return {
        name,
        description: `${verb[0].toUpperCase()}${verb.slice(1)} a ${noun} in department ${Math.floor(n / 100)}.`,
        inputSchema: {
            type: "object",
            properties: { id: { type: "string", description: `Which ${noun}` }, dry_run: { type: "boolean" } },
            required: ["id"],
        },
        annotations: { readOnlyHint: verb === "get" || verb === "list", destructiveHint: verb === "delete" },
    };
};
const tools = Array.from({ length: count }, (_, n) => tool(n));
const PAGE = 1_000;

const answers = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "many", version: "1" } }),
    ping: () => ({}),
    "tools/list": ({ cursor = "0" } = {}) => {
        const end = Number(cursor) + PAGE;
        return { tools: tools.slice(Number(cursor), end), ...(end < count && { nextCursor: String(end) }) };
    },
    "tools/call": ({ name, arguments: args }) => ({ content: [{ type: "text", text: JSON.stringify({ name, ...args }) }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const answer = answers[method];
    const body = answer ? { result: answer(params) } : { error: { code: -32601, message: `no method ${method}` } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
});
