  // Part 4: `getCanvas`. The canvases are held here, off the document: neither `document.write` nor a new `getCanvas`
  // can make one disappear. One that this run asked for is exported when the run has come to its end.
  const newElement = (() => { const make = page.createElement; return (name) => apply(make, page, [name]); })();
  const canvasWidth = getter(HTMLCanvasElement.prototype, "width"), canvasHeight = getter(HTMLCanvasElement.prototype, "height");
  const setWidth = setter(HTMLCanvasElement.prototype, "width"), setHeight = setter(HTMLCanvasElement.prototype, "height");
  const dataUrl = method(HTMLCanvasElement.prototype, "toDataURL");
  // All pictures of one run together, as base64: what a host takes from a page in one message.
  const MAX_EXPORT = 48 << 20;
  const canvases = new PageMap();

  const side = (value, fallback) => {
    const n = floor(PageNumber(value));
    return n > 0 && n < 1e9 ? n : fallback;
  };
  const getCanvas = function getCanvas(first, second, third) {
    const named = typeof first === "string", name = named ? first : "";
    if (named && (name === "" || name.length > 120 || indexOf(name, "/") >= 0 || indexOf(name, "\\") >= 0 || indexOf(name, "\0") >= 0)) {
      throw new PageTypeError("getCanvas: a picture's name is a plain file name");
    }
    let canvas = mapGet(canvases, name);
    if (run !== null && !setHas(run.used, name)) {
      if (setSize(run.used) >= run.maxImages) throw new PageRangeError(`getCanvas: a run may leave ${run.maxImages} pictures behind`);
      setAdd(run.used, name);
    }
    if (canvas === undefined) {
      canvas = newElement("canvas");
      setWidth(canvas, side(named ? second : first, 800));
      setHeight(canvas, side(named ? third : second, 600));
      mapSet(canvases, name, canvas);
    }
    return canvas;
  };
  // The pictures as a JSON list, the default canvas first, and why some are missing.
  const exportPictures = (used) => {
    let list = "", error = "", bytes = 0;
    const one = (name) => {
      const canvas = mapGet(canvases, name);
      const width = canvasWidth(canvas), height = canvasHeight(canvas), title = name === "" ? "The canvas" : `The canvas ${quote(name)}`;
      try {
        const url = dataUrl(canvas, "image/png");
        const comma = indexOf(url, ",");
        if (comma < 0 || url.length - comma < 9) throw new PageRangeError(`${width}x${height} pixels cannot be encoded`);
        bytes += url.length;
        if (bytes > MAX_EXPORT) throw new PageRangeError("the pictures of this run are too large");
        list += `${list === "" ? "" : ","}{"name":${name === "" ? "null" : quote(name)},"width":${width},"height":${height},"png":"${slice(url, comma + 1)}"}`;
      } catch (e) {
        if (error === "") error = `${title} could not be exported: ${text(e && e.message)}`;
      }
    };
    if (setHas(used, "")) one("");
    setEach(used, (name) => { if (name !== "") one(name); });
    return `"pictures":[${list}],"canvasError":${error === "" ? "null" : quote(error)}`;
  };
