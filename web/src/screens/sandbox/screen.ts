import type { Screen } from "../../screen.js";

export const screen: Screen = { path: "sandbox", load: () => import("./view.js") };
