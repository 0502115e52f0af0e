//! Methods that were called and do not exist: what was meant instead.
//!
//! Made-up methods are the commonest mistake of programs that nobody ran. What a call failed on is not known any more
//! when it is told, so the name alone decides: a known mistake, a near miss of a built-in name, or a built-in name on a
//! value that has no such method.

/// Methods of other languages and libraries, and what JavaScript has for them.
const INSTEAD: &[(&str, &str)] = &[
    ("contains", "`includes`"),
    ("has_key", "`Object.hasOwn(object, key)`, or `has` of a Map"),
    ("hasKey", "`Object.hasOwn(object, key)`, or `has` of a Map"),
    ("containsKey", "`Object.hasOwn(object, key)`, or `has` of a Map"),
    ("append", "`push` of an array, or `+=` of a string"),
    ("add", "`push` of an array, `add` of a Set, `set` of a Map"),
    ("addAll", "`push(...items)`"),
    ("extend", "`push(...items)` of an array, or `Object.assign`"),
    ("insert", "`splice(index, 0, item)`"),
    ("remove", "`filter` or `splice` of an array, `delete` of a Map or Set"),
    ("removeAt", "`splice(index, 1)`"),
    ("clear", "`length = 0` of an array, `clear` of a Map or Set"),
    ("length", "`length` without brackets: it is a property"),
    ("size", "`length` of an array or string, `size` of a Map or Set: both are properties, without brackets"),
    ("len", "`length`, a property"),
    ("count", "`length`, or `filter(…).length`"),
    ("isEmpty", "`length === 0`, or `Object.keys(object).length === 0`"),
    ("empty", "`length === 0`"),
    ("first", "`at(0)`"),
    ("last", "`at(-1)`"),
    ("peek", "`at(-1)`"),
    ("head", "`at(0)`"),
    ("tail", "`slice(1)`"),
    ("take", "`slice(0, n)`"),
    ("drop", "`slice(n)`"),
    ("sum", "`reduce((a, b) => a + b, 0)`"),
    ("max", "`Math.max(...items)`, or `reduce` for very long arrays"),
    ("min", "`Math.min(...items)`, or `reduce` for very long arrays"),
    ("average", "`reduce((a, b) => a + b, 0) / items.length`"),
    ("mean", "`reduce((a, b) => a + b, 0) / items.length`"),
    ("each", "`forEach`"),
    ("foreach", "`forEach`"),
    ("collect", "`map`"),
    ("select", "`filter`"),
    ("where", "`filter`"),
    ("reject", "`filter` with the opposite condition"),
    ("inject", "`reduce`"),
    ("fold", "`reduce`"),
    ("any", "`some`"),
    ("all", "`every`"),
    ("exists", "`some`"),
    ("uniq", "`[...new Set(items)]`"),
    ("unique", "`[...new Set(items)]`"),
    ("distinct", "`[...new Set(items)]`"),
    ("sortBy", "`toSorted((a, b) => a.key - b.key)`"),
    ("orderBy", "`toSorted((a, b) => a.key - b.key)`"),
    ("groupBy", "`Object.groupBy(items, fn)`"),
    ("chunk", "a loop over `slice(i, i + n)`"),
    ("flatten", "`flat`"),
    ("zip", "`map((x, i) => [x, other[i]])`"),
    ("copy", "`slice()` of an array, or `structuredClone`"),
    ("clone", "`structuredClone(value)`"),
    ("equals", "`===`"),
    ("strip", "`trim`"),
    ("lstrip", "`trimStart`"),
    ("rstrip", "`trimEnd`"),
    ("upper", "`toUpperCase`"),
    ("lower", "`toLowerCase`"),
    ("capitalize", "`s[0].toUpperCase() + s.slice(1)`"),
    ("startswith", "`startsWith`"),
    ("endswith", "`endsWith`"),
    ("find_all", "`matchAll`"),
    ("findall", "`matchAll`"),
    ("replaceFirst", "`replace`"),
    ("format", "a template such as `${x}`, or `toFixed`"),
    ("reversed", "`toReversed`"),
    ("toInt", "`Math.trunc(Number(x))`"),
    ("toFloat", "`Number(x)`"),
    ("toArray", "`[...x]`"),
    ("toList", "`[...x]`"),
    ("items", "`Object.entries(object)`"),
    ("put", "`set` of a Map"),
    ("getOrDefault", "`get(key) ?? fallback`"),
    ("getOrElse", "`?? fallback`"),
    ("println", "`console.log`"),
    ("print", "`console.log`"),
    ("printf", "`console.log`"),
];

