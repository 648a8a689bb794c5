use mip_core::{ImageDesc, ImageError};
use mip_plan::{AxisMap, Border, Gather, Kernel};

use crate::border::{BORDER, BorderMode};
use crate::choice::choice;
use crate::field::{Parameters, create, fields, plumbing};
use crate::margins::Margins;
use crate::{
    Extra, KernelStep, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec, StepInput,
};

const MARGIN: ParamKind = ParamKind::pixels(0, ImageDesc::MAX_SIDE);
const SIDE: ParamKind = ParamKind::pixels(1, ImageDesc::MAX_SIDE);

choice! {
    /// Where an image lies in a larger one.
    pub enum Align as ALIGNS {
        /// In the middle; of an odd rest one pixel more is below and on the right.
        #[default]
        Center = "center",
        /// In the corner.
        TopLeft = "top_left",
    }
}

pub(super) const ALIGN: ParamSpec =
    ParamSpec::new("align", ParamKind::choice(ALIGNS), "Where the image lies").default_is("center");

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "pad",
    summary: "Adds margins, or room up to a size",
    inputs: &["in"],
    params: &[
        ParamSpec::new("left", MARGIN, "Columns added on the left").default_is("0").of_image(),
        ParamSpec::new("top", MARGIN, "Rows added above").default_is("0").of_image(),
        ParamSpec::new("right", MARGIN, "Columns added on the right").default_is("0").of_image(),
        ParamSpec::new("bottom", MARGIN, "Rows added below").default_is("0").of_image(),
        ParamSpec::new("width", SIDE, "Width of the result, instead of left and right").of_image(),
        ParamSpec::new("height", SIDE, "Height of the result, instead of top and bottom").of_image(),
        ALIGN,
        BORDER.default_is("constant"),
        ParamSpec::new(
            "border_value",
            ParamKind::PerChannel { min: -1e30, max: 1e30, above_min: false },
            "Of border = constant: one number, or one a channel, in sample units; 0 if not given",
        )
        .uniform(),
    ],
    extra: Extra::NONE,
    examples: &[
        "left=2 top=1 right=3 bottom=4",
        "left=2 top=3 right=3 bottom=1 border_value=99.6",
        "width=60 height=70 border_value=[1,2.5,300,4]",
        "width=60 height=70 border_value=[1,2.5,300]",
        "left=0 top=0 right=0 bottom=0",
        "width=64 align=top_left border=replicate",
        "left=5 bottom=5 border=reflect101",
        "height=77 border=reflect",
        "right=9 top=2 border=wrap",
    ],
    create: create::<Pad>,
};

/// The image with margins around it, or in the middle or the corner of a larger one.
///
/// In the margins lies what `border` says: of `constant` (the default) `border_value`, one number for all channels or one for
/// each in the image's own order, alpha included, rounded to the image's dtype; otherwise the image goes on beyond its
/// edges, any number of times. OpenCV's `copyMakeBorder`, whose arguments come in the order top, bottom, left, right;
/// torchvision's `pad` with `edge` = replicate, `symmetric` = reflect and `reflect` = reflect101.
#[derive(Debug, Clone, PartialEq)]
pub struct Pad {
    left: u32,
    top: u32,
    right: u32,
    bottom: u32,
    width: Option<u32>,
    height: Option<u32>,
    align: Align,
    border: BorderMode,
    border_value: Option<Vec<f64>>,
}

impl Default for Pad {
    fn default() -> Self {
        Self {
            left: 0,
            top: 0,
            right: 0,
            bottom: 0,
            width: None,
            height: None,
            align: Align::Center,
            border: BorderMode::Constant,
            border_value: None,
        }
    }
}

impl Pad {
    /// With so many columns and rows on each side.
    pub fn margins(left: u32, top: u32, right: u32, bottom: u32) -> Self {
        Self { left, top, right, bottom, ..Self::default() }
    }

    /// To this size, which must not be smaller than the image.
    pub fn to(width: u32, height: u32) -> Self {
        Self { width: Some(width), height: Some(height), ..Self::default() }
    }

    /// With the image there, if it is padded to a size; in the middle by default.
    #[must_use]
    pub fn align(self, align: Align) -> Self {
        Self { align, ..self }
    }

    /// With this border; a constant of 0 by default.
    #[must_use]
    pub fn border(self, border: Border) -> Self {
        let fields = crate::border::BorderFields::from(border);
        Self { border: fields.mode, border_value: fields.value.map(|value| vec![value]), ..self }
    }

    /// With a constant border of these numbers, one a channel.
    #[must_use]
    pub fn border_values(self, values: impl Into<Vec<f64>>) -> Self {
        Self { border: BorderMode::Constant, border_value: Some(values.into()), ..self }
    }

    /// Margins before and behind along an axis.
    fn along(
        &self,
        (name, size): (&str, Option<u32>),
        extent: u32,
        margins: [u32; 2],
    ) -> Result<[u32; 2], ParamError> {
        let Some(size) = size else { return Ok(margins) };
        let Some(rest) = size.checked_sub(extent) else {
            let allowed = format!("at least {extent}, the image's own; crop or resize it first");
            return Err(self.invalid(name, size.to_string(), allowed));
        };
        let before = if self.align == Align::Center { rest / 2 } else { 0 };
        Ok([before, rest - before])
    }

