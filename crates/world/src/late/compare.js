// The order of words: a quick walk for plain texts, the language's own order for all others.
(function (native, kit, world) {
  'use strict';
  const { Math } = world;
  // The order of ASCII in every dictionary of the world: blanks, marks, digits, letters without their case.
  const ORDER = [];
  for (let code = 0; code < 128; code++) ORDER.push(0);
  {
    let at = 0;
    for (const char of '\t\n\v\f\r _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$0123456789') ORDER[char.charCodeAt(0)] = ++at;
    for (let letter = 0; letter < 26; letter++) { at++; ORDER[97 + letter] = at; ORDER[65 + letter] = at; }
  }
  // Languages that order plain letters like this, and no two of them as one.
  const PLAIN = /^(?:en|de|fr|it|pt|nl|ru|uk|ja|ko|ar|he|hi)(?:-[A-Z]{2})?$/;

  function compare(one, other, locales, options) {
    if (one === other && options === undefined && (locales === undefined || typeof locales === 'string' && PLAIN.test(locales))) return 0;
    if (options === undefined && (locales === undefined || typeof locales === 'string' && PLAIN.test(locales))) {
      let lean = 0, at = 0;
      const shared = Math.min(one.length, other.length);
      for (; at < shared; at++) {
        const a = one.charCodeAt(at), b = other.charCodeAt(at);
        if (a > 126 || b > 126 || a < 32 || b < 32) break;
        if (ORDER[a] !== ORDER[b]) {
          // Behind it may stand what belongs to it: an accent.
          if (!(one.charCodeAt(at + 1) > 126 || other.charCodeAt(at + 1) > 126)) return ORDER[a] < ORDER[b] ? -1 : 1;
          break;
        }
        if (lean === 0 && a !== b) lean = a > b ? -1 : 1;
      }
      if (at === one.length && at === other.length) return lean;
      if (at === shared) {
        const next = at === one.length ? other.charCodeAt(at) : one.charCodeAt(at);
        if (next > 31 && next < 127) return one.length < other.length ? -1 : 1;
      }
    }
    return kit.late('intl-text.js').compare(one, other, locales, options);
  }
  return { names: {}, inner: { compare } };
})
