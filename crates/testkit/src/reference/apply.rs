use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};

use super::REFERENCES;
use crate::Real;
use crate::golden::Params;

/// What an operator's file here says of it: how its reference is called with a pipeline file's parameters.
pub(super) struct Reference {
    op: &'static str,
    params: &'static [&'static str],
    /// Whether it takes numbers under any other name.
    any_number: bool,
    apply: fn(&Call<'_>) -> Real,
    output: fn(&Params, ImageDesc) -> ImageDesc,
    magnitude: fn(&Call<'_>) -> f64,
}

/// Parameters and the images of each slot.
pub(super) struct Call<'a> {
    pub(super) params: &'a Params,
    pub(super) inputs: &'a [&'a ImageBuffer],
}

impl Call<'_> {
    /// The first image of a slot.
    pub(super) fn image(&self, slot: usize) -> Real {
        Real::from_buffer(self.inputs[slot])
    }

    /// The first image of a slot as what computes with samples reads it: i32 as the nearest binary32.
    pub(super) fn read(&self, slot: usize) -> Real {
        let image = self.image(slot);
        if self.inputs[slot].desc().dtype() == DType::I32 {
            image.map(|v| f64::from(v as f32))
        } else {
            image
        }
    }

    /// The largest magnitude of a sample of the first input.
    pub(super) fn largest(&self) -> f64 {
        self.image(0).data.iter().filter(|v| v.is_finite()).fold(0.0, |most, v| v.abs().max(most))
    }

    /// Description of the first input.
    pub(super) fn desc(&self) -> ImageDesc {
        *self.inputs[0].desc()
    }
}

impl Reference {
    /// An operator whose result has the first input's format (or gray, rgb, rgba by its channels), type and
    /// layout.
    pub(super) const fn new(
        op: &'static str,
        params: &'static [&'static str],
        apply: fn(&Call<'_>) -> Real,
    ) -> Self {
        Self { op, params, any_number: false, apply, output: |_, desc| desc, magnitude: |_| 1.0 }
    }

    /// With another description of the result.
    pub(super) const fn output(self, output: fn(&Params, ImageDesc) -> ImageDesc) -> Self {
        Self { output, ..self }
    }

    /// With what the magnitudes of a sum's terms add up to, where they may cancel.
    pub(super) const fn magnitude(self, magnitude: fn(&Call<'_>) -> f64) -> Self {
        Self { magnitude, ..self }
    }

    /// With numbers under names of the user's own.
    pub(super) const fn any_number(self) -> Self {
        Self { any_number: true, ..self }
    }
}

fn find(op: &str) -> &'static Reference {
    REFERENCES
        .iter()
        .find(|reference| reference.op == op)
        .unwrap_or_else(|| panic!("no reference for '{op}'"))
}

/// The exact result of an operator, named and parametrised as in a pipeline file, for the first image of each
/// input.
///
/// # Panics
/// For operators, parameters or inputs that do not exist: this serves tests, which give right ones.
pub fn apply(op: &str, params: &Params, inputs: &[&ImageBuffer]) -> Real {
    let reference = find(op);
    for (name, _) in params.iter().filter(|_| !reference.any_number) {
        assert!(reference.params.contains(&name), "no parameter '{name}' of '{op}'");
    }
    (reference.apply)(&Call { params, inputs })
}

/// What the magnitudes of the terms add up to that a result is the sum of; 1 where they cannot cancel. See
/// [`crate::check_sums`].
///
/// # Panics
/// As [`apply`].
pub fn magnitude(op: &str, params: &Params, inputs: &[&ImageBuffer]) -> f64 {
    (find(op).magnitude)(&Call { params, inputs }).max(1.0)
}

/// Description of an operator's result: the size of `exact`, which [`apply`] has computed, and the rest from the
/// first input and the parameters.
///
/// # Panics
/// As [`apply`].
pub fn describe(op: &str, params: &Params, input: &ImageDesc, exact: &Real) -> ImageDesc {
    let desc = (find(op).output)(params, input.with_size(exact.width as u32, exact.height as u32).unwrap());
    match exact.channels {
        channels if channels == desc.channels() => desc,
        1 => desc.with_format(PixelFormat::Gray).unwrap(),
        3 => desc.with_format(PixelFormat::Rgb).unwrap(),
        _ => desc.with_format(PixelFormat::Rgba).unwrap(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: u32, height: u32) -> ImageBuffer {
        ImageBuffer::new(ImageDesc::new(width, height, PixelFormat::Gray, DType::U8).unwrap()).unwrap()
    }

    #[test]
    fn a_side_that_is_not_given_follows_the_ratio() {
        let size = |image: &ImageBuffer, name, side: u32| {
            let out = apply("resize", &Params::new().with(name, side), &[image]);
            (out.width, out.height)
        };
        assert_eq!(size(&image(50, 37), "shorter_side", 26), (35, 26));
        assert_eq!(size(&image(37, 50), "shorter_side", 26), (26, 35));
        assert_eq!(size(&image(4, 6), "width", 3), (3, 5), "4.5 rounds up");
        assert_eq!(size(&image(40, 2), "width", 3), (3, 1));
        assert_eq!(size(&image(40, 10), "height", 2), (8, 2));
    }

    #[test]
    fn descriptions_follow_the_operator() {
        let text = |op, params| {
            let (params, image) = (Params::line(params), image(8, 6));
            describe(op, &params, image.desc(), &apply(op, &params, &[&image])).to_string()
        };
        assert_eq!(text("resize", "width = 3, height = 4"), "3x4 gray u8");
        assert_eq!(text("color_convert", "to = 'bgra'"), "8x6 bgra u8");
        assert_eq!(text("layout", "to = 'chw'"), "8x6 gray u8 chw");
        assert_eq!(text("normalize", ""), "8x6 gray f32");
        assert_eq!(text("cast", "to = 'u16'"), "8x6 gray u16");
        assert_eq!(text("sobel", ""), "8x6 gray u8");
    }

    #[test]
    #[should_panic(expected = "no parameter 'axis' of 'flip'")]
    fn a_wrong_parameter_is_a_wrong_test() {
        apply("flip", &Params::new().with("axis", "both"), &[&image(1, 1)]);
    }
}