    fn place(&self, input: &ImageDesc) -> Result<Margins, OpError> {
        let x = self.along(("width", self.width), input.width(), [self.left, self.right])?;
        let y = self.along(("height", self.height), input.height(), [self.top, self.bottom])?;
        Margins::around(input, x, y).map_err(|given| {
            let allowed = format!("such that no side of the result is longer than {}", ImageDesc::MAX_SIDE);
            self.invalid("left", given, allowed).into()
        })
    }
}

impl Parameters for Pad {
    fields! {
        "left" => left,
        "top" => top,
        "right" => right,
        "bottom" => bottom,
        "width" => width,
        "height" => height,
        "align" => align,
        "border" => border,
        "border_value" => border_value,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        for (margin, given, side, of) in [
            ("left", self.left, "width", self.width),
            ("right", self.right, "width", self.width),
            ("top", self.top, "height", self.height),
            ("bottom", self.bottom, "height", self.height),
        ] {
            if given > 0 && of.is_some() {
                return Err(self.conflict(
                    margin,
                    format!("together with '{side}'"),
                    "leave one of them out",
                ));
            }
        }
        if self.border_value.is_some() && self.border != BorderMode::Constant {
            let with = format!("with border = {}", self.border);
            return Err(self.conflict("border_value", with, "it needs border = constant"));
        }
        Ok(())
    }
}

impl Operator for Pad {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        let fill = self.border_value.as_deref().unwrap_or(&[0.0]);
        self.per_channel("border_value", fill, input.channels(), &input)?;
        Ok(self.place(&input)?.output(&input)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let input = inputs[0];
        let margins = self.place(&input)?;
        let border = match self.border {
            BorderMode::Reflect101 => Border::Reflect101,
            BorderMode::Reflect => Border::Reflect,
            BorderMode::Wrap => Border::Wrap,
            BorderMode::Replicate | BorderMode::Constant => Border::Replicate,
        };
        let mut steps = vec![margins.extend(&input, border, StepInput::Slot(0))?];
        if self.border == BorderMode::Constant {
            let fill = self.border_value.as_deref().unwrap_or(&[0.0]);
            let fill = self.per_channel("border_value", fill, input.channels(), &input)?;
            steps.push(margins.fill(output, &fill, StepInput::Step(0)));
        }
        Ok(Lowered { steps })
    }
}

impl Margins {
    /// The step that continues an image beyond its edges.
    ///
    /// # Errors
    /// As for [`Margins::output`].
    pub(crate) fn extend(
        &self,
        input: &ImageDesc,
        border: Border,
        from: StepInput,
    ) -> Result<KernelStep, ImageError> {
        let axis = |before: u32, input: u32, output: u32| {
            if input == output {
                AxisMap::Offset { first: 0 }
            } else {
                AxisMap::Extend { before, input, output, border }
            }
        };
        let output = self.output(input)?;
        let gather = Gather {
            x: axis(self.left, input.width(), output.width()),
            y: axis(self.top, input.height(), output.height()),
        };
        Ok(KernelStep { kernel: Kernel::Gather(gather), uniforms: [].into(), inputs: vec![from], output })
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;

    fn image() -> ImageDesc {
        ImageDesc::new(5, 3, PixelFormat::Rgb, DType::U8).unwrap()
    }

    fn refusal(pad: &Pad) -> String {
        pad.infer(&[image()]).unwrap_err().to_string()
    }

    #[test]
    fn sizes_and_places() {
        assert_eq!(Pad::margins(1, 2, 3, 4).infer(&[image()]).unwrap(), image().with_size(9, 9).unwrap());
        let place = |pad: Pad| {
            let Margins { left, top, .. } = pad.place(&image()).unwrap();
            (left, top)
        };
        assert_eq!(place(Pad::to(8, 6)), (1, 1), "one more below and on the right");
        assert_eq!(place(Pad::to(8, 6).align(Align::TopLeft)), (0, 0));
        let steps = |pad: Pad| pad.lower(&[image()]).unwrap().steps.len();
        assert_eq!((steps(Pad::to(8, 6)), steps(Pad::to(8, 6).border(Border::Wrap))), (2, 1));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        assert_eq!(
            refusal(&Pad::to(4, 9)),
            "parameter 'width' of 'pad' is 4, but must be at least 5, the image's own; crop or resize it first"
        );
        assert!(refusal(&Pad::margins(ImageDesc::MAX_SIDE, 0, 0, 0)).contains("longer than"));
        assert!(refusal(&Pad::to(9, 9).border_values([1.0, 2.0])).contains("one number or 3"));
        let mut pad = Pad::to(9, 9);
        let error = pad.set("left", 1.into()).unwrap_err().to_string();
        assert!(error.contains("'left' of 'pad' cannot be given together with 'width'"), "{error}");
    }
}
