import { approvals } from "../../api.js";
import type { Screen } from "../../screen.js";

export const screen: Screen = {
    path: "waiting",
    title: "waitingShort",
    order: 3,
    keys: "g w",
    count: (signal) => approvals({ signal }).then((all) => all.length),
    load: () => import("./view.js"),
};
