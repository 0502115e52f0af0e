import type { Image } from "./image.js";
import type { Transport } from "./transport.js";
import { type CallOptions, type Schemas, segment } from "./wire.js";

/** Pictures and other results of a sandbox's JavaScript. */
export class Artifacts {
    constructor(private readonly transport: Transport, private readonly base: string) {}

    /** All of them, newest first. */
    async list(options: CallOptions = {}): Promise<Schemas["ArtifactInfo"][]> {
        const path = `${this.base}/artifacts`;
        return (await this.transport.call<Schemas["ArtifactList"]>({ method: "GET", path, ...options })).items;
    }

    /** One, as bytes. */
    download(name: string, options: CallOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
        return this.transport.bytes({ method: "GET", path: `${this.base}/artifacts/${segment(name)}`, ...options });
    }

    /** A picture that a run spoke of. */
    async image(image: Schemas["JavaScriptImage"], options: CallOptions = {}): Promise<Image> {
        const { name, media_type } = image;
        const data = await this.download(name, options);
        return { data, media_type, name, width: image.width ?? undefined, height: image.height ?? undefined };
    }
}
