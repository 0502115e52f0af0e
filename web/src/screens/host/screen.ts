import type { Screen } from "../../screen.js";

export const screen: Screen = { path: "host", title: "host", order: 4, keys: "g h", admin: true, load: () => import("./view.js") };
