// A sandbox's events as they happen. Nothing is read while nobody looks: a hidden page closes its stream and goes on from the
// last number when it is seen again.

import { useEffect } from "preact/hooks";
import { eventsPath } from "./api.js";
import { answer, Refused } from "./server.js";

export interface SandboxEvent {
    seq: number;
    kind: "state" | "run_started" | "console" | "output" | "tool_call" | "run_finished" | "ports" | "gap";
    at: string;
    data: Record<string, unknown>;
}

/** Between two tries to connect, in milliseconds. */
const PAUSE = 1_500;

/** Calls `hear` for every event until the signal says stop. */
export async function follow(id: string, hear: (event: SandboxEvent) => void, stop: AbortSignal, ready?: () => void): Promise<void> {
    let after: number | undefined;
    while (!stop.aborted) {
        if (document.hidden) await shown(stop);
        if (stop.aborted) return;
        const unseen = new AbortController();
        const hide = () => document.hidden && unseen.abort();
        document.addEventListener("visibilitychange", hide);
        try {
            const response = await answer("GET", eventsPath(id, after), { signal: AbortSignal.any([stop, unseen.signal]) });
            ready?.();
            await read(response, (event) => {
                after = event.seq;
                hear(event);
            });
        } catch (fault) {
            if (fault instanceof Refused && fault.status < 500) return;
        } finally {
            document.removeEventListener("visibilitychange", hide);
        }
        if (!stop.aborted && !document.hidden) await new Promise((done) => setTimeout(done, PAUSE));
    }
}

function shown(stop: AbortSignal): Promise<void> {
    return new Promise((done) => {
        const look = () => {
            if (document.hidden && !stop.aborted) return;
            document.removeEventListener("visibilitychange", look);
            done();
        };
        document.addEventListener("visibilitychange", look);
        stop.addEventListener("abort", look);
    });
}

async function read(response: Response, hear: (event: SandboxEvent) => void): Promise<void> {
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        text += value;
        const parts = text.split("\n\n");
        text = parts.pop()!;
        for (const part of parts) {
            const data = part.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim());
            if (data.length > 0) hear(JSON.parse(data.join("\n")) as SandboxEvent);
        }
    }
}

/** Follows a sandbox for as long as a component is there. */
export function useEvents(id: string, hear: (event: SandboxEvent) => void): void {
    useEffect(() => {
        const stop = new AbortController();
        void follow(id, hear, stop.signal);
        return () => stop.abort();
    }, [id]);
}
