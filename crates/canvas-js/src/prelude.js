// The part of the canvas API that is written in JavaScript: constructors, ImageData, DOMMatrix, DOMPoint, DOMRect,
// Image, createImageBitmap, FontFace. Every intrinsic is taken when this file is loaded, before guest code exists.
(function (native, global) {
  'use strict';
  const {
    Object, TypeError, Symbol, Promise, Uint8ClampedArray, Uint8Array, Float32Array, Float64Array, ArrayBuffer, Math,
    Array, WeakMap, Number, decodeURIComponent, Reflect,
  } = global;
  const Blob = global.Blob;
  const DOMException = global.DOMException;
  const { defineProperty, defineProperties, getPrototypeOf, setPrototypeOf } = Object;
  const { apply, construct } = Reflect;
  const then = Promise.prototype.then;
  const resolved = Promise.resolve();
  const soon = (f) => { apply(then, resolved, [f]); };
  const isView = ArrayBuffer.isView;
  const weakGet = WeakMap.prototype.get;
  const weakSet = WeakMap.prototype.set;
  const tagOf = getPrototypeOf(Uint8ClampedArray.prototype);
  const typedTag = Object.getOwnPropertyDescriptor(tagOf, Symbol.toStringTag).get;
  const typedLength = Object.getOwnPropertyDescriptor(tagOf, 'length').get;
  const codes = { trim: global.String.prototype.trim, indexOf: global.String.prototype.indexOf, slice: global.String.prototype.slice,
    charCodeAt: global.String.prototype.charCodeAt, toLowerCase: global.String.prototype.toLowerCase };

  function publish(name, value) {
    defineProperty(global, name, { value, writable: true, enumerable: false, configurable: true });
  }
  function tag(prototype, name) {
    defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
  }
  /** Ties a constructor to a prototype that the natives made. */
  function bind(constructor, prototype, name) {
    defineProperty(constructor, 'prototype', { value: prototype, writable: false });
    defineProperty(prototype, 'constructor', { value: constructor, writable: true, configurable: true });
    defineProperty(constructor, 'name', { value: name, configurable: true });
    tag(prototype, name);
    publish(name, constructor);
  }
  function illegal(name) {
    const constructor = function () { throw new TypeError('Illegal constructor'); };
    defineProperty(constructor, 'name', { value: name, configurable: true });
    return constructor;
  }
  function need(args, count) {
    if (args.length < count) throw new TypeError(`${count} argument${count === 1 ? '' : 's'} required, but only ${args.length} present`);
  }
  const enumerable = (prototype, names) => {
    for (const name of names) {
      const d = Object.getOwnPropertyDescriptor(prototype, name);
      d.enumerable = true;
      defineProperty(prototype, name, d);
    }
  };

  // ---- canvas, context, paths, paints -------------------------------------------------------------------------
  function OffscreenCanvas(width, height) {
    if (new.target === undefined) throw new TypeError("Class constructor OffscreenCanvas cannot be invoked without 'new'");
    need(arguments, 2);
    return adopt(native.newCanvas(width, height), new.target, OffscreenCanvas);
  }
  /** An object of a derived class gets that class's prototype. */
  function adopt(object, target, base) {
    if (target !== base) setPrototypeOf(object, target.prototype);
    return object;
  }
  bind(OffscreenCanvas, native.canvasPrototype, 'OffscreenCanvas');

  const blobOf = (canvas, type, quality) => {
    const made = native.canvasBytes(canvas, type, quality);
    return made === null ? null : new CanvasBlob([made[1]], { type: made[0] });
  };
  class FallbackBlob {
    #bytes; #type;
    constructor(parts = [], options = {}) {
      let size = 0;
      for (const part of parts) size += part.byteLength;
      this.#bytes = new Uint8Array(size);
      let at = 0;
      for (const part of parts) {
        this.#bytes.set(isView(part) ? new Uint8Array(part.buffer, part.byteOffset, part.byteLength) : new Uint8Array(part), at);
        at += part.byteLength;
      }
      this.#type = `${options.type ?? ''}`;
    }
    get size() { return this.#bytes.length; }
    get type() { return this.#type; }
    async arrayBuffer() { return this.#bytes.slice().buffer; }
    async bytes() { return this.#bytes.slice(); }
    static bytesOf(blob) { return #bytes in blob ? blob.#bytes : undefined; }
  }
  tag(FallbackBlob.prototype, 'Blob');
  const CanvasBlob = Blob ?? FallbackBlob;
  if (!Blob) {
    defineProperty(FallbackBlob, 'name', { value: 'Blob' });
    publish('Blob', FallbackBlob);
  }
  const canvasMethods = {
    toBlob(callback, type, quality) {
      need(arguments, 1);
      if (typeof callback !== 'function') throw new TypeError("parameter 1 is not of type 'Function'");
      const blob = blobOf(this, type, quality);
      soon(() => callback(blob));
    },
    convertToBlob(options = {}) {
      return new Promise((resolve, reject) => {
        const blob = blobOf(this, options?.type, options?.quality);
        if (blob === null) reject(new DOMException('the canvas has no pixels', 'IndexSizeError'));
        else resolve(blob);
      });
    },
    /** The encoded picture as bytes, for callers used to node-canvas. */
    toBuffer(type = 'image/png', quality = undefined) {
      const made = native.canvasBytes(this, type, typeof quality === 'object' && quality !== null ? quality.quality : quality);
      if (made === null) throw new DOMException('the canvas has no pixels', 'IndexSizeError');
      return made[1];
    },
  };
  const mix = (prototype, source) => {
    for (const name of Object.getOwnPropertyNames(source)) {
      const d = Object.getOwnPropertyDescriptor(source, name);
      d.enumerable = true;
      defineProperty(prototype, name, d);
    }
  };
  mix(native.canvasPrototype, canvasMethods);

  const CanvasRenderingContext2D = illegal('CanvasRenderingContext2D');
  bind(CanvasRenderingContext2D, native.contextPrototype, 'CanvasRenderingContext2D');
  publish('OffscreenCanvasRenderingContext2D', CanvasRenderingContext2D);
  bind(illegal('CanvasGradient'), native.gradientPrototype, 'CanvasGradient');
  bind(illegal('CanvasPattern'), native.patternPrototype, 'CanvasPattern');
  bind(illegal('ImageBitmap'), native.bitmapPrototype, 'ImageBitmap');

  function Path2D(path) {
    if (new.target === undefined) throw new TypeError("Class constructor Path2D cannot be invoked without 'new'");
    return adopt(native.newPath(path), new.target, Path2D);
  }
  defineProperty(Path2D, 'length', { value: 0 });
  bind(Path2D, native.pathPrototype, 'Path2D');

  // ---- geometry -----------------------------------------------------------------------------------------------
  const number = (value, fallback) => (value === undefined ? fallback : +value);

  class DOMPointReadOnly {
    #x; #y; #z; #w;
    constructor(x = 0, y = 0, z = 0, w = 1) { this.#x = +x; this.#y = +y; this.#z = +z; this.#w = +w; }
    static fromPoint(p = {}) { return new this(number(p?.x, 0), number(p?.y, 0), number(p?.z, 0), number(p?.w, 1)); }
    get x() { return this.#x; }
    get y() { return this.#y; }
    get z() { return this.#z; }
    get w() { return this.#w; }
    matrixTransform(matrix) { return apply(DOMMatrixReadOnly.prototype.transformPoint, DOMMatrixReadOnly.fromMatrix(matrix), [this]); }
    toJSON() { return { x: this.#x, y: this.#y, z: this.#z, w: this.#w }; }
    static put(p, name, value) {
      if (name === 'x') p.#x = value; else if (name === 'y') p.#y = value; else if (name === 'z') p.#z = value; else p.#w = value;
    }
  }
  const putPoint = DOMPointReadOnly.put;
  delete DOMPointReadOnly.put;
  class DOMPoint extends DOMPointReadOnly {}
  for (const name of ['x', 'y', 'z', 'w']) {
    const get = Object.getOwnPropertyDescriptor(DOMPointReadOnly.prototype, name).get;
    defineProperty(DOMPoint.prototype, name, {
      get, set(value) { putPoint(this, name, +value); }, enumerable: true, configurable: true,
    });
  }

  class DOMRectReadOnly {
    #x; #y; #w; #h;
    constructor(x = 0, y = 0, width = 0, height = 0) { this.#x = +x; this.#y = +y; this.#w = +width; this.#h = +height; }
    static fromRect(r = {}) { return new this(number(r?.x, 0), number(r?.y, 0), number(r?.width, 0), number(r?.height, 0)); }
    get x() { return this.#x; }
    get y() { return this.#y; }
    get width() { return this.#w; }
    get height() { return this.#h; }
    get top() { return Math.min(this.#y, this.#y + this.#h); }
    get right() { return Math.max(this.#x, this.#x + this.#w); }
    get bottom() { return Math.max(this.#y, this.#y + this.#h); }
    get left() { return Math.min(this.#x, this.#x + this.#w); }
    toJSON() {
      return { x: this.#x, y: this.#y, width: this.#w, height: this.#h, top: this.top, right: this.right, bottom: this.bottom, left: this.left };
    }
    static put(r, name, value) {
      if (name === 'x') r.#x = value; else if (name === 'y') r.#y = value; else if (name === 'width') r.#w = value; else r.#h = value;
    }
  }
  const putRect = DOMRectReadOnly.put;
  delete DOMRectReadOnly.put;
  class DOMRect extends DOMRectReadOnly {}
  for (const name of ['x', 'y', 'width', 'height']) {
    const get = Object.getOwnPropertyDescriptor(DOMRectReadOnly.prototype, name).get;
    defineProperty(DOMRect.prototype, name, {
      get, set(value) { putRect(this, name, +value); }, enumerable: true, configurable: true,
    });
  }

  const SLOTS = { m11: 0, m12: 1, m13: 2, m14: 3, m21: 4, m22: 5, m23: 6, m24: 7, m31: 8, m32: 9, m33: 10, m34: 11,
    m41: 12, m42: 13, m43: 14, m44: 15, a: 0, b: 1, c: 4, d: 5, e: 12, f: 13 };
  const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const FLAT = [true, true, false, false, true, true, false, false, false, false, false, false, true, true, false, false];

  class DOMMatrixReadOnly {
    #m;
    constructor(init = undefined) { this.#m = init === RAW ? raw : native.matrixParse(init); }
    static fromMatrix(other = undefined) { return wrap(this, native.matrixInit(other)); }
    static fromFloat32Array(a) { return new this(list(a)); }
    static fromFloat64Array(a) { return new this(list(a)); }
    get is2D() { return this.#m[16]; }
    get isIdentity() { return IDENTITY.every((v, i) => this.#m[i] === v); }
    multiply(other) { return wrap(DOMMatrix, native.matrixOp('multiply', this.#m, native.matrixInit(other))); }
    transformPoint(p = {}) {
      const [x, y, z, w] = native.matrixPoint(this.#m, number(p?.x, 0), number(p?.y, 0), number(p?.z, 0), number(p?.w, 1));
      return new DOMPoint(x, y, z, w);
    }
    toFloat32Array() { return new Float32Array(this.#m.slice(0, 16)); }
    toFloat64Array() { return new Float64Array(this.#m.slice(0, 16)); }
    toString() { return native.matrixCss(this.#m); }
    toJSON() {
      const out = {};
      for (const name in SLOTS) out[name] = this.#m[SLOTS[name]];
      out.is2D = this.is2D;
      out.isIdentity = this.isIdentity;
      return out;
    }
    static read(matrix) { return matrix.#m; }
    static write(matrix, m) { matrix.#m = m; return matrix; }
  }
  const read = DOMMatrixReadOnly.read;
  const write = DOMMatrixReadOnly.write;
  delete DOMMatrixReadOnly.read;
  delete DOMMatrixReadOnly.write;
  const RAW = {};
  let raw = null;
  const wrap = (constructor, m) => { raw = m; return new constructor(RAW); };
  const list = (a) => { const out = []; for (let i = 0; i < a.length; i++) out[i] = +a[i]; return out; };
  const OPS = { translate: 0, scale: 0, scale3d: 0, rotate: 0, rotateFromVector: 0, rotateAxisAngle: 0, skewX: 0, skewY: 0, flipX: 0, flipY: 0, inverse: 0 };
  for (const name in OPS) {
    defineProperty(DOMMatrixReadOnly.prototype, name, {
      value: { [name](...args) { return wrap(DOMMatrix, native.matrixOp(name, read(this), ...args)); } }[name],
      writable: true, enumerable: true, configurable: true,
    });
  }
  defineProperty(DOMMatrixReadOnly.prototype, 'scaleNonUniform', {
    value: { scaleNonUniform(x = 1, y = 1) { return wrap(DOMMatrix, native.matrixOp('scale', read(this), x, y)); } }.scaleNonUniform,
    writable: true, enumerable: true, configurable: true,
  });
  for (const name in SLOTS) {
    const at = SLOTS[name];
    defineProperty(DOMMatrixReadOnly.prototype, name, { get() { return read(this)[at]; }, enumerable: true, configurable: true });
  }
  class DOMMatrix extends DOMMatrixReadOnly {
    multiplySelf(other) { return write(this, native.matrixOp('multiply', read(this), native.matrixInit(other))); }
    preMultiplySelf(other) { return write(this, native.matrixOp('multiply', native.matrixInit(other), read(this))); }
    invertSelf() { return write(this, native.matrixOp('inverse', read(this))); }
    setMatrixValue(text) { return write(this, native.matrixParse(`${text}`)); }
  }
  for (const name in OPS) {
    if (name === 'flipX' || name === 'flipY' || name === 'inverse') continue;
    const own = `${name}Self`;
    defineProperty(DOMMatrix.prototype, own, {
      value: { [own](...args) { return write(this, native.matrixOp(name, read(this), ...args)); } }[own],
      writable: true, enumerable: true, configurable: true,
    });
  }
  for (const name in SLOTS) {
    const at = SLOTS[name];
    defineProperty(DOMMatrix.prototype, name, {
      get() { return read(this)[at]; },
      set(value) {
        const m = read(this).slice();
        m[at] = +value;
        if (!FLAT[at] && m[at] !== IDENTITY[at]) m[16] = false;
        write(this, m);
      },
      enumerable: true, configurable: true,
    });
  }
  for (const [c, name] of [[DOMPointReadOnly, 'DOMPointReadOnly'], [DOMPoint, 'DOMPoint'], [DOMRectReadOnly, 'DOMRectReadOnly'],
    [DOMRect, 'DOMRect'], [DOMMatrixReadOnly, 'DOMMatrixReadOnly'], [DOMMatrix, 'DOMMatrix']]) {
    tag(c.prototype, name);
    publish(name, c);
  }
  enumerable(DOMPointReadOnly.prototype, ['x', 'y', 'z', 'w', 'matrixTransform', 'toJSON']);
  enumerable(DOMRectReadOnly.prototype, ['x', 'y', 'width', 'height', 'top', 'right', 'bottom', 'left', 'toJSON']);
  enumerable(DOMMatrixReadOnly.prototype, ['is2D', 'isIdentity', 'multiply', 'transformPoint', 'toFloat32Array', 'toFloat64Array', 'toString', 'toJSON']);

  // ---- TextMetrics --------------------------------------------------------------------------------------------
  const METRICS = ['width', 'actualBoundingBoxLeft', 'actualBoundingBoxRight', 'fontBoundingBoxAscent', 'fontBoundingBoxDescent',
    'actualBoundingBoxAscent', 'actualBoundingBoxDescent', 'emHeightAscent', 'emHeightDescent', 'hangingBaseline',
    'alphabeticBaseline', 'ideographicBaseline'];
  let metricValues = null;
  class TextMetrics {
    #values;
    constructor() {
      if (metricValues === null) throw new TypeError('Illegal constructor');
      this.#values = metricValues;
    }
    static at(metrics, index) { return metrics.#values[index]; }
  }
  const metricAt = TextMetrics.at;
  delete TextMetrics.at;
  METRICS.forEach((name, index) => {
    defineProperty(TextMetrics.prototype, name, { get() { return metricAt(this, index); }, enumerable: true, configurable: true });
  });
  tag(TextMetrics.prototype, 'TextMetrics');
  publish('TextMetrics', TextMetrics);

  // ---- ImageData ----------------------------------------------------------------------------------------------
  const uint32 = (value) => (+value) >>> 0;
  const long = (value) => {
    const n = Math.trunc(+value);
    if (!(n >= -2147483648 && n <= 2147483647)) throw new TypeError('the value is outside the range of a long');
    return n;
  };
  const spaceOf = (settings, fallback) => {
    const space = settings?.colorSpace;
    if (space === undefined) return fallback;
    const name = `${space}`;
    if (name !== 'srgb' && name !== 'display-p3') throw new TypeError(`the provided value '${name}' is not a valid PredefinedColorSpace`);
    return name;
  };
  const MAX_PIXELS = 2 ** 29;
  let madeData = null;
  class ImageData {
    #width; #height; #space; #data;
    constructor(first, second, third, fourth) {
      if (madeData !== null) {
        [this.#width, this.#height, this.#space, this.#data] = madeData;
        madeData = null;
        return;
      }
      need(arguments, 2);
      if (typeof first === 'object' && first !== null && isView(first) && apply(typedTag, first, []) !== undefined) {
        if (apply(typedTag, first, []) !== 'Uint8ClampedArray') {
          if (third !== undefined || second === undefined) throw new TypeError("parameter 1 is not of type 'Uint8ClampedArray'");
          // Without a height the other overload fits: a size that is no number.
          throw new DOMException('the source width is zero or not a number', 'IndexSizeError');
        }
        const length = apply(typedLength, first, []);
        const width = uint32(second);
        if (length === 0 || length % 4 !== 0) throw new DOMException('the input data length is not a nonzero multiple of 4', 'InvalidStateError');
        if (width === 0 || (length / 4) % width !== 0) throw new DOMException('the input data length is not a multiple of (4 * width)', 'IndexSizeError');
        const height = length / 4 / width;
        if (third !== undefined && uint32(third) !== height) throw new DOMException('the input data length is not equal to (4 * width * height)', 'IndexSizeError');
        this.#space = spaceOf(fourth, 'srgb');
        [this.#width, this.#height, this.#data] = [width, height, first];
        return;
      }
      if (arguments.length > 2 && typeof third !== 'object' && third !== undefined) throw new TypeError("parameter 1 is not of type 'Uint8ClampedArray'");
      const width = uint32(first);
      const height = uint32(second);
      if (width === 0 || height === 0) throw new DOMException('the source width or height is zero or not a number', 'IndexSizeError');
      if (width * height > MAX_PIXELS) throw new DOMException('the requested image size exceeds the supported range', 'IndexSizeError');
      this.#space = spaceOf(third, 'srgb');
      this.#width = width;
      this.#height = height;
      this.#data = new Uint8ClampedArray(width * height * 4);
    }
    get width() { return this.#width; }
    get height() { return this.#height; }
    get data() { return this.#data; }
    get colorSpace() { return this.#space; }
    get pixelFormat() { return 'rgba-unorm8'; }
    static parts(data) {
      if (typeof data !== 'object' || data === null || !(#data in data)) return null;
      return [data.#data, data.#width, data.#height, data.#space];
    }
  }
  const partsOf = ImageData.parts;
  delete ImageData.parts;
  enumerable(ImageData.prototype, ['width', 'height', 'data', 'colorSpace', 'pixelFormat']);
  tag(ImageData.prototype, 'ImageData');
  publish('ImageData', ImageData);
  const makeData = (width, height, space, data) => { madeData = [width, height, space, data]; return new ImageData(); };

  const measureList = native.contextPrototype.measureText;
  const transformList = native.contextPrototype.getTransform;
  mix(native.contextPrototype, {
    measureText(text) {
      need(arguments, 1);
      metricValues = apply(measureList, this, [text]);
      try { return new TextMetrics(); } finally { metricValues = null; }
    },
    getTransform() { return wrap(DOMMatrix, apply(transformList, this, [])); },
    createImageData(first, second, settings) {
      const own = native.canvasSpace(this);
      need(arguments, 1);
      const parts = partsOf(first);
      if (parts !== null) return makeData(parts[1], parts[2], parts[3], new Uint8ClampedArray(parts[1] * parts[2] * 4));
      need(arguments, 2);
      const width = Math.abs(long(first));
      const height = Math.abs(long(second));
      if (width === 0 || height === 0) throw new DOMException('the source width or height is zero', 'IndexSizeError');
      if (width * height > MAX_PIXELS) throw new global.RangeError('out of memory at ImageData creation');
      return makeData(width, height, spaceOf(settings, own), new Uint8ClampedArray(width * height * 4));
    },
    getImageData(x, y, width, height, settings) {
      need(arguments, 4);
      const made = native.readPixels(this, x, y, width, height, spaceOf(settings, undefined));
      return makeData(made[0], made[1], made[2], new Uint8ClampedArray(made[3]));
    },
    putImageData(data, x, y, dirtyX, dirtyY, dirtyWidth, dirtyHeight) {
      need(arguments, 3);
      const parts = partsOf(data);
      if (parts === null) throw new TypeError("parameter 1 is not of type 'ImageData'");
      if (arguments.length < 7) native.writePixels(this, parts[0], parts[1], parts[2], parts[3], x, y);
      else native.writePixels(this, parts[0], parts[1], parts[2], parts[3], x, y, dirtyX, dirtyY, dirtyWidth, dirtyHeight);
    },
    drawFocusIfNeeded() {},
  });

  // ---- Image --------------------------------------------------------------------------------------------------
  const images = new WeakMap();
  const stateOf = (image) => {
    const state = apply(weakGet, images, [image]);
    if (state === undefined) throw new TypeError('Illegal invocation');
    return state;
  };
  const lower = (text) => apply(codes.toLowerCase, text, []);
  /** The payload of a data URL as base64 text or bytes; undefined when it is none. */
  function payload(url) {
    const text = apply(codes.trim, url, []);
    if (lower(apply(codes.slice, text, [0, 5])) !== 'data:') return undefined;
    const comma = apply(codes.indexOf, text, [',']);
    if (comma < 0) return undefined;
    const head = lower(apply(codes.slice, text, [5, comma]));
    const body = apply(codes.slice, text, [comma + 1]);
    let plain;
    try { plain = apply(codes.indexOf, body, ['%']) < 0 ? body : decodeURIComponent(body); } catch { return undefined; }
    if (apply(codes.slice, head, [-7]) === ';base64') return plain;
    const bytes = new Uint8Array(plain.length);
    for (let i = 0; i < plain.length; i++) bytes[i] = apply(codes.charCodeAt, plain, [i]) & 255;
    return bytes;
  }
  function fire(image, state, type) {
    const event = { type, target: image, currentTarget: image };
    const handler = type === 'load' ? state.onload : state.onerror;
    if (typeof handler === 'function') apply(handler, image, [event]);
    for (const [kind, listener] of state.listeners.slice()) {
      if (kind === type) typeof listener === 'function' ? apply(listener, image, [event]) : listener?.handleEvent?.(event);
    }
  }
  function Image(width, height) {
    if (new.target === undefined) throw new TypeError("Class constructor Image cannot be invoked without 'new'");
    const image = adopt(native.newImage(), new.target, Image);
    apply(weakSet, images, [image, { src: '', width: width === undefined ? undefined : uint32(width),
      height: height === undefined ? undefined : uint32(height), onload: null, onerror: null, listeners: [],
      complete: true, failed: false, turn: 0, waiting: [], alt: '', crossOrigin: null }]);
    return image;
  }
  bind(Image, native.imagePrototype, 'HTMLImageElement');
  publish('Image', Image);
  const handler = (value) => (typeof value === 'function' || (typeof value === 'object' && value !== null) ? value : null);
  mix(native.imagePrototype, {
    get src() { return stateOf(this).src; },
    set src(value) {
      const state = stateOf(this);
      // Bytes are taken as they are, for callers used to node-canvas.
      const isBytes = typeof value === 'object' && value !== null && (isView(value) || value instanceof ArrayBuffer);
      state.src = isBytes ? '' : `${value}`;
      state.failed = false;
      const turn = ++state.turn;
      if (!isBytes && state.src === '') {
        native.imageLoad(this, null);
        state.complete = true;
        return;
      }
      const source = isBytes ? value : payload(state.src);
      state.failed = !native.imageLoad(this, source);
      state.complete = false;
      soon(() => {
        if (turn !== state.turn) return;
        state.complete = true;
        const waiting = state.waiting;
        state.waiting = [];
        for (const [resolve, reject] of waiting) state.failed ? reject(undecodable()) : resolve();
        fire(this, state, state.failed ? 'error' : 'load');
      });
    },
    get complete() { return stateOf(this).complete; },
    get naturalWidth() { return native.imageSize(this)[0]; },
    get naturalHeight() { return native.imageSize(this)[1]; },
    get width() { return stateOf(this).width ?? native.imageSize(this)[0]; },
    set width(value) { stateOf(this).width = uint32(value); },
    get height() { return stateOf(this).height ?? native.imageSize(this)[1]; },
    set height(value) { stateOf(this).height = uint32(value); },
    get onload() { return stateOf(this).onload; },
    set onload(value) { stateOf(this).onload = handler(value); },
    get onerror() { return stateOf(this).onerror; },
    set onerror(value) { stateOf(this).onerror = handler(value); },
    get alt() { return stateOf(this).alt; },
    set alt(value) { stateOf(this).alt = `${value}`; },
    get crossOrigin() { return stateOf(this).crossOrigin; },
    set crossOrigin(value) { stateOf(this).crossOrigin = value === null ? null : `${value}`; },
    get currentSrc() { return stateOf(this).src; },
    decode() {
      const state = stateOf(this);
      return new Promise((resolve, reject) => {
        if (!state.complete) state.waiting.push([resolve, reject]);
        else if (state.failed || state.src === '' && native.imageSize(this)[0] === 0) reject(undecodable());
        else resolve();
      });
    },
    addEventListener(type, listener) { if (listener) stateOf(this).listeners.push([`${type}`, listener]); },
    removeEventListener(type, listener) {
      const state = stateOf(this);
      state.listeners = state.listeners.filter(([t, l]) => t !== `${type}` || l !== listener);
    },
  });
  const undecodable = () => new DOMException('the source image cannot be decoded', 'EncodingError');

  // ---- createImageBitmap --------------------------------------------------------------------------------------
  async function bitmapFrom(source) {
    const parts = partsOf(source);
    if (parts !== null) return native.bitmapOfPixels(parts[0], parts[1], parts[2], parts[3]);
    if (typeof source === 'object' && source !== null) {
      if (Blob !== undefined ? source instanceof Blob : source instanceof FallbackBlob) return native.decodeBitmap(await source.arrayBuffer());
      if (isView(source) || source instanceof ArrayBuffer) return native.decodeBitmap(source);
    }
    return native.bitmapOf(source);
  }
  async function createImageBitmap(source, ...rest) {
    need(arguments, 1);
    const cropped = rest.length >= 4;
    const options = (cropped ? rest[4] : rest[0]) ?? {};
    const bitmap = await bitmapFrom(source);
    let [x, y, width, height] = [0, 0, bitmap.width, bitmap.height];
    if (cropped) {
      [x, y, width, height] = [long(rest[0]), long(rest[1]), long(rest[2]), long(rest[3])];
      if (width === 0 || height === 0) throw new global.RangeError('the crop rectangle has no area');
    }
    const flip = options.imageOrientation === 'flipY';
    let outWidth = options.resizeWidth === undefined ? 0 : uint32(options.resizeWidth);
    let outHeight = options.resizeHeight === undefined ? 0 : uint32(options.resizeHeight);
    if (options.resizeWidth === 0 || options.resizeHeight === 0) throw new DOMException('the resize dimension is zero', 'InvalidStateError');
    if (!cropped && !flip && outWidth === 0 && outHeight === 0) return bitmap;
    if (outWidth === 0 && outHeight !== 0) outWidth = Math.max(1, Math.ceil(Math.abs(width) * outHeight / Math.abs(height)));
    if (outHeight === 0 && outWidth !== 0) outHeight = Math.max(1, Math.ceil(Math.abs(height) * outWidth / Math.abs(width)));
    return native.bitmapCrop(bitmap, x, y, width, height, flip, outWidth, outHeight, `${options.resizeQuality ?? 'low'}`);
  }
  publish('createImageBitmap', createImageBitmap);

  // ---- FontFace -----------------------------------------------------------------------------------------------
  /** A font from bytes, usable once loaded; a URL names a font the host already has. */
  class FontFace {
    #family; #source; #status = 'unloaded'; #loaded; #resolve; #reject;
    constructor(family, source, descriptors = {}) {
      need(arguments, 2);
      this.#family = `${family}`;
      this.#source = source;
      this.#loaded = new Promise((resolve, reject) => { this.#resolve = resolve; this.#reject = reject; });
      apply(then, this.#loaded, [undefined, () => {}]);
      if (typeof source === 'object' && source !== null) this.load();
    }
    get family() { return this.#family; }
    get status() { return this.#status; }
    get loaded() { return this.#loaded; }
    load() {
      if (this.#status !== 'unloaded') return this.#loaded;
      try {
        if (typeof this.#source === 'object' && this.#source !== null) native.addFont(this.#family, this.#source);
        else if (!native.hasFont(this.#family)) throw new DOMException('A network error occurred.', 'NetworkError');
        this.#status = 'loaded';
        this.#resolve(this);
      } catch (error) {
        this.#status = 'error';
        this.#reject(error);
      }
      return this.#loaded;
    }
  }
  tag(FontFace.prototype, 'FontFace');
  publish('FontFace', FontFace);
})
