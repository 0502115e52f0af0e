//! The table of permitted intrinsics. Whatever the engine brings and this table does not name is deleted before any
//! guest code runs; what cannot be deleted makes the world unusable. A newer engine therefore cannot bring a new power
//! along unnoticed.
//!
//! A path is the way from a global (`Array.prototype`) or a name in percent signs for what no global leads to.
//! `@@iterator` is `Symbol.iterator`. Every function may also have `length` and `name`.

pub(crate) mod canvas;
pub(crate) mod late;

/// One object and the keys it may have.
pub(crate) type Permit = (&'static str, &'static str);

/// The global object. `Infinity`, `NaN` and `undefined` cannot be changed by anyone; the rest a guest may shadow.
pub(crate) const GLOBALS: &str = "Object Function Error EvalError RangeError ReferenceError SyntaxError TypeError \
    URIError AggregateError SuppressedError Iterator Array parseInt parseFloat isNaN isFinite queueMicrotask decodeURI \
    decodeURIComponent encodeURI encodeURIComponent escape unescape Infinity NaN undefined eval Number Boolean String \
    Math Reflect Symbol DisposableStack globalThis BigInt Date RegExp JSON Proxy Map Set WeakMap WeakSet ArrayBuffer \
    Uint8ClampedArray Int8Array Uint8Array Int16Array Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array \
    Float16Array Float32Array Float64Array DataView Promise AsyncDisposableStack DOMException btoa atob performance \
    console setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate URL URLSearchParams \
    TextEncoder TextDecoder structuredClone crypto AbortController AbortSignal Event EventTarget CustomEvent Blob File \
    fetch Headers Request Response harden lockdown Compartment getCanvas final_answer self";

