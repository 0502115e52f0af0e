// getCanvas: the default canvas and named ones. A canvas stays the session's; a run leaves pictures of those it asked for.
(function (native, kit) {
  'use strict';
  const { Map, TypeError, RangeError, Math, Number, Reflect, String } = globalThis;
  const { apply } = Reflect;
  const { floor } = Math;
  const mapGet = Map.prototype.get, mapSet = Map.prototype.set;
  const indexOf = String.prototype.indexOf;
  const canvases = new Map();
  // Name, canvas, name, canvas, … of the run in progress, the default canvas (named '') wherever it was asked for first.
  let used = [];

  function side(value, fallback) {
    const n = floor(Number(value));
    return n > 0 ? n : fallback;
  }
  function isUsed(name) {
    for (let i = 0; i < used.length; i += 2) if (used[i] === name) return true;
    return false;
  }
  const globals = {
    getCanvas(first, second, third) {
      const named = typeof first === 'string', name = named ? first : '';
      if (named && (name === '' || name.length > 120 || apply(indexOf, name, ['/']) >= 0 || apply(indexOf, name, ['\\']) >= 0 || apply(indexOf, name, ['\0']) >= 0)) {
        throw new TypeError("getCanvas: a picture's name is a plain file name");
      }
      let canvas = apply(mapGet, canvases, [name]);
      const isNew = canvas === undefined;
      if (!isUsed(name) && used.length / 2 >= native.maxImages()) {
        throw new RangeError(`getCanvas: a run may leave ${native.maxImages()} pictures behind`);
      }
      if (isNew) {
        canvas = native.newCanvas(side(named ? second : first, 800), side(named ? third : second, 600));
        apply(mapSet, canvases, [name, canvas]);
      }
      if (!isUsed(name)) { used[used.length] = name; used[used.length] = canvas; }
      return canvas;
    },
  };
  kit.takeCanvases = () => {
    const taken = used;
    used = [];
    return taken;
  };
  kit.getCanvas = globals.getCanvas;
  native.define('getCanvas', globals.getCanvas);
})
