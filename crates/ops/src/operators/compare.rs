use std::f64::consts::LOG10_2;

use mip_core::{DType, ImageDesc, PixelFormat};
use mip_plan::{AxisMap, Border, Gather, Histogram, Kernel, Resample, Rule, Separable, Table, TileGrid};

use crate::choice::choice;
use crate::counted::{countable, refusal, tables};
use crate::expr::{Term, v, v_of};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{Formula, colors, lowered, shape};
use crate::tables::{area, gaussian_weights};
use crate::{Extra, KernelStep, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec, StepInput};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "compare",
    summary: "How far two images are apart, as one number: PSNR, SSIM, mean or largest difference",
    inputs: &["a", "b"],
    params: &[ParamSpec::new(
        "metric",
        ParamKind::choice(METRICS),
        "psnr in decibels, ssim up to 1, mse, mae, max_diff",
    )
    .default_is("psnr")],
    extra: Extra::NONE,
    examples: &["", "metric=ssim", "metric=mse", "metric=mae", "metric=max_diff"],
    create: create::<Compare>,
};

choice! {
    /// What [`Compare`] computes.
    pub enum CompareMetric as METRICS {
        /// Peak signal-to-noise ratio in decibels; infinite for equal images.
        #[default]
        Psnr = "psnr",
        /// Structural similarity, 1 for equal images.
        Ssim = "ssim",
        /// Mean of the squared differences.
        Mse = "mse",
        /// Mean of the differences.
        Mae = "mae",
        /// The largest difference.
        MaxDiff = "max_diff",
    }
}

/// One number that tells how far two images of u8 are apart, over all colour channels; alpha is left out. The result is gray f32
/// of one pixel.
///
/// Sums are exact in whole numbers, `mse` and `mae` are quotients in binary64 rounded to binary32, and `psnr` is
/// `10 log10(255^2 / mse)`, computed in binary32 (within 1e-4 of a decibel): OpenCV's `PSNR`, which puts
/// 361 for equal images where this is infinite (null in JSON).
///
/// `ssim` is the structural similarity of Wang et al. (2004), in binary32: windows of 11 x 11 pixels with the weights of a
/// Gaussian of deviation 1.5, variances of the population, `K1 = 0.01`, `K2 = 0.03`, the mean over all windows that lie in the
/// image and over the channels. scikit-image's `structural_similarity` with `gaussian_weights=True` and
/// `use_sample_covariance=False`. It takes images of at least 11 x 11 pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compare {
    metric: CompareMetric,
}

/// Side of a window of SSIM.
const WINDOW: u32 = 11;
/// Deviation of its weights.
const SIGMA: f64 = 1.5;
/// Taken away from samples, so that squares are small where variances are differences of them.
const MIDDLE: f32 = 128.0;

impl Compare {
    /// By this measure.
    pub const fn new(metric: CompareMetric) -> Self {
        Self { metric }
    }

    /// A measure made of the counts of differences.
    fn of_differences(self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let distance = Formula::each((v() - v_of(1)).abs()).compile(&SPEC)?;
        let distance = lowered(&distance, Border::default(), |_| 0.0, inputs[0]);
        let grid = TileGrid::bands(&inputs[0]);
        let colors = inputs[0].channels() - usize::from(inputs[0].format().has_alpha());
        // All channels in one row.
        let table = Table { rule: Rule::Differences, parts: grid.rows * colors as u32 };
        let counted = tables(&inputs[0], Histogram { grid, reflected: false }, table, [].into())?;
        let mut steps = distance.then(counted).steps;
        let number = match self.metric {
            CompareMetric::MaxDiff => 0,
            CompareMetric::Mae => 1,
            CompareMetric::Mse | CompareMetric::Psnr | CompareMetric::Ssim => 2,
        };
        let output = steps[2].output.with_size(1, 1)?;
        let (x, y) = (AxisMap::Offset { first: number }, AxisMap::Offset { first: 0 });
        steps.push(after(&steps, Kernel::Gather(Gather { x, y }), output));
        if self.metric == CompareMetric::Psnr {
            let decibels =
                (Term::from((2.0 * 255.0_f64.log2()) as f32) - v().log2()) * (10.0 * LOG10_2) as f32;
            steps.push(point(&Formula::each(decibels), &[StepInput::Step(3)], &[output], None)?);
        }
        Ok(Lowered { steps })
    }

