// getCanvas, where this build has none: it exists, so that `typeof getCanvas` can be asked, and says what is missing.
(function (native, kit) {
  'use strict';
  const { Error } = globalThis;
  const globals = { getCanvas() { throw kit.markedError('canvas', 'this build has no canvas', undefined, new Error()); } };
  native.define('getCanvas', globals.getCanvas);
})
