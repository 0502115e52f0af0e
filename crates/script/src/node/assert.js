// assert.
(need) => {
  const util = need('util');
  class AssertionError extends Error {
    constructor({ message, actual, expected, operator }) {
      super(message);
      this.name = 'AssertionError';
      this.code = 'ERR_ASSERTION';
      Object.assign(this, { actual, expected, operator });
    }
  }
  const fail = (message, usual, actual, expected, operator) => { throw message instanceof Error ? message : new AssertionError({ message: message ?? usual, actual, expected, operator }); };
  const both = (a, word, b) => util.inspect(a) + ' ' + word + ' ' + util.inspect(b);
  const fits = (error, wanted) => {
    if (wanted === undefined) return true;
    if (wanted instanceof RegExp) return wanted.test(String(error));
    if (typeof wanted === 'function') return wanted.prototype !== undefined && error instanceof wanted || (!Error.isPrototypeOf(wanted) && wanted(error) === true);
    return Object.keys(wanted).every((key) => (wanted[key] instanceof RegExp ? wanted[key].test(error[key]) : util.isDeepStrictEqual(error[key], wanted[key])));
  };
  const assert = (value, message) => { if (!value) fail(message, 'The expression evaluated to a falsy value', value, true, '=='); };
  const loose = (a, b) => a == b || (Number.isNaN(a) && Number.isNaN(b));
  const looseDeep = (a, b) => util.isDeepStrictEqual(JSON.parse(JSON.stringify(a ?? null)), JSON.parse(JSON.stringify(b ?? null)));
  Object.assign(assert, {
    ok: assert, AssertionError,
    equal: (a, b, m) => { if (!loose(a, b)) fail(m, both(a, '==', b), a, b, '=='); },
    notEqual: (a, b, m) => { if (loose(a, b)) fail(m, both(a, '!=', b), a, b, '!='); },
    strictEqual: (a, b, m) => { if (!Object.is(a, b)) fail(m, 'Expected values to be strictly equal: ' + both(a, '!==', b), a, b, 'strictEqual'); },
    notStrictEqual: (a, b, m) => { if (Object.is(a, b)) fail(m, 'Expected values not to be strictly equal: ' + util.inspect(a), a, b, 'notStrictEqual'); },
    deepStrictEqual: (a, b, m) => { if (!util.isDeepStrictEqual(a, b)) fail(m, 'Expected values to be strictly deep-equal: ' + both(a, 'should be', b), a, b, 'deepStrictEqual'); },
    notDeepStrictEqual: (a, b, m) => { if (util.isDeepStrictEqual(a, b)) fail(m, 'Expected values not to be strictly deep-equal', a, b, 'notDeepStrictEqual'); },
    deepEqual: (a, b, m) => { if (!util.isDeepStrictEqual(a, b) && !looseDeep(a, b)) fail(m, 'Expected values to be loosely deep-equal: ' + both(a, 'should be', b), a, b, 'deepEqual'); },
    notDeepEqual: (a, b, m) => { if (util.isDeepStrictEqual(a, b)) fail(m, 'Expected values not to be deep-equal', a, b, 'notDeepEqual'); },
    match: (s, pattern, m) => { if (!pattern.test(s)) fail(m, both(s, 'does not match', pattern), s, pattern, 'match'); },
    doesNotMatch: (s, pattern, m) => { if (pattern.test(s)) fail(m, both(s, 'matches', pattern), s, pattern, 'doesNotMatch'); },
    fail: (m) => fail(m, 'Failed', undefined, undefined, 'fail'),
    throws: (run, wanted, m) => { try { run(); } catch (error) { if (fits(error, typeof wanted === 'string' ? undefined : wanted)) return; throw error; } fail(m ?? (typeof wanted === 'string' ? wanted : undefined), 'Missing expected exception.', undefined, wanted, 'throws'); },
    doesNotThrow: (run) => { run(); },
    rejects: async (run, wanted, m) => { try { await (typeof run === 'function' ? run() : run); } catch (error) { if (fits(error, typeof wanted === 'string' ? undefined : wanted)) return; throw error; } fail(m, 'Missing expected rejection.', undefined, wanted, 'rejects'); },
    doesNotReject: async (run) => { await (typeof run === 'function' ? run() : run); },
  });
  assert.strict = assert;
  return assert;
}
