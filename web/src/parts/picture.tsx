// A picture that a guest made: shown in an `<img>` and only if its own bytes say that it is of a kind that cannot hold a
// script. SVG is not: it is shown as the text that it is.

import { useEffect, useState } from "preact/hooks";
import { said } from "../server.js";
import { t } from "../words.js";

/** Beginnings of pictures, and what they are. */
const KINDS: [number[], string][] = [
    [[0x89, 0x50, 0x4e, 0x47], "image/png"],
    [[0xff, 0xd8, 0xff], "image/jpeg"],
    [[0x47, 0x49, 0x46, 0x38], "image/gif"],
    [[0x52, 0x49, 0x46, 0x46], "image/webp"],
    [[0x42, 0x4d], "image/bmp"],
];

/** What kind of picture these bytes are; `undefined`: none that is shown. */
export function pictureKind(bytes: Uint8Array): string | undefined {
    return KINDS.find(([start]) => start.every((byte, at) => bytes[at] === byte))?.[1];
}

export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** Width and height, where they are known: what lies below does not move when the picture comes. */
export type PictureSize = [width: number, height: number];

export function Picture({ bytes, alt, size }: { bytes: Uint8Array<ArrayBuffer>; alt: string; size?: PictureSize | undefined }) {
    const [url, setUrl] = useState("");
    const kind = pictureKind(bytes);
    useEffect(() => {
        if (kind === undefined) return;
        const made = URL.createObjectURL(new Blob([bytes], { type: kind }));
        setUrl(made);
        return () => URL.revokeObjectURL(made);
    }, [bytes]);
    if (kind === undefined) return <p class="quiet">{t("noPicture")}</p>;
    if (url === "") return <PictureWait size={size} />;
    return <img class="picture" src={url} alt={alt} width={size?.[0]} height={size?.[1]} />;
}

function PictureWait({ size }: { size: PictureSize | undefined }) {
    return <div class="picture-wait" style={size && { width: `${size[0]}px`, height: "auto", aspectRatio: size.join(" / ") }} />;
}

/** A picture that has to be fetched first. */
export function FetchedPicture({ fetch, alt, size }: { fetch: () => Promise<ArrayBuffer>; alt: string; size?: PictureSize | undefined }) {
    const [bytes, setBytes] = useState<Uint8Array<ArrayBuffer> | undefined>();
    const [fault, setFault] = useState("");
    useEffect(() => {
        let there = true;
        fetch().then(
            (buffer) => there && setBytes(new Uint8Array(buffer)),
            (reason: unknown) => there && setFault(said(reason)),
        );
        return () => {
            there = false;
        };
    }, [alt]);
    if (fault !== "") return <p class="fault">{fault}</p>;
    return bytes === undefined ? <PictureWait size={size} /> : <Picture bytes={bytes} alt={alt} size={size} />;
}
