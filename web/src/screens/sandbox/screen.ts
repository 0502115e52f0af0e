import type { Screen } from "../../screen.js";

export const screen: Screen = { path: "sandbox", parent: "sandboxes", load: () => import("./view.js") };