/// Everything else.
pub(crate) const PERMITS: &[Permit] = &[
    (
        "Object",
        "create getPrototypeOf setPrototypeOf defineProperty defineProperties getOwnPropertyNames \
        getOwnPropertySymbols groupBy keys values entries isExtensible preventExtensions getOwnPropertyDescriptor \
        getOwnPropertyDescriptors is assign seal freeze isSealed isFrozen fromEntries hasOwn prototype",
    ),
    (
        "Object.prototype",
        "toString toLocaleString valueOf hasOwnProperty isPrototypeOf propertyIsEnumerable __proto__ \
        __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ constructor",
    ),
    ("Function", "prototype"),
    ("Function.prototype", "call apply bind toString constructor @@hasInstance"),
    ("Error", "prototype isError"),
    ("Error.prototype", "toString name message stack constructor"),
    ("EvalError", "prototype"),
    ("EvalError.prototype", "name message constructor"),
    ("RangeError", "prototype"),
    ("RangeError.prototype", "name message constructor"),
    ("ReferenceError", "prototype"),
    ("ReferenceError.prototype", "name message constructor"),
    ("SyntaxError", "prototype"),
    ("SyntaxError.prototype", "name message constructor"),
    ("TypeError", "prototype"),
    ("TypeError.prototype", "name message constructor"),
    ("URIError", "prototype"),
    ("URIError.prototype", "name message constructor"),
    ("AggregateError", "prototype"),
    ("AggregateError.prototype", "name message constructor"),
    ("SuppressedError", "prototype"),
    ("SuppressedError.prototype", "name message constructor"),
    ("%InternalError%", "prototype"),
    ("%InternalError%.prototype", "name message constructor"),
    ("Iterator", "concat from prototype"),
    (
        "Iterator.prototype",
        "drop filter flatMap map take every find forEach some reduce toArray constructor @@dispose \
        @@iterator @@toStringTag",
    ),
    ("Array", "isArray from of prototype fromAsync @@species"),
    (
        "Array.prototype",
        "length at with concat every some forEach map filter reduce reduceRight fill find findIndex \
        findLast findLastIndex indexOf lastIndexOf includes join toString toLocaleString pop push shift unshift reverse \
        toReversed sort toSorted slice splice toSpliced copyWithin flatMap flat values keys entries constructor \
        @@iterator @@unscopables",
    ),
    (
        "Array.prototype.@@unscopables",
        "at copyWithin entries fill find findIndex findLast findLastIndex flat flatMap \
        includes keys toReversed toSorted toSpliced values",
    ),
    (
        "Number",
        "parseInt parseFloat isNaN isFinite isInteger isSafeInteger MAX_VALUE MIN_VALUE EPSILON \
        MAX_SAFE_INTEGER MIN_SAFE_INTEGER NaN NEGATIVE_INFINITY POSITIVE_INFINITY prototype",
    ),
    ("Number.prototype", "toExponential toFixed toPrecision toString toLocaleString valueOf constructor"),
    ("Boolean", "prototype"),
    ("Boolean.prototype", "toString valueOf constructor"),
    ("String", "fromCharCode fromCodePoint raw prototype"),
    (
        "String.prototype",
        "length at charCodeAt charAt concat codePointAt isWellFormed toWellFormed indexOf lastIndexOf \
        includes endsWith startsWith match matchAll search split substring substr slice repeat replace replaceAll \
        padEnd padStart trim trimEnd trimRight trimStart trimLeft toString valueOf localeCompare normalize toLowerCase \
        toUpperCase toLocaleLowerCase toLocaleUpperCase constructor @@iterator",
    ),
    (
        "Math",
        "min max abs floor ceil round sqrt acos asin atan atan2 cos exp log pow sin tan trunc sign cosh sinh tanh \
        acosh asinh atanh expm1 log1p log2 log10 cbrt hypot random f16round fround imul clz32 sumPrecise E LN10 LN2 \
        LOG2E LOG10E PI SQRT1_2 SQRT2 @@toStringTag",
    ),
    (
        "Reflect",
        "apply construct defineProperty deleteProperty get getOwnPropertyDescriptor getPrototypeOf has \
        isExtensible ownKeys preventExtensions set setPrototypeOf @@toStringTag",
    ),
    (
        "Symbol",
        "for keyFor toPrimitive iterator match matchAll replace search split toStringTag isConcatSpreadable \
        hasInstance species unscopables asyncIterator dispose asyncDispose prototype",
    ),
    ("Symbol.prototype", "toString valueOf description constructor @@toPrimitive @@toStringTag"),
    ("DisposableStack", "prototype"),
    ("DisposableStack.prototype", "adopt defer dispose move use disposed constructor @@dispose @@toStringTag"),
    ("AsyncDisposableStack", "prototype"),
    (
        "AsyncDisposableStack.prototype",
        "adopt defer disposeAsync move use disposed constructor @@asyncDispose \
        @@toStringTag",
    ),
    ("BigInt", "asUintN asIntN prototype"),
    (
        "BigInt.prototype",
        "toString valueOf constructor toLocaleString \
        @@toStringTag",
    ),
    ("Date", "now parse UTC prototype"),
    (
        "Date.prototype",
        "valueOf toString toUTCString toGMTString toISOString toDateString toTimeString toLocaleString \
        toLocaleDateString toLocaleTimeString getTimezoneOffset getTime getYear getFullYear getUTCFullYear getMonth \
        getUTCMonth getDate getUTCDate getHours getUTCHours getMinutes getUTCMinutes getSeconds getUTCSeconds \
        getMilliseconds getUTCMilliseconds getDay getUTCDay setTime setMilliseconds setUTCMilliseconds setSeconds \
        setUTCSeconds setMinutes setUTCMinutes setHours setUTCHours setDate setUTCDate setMonth setUTCMonth setYear \
        setFullYear setUTCFullYear toJSON constructor @@toPrimitive",
    ),
    ("RegExp", "prototype escape @@species"),
    (
        "RegExp.prototype",
        "flags source global ignoreCase multiline dotAll unicode unicodeSets sticky hasIndices exec \
        test toString constructor @@replace @@match @@matchAll @@search @@split",
    ),
    ("JSON", "isRawJSON parse rawJSON stringify @@toStringTag"),
    ("Proxy", "revocable"),
    ("Map", "groupBy prototype @@species"),
    (
        "Map.prototype",
        "set get getOrInsert getOrInsertComputed has delete clear size forEach values keys entries \
        constructor @@iterator @@toStringTag",
    ),
    ("Set", "prototype @@species groupBy"),
    (
        "Set.prototype",
        "add has delete clear size forEach isDisjointFrom isSubsetOf isSupersetOf intersection difference \
        symmetricDifference union values keys entries constructor @@iterator @@toStringTag",
    ),
    ("WeakMap", "prototype"),
    ("WeakMap.prototype", "set get getOrInsert getOrInsertComputed has delete constructor @@toStringTag"),
    ("WeakSet", "prototype"),
    ("WeakSet.prototype", "add has delete constructor @@toStringTag"),
    ("ArrayBuffer", "isView prototype @@species"),
    (
        "ArrayBuffer.prototype",
        "byteLength maxByteLength resizable detached resize slice transfer \
        transferToFixedLength constructor @@toStringTag",
    ),
    ("%TypedArray%", "from of prototype @@species"),
    (
        "%TypedArray%.prototype",
        "length at with buffer byteLength byteOffset set values keys entries copyWithin every \
        some forEach map filter reduce reduceRight fill find findIndex findLast findLastIndex reverse toReversed slice \
        subarray sort toSorted join toLocaleString indexOf lastIndexOf includes constructor toString @@iterator \
        @@toStringTag",
    ),
    ("Uint8ClampedArray", "BYTES_PER_ELEMENT prototype"),
    ("Uint8ClampedArray.prototype", "BYTES_PER_ELEMENT constructor"),
    ("Int8Array", "BYTES_PER_ELEMENT prototype"),
    ("Int8Array.prototype", "BYTES_PER_ELEMENT constructor"),
    ("Uint8Array", "BYTES_PER_ELEMENT prototype fromBase64 fromHex"),
    ("Uint8Array.prototype", "BYTES_PER_ELEMENT constructor toBase64 toHex setFromBase64 setFromHex"),
    ("Int16Array", "BYTES_PER_ELEMENT prototype"),
    ("Int16Array.prototype", "BYTES_PER_ELEMENT constructor"),
    ("Uint16Array", "BYTES_PER_ELEMENT prototype"),
    ("Uint16Array.prototype", "BYTES_PER_ELEMENT constructor"),
    ("Int32Array", "BYTES_PER_ELEMENT prototype"),
    ("Int32Array.prototype", "BYTES_PER_ELEMENT constructor"),
    ("Uint32Array", "BYTES_PER_ELEMENT prototype"),
    ("Uint32Array.prototype", "BYTES_PER_ELEMENT constructor"),
    ("BigInt64Array", "BYTES_PER_ELEMENT prototype"),
    ("BigInt64Array.prototype", "BYTES_PER_ELEMENT constructor"),
    ("BigUint64Array", "BYTES_PER_ELEMENT prototype"),
    ("BigUint64Array.prototype", "BYTES_PER_ELEMENT constructor"),
    ("Float16Array", "BYTES_PER_ELEMENT prototype"),
    ("Float16Array.prototype", "BYTES_PER_ELEMENT constructor"),
    ("Float32Array", "BYTES_PER_ELEMENT prototype"),
    ("Float32Array.prototype", "BYTES_PER_ELEMENT constructor"),
    ("Float64Array", "BYTES_PER_ELEMENT prototype"),
    ("Float64Array.prototype", "BYTES_PER_ELEMENT constructor"),
    ("DataView", "prototype"),
    (
        "DataView.prototype",
        "buffer byteLength byteOffset getInt8 getUint8 getInt16 getUint16 getInt32 getUint32 \
        getBigInt64 getBigUint64 getFloat16 getFloat32 getFloat64 setInt8 setUint8 setInt16 setUint16 setInt32 \
        setUint32 setBigInt64 setBigUint64 setFloat16 setFloat32 setFloat64 constructor @@toStringTag",
    ),
    ("Promise", "resolve reject all allSettled any try race withResolvers prototype @@species"),
    ("Promise.prototype", "then catch finally constructor @@toStringTag"),
    (
        "DOMException",
        "prototype INDEX_SIZE_ERR DOMSTRING_SIZE_ERR HIERARCHY_REQUEST_ERR WRONG_DOCUMENT_ERR \
        INVALID_CHARACTER_ERR NO_DATA_ALLOWED_ERR NO_MODIFICATION_ALLOWED_ERR NOT_FOUND_ERR NOT_SUPPORTED_ERR \
        INUSE_ATTRIBUTE_ERR INVALID_STATE_ERR SYNTAX_ERR INVALID_MODIFICATION_ERR NAMESPACE_ERR INVALID_ACCESS_ERR \
        VALIDATION_ERR TYPE_MISMATCH_ERR SECURITY_ERR NETWORK_ERR ABORT_ERR URL_MISMATCH_ERR QUOTA_EXCEEDED_ERR \
        TIMEOUT_ERR INVALID_NODE_TYPE_ERR DATA_CLONE_ERR",
    ),
    (
        "DOMException.prototype",
        "name code constructor INDEX_SIZE_ERR DOMSTRING_SIZE_ERR HIERARCHY_REQUEST_ERR \
        WRONG_DOCUMENT_ERR INVALID_CHARACTER_ERR NO_DATA_ALLOWED_ERR NO_MODIFICATION_ALLOWED_ERR NOT_FOUND_ERR \
        NOT_SUPPORTED_ERR INUSE_ATTRIBUTE_ERR INVALID_STATE_ERR SYNTAX_ERR INVALID_MODIFICATION_ERR NAMESPACE_ERR \
        INVALID_ACCESS_ERR VALIDATION_ERR TYPE_MISMATCH_ERR SECURITY_ERR NETWORK_ERR ABORT_ERR URL_MISMATCH_ERR \
        QUOTA_EXCEEDED_ERR TIMEOUT_ERR INVALID_NODE_TYPE_ERR DATA_CLONE_ERR @@toStringTag",
    ),
    // What no global leads to.
    ("%AsyncFunction%", "prototype"),
    ("%AsyncFunction%.prototype", "constructor @@toStringTag"),
    ("%GeneratorFunction%", "prototype"),
    ("%GeneratorFunction%.prototype", "constructor prototype @@toStringTag"),
    ("%GeneratorFunction%.prototype.prototype", "next return throw constructor @@toStringTag"),
    ("%AsyncGeneratorFunction%", "prototype"),
    ("%AsyncGeneratorFunction%.prototype", "constructor prototype @@toStringTag"),
    ("%AsyncGeneratorFunction%.prototype.prototype", "next return throw constructor @@toStringTag"),
    ("%AsyncIteratorPrototype%", "@@asyncIterator @@asyncDispose"),
    ("%ArrayIteratorPrototype%", "next @@toStringTag"),
    ("%StringIteratorPrototype%", "next @@toStringTag"),
    ("%MapIteratorPrototype%", "next @@toStringTag"),
    ("%SetIteratorPrototype%", "next @@toStringTag"),
    ("%RegExpStringIteratorPrototype%", "next @@toStringTag"),
    ("%WrapForValidIteratorPrototype%", "next return"),
    ("%IteratorHelperPrototype%", "next return @@toStringTag"),
    ("%IteratorConcatPrototype%", "next return @@toStringTag"),
    // Cove's own.
    (
        "console",
        "log info warn error debug trace dir dirxml table assert count countReset time timeEnd timeLog group \
        groupCollapsed groupEnd",
    ),
    ("performance", "now timeOrigin mark measure"),
    ("crypto", ""),
    ("crypto.__proto__", "constructor subtle getRandomValues randomUUID"),
    ("crypto.__proto__.constructor", "prototype"),
    ("URL", "prototype canParse parse"),
    (
        "URL.prototype",
        "constructor href origin protocol username password host hostname port pathname search hash \
        searchParams toString toJSON @@toStringTag",
    ),
    ("URLSearchParams", "prototype"),
    (
        "URLSearchParams.prototype",
        "constructor size append delete get getAll has set sort forEach entries keys values \
        toString @@iterator @@toStringTag",
    ),
    ("TextEncoder", "prototype"),
    ("TextEncoder.prototype", "constructor encoding encode encodeInto"),
    ("TextDecoder", "prototype"),
    ("TextDecoder.prototype", "constructor encoding fatal ignoreBOM decode"),
    ("Event", "prototype NONE CAPTURING_PHASE AT_TARGET BUBBLING_PHASE"),
    (
        "Event.prototype",
        "constructor type target currentTarget srcElement bubbles cancelable composed defaultPrevented \
        returnValue eventPhase isTrusted timeStamp composedPath preventDefault stopPropagation \
        stopImmediatePropagation @@toStringTag",
    ),
    ("CustomEvent", "prototype"),
    ("CustomEvent.prototype", "constructor detail @@toStringTag"),
    ("EventTarget", "prototype"),
    ("EventTarget.prototype", "constructor addEventListener removeEventListener dispatchEvent @@toStringTag"),
    ("AbortSignal", "prototype abort timeout any"),
    ("AbortSignal.prototype", "constructor aborted reason throwIfAborted @@toStringTag"),
    ("AbortController", "prototype"),
    ("AbortController.prototype", "constructor signal abort @@toStringTag"),
    ("Blob", "prototype"),
    ("Blob.prototype", "constructor size type text arrayBuffer bytes stream slice @@toStringTag"),
    ("File", "prototype"),
    ("File.prototype", "constructor name lastModified @@toStringTag"),
    ("Headers", "prototype"),
    (
        "Headers.prototype",
        "constructor append delete get getSetCookie has set forEach entries keys values @@iterator \
        @@toStringTag",
    ),
    ("Request", "prototype"),
    ("Request.prototype", "constructor url method headers signal redirect clone @@toStringTag"),
    ("%Body%", "prototype"),
    ("%Body%.prototype", "constructor bodyUsed body text json arrayBuffer bytes blob formData"),
    ("Response", "prototype json error redirect"),
    ("Response.prototype", "constructor status ok statusText headers url redirected type clone @@toStringTag"),
    ("Compartment", "prototype"),
    ("Compartment.prototype", "constructor globalThis evaluate @@toStringTag"),
];

