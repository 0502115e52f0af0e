//! The part of the table that names the canvas: what `cove-canvas-js` puts into the realm, object by object.

use super::Permit;

/// Globals that the canvas brings.
pub(crate) const GLOBALS: &str = "OffscreenCanvas CanvasRenderingContext2D OffscreenCanvasRenderingContext2D \
    CanvasGradient CanvasPattern ImageBitmap Path2D DOMPointReadOnly DOMPoint DOMRectReadOnly DOMRect \
    DOMMatrixReadOnly DOMMatrix TextMetrics ImageData HTMLImageElement Image createImageBitmap FontFace";

/// Their objects and prototypes.
pub(crate) const PERMITS: &[Permit] = &[
    ("OffscreenCanvas", "prototype"),
    (
        "OffscreenCanvas.prototype",
        "width height getContext toDataURL transferToImageBitmap constructor toBlob \
        convertToBlob toBuffer @@toStringTag",
    ),
    ("CanvasRenderingContext2D", "prototype"),
    (
        "CanvasRenderingContext2D.prototype",
        "globalAlpha lineWidth miterLimit lineDashOffset shadowBlur \
        shadowOffsetX shadowOffsetY globalCompositeOperation lineCap lineJoin shadowColor imageSmoothingQuality \
        filter font textAlign textBaseline direction fontKerning fontStretch fontVariantCaps textRendering \
        letterSpacing wordSpacing lang canvas imageSmoothingEnabled save restore reset getLineDash setLineDash \
        scale rotate translate transform setTransform resetTransform getTransform getContextAttributes \
        isContextLost fillStyle strokeStyle createLinearGradient createRadialGradient createConicGradient \
        createPattern beginPath closePath moveTo lineTo quadraticCurveTo bezierCurveTo rect arc ellipse arcTo \
        roundRect fill stroke clip isPointInPath isPointInStroke fillRect strokeRect clearRect fillText \
        strokeText measureText drawImage constructor createImageData getImageData putImageData \
        drawFocusIfNeeded @@toStringTag",
    ),
    ("CanvasGradient", "prototype"),
    ("CanvasGradient.prototype", "addColorStop constructor @@toStringTag"),
    ("CanvasPattern", "prototype"),
    ("CanvasPattern.prototype", "setTransform constructor @@toStringTag"),
    ("ImageBitmap", "prototype"),
    ("ImageBitmap.prototype", "width height close constructor @@toStringTag"),
    ("Path2D", "prototype"),
    (
        "Path2D.prototype",
        "addPath closePath moveTo lineTo quadraticCurveTo bezierCurveTo arcTo rect roundRect \
        arc ellipse constructor @@toStringTag",
    ),
    ("DOMPointReadOnly", "prototype fromPoint"),
    ("DOMPointReadOnly.prototype", "constructor x y z w matrixTransform toJSON @@toStringTag"),
    ("DOMPoint", "prototype"),
    ("DOMPoint.prototype", "constructor x y z w @@toStringTag"),
    ("DOMRectReadOnly", "prototype fromRect"),
    ("DOMRectReadOnly.prototype", "constructor x y width height top right bottom left toJSON @@toStringTag"),
    ("DOMRect", "prototype"),
    ("DOMRect.prototype", "constructor x y width height @@toStringTag"),
    ("DOMMatrixReadOnly", "prototype fromMatrix fromFloat32Array fromFloat64Array"),
    (
        "DOMMatrixReadOnly.prototype",
        "constructor is2D isIdentity multiply transformPoint toFloat32Array \
        toFloat64Array toString toJSON translate scale scale3d rotate rotateFromVector rotateAxisAngle skewX \
        skewY flipX flipY inverse scaleNonUniform m11 m12 m13 m14 m21 m22 m23 m24 m31 m32 m33 m34 m41 m42 m43 \
        m44 a b c d e f @@toStringTag",
    ),
    ("DOMMatrix", "prototype"),
    (
        "DOMMatrix.prototype",
        "constructor multiplySelf preMultiplySelf invertSelf setMatrixValue translateSelf \
        scaleSelf scale3dSelf rotateSelf rotateFromVectorSelf rotateAxisAngleSelf skewXSelf skewYSelf m11 m12 \
        m13 m14 m21 m22 m23 m24 m31 m32 m33 m34 m41 m42 m43 m44 a b c d e f @@toStringTag",
    ),
    ("TextMetrics", "prototype"),
    (
        "TextMetrics.prototype",
        "constructor width actualBoundingBoxLeft actualBoundingBoxRight \
        fontBoundingBoxAscent fontBoundingBoxDescent actualBoundingBoxAscent actualBoundingBoxDescent \
        emHeightAscent emHeightDescent hangingBaseline alphabeticBaseline ideographicBaseline @@toStringTag",
    ),
    ("ImageData", "prototype"),
    ("ImageData.prototype", "constructor width height data colorSpace pixelFormat @@toStringTag"),
    ("HTMLImageElement", "prototype"),
    (
        "HTMLImageElement.prototype",
        "constructor src complete naturalWidth naturalHeight width height onload \
        onerror alt crossOrigin currentSrc decode addEventListener removeEventListener @@toStringTag",
    ),
    ("FontFace", "prototype"),
    ("FontFace.prototype", "constructor family status loaded load @@toStringTag"),
];
