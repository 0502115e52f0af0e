//! Images, pixel data, files.

use cove_canvas::{Canvas, CanvasLimits, ColorSpace, ContextSettings, ImageBitmap, ImageData, ImageFormat};

use super::{BLUE, CLEAR, GREEN, RED, canvas, near, pixel};

/// Four coloured quarters, two pixels each.
fn quarters() -> ImageBitmap {
    let mut c = canvas(4, 4);
    let ctx = c.context();
    for (color, x, y) in [("red", 0.0, 0.0), ("lime", 2.0, 0.0), ("blue", 0.0, 2.0)] {
        ctx.set_fill_style_text(color);
        ctx.fill_rect(x, y, 2.0, 2.0);
    }
    c.snapshot().unwrap()
}

#[test]
fn images_are_placed_scaled_and_cut() {
    let image = quarters();
    let mut c = canvas(40, 40);
    let ctx = c.context();
    ctx.draw_image(&image, 10.0, 10.0).unwrap();
    assert_eq!(
        (pixel(ctx, 10, 10), pixel(ctx, 13, 10), pixel(ctx, 10, 13), pixel(ctx, 13, 13)),
        (RED, GREEN, BLUE, CLEAR)
    );
    ctx.reset();
    ctx.set_image_smoothing_enabled(false);
    ctx.draw_image_scaled(&image, 0.0, 0.0, 40.0, 40.0).unwrap();
    assert_eq!((pixel(ctx, 19, 19), pixel(ctx, 20, 19), pixel(ctx, 0, 39)), (RED, GREEN, BLUE));
    ctx.reset();
    ctx.draw_image_from(&image, [2.0, 0.0, 2.0, 2.0], [0.0, 0.0, 20.0, 20.0]).unwrap();
    assert_eq!((pixel(ctx, 0, 0), pixel(ctx, 19, 19), pixel(ctx, 21, 21)), (GREEN, GREEN, CLEAR));
    // Negative sizes name the same rectangles; nothing is mirrored.
    ctx.reset();
    ctx.draw_image_from(&image, [2.0, 2.0, -2.0, -2.0], [20.0, 20.0, -20.0, -20.0]).unwrap();
    assert_eq!((pixel(ctx, 0, 0), pixel(ctx, 19, 19)), (RED, RED));
    // Parts outside the picture stay transparent.
    ctx.reset();
    ctx.draw_image_from(&image, [-2.0, -2.0, 4.0, 4.0], [0.0, 0.0, 20.0, 20.0]).unwrap();
    assert_eq!((pixel(ctx, 5, 5), pixel(ctx, 15, 15)), (CLEAR, RED));
}

#[test]
fn a_canvas_can_be_drawn_onto_itself() {
    let mut c = canvas(20, 10);
    c.context().set_fill_style_text("red");
    c.context().fill_rect(0.0, 0.0, 10.0, 10.0);
    let own = c.snapshot().unwrap();
    c.context().draw_image(&own, 10.0, 0.0).unwrap();
    assert_eq!((pixel(c.context(), 5, 5), pixel(c.context(), 15, 5)), (RED, RED));
}

#[test]
fn an_empty_picture_is_refused() {
    let empty = canvas(0, 5).snapshot().unwrap();
    let mut c = canvas(5, 5);
    assert_eq!(c.context().draw_image(&empty, 0.0, 0.0).unwrap_err().name(), "InvalidStateError");
    assert_eq!(c.context().create_pattern(&empty, "").unwrap_err().name(), "InvalidStateError");
}

