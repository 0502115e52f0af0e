// querystring.
() => {
  const escape = (text) => encodeURIComponent(text);
  const unescape = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
  const plain = (value) => (['string', 'number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : '');
  const parse = (text, and = '&', is = '=') => {
    const found = { __proto__: null };
    for (const pair of String(text).split(and)) {
      if (pair === '') continue;
      const at = pair.indexOf(is), clean = (part) => unescape(part.replace(/\+/g, ' '));
      const name = clean(at === -1 ? pair : pair.slice(0, at)), value = at === -1 ? '' : clean(pair.slice(at + is.length));
      if (name in found) found[name] = [].concat(found[name], value); else found[name] = value;
    }
    return found;
  };
  const stringify = (object, and = '&', is = '=') => Object.entries(object ?? {}).flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => escape(name) + is + escape(plain(one)))).join(and);
  return { parse, stringify, escape, unescape, decode: parse, encode: stringify };
}
