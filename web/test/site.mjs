// A site of the tests, which a sandbox's browser may reach, and where its pages are on the screen.

import { createServer } from "node:http";
import * as hostile from "./hostile.mjs";

/** A page with something to click, to write into and to scroll. */
const harbour = `<!doctype html><title>Harbour office</title><style>body{margin:0;font:17px/1.5 system-ui,sans-serif;color:#1f2933;background:#f4f7f8}
    header{background:#0b7285;color:#fff;padding:22px 100px;font-size:24px}button,input{position:absolute;left:100px;width:240px;font:inherit;box-sizing:border-box}
    button{top:100px;height:60px;background:#0b7285;color:#fff;border:0;border-radius:8px}input{top:200px;height:40px;border:1px solid #9ab;border-radius:6px;padding:0 10px}
    main{position:absolute;left:400px;top:100px;width:760px}div{display:grid;grid-template-columns:1fr 1fr 80px;border-bottom:1px solid #d9e2e6;padding:9px 12px;background:#fff}
    p{margin:0 0 16px}footer{position:absolute;top:5000px}</style><header>Harbour office</header>
    <button onclick="document.title='clicked'">Open the log</button><input id=name aria-label="Name of the boat" placeholder="Name of the boat">
    <main><p>Six boats are in, two are expected with the evening tide. <a href="#tides">Tides</a> · <a href="#berths">Free berths</a></p>
    <div><b>Boat</b><b>From</b><b>Length</b></div>${[["Albatross", "Lima", 14], ["Brisa", "Cádiz", 9], ["Cormorant", "Cork", 22], ["Dà Hǎi", "Xiamen", 31], ["Eider", "Tromsø", 12], ["Freya", "Aarhus", 17]]
        .map((row) => `<div>${row.map((cell) => `<span>${cell}</span>`).join("")}</div>`)
        .join("")}</main><footer>the end</footer>`;

/** Two pages, a login that sets a cookie, and a page that never rests. */
export async function site() {
    const server = createServer((request, response) => {
        const { pathname } = new URL(request.url ?? "/", "http://site");
        if (pathname === "/login") response.setHeader("set-cookie", "boat=42; Path=/; HttpOnly");
        response.setHeader("content-type", "text/html; charset=utf-8");
        const pages = /** @type {Record<string, string>} */ ({ "/": harbour, "/login": "<title>Logged in</title><h1>Welcome aboard</h1>", "/hostile": hostile.page });
        response.end(pages[pathname] ?? `<title>${pathname}</title>${request.headers.cookie ?? "no cookie"}`);
    });
    await new Promise((listening) => server.listen(0, "127.0.0.1", () => listening(undefined)));
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    return { server, at: (/** @type {string} */ path) => `http://127.0.0.1:${port}${path}` };
}

/** Where a place of the sandbox's page is on the screen. @param {import("playwright-core").Page} page @param {number} x @param {number} y */
export async function inView(page, x, y) {
    const place = await page.locator(".live-place").boundingBox();
    const ratio = await page.evaluate(() => /** @type {HTMLElement} */ (document.querySelector(".live-place")).style.aspectRatio);
    const [width = 1, height = 1] = ratio.split("/").map(Number);
    return /** @type {[number, number]} */ ([(place?.x ?? 0) + (x * (place?.width ?? 0)) / width, (place?.y ?? 0) + (y * (place?.height ?? 0)) / height]);
}
