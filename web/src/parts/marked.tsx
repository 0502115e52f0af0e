// A sentence with code in it: what stands between backticks is shown as code.

export function Marked({ text }: { text: string }) {
    return <>{text.split("`").map((piece, at) => (at % 2 === 1 ? <code key={at}>{piece}</code> : piece))}</>;
}
