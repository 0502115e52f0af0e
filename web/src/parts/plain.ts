// Text of a guest on one line: names, titles, commands. Letters that change how their neighbours are read, or that nobody sees,
// are shown by their numbers: a file called `\u202egnp.exe` is not shown as `exe.png`.

/** Control characters, directions of writing, what has no width, and the ends of lines that are not `\n`. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const numbered = (letter: string): string => {
    const number = letter.codePointAt(0)!.toString(16);
    return number.length > 4 ? `\\u{${number}}` : `\\u${number.padStart(4, "0")}`;
};

/** A text of several lines. */
export const plain = (text: string): string => text.replaceAll("\r\n", "\n").replace(HIDDEN, numbered);

/** A text of one line. */
export const plainLine = (text: string): string => plain(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
