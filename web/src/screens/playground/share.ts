// A link that holds the code in its fragment. No browser sends a fragment to a server.

export interface Shared {
    code: string;
    input: string;
    engine: string;
}

/** Longer links are cut by chat programs. */
export const MAX_LINK = 16_000;
/** What a link may hold, unpacked: a small link can hold a lot of zeroes. */
const MAX_TEXT = 1 << 20;

export async function pack(shared: Shared): Promise<string> {
    const stream = new Blob([JSON.stringify(shared)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export async function unpack(text: string): Promise<Shared | undefined> {
    try {
        const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
        const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
        const decoder = new TextDecoder();
        let json = "";
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
            json += decoder.decode(part.value, { stream: true });
            if (json.length > MAX_TEXT) return undefined;
        }
        const { code, input, engine } = JSON.parse(json) as Record<string, unknown>;
        if (typeof code !== "string") return undefined;
        return { code, input: typeof input === "string" ? input : "", engine: typeof engine === "string" ? engine : "auto" };
    } catch {
        return undefined;
    }
}
