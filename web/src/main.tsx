// The page begins here.

import { render } from "preact";
import "./style.css";
import { App } from "./app.js";
import { begin } from "./session.js";

render(<App />, document.getElementById("page")!);
void begin();
