import type { Screen } from "../../screen.js";

export const screen: Screen = { path: "sandboxes", title: "sandboxes", order: 2, keys: "g s", load: () => import("./view.js") };
