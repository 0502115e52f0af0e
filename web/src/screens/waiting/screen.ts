import type { Screen } from "../../screen.js";

export const screen: Screen = { path: "waiting", title: "waiting", order: 3, keys: "g w", load: () => import("./view.js") };
