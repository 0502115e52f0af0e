// The line to a sandbox's browser: pictures come one by one, and the next one when the last has been shown; what a person does
// goes the other way. Whoever only looks is no use of the sandbox. A hidden page has no line, unless its person has control:
// then it keeps control and is sent nothing.

import { viewUrl } from "../../../api.js";

export interface ViewTab {
    id: string;
    title: string;
    url: string;
    shown: boolean;
}

/** Who has control of the browser. */
export type Controller = "agent" | "taking" | "you" | "another";

export interface ViewState {
    browser: boolean;
    tabs: ViewTab[];
    control: Controller;
    dialog: string | null;
}

/** What a person does. */
export type ViewWord =
    | { type: "ack"; seq: number }
    | { type: "take" | "give" | "back" | "forward" | "reload" }
    | {
          type: "mouse";
          event: "down" | "up" | "move" | "wheel";
          x: number;
          y: number;
          button?: "none" | "left" | "middle" | "right";
          clicks?: number;
          dx?: number;
          dy?: number;
          modifiers?: number;
      }
    | { type: "key"; event: "down" | "up"; key: string; code: string; key_code: number; modifiers: number }
    | { type: "text"; text: string }
    | { type: "navigate"; url: string }
    | { type: "tab"; id: string }
    | { type: "dialog"; accept: boolean; text: string };

/** What the line tells. */
export interface Heard {
    state: (state: ViewState) => void;
    open: (open: boolean) => void;
    /** A picture, and how large the page is that it shows. */
    picture: (picture: ImageBitmap, width: number, height: number) => void;
    refused: (message: string) => void;
    /** Control was taken away, or the line broke while it was held. */
    lost: () => void;
}

type Told = ({ type: "state" } & ViewState) | { type: "refused"; cause: string; message: string };

/** The bytes before a picture: its number, and the width and height of the page. */
const HEADER = 8;
/** Between two tries to connect, in milliseconds. */
const PAUSE = 1_500;

export class Line {
    #socket: WebSocket | undefined;
    /** Whether this connection may have control. */
    #mayControl = false;
    /** Whether control was on its way, or here, on this connection. */
    #asked = false;
    #control: Controller = "agent";
    /** Whether there is something to look at. */
    #wanted = false;
    #timer: ReturnType<typeof setTimeout> | undefined;
    /** The number of a picture that is acknowledged when the page is seen again. */
    #unseen: number | undefined;
    #ended = false;

    constructor(
        private readonly id: string,
        private readonly heard: Heard,
    ) {
        document.addEventListener("visibilitychange", this.#look);
    }

    /** There is a browser to look at, or there is none. */
    want(wanted: boolean): void {
        this.#wanted = wanted;
        if (wanted && this.#socket === undefined && this.#timer === undefined) this.#connect();
    }

    say(word: ViewWord): void {
        if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(word));
    }

    /** Asks for control, on a connection of its own: having it is use of the sandbox. */
    take(): void {
        if (this.#mayControl) return;
        this.#mayControl = true;
        this.#connect();
    }

    give(): void {
        this.say({ type: "give" });
        this.#onlyLook();
    }

    end(): void {
        this.#ended = true;
        document.removeEventListener("visibilitychange", this.#look);
        this.#hangUp();
    }

    #look = (): void => {
        if (document.hidden) {
            if (!this.#mayControl) this.#hangUp();
            return;
        }
        if (this.#unseen !== undefined) this.say({ type: "ack", seq: this.#unseen });
        this.#unseen = undefined;
        if (this.#socket === undefined) this.#connect();
    };

    #onlyLook(): void {
        this.#mayControl = false;
        this.#connect();
    }

    #hangUp(): void {
        clearTimeout(this.#timer);
        this.#timer = undefined;
        const socket = this.#socket;
        this.#socket = undefined;
        this.#unseen = undefined;
        socket?.close();
        this.#control = "agent";
        this.heard.open(false);
    }

    #connect(): void {
        this.#hangUp();
        if (this.#ended || (!this.#mayControl && (!this.#wanted || document.hidden))) return;
        const mayControl = this.#mayControl;
        const socket = (this.#socket = new WebSocket(viewUrl(this.id, mayControl)));
        this.#asked = false;
        socket.binaryType = "arraybuffer";
        const mine = () => this.#socket === socket;
        socket.onopen = () => {
            if (!mine()) return;
            this.heard.open(true);
            if (mayControl) this.say({ type: "take" });
        };
        socket.onmessage = (message: MessageEvent<string | ArrayBuffer>) => {
            if (!mine()) return;
            if (message.data instanceof ArrayBuffer) void this.#show(socket, message.data);
            else this.#told(JSON.parse(message.data) as Told);
        };
        socket.onclose = () => {
            if (!mine()) return;
            if (mayControl) this.heard.lost();
            this.#mayControl = false;
            this.#hangUp();
            this.#timer = setTimeout(() => {
                this.#timer = undefined;
                if (this.#socket === undefined) this.#connect();
            }, PAUSE);
        };
    }

    #told(told: Told): void {
        if (told.type === "refused") {
            this.heard.refused(told.message);
            if (this.#mayControl && this.#control !== "you" && told.cause !== "no_control") this.#onlyLook();
            return;
        }
        this.#control = told.control;
        this.heard.state(told);
        if (!this.#mayControl) return;
        if (told.control === "taking" || told.control === "you") this.#asked = true;
        else if (this.#asked) this.#onlyLook();
    }

    async #show(socket: WebSocket, message: ArrayBuffer): Promise<void> {
        const header = new DataView(message, 0, HEADER);
        const seq = header.getUint32(0);
        // A picture that cannot be read is passed over.
        const picture = await createImageBitmap(new Blob([new Uint8Array(message, HEADER)], { type: "image/jpeg" })).catch(() => undefined);
        if (this.#socket !== socket) return picture?.close();
        if (picture !== undefined) {
            this.heard.picture(picture, header.getUint16(4) || picture.width, header.getUint16(6) || picture.height);
            picture.close();
        }
        if (document.hidden) this.#unseen = seq;
        else this.say({ type: "ack", seq });
    }
}