/// Prototypes whose properties a guest never overrides by assignment, because nobody's own object inherits from them:
/// they keep plain properties, and with them the full speed of method calls on strings and numbers.
pub(crate) const PLAIN: &[&str] = &[
    "String.prototype",
    "Number.prototype",
    "Boolean.prototype",
    "Symbol.prototype",
    "BigInt.prototype",
    "%ArrayIteratorPrototype%",
    "%StringIteratorPrototype%",
    "%MapIteratorPrototype%",
    "%SetIteratorPrototype%",
    "%RegExpStringIteratorPrototype%",
    "%WrapForValidIteratorPrototype%",
    "%IteratorHelperPrototype%",
    "%IteratorConcatPrototype%",
    "Array.prototype.@@unscopables",
    "crypto",
    "performance",
    "console",
    "%Subtle%",
    "Math",
    "JSON",
    "Reflect",
];

/// JavaScript that gives what no global leads to, evaluated before anything is removed.
pub(crate) const HIDDEN: &[(&str, &str)] = &[
    ("%TypedArray%", "Object.getPrototypeOf(Uint8Array)"),
    ("%InternalError%", "InternalError"),
    ("%AsyncFunction%", "Object.getPrototypeOf(async function () {}).constructor"),
    ("%GeneratorFunction%", "Object.getPrototypeOf(function* () {}).constructor"),
    ("%AsyncGeneratorFunction%", "Object.getPrototypeOf(async function* () {}).constructor"),
    ("%AsyncIteratorPrototype%", "Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype)"),
    ("%ArrayIteratorPrototype%", "Object.getPrototypeOf([][Symbol.iterator]())"),
    ("%StringIteratorPrototype%", "Object.getPrototypeOf(''[Symbol.iterator]())"),
    ("%MapIteratorPrototype%", "Object.getPrototypeOf(new Map().entries())"),
    ("%SetIteratorPrototype%", "Object.getPrototypeOf(new Set().entries())"),
    ("%RegExpStringIteratorPrototype%", "Object.getPrototypeOf('a'.matchAll(/a/g))"),
    ("%WrapForValidIteratorPrototype%", "Object.getPrototypeOf(Iterator.from({ next() {} }))"),
    ("%IteratorHelperPrototype%", "Object.getPrototypeOf([].values().map((x) => x))"),
    ("%IteratorConcatPrototype%", "Object.getPrototypeOf(Iterator.concat([]))"),
    ("%Body%", "Object.getPrototypeOf(Request)"),
];