#[test]
fn pixel_data_goes_round() {
    let mut c = canvas(10, 10);
    let ctx = c.context();
    let mut data = ImageData::new(3, 2, ColorSpace::Srgb).unwrap();
    data.data.copy_from_slice(&(0..24).map(|v| if v % 4 == 3 { 255 } else { v * 10 }).collect::<Vec<u8>>());
    ctx.put_image_data(&data.view(), 2, 3, None);
    assert_eq!(ctx.get_image_data(2, 3, 3, 2, None).unwrap().data, data.data);
    assert_eq!(ctx.get_image_data(5, 5, -3, -2, None).unwrap().data, data.data);
    let outside = ctx.get_image_data(-5, -5, 3, 3, None).unwrap();
    assert!(outside.data.iter().all(|b| *b == 0));
    ctx.reset();
    ctx.put_image_data(&data.view(), 0, 0, Some([1, 0, 1, 1]));
    assert_eq!((pixel(ctx, 0, 0)[3], pixel(ctx, 1, 0)[3], pixel(ctx, 2, 0)[3], pixel(ctx, 1, 1)[3]), (0, 255, 0, 0));
    for (dx, dy) in [(i32::MAX, 0), (i32::MIN, i32::MIN), (-3, -2), (10, 10)] {
        ctx.put_image_data(&data.view(), dx, dy, Some([i32::MIN, i32::MIN, i32::MAX, i32::MAX]));
    }
    assert_eq!(ctx.get_image_data(0, 0, 0, 1, None).unwrap_err().name(), "IndexSizeError");
}

#[test]
fn files_come_back_as_they_went() {
    let image = quarters();
    let png = cove_canvas::encode(&image, ImageFormat::Png).unwrap();
    let back = ImageBitmap::decode(&png, &CanvasLimits::default()).unwrap();
    assert_eq!(back.to_rgba(), image.to_rgba());
    let mut c = canvas(32, 32);
    c.context().set_fill_style_text("rgb(200, 100, 50)");
    c.context().fill_rect(0.0, 0.0, 32.0, 32.0);
    let jpeg = c.encode(ImageFormat::from_mime("image/jpeg", Some(0.9))).unwrap();
    assert_eq!(&jpeg[..2], [0xff, 0xd8]);
    let back = ImageBitmap::decode(&jpeg, &CanvasLimits::default()).unwrap();
    let rgba = back.to_rgba();
    assert!(rgba[0].abs_diff(200) < 5 && rgba[1].abs_diff(100) < 5 && rgba[2].abs_diff(50) < 5, "{:?}", &rgba[..4]);
    assert_eq!(ImageFormat::from_mime("image/tiff", None), ImageFormat::Png);
    for junk in [&b""[..], b"junk", &png[..20]] {
        assert_eq!(ImageBitmap::decode(junk, &CanvasLimits::default()).unwrap_err().name(), "EncodingError");
    }
}

#[test]
fn an_opaque_canvas_stays_opaque() {
    let mut c = Canvas::new(4, 4, &CanvasLimits::default()).unwrap();
    c.configure(ContextSettings { alpha: false, color_space: ColorSpace::Srgb }).unwrap();
    assert_eq!(pixel(c.context(), 0, 0), [0, 0, 0, 255]);
    c.context().clear_rect(0.0, 0.0, 4.0, 4.0);
    assert_eq!(pixel(c.context(), 0, 0), [0, 0, 0, 255]);
    assert!(c.snapshot().unwrap().to_rgba().as_chunks::<4>().0.iter().all(|p| p[3] == 255));
}

#[test]
fn wide_colours_survive_in_a_wide_canvas() {
    let mut c = Canvas::new(4, 4, &CanvasLimits::default()).unwrap();
    c.configure(ContextSettings { alpha: true, color_space: ColorSpace::DisplayP3 }).unwrap();
    let ctx = c.context();
    ctx.set_fill_style_text("color(display-p3 1 0 0)");
    ctx.fill_rect(0.0, 0.0, 4.0, 4.0);
    assert_eq!(pixel(ctx, 0, 0), RED);
    ctx.set_fill_style_text("red");
    ctx.fill_rect(0.0, 0.0, 4.0, 4.0);
    near(ctx, 0, 0, [234, 51, 35, 255], 1);
    let png = c.to_png().unwrap();
    let back = ImageBitmap::decode(&png, &CanvasLimits::default()).unwrap();
    let mut other = Canvas::new(4, 4, &CanvasLimits::default()).unwrap();
    other.context().draw_image(&back, 0.0, 0.0).unwrap();
    near(other.context(), 0, 0, RED, 2);
}
