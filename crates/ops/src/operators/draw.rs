use mip_core::{DType, ImageDesc, ImageError, PixelFormat};
use mip_plan::{Boxes, Kernel, Labels, Regions, Whole};

use crate::field::{Parameters, create, fields, plumbing};
use crate::{
    Extra, KernelStep, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec, StepInput,
};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "draw",
    summary: "Draws the outlines of boxes, and texts at them",
    inputs: &["in", "boxes"],
    params: &[
        ParamSpec::new(
            "color",
            ParamKind::PerChannel { min: -1e30, max: 1e30, above_min: false },
            "One number, or one a channel in the image's own order, in sample units; full scale if not given",
        )
        .uniform(),
        ParamSpec::new("thickness", ParamKind::int(1, 1 << 16), "Pixels from the box's edge inwards")
            .default_is("2")
            .uniform(),
        ParamSpec::new(
            "labels",
            ParamKind::Text { what: "texts with | between them" },
            "Texts above the boxes' upper left corners, with | between them: box i gets the text i, and from the first again",
        ),
        ParamSpec::new("scale", ParamKind::int(1, 64), "Size of the texts' characters, in 6 by 10 pixels")
            .default_is("1")
            .uniform(),
        ParamSpec::new(
            "text_color",
            ParamKind::PerChannel { min: -1e30, max: 1e30, above_min: false },
            "Colour of the characters, as `color`, which is behind them; 0 (alpha: full scale) if not given",
        )
        .uniform(),
    ],
    extra: Extra::NONE,
    examples: &[
        "",
        "color=[10,200.4,-3] thickness=1",
        "color=7",
        "color=[1,2,3,4] thickness=5",
        "labels=\"a fox|2~{dogs}\"",
        "labels=\"9\" text_color=[1,200.4,300]",
        "labels=\"Wq@||x\" scale=3 text_color=9.7",
    ],
    create: create::<Draw>,
};

/// The image with the outlines of boxes, which `thickness` draws from their edges inwards.
///
/// `boxes` is gray f32, 5 wide, with a row of x, y, width, height and a number that is not used for each of at most 4096 boxes:
/// what `regions` and `nms` make, or an array in an `.npy`. A box covers the pixels from `floor(x + 0.5)` to before
/// `floor(x + width + 0.5)`, and likewise its rows; one without width or height draws nothing. Colours are rounded to the
/// image's dtype. OpenCV's `rectangle` draws lines with their middle on the edge.
///
/// A point is a box of width and height 1, a mark around it a box of 5 at x - 2 and y - 2.
///
/// Of `labels`, texts of the characters from 32 to 126 and at most 1920 of them in all (each text counts as many as the longest, up to
/// the next multiple of 3), box `i` gets number `i % n`, and none if that is empty. Each character takes 6 by 10 pixels of a built-in font, times `scale`; the
/// text stands on the box, from its left edge on, or at the image's edge where it would begin beyond. What it covers has
/// `color`, and its characters have `text_color`; texts are over outlines, and later ones over earlier ones. OpenCV's
/// `putText` draws strokes.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    color: Option<Vec<f64>>,
    thickness: u32,
    labels: Option<String>,
    scale: u32,
    text_color: Option<Vec<f64>>,
}

impl Default for Draw {
    fn default() -> Self {
        Self { color: None, thickness: 2, labels: None, scale: 1, text_color: None }
    }
}

impl Draw {
    /// At full scale, two pixels thick.
    pub fn new() -> Self {
        Self::default()
    }

    /// In this colour: one number, or one a channel, in sample units.
    #[must_use]
    pub fn color(self, color: impl Into<Vec<f64>>) -> Self {
        Self { color: Some(color.into()), ..self }
    }

    /// So many pixels thick.
    #[must_use]
    pub fn thickness(self, thickness: u32) -> Self {
        Self { thickness, ..self }
    }

    /// With texts, which `|` separates.
    #[must_use]
    pub fn labels(self, labels: impl Into<String>) -> Self {
        Self { labels: Some(labels.into()), ..self }
    }