    fn similarity(inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let input = inputs[0];
        let count = input.channels() - usize::from(input.format().has_alpha());
        let middle = |term: Term| term - MIDDLE;
        let sources = [0, 1].map(StepInput::Slot);
        let pictures = sources.map(|source| {
            // Alpha is dropped, or windows would be weighted by it.
            let own: Vec<Term> = colors(&input).into_iter().map(middle).collect();
            let formula =
                if count == 1 { Formula::gray(&input, middle(v())) } else { Formula::channels(own) };
            point(&formula, &[source], &[input], Some(DType::F32))
        });
        let [first, second] = pictures;
        let mut steps = vec![first?, second?];
        let wide = steps[0].output;
        let (a, b) = (StepInput::Step(0), StepInput::Step(1));
        let mut blurred = Vec::new();
        for (left, right) in [(a, None), (b, None), (a, Some(a)), (b, Some(b)), (a, Some(b))] {
            let source = match right {
                None => left,
                Some(right) => {
                    steps.push(point(&Formula::each(v() * v_of(1)), &[left, right], &[wide; 2], None)?);
                    StepInput::Step(steps.len() - 1)
                }
            };
            let axis = gaussian_weights(WINDOW, Some(SIGMA));
            let radius = WINDOW / 2;
            let kernel = Separable { radius_x: radius, radius_y: radius, border: Border::Replicate };
            let uniforms = [&axis[..], &axis[..]].concat().into();
            steps.push(KernelStep {
                kernel: Kernel::Separable(kernel),
                uniforms,
                inputs: vec![source],
                output: wide,
            });
            blurred.push(StepInput::Step(steps.len() - 1));
        }
        // Four inputs are the most that an expression has.
        let variances = Formula::each((v() + v_of(1)) - (v_of(2) * v_of(2) + v_of(3) * v_of(3)));
        steps.push(point(&variances, &[blurred[2], blurred[3], blurred[0], blurred[1]], &[wide; 4], None)?);
        let both = StepInput::Step(steps.len() - 1);
        let covariance = v_of(2) - v() * v_of(1);
        let (c1, c2) = (square(0.01 * 255.0), square(0.03 * 255.0));
        let (mean_a, mean_b) = (v() + MIDDLE, v_of(1) + MIDDLE);
        let means = (mean_a.clone() * mean_b.clone()) * 2.0 + c1;
        let squares = mean_a.clone() * mean_a + mean_b.clone() * mean_b + c1;
        let similarity = (means * (covariance * 2.0 + c2)) / (squares * (v_of(3) + c2));
        let from = [blurred[0], blurred[1], blurred[4], both];
        steps.push(point(&Formula::each(similarity), &from, &[wide; 4], None)?);
        let inner = wide.with_size(wide.width() - (WINDOW - 1), wide.height() - (WINDOW - 1))?;
        let place = AxisMap::Offset { first: WINDOW / 2 };
        steps.push(after(&steps, Kernel::Gather(Gather { x: place, y: place }), inner));
        // Means of rows first, each made by somebody else.
        let (rows, one) = (inner.with_size(1, inner.height())?, inner.with_size(1, 1)?);
        let mean = Resample { x: area(inner.width(), 1), y: area(inner.height(), inner.height()) };
        steps.push(after(&steps, Kernel::Resample(mean), rows));
        let mean = Resample { x: area(1, 1), y: area(inner.height(), 1) };
        steps.push(after(&steps, Kernel::Resample(mean), one));
        let channels = colors(&one);
        let all = channels[1..].iter().fold(channels[0].clone(), |sum, channel| sum + channel.clone());
        let mean = Formula::gray(&one, all / count as f32);
        steps.push(point(&mean, &[StepInput::Step(steps.len() - 1)], &[one], None)?);
        Ok(Lowered { steps })
    }
}

fn square(v: f64) -> f32 {
    (v * v) as f32
}

/// A step that reads the one before it.
fn after(steps: &[KernelStep], kernel: Kernel, output: ImageDesc) -> KernelStep {
    KernelStep { kernel, uniforms: [].into(), inputs: vec![StepInput::Step(steps.len() - 1)], output }
}

/// An expression of some results; `to` is its dtype, the first one's if not given.
fn point(
    formula: &Formula,
    from: &[StepInput],
    inputs: &[ImageDesc],
    to: Option<DType>,
) -> Result<KernelStep, OpError> {
    let expr = formula.compile(&SPEC)?;
    let output = shape(&SPEC, &expr, Border::default(), to, inputs)?;
    let step = lowered(&expr, Border::default(), |_| 0.0, output).steps.remove(0);
    Ok(KernelStep { inputs: from.to_vec(), ..step })
}

impl Parameters for Compare {
    fields! { "metric" => metric }
}

impl Operator for Compare {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let input = self.accept_alike(inputs)?;
        countable(&SPEC, &input)?;
        let samples = u64::from(input.width()) * u64::from(input.height()) * input.channels() as u64;
        if samples > Table::MAX_SAMPLES {
            return Err(refusal(&SPEC, &input, "an image of at most 2^32 - 1 samples; resize it"));
        }
        if self.metric == CompareMetric::Ssim && input.width().min(input.height()) < WINDOW {
            return Err(refusal(&SPEC, &input, "at least 11x11 pixels for metric = ssim"));
        }
        Ok(ImageDesc::new(1, 1, PixelFormat::Gray, DType::F32)?.with_layout(input.layout()))
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        self.infer(inputs)?;
        match self.metric {
            CompareMetric::Ssim => Self::similarity(inputs),
            CompareMetric::Psnr | CompareMetric::Mse | CompareMetric::Mae | CompareMetric::MaxDiff => {
                self.of_differences(inputs)
            }
        }
    }
}
