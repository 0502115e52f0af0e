"use strict";
// A small tokenizer: regular expressions, labels, switch, generators.
const source = 'let x = 10 / 2; // half\nlet s = "a/b";';
const kinds = /(?<ws>\s+)|(?<comment>\/\/[^\n]*)|(?<string>"(?:[^"\\]|\\.)*")|(?<number>\d+)|(?<word>[a-z]+)|(?<op>[=;/])/giy;

function* tokens(text) {
  kinds.lastIndex = 0;
  let match;
  while ((match = kinds.exec(text)) !== null) {
    const [kind] = Object.entries(match.groups).find(([, value]) => value !== undefined);
    if (kind === "ws") continue;
    yield { kind, text: match[0] };
  }
}

let seen = "";
outer: for (const { kind, text } of tokens(source)) {
  switch (kind) {
    case "comment":
      continue outer;
    case "word": {
      seen += text[0];
      break;
    }
    case "number":
      seen += `<${text}>`;
      break;
    default:
      seen += kind === "op" ? text : "?"
  }
}
const ratio = seen.length / 2 / 1;
do {
  seen = seen.replace(/=/, "-->");
} while (seen.includes("="))
if (seen !== "lx--><10>/<2>;ls-->?;") throw new Error(seen + ratio);
return "ok"
