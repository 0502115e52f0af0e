//! The part of the table that names what is loaded when it is first touched (`late.rs`).

use super::Permit;

/// Its classes and prototypes.
pub(crate) const PERMITS: &[Permit] = &[
    ("CountQueuingStrategy", "prototype"),
    ("CountQueuingStrategy.prototype", "constructor highWaterMark size @@toStringTag"),
    ("ByteLengthQueuingStrategy", "prototype"),
    ("ByteLengthQueuingStrategy.prototype", "constructor highWaterMark size @@toStringTag"),
    ("ReadableStream", "prototype from"),
    (
        "ReadableStream.prototype",
        "constructor locked cancel getReader pipeThrough pipeTo tee values @@toStringTag @@asyncIterator",
    ),
    ("ReadableStreamDefaultReader", "prototype"),
    ("ReadableStreamDefaultReader.prototype", "constructor closed read cancel releaseLock @@toStringTag"),
    ("ReadableStreamDefaultController", "prototype"),
    ("ReadableStreamDefaultController.prototype", "constructor desiredSize close enqueue error @@toStringTag"),
    ("%ReadableStreamAsyncIteratorPrototype%", "next return @@toStringTag"),
    ("WritableStream", "prototype"),
    ("WritableStream.prototype", "constructor locked abort close getWriter @@toStringTag"),
    ("WritableStreamDefaultWriter", "prototype"),
    (
        "WritableStreamDefaultWriter.prototype",
        "constructor closed ready desiredSize abort close releaseLock write @@toStringTag",
    ),
    ("WritableStreamDefaultController", "prototype"),
    ("WritableStreamDefaultController.prototype", "constructor signal error @@toStringTag"),
    ("TransformStream", "prototype"),
    ("TransformStream.prototype", "constructor readable writable @@toStringTag"),
    ("TransformStreamDefaultController", "prototype"),
    ("TransformStreamDefaultController.prototype", "constructor desiredSize enqueue error terminate @@toStringTag"),
    ("TextEncoderStream", "prototype"),
    ("TextEncoderStream.prototype", "constructor encoding readable writable @@toStringTag"),
    ("TextDecoderStream", "prototype"),
    ("TextDecoderStream.prototype", "constructor encoding fatal ignoreBOM readable writable @@toStringTag"),
    ("CompressionStream", "prototype"),
    ("CompressionStream.prototype", "constructor readable writable @@toStringTag"),
    ("DecompressionStream", "prototype"),
    ("DecompressionStream.prototype", "constructor readable writable @@toStringTag"),
    ("FormData", "prototype"),
    (
        "FormData.prototype",
        "constructor append set delete get getAll has forEach entries keys values @@iterator @@toStringTag",
    ),
    ("MessageChannel", "prototype"),
    ("MessageChannel.prototype", "constructor port1 port2 @@toStringTag"),
    ("MessagePort", "prototype"),
    ("MessagePort.prototype", "constructor postMessage start close onmessage @@toStringTag"),
    ("MessageEvent", "prototype"),
    ("MessageEvent.prototype", "constructor data origin lastEventId source ports @@toStringTag"),
    ("SubtleCrypto", "prototype"),
    (
        "SubtleCrypto.prototype",
        "constructor digest generateKey importKey exportKey sign verify encrypt decrypt deriveBits deriveKey wrapKey \
        unwrapKey @@toStringTag",
    ),
    ("%Subtle%", ""),
    ("CryptoKey", "prototype"),
    ("CryptoKey.prototype", "constructor type extractable algorithm usages @@toStringTag"),
    (
        "Intl",
        "getCanonicalLocales supportedValuesOf Collator DateTimeFormat DisplayNames ListFormat Locale NumberFormat PluralRules \
        RelativeTimeFormat Segmenter @@toStringTag",
    ),
    ("%NumberFormat%", "prototype supportedLocalesOf"),
    (
        "%NumberFormat%.prototype",
        "constructor format formatToParts formatRange formatRangeToParts resolvedOptions @@toStringTag",
    ),
    ("%DateTimeFormat%", "prototype supportedLocalesOf"),
    (
        "%DateTimeFormat%.prototype",
        "constructor format formatToParts formatRange formatRangeToParts resolvedOptions @@toStringTag",
    ),
    ("%PluralRules%", "prototype supportedLocalesOf"),
    ("%PluralRules%.prototype", "constructor select selectRange resolvedOptions @@toStringTag"),
    ("%RelativeTimeFormat%", "prototype supportedLocalesOf"),
    ("%RelativeTimeFormat%.prototype", "constructor format formatToParts resolvedOptions @@toStringTag"),
    ("%Collator%", "prototype supportedLocalesOf"),
    ("%Collator%.prototype", "constructor compare resolvedOptions @@toStringTag"),
    ("%ListFormat%", "prototype supportedLocalesOf"),
    ("%ListFormat%.prototype", "constructor format formatToParts resolvedOptions @@toStringTag"),
    ("%DisplayNames%", "prototype supportedLocalesOf"),
    ("%DisplayNames%.prototype", "constructor of resolvedOptions @@toStringTag"),
    ("%Segmenter%", "prototype supportedLocalesOf"),
    ("%Segmenter%.prototype", "constructor segment resolvedOptions @@toStringTag"),
    ("%Segments%", "prototype"),
    ("%Segments%.prototype", "constructor containing @@iterator"),
    ("%Locale%", "prototype"),
    (
        "%Locale%.prototype",
        "constructor baseName language script region calendar collation hourCycle caseFirst numeric numberingSystem textInfo \
        weekInfo maximize minimize toString @@toStringTag",
    ),
    ("URLPattern", "prototype"),
    (
        "URLPattern.prototype",
        "constructor test exec protocol username password hostname port pathname search hash hasRegExpGroups \
        @@toStringTag",
    ),
];
