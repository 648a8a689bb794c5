use mip_core::ImageDesc;
use mip_plan::{Border, Kernel, Whole, median_of};

use crate::border::{BORDER, BORDER_VALUE, BorderFields};
use crate::counted::refusal;
use crate::expr::{Term, v};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::Formula;
use crate::windowed::{self, Windowed};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "median",
    summary: "The middle sample around each pixel: removes specks, keeps edges",
    inputs: &["in"],
    params: &[
        ParamSpec::new(
            "kernel",
            ParamKind::odd(1, mip_plan::Median::MAX_SIDE as i64),
            "Side of the square in pixels; above 5 for u8 only",
        )
        .default_is("3"),
        BORDER.default_is("replicate"),
        BORDER_VALUE,
    ],
    extra: Extra::NONE,
    examples: &[
        "",
        "kernel=5",
        "kernel=1",
        "kernel=7",
        "kernel=15 border=reflect101",
        "kernel=17 border=wrap",
        "kernel=3 border=reflect",
        "border=constant border_value=1",
        "kernel=9 border=constant border_value=200",
    ],
    create: create::<Median>,
};

/// The largest side whose median is an expression.
const SMALL: u32 = 5;

/// The median of the samples in a square of up to 255 pixels a side, for every colour channel by itself; alpha is kept.
///
/// OpenCV's `medianBlur`, which also filters alpha. Up to 5 pixels a side for every dtype: of floats among which one is NaN, the
/// result is one of them, the same on every device. Above that for u8, whose samples are counted: on a CPU in time that hardly
/// depends on the side, on a GPU in proportion to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Median {
    kernel: u32,
    border: BorderFields,
}

impl Default for Median {
    fn default() -> Self {
        Self::new(3)
    }
}

impl Median {
    /// Over `kernel` x `kernel` pixels; odd, 1 to 255 (3 by default). The border is [`Border::Replicate`] if not set.
    pub fn new(kernel: u32) -> Self {
        Self { kernel, border: Border::Replicate.into() }
    }

    /// With this border.
    #[must_use]
    pub fn border(self, border: Border) -> Self {
        Self { border: border.into(), ..self }
    }
}

impl Parameters for Median {
    fields! {
        "kernel" => kernel,
        "border" => border.mode,
        "border_value" => border.value,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        self.border.conflicts(self)
    }
}

impl Windowed for Median {
    fn border(&self) -> BorderFields {
        self.border
    }

    fn formula(&self, _: &ImageDesc) -> Result<Formula, ParamError> {
        let radius = (self.kernel / 2) as i8;
        let places = (-radius..=radius).flat_map(|y| (-radius..=radius).map(move |x| v().at(x, y)));
        let order = |a: &Term, b: &Term| (a.clone().min(b.clone()), a.clone().max(b.clone()));
        Ok(Formula::each(median_of(places.collect(), order).unwrap_or_else(v)))
    }
}

impl Operator for Median {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        if self.kernel <= SMALL {
            return windowed::infer(self, inputs);
        }
        let [input] = self.accept(inputs)?;
        if input.dtype() != mip_core::DType::U8 {
            return Err(refusal(
                &SPEC,
                &input,
                "u8 with a kernel above 5; convert it with cast, or use 3 or 5",
            ));
        }
        self.border.resolve(self, &input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        if self.kernel <= SMALL {
            return windowed::lower(self, inputs);
        }
        let output = self.infer(inputs)?;
        let border = self.border.resolve(self, &output)?;
        let kernel = mip_plan::Median { side: self.kernel, border };
        Ok(Lowered::single(Kernel::Whole(Whole::Median(kernel)), [], output))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;

    fn image() -> ImageDesc {
        ImageDesc::new(9, 7, PixelFormat::Gray, DType::U8).unwrap()
    }

    #[test]
    fn it_needs_few_operations() {
        let count = |kernel| {
            let step = Median::new(kernel).lower(&[image()]).unwrap().steps.remove(0);
            step.kernel.expression().unwrap().operations()
        };
        assert_eq!([count(1), count(3), count(5)], [0, 32, 240]);
    }

    #[test]
    fn devices_recognise_it() {
        let side = |kernel| match Median::new(kernel).lower(&[image()]).unwrap().steps.remove(0).kernel {
            Kernel::Stencil(stencil) => stencil.median_side(),
            _ => None,
        };
        assert_eq!([1, 3, 5].map(side), [None, Some(3), Some(5)]);
    }

    #[test]
    fn large_squares_are_of_bytes() {
        let kernel = |kernel| Median::new(kernel).lower(&[image()]).unwrap().steps.remove(0).kernel;
        let Kernel::Whole(Whole::Median(large)) = kernel(7) else { panic!() };
        assert_eq!((large.side, large.border), (7, Border::Replicate));
        let wide = image().with_dtype(DType::F32).unwrap();
        let refusal = Median::new(7).infer(&[wide]).unwrap_err().to_string();
        assert!(refusal.contains("u8 with a kernel above 5; convert it with cast"), "{refusal}");
        assert!(Median::new(5).infer(&[wide]).is_ok());
    }
}
