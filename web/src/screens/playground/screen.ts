import type { Screen } from "../../screen.js";

export const screen: Screen = { path: "playground", title: "playground", order: 1, keys: "g p", load: () => import("./view.js") };
