/** A picture that guest code drew, or a page's. */
export interface Image {
    data: Uint8Array<ArrayBuffer>;
    media_type: string;
    /** Its name among the sandbox's artifacts, or its path in the workspace; none: it came with the answer. */
    name?: string | undefined;
    width?: number | undefined;
    height?: number | undefined;
}

/** A picture as Python's display gives it: a media type and base64 (SVG as text). */
export function fromBundle(bundle: Record<string, unknown>): Image | undefined {
    for (const [media_type, content] of Object.entries(bundle)) {
        if (!media_type.startsWith("image/") || typeof content !== "string") continue;
        if (media_type === "image/svg+xml" && content.trimStart().startsWith("<")) {
            return { data: new TextEncoder().encode(content), media_type };
        }
        return { data: Uint8Array.from(atob(content.replace(/\s+/g, "")), (letter) => letter.charCodeAt(0)), media_type };
    }
    return undefined;
}