/// Members of the built-ins, each with those who have it.
const MEMBERS: &[(&str, &[&str])] = &[
    (
        "an array",
        &[
            "at",
            "concat",
            "copyWithin",
            "entries",
            "every",
            "fill",
            "filter",
            "find",
            "findIndex",
            "findLast",
            "findLastIndex",
            "flat",
            "flatMap",
            "forEach",
            "includes",
            "indexOf",
            "join",
            "keys",
            "lastIndexOf",
            "map",
            "pop",
            "push",
            "reduce",
            "reduceRight",
            "reverse",
            "shift",
            "slice",
            "some",
            "sort",
            "splice",
            "toReversed",
            "toSorted",
            "toSpliced",
            "unshift",
            "values",
            "with",
        ],
    ),
    (
        "a string",
        &[
            "charAt",
            "charCodeAt",
            "codePointAt",
            "endsWith",
            "localeCompare",
            "match",
            "matchAll",
            "normalize",
            "padEnd",
            "padStart",
            "repeat",
            "replace",
            "replaceAll",
            "search",
            "split",
            "startsWith",
            "substring",
            "substr",
            "toLowerCase",
            "toUpperCase",
            "trim",
            "trimEnd",
            "trimStart",
        ],
    ),
    ("a number", &["toFixed", "toPrecision", "toExponential"]),
    ("a Map or a Set", &["get", "set", "has", "delete", "clear", "union", "intersection", "difference"]),
    ("a Promise", &["then", "catch", "finally"]),
    ("a regular expression", &["test", "exec"]),
    (
        "a Date",
        &[
            "getTime",
            "getFullYear",
            "getMonth",
            "getDate",
            "getDay",
            "getHours",
            "getMinutes",
            "getSeconds",
            "getMilliseconds",
            "toISOString",
            "toJSON",
            "getUTCFullYear",
            "getUTCMonth",
            "getUTCDate",
            "setDate",
            "setMonth",
            "setFullYear",
            "setHours",
            "setMinutes",
            "toDateString",
            "getTimezoneOffset",
        ],
    ),
    ("a Response", &["json", "text", "arrayBuffer", "blob"]),
    (
        "",
        &[
            "toString",
            "toLocaleString",
            "valueOf",
            "hasOwnProperty",
            "stringify",
            "parse",
            "assign",
            "fromEntries",
            "freeze",
            "isArray",
            "from",
            "of",
            "length",
            "isInteger",
            "isFinite",
            "isNaN",
            "parseInt",
            "parseFloat",
            "floor",
            "ceil",
            "round",
            "trunc",
            "abs",
            "sqrt",
            "pow",
            "random",
            "hypot",
            "sign",
            "getContext",
            "fillRect",
            "fillText",
            "strokeRect",
            "beginPath",
            "moveTo",
            "lineTo",
            "stroke",
            "fill",
            "arc",
            "closePath",
            "log",
            "warn",
            "error",
            "table",
            "bind",
            "call",
            "apply",
            "resolve",
            "allSettled",
            "race",
            "next",
            "append",
        ],
    ),
];

