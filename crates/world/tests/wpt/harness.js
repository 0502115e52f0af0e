// The part of testharness.js that the tests of streams use. A body is this text, the test's own scripts and the test; it ends with
// `return finished()`, which gives what failed: [name, why].
const failed = [], later = [];
let counted = 0;

const told = (value) => { try { return typeof value === 'string' ? JSON.stringify(value) : String(value); } catch { return typeof value; } };
const fail = (message, what) => { throw new Error(`${message === undefined ? '' : `${message}: `}${what}`); };
self.assert_true = (value, message) => { if (value !== true) fail(message, `${told(value)} is not true`); };
self.assert_false = (value, message) => { if (value !== false) fail(message, `${told(value)} is not false`); };
self.assert_equals = (value, expected, message) => { if (!Object.is(value, expected)) fail(message, `${told(value)} is not ${told(expected)}`); };
self.assert_not_equals = (value, other, message) => { if (Object.is(value, other)) fail(message, `it is ${told(value)}`); };
self.assert_greater_than = (value, least, message) => { if (!(value > least)) fail(message, `${told(value)} is not above ${told(least)}`); };
self.assert_array_equals = (value, expected, message) => {
  if (typeof value !== 'object' || value === null || !('length' in value)) fail(message, `${told(value)} is no list`);
  if (value.length !== expected.length) fail(message, `${value.length} items instead of ${expected.length}`);
  for (let at = 0; at < expected.length; at++) assert_equals(value[at], expected[at], `${message ?? ''}[${at}]`);
};
self.assert_object_equals = (value, expected, message) => {
  if (typeof value !== 'object' || value === null) fail(message, `${told(value)} is no object`);
  for (const key in value) if (!Object.hasOwn(expected, key)) fail(message, `it has ${key}`);
  for (const key in expected) {
    if (typeof expected[key] === 'object' && expected[key] !== null) assert_object_equals(value[key], expected[key], message);
    else assert_equals(value[key], expected[key], `${message ?? ''}.${key}`);
  }
};
self.assert_unreached = (message) => fail(message, 'this should not be reached');
const isOf = (error, maker, message) => { if (error?.constructor !== maker) fail(message, `${told(error)} is no ${maker.name}`); };
const isDom = (error, name, message) => { if (!(error instanceof DOMException) || error.name !== name) fail(message, `${told(error)} is no ${name}`); };
const thrownBy = (call, message) => {
  try { call(); } catch (error) { return error; }
  return fail(message, 'it did not throw');
};
self.assert_throws_js = (maker, call, message) => isOf(thrownBy(call, message), maker, message);
self.assert_throws_dom = (name, call, message) => isDom(thrownBy(call, message), name, message);
self.assert_throws_exactly = (error, call, message) => assert_equals(thrownBy(call, message), error, message);
const rejected = (promise, message) => Promise.resolve(promise).then(() => fail(message, 'it was not rejected'), (error) => ({ error }));
self.promise_rejects_js = (t, maker, promise, message) => rejected(promise, message).then(({ error }) => isOf(error, maker, message));
self.promise_rejects_dom = (t, name, promise, message) => rejected(promise, message).then(({ error }) => isDom(error, name, message));
self.promise_rejects_exactly = (t, expected, promise, message) => rejected(promise, message).then(({ error }) => assert_equals(error, expected, message));
self.step_timeout = (call, ms, ...args) => setTimeout(call, ms, ...args);

// One test: what it does may fail later, in a step.
function makeTest() {
  const t = { cleanups: [], error: undefined };
  t.promise = new Promise((resolve) => { t.done = resolve; });
  t.step = (call, self = t, ...args) => {
    try { return call.apply(self, args); } catch (error) { t.error ??= error; t.done(); }
  };
  t.step_func = (call, self = t) => (...args) => t.step(call, self, ...args);
  t.step_func_done = (call = () => {}) => (...args) => { t.step(call, t, ...args); t.done(); };
  t.unreached_func = (message) => t.step_func(() => assert_unreached(message));
  t.step_timeout = (call, ms, ...args) => setTimeout(t.step_func(call), ms, ...args);
  t.add_cleanup = (call) => t.cleanups.push(call);
  return t;
}
async function run(name, work) {
  const t = makeTest();
  counted += 1;
  try { await work(t); } catch (error) { t.error ??= error; }
  try { for (const call of t.cleanups) await call(); } catch (error) { t.error ??= error; }
  if (t.error !== undefined) failed.push([name, told(t.error)]);
}
const titled = (name) => name ?? 'the file';
self.promise_test = (work, name) => { later.push(() => run(titled(name), (t) => work(t))); };
self.async_test = (work, name) => { later.push(() => run(titled(name), (t) => { t.step(work, t, t); return t.promise; })); };
self.test = (work, name) => {
  const t = makeTest();
  counted += 1;
  try { work(t); } catch (error) { t.error ??= error; }
  try { for (const call of t.cleanups) call(); } catch (error) { t.error ??= error; }
  if (t.error !== undefined) failed.push([titled(name), told(t.error)]);
};
async function finished() {
  for (const one of later) await one();
  return { counted, failed };
}