    /// With characters of so many times 6 by 10 pixels.
    #[must_use]
    pub fn scale(self, scale: u32) -> Self {
        Self { scale, ..self }
    }

    /// With characters in this colour.
    #[must_use]
    pub fn text_color(self, color: impl Into<Vec<f64>>) -> Self {
        Self { text_color: Some(color.into()), ..self }
    }

    /// Four numbers, of which there is one for each channel, of boxes and of characters.
    fn colors(&self, input: &ImageDesc) -> Result<[Vec<f32>; 2], ParamError> {
        let full = input.dtype().full_scale();
        let mut dark = vec![0.0; input.channels()];
        if input.format().has_alpha() {
            dark[3] = full;
        }
        let four = |name, given: Option<&[f64]>, default: &[f64]| {
            let numbers = self.per_channel(name, given.unwrap_or(default), input.channels(), input)?;
            Ok(numbers.into_iter().map(|number| number as f32).chain([0.0; 4]).take(4).collect())
        };
        let color = four("color", self.color.as_deref(), &[full])?;
        Ok([color, four("text_color", self.text_color.as_deref(), &dark)?])
    }

    /// How its texts are kept, if there are any.
    fn texts(&self) -> Result<Option<(Labels, Vec<&str>)>, ParamError> {
        let Some(labels) = self.labels.as_deref().filter(|labels| labels.contains(|c| c != '|')) else {
            return Ok(None);
        };
        if let Some(odd) = labels.chars().find(|c| !(' '..='~').contains(c)) {
            return Err(self.invalid("labels", format!("{odd:?}"), "ASCII characters from ' ' to '~'"));
        }
        let texts: Vec<&str> = labels.split('|').collect();
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        let Some(kept) = Labels::of(texts.len(), longest) else {
            let given = format!("{} texts of up to {longest} characters", texts.len());
            return Err(self.invalid(
                "labels",
                given,
                format!("up to {} characters in all", 3 * Labels::MAX_WORDS),
            ));
        };
        Ok(Some((kept, texts)))
    }
}

impl Parameters for Draw {
    fields! {
        "color" => color, "thickness" => thickness, "labels" => labels, "scale" => scale, "text_color" => text_color
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        self.texts().map(|_| ())
    }
}

/// Refuses what is no list of boxes; `slot` is where it is.
pub(super) fn check_boxes(
    spec: &'static OperatorSpec,
    slot: usize,
    boxes: &ImageDesc,
) -> Result<(), OpError> {
    if Boxes::is_list(boxes) {
        return Ok(());
    }
    Err(OpError::Input {
        operator: spec.name,
        slot: spec.inputs[slot].to_owned(),
        given: boxes.to_string(),
        allowed: format!(
            "a list of boxes: gray f32, {} wide and at most {} high, as regions and nms make it",
            Regions::MEASURES,
            Boxes::MAX
        ),
    })
}

/// An image and a few boxes.
pub(super) fn image_and_boxes(input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
    Ok(vec![*input, ImageDesc::new(Regions::MEASURES, 7, PixelFormat::Gray, DType::F32)?])
}

impl Operator for Draw {
    plumbing!(SPEC);

    fn inputs_like(&self, input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
        image_and_boxes(input)
    }

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input, boxes] = self.accept(inputs)?;
        check_boxes(&SPEC, 1, &boxes)?;
        self.colors(&input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let [color, text_color] = self.colors(&output)?;
        let uniforms: Vec<f32> = [self.thickness as f32].into_iter().chain(color.clone()).collect();
        let mut lowered = Lowered::single(Kernel::Whole(Whole::Boxes(Boxes::Outline)), uniforms, output);
        if let Some((labels, texts)) = self.texts()? {
            let mut uniforms = vec![self.scale as f32];
            uniforms.extend(color.into_iter().chain(text_color));
            uniforms.extend(texts.iter().flat_map(|text| labels.pack(text)));
            lowered.steps.push(KernelStep {
                kernel: Kernel::Whole(Whole::Boxes(Boxes::Label(labels))),
                uniforms: uniforms.into(),
                inputs: vec![StepInput::Step(0), StepInput::Slot(1)],
                output,
            });
        }
        Ok(lowered)
    }
}