/// Advice for `callee is not a function`.
pub(crate) fn advice(callee: &str) -> Option<String> {
    let (object, name) = match callee.rsplit_once('.') {
        Some((object, name)) => (object.trim_end_matches('?'), name),
        None => return None,
    };
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$')) {
        return None;
    }
    if object.ends_with("crypto.subtle") {
        return Some(
            "`crypto.subtle` has digest, generateKey, importKey, exportKey, sign, verify, encrypt, decrypt, deriveBits, \
             deriveKey, wrapKey and unwrapKey."
                .to_owned(),
        );
    }
    if let Some((_, instead)) = INSTEAD.iter().find(|(wrong, _)| *wrong == name) {
        return Some(format!("JavaScript has no such method `{name}` there; use {instead}."));
    }
    let owners: Vec<&str> = MEMBERS
        .iter()
        .filter(|(owner, names)| !owner.is_empty() && names.contains(&name))
        .map(|(owner, _)| *owner)
        .collect();
    if !owners.is_empty() {
        let owners = owners.join(" or of ");
        let cure = match name {
            "then" | "catch" | "finally" => "It may be a plain value: use it directly, or `await` it.",
            "json" | "text" | "arrayBuffer" | "blob" => "Is an `await` missing before the call that gave it?",
            _ if owners.starts_with("an array") => {
                "Is an `await` missing, or is it an object (`Object.values(x)`) or another list (`[...x]`)?"
            }
            "toFixed" | "toPrecision" | "toExponential" => "It may be a string: `Number(x)`.",
            _ if owners.starts_with("a string") => "Is an `await` missing, or `String(x)`?",
            _ if owners.starts_with("a Date") => "It may be a string or a number: `new Date(x)`.",
            _ => "Is an `await` missing?",
        };
        return Some(format!("`{name}` is a method of {owners}, and the value is something else. {cure}"));
    }
    let all = MEMBERS.iter().flat_map(|(_, names)| names.iter().copied());
    nearest_of(name, all).map(|near| format!("Did you mean `{near}`?"))
}

/// The name that a misspelt one is nearest to.
pub(crate) fn nearest_of<'a>(name: &str, all: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = match name.len() {
        0..=3 => 0,
        4..=5 => 1,
        _ => 2,
    };
    let lower = name.to_lowercase().replace('_', "");
    let all = all.into_iter();
    all.map(|known| (distance(&lower, &known.to_lowercase()), known))
        .filter(|(far, known)| *far <= most && *known != name)
        .min_by_key(|(far, known)| (*far, !known.starts_with(name.get(..1).unwrap_or_default())))
        .map(|(_, known)| known)
}

/// How many letters differ: a wrong, a missing, an extra one or two that changed places count as one.
fn distance(one: &str, two: &str) -> usize {
    let (one, two): (Vec<char>, Vec<char>) = (one.chars().collect(), two.chars().collect());
    if one.len().abs_diff(two.len()) > 2 {
        return usize::MAX;
    }
    let mut rows = vec![vec![0; two.len() + 1]; one.len() + 1];
    for i in 0..=one.len() {
        for j in 0..=two.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let same = usize::from(one[i - 1] != two[j - 1]);
                let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + same);
                if i > 1 && j > 1 && one[i - 1] == two[j - 2] && one[i - 2] == two[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[one.len()][two.len()]
}

#[cfg(test)]
mod tests {
    use super::advice;

    #[test]
    fn a_method_that_is_not_there_is_answered_with_one_that_is() {
        let check = |callee: &str, word: &str| {
            let said = advice(callee);
            assert!(said.as_deref().is_some_and(|said| said.contains(word)), "{callee}: {said:?}");
        };
        check("[1].forEch", "Did you mean `forEach`?");
        check("s.toUppercase", "Did you mean `toUpperCase`?");
        check("s.to_upper_case", "`toUpperCase`");
        check("list.lenght", "`length`");
        check("list.contains", "`includes`");
        check("user.items.map", "method of an array");
        check("fetch(url).json", "await");
        check("price.toFixed", "Number(x)");
        check("x.repalce", "`replace`");
        check("crypto.subtle.hmac", "sign");
        for unknown in ["foo", "a.foo", "a[0]", "o.compute", "(x)"] {
            assert_eq!(advice(unknown), None, "{unknown}");
        }
    }
}
