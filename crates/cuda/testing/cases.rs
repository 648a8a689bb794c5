//! The matrix of single kernels that every way of running them is tested with: kernels x dtypes x
//! formats x layouts, for a given size. Shared by the emulated tests, the NVRTC check and `parity`.

pub mod samples;
mod warps;
mod whole;

use mip_core::{BatchLayout, DType, ImageDesc, Layout, PixelFormat};
use mip_ops::Operator as _;
use mip_plan::{
    AxisMap, AxisTaps, Border, Buffer, Coordinates, Gather, Group, Interpolation, Kernel, Operand, Place,
    Plan, PlanInput, PlanOutput, PlanTask, Point, Resample, Sampled, Separable, Stage, Stencil, Uniforms,
    Warp,
};

/// One kernel with images of one shape.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    pub kernel: Kernel,
    pub uniforms: Uniforms,
    pub inputs: Vec<ImageDesc>,
    pub output: ImageDesc,
}

/// How rows are laid out in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strides {
    Tight,
    /// Rows padded to 64 bytes.
    Pitched,
    /// Rows padded by three samples: aligned to nothing.
    Odd,
}

impl Strides {
    pub const ALL: [Self; 3] = [Self::Tight, Self::Pitched, Self::Odd];

    pub fn of(self, desc: ImageDesc, batch: usize) -> BatchLayout {
        match self {
            Self::Tight => BatchLayout::tight(desc, batch).expect("a small image"),
            Self::Pitched => BatchLayout::pitched(desc, batch, 64).expect("a small image"),
            Self::Odd => {
                let row_stride = desc.row_bytes() + 3 * desc.dtype().size();
                let plane_stride = row_stride * desc.height() as usize + 5 * desc.dtype().size();
                let batch_stride = plane_stride * desc.planes() + 7 * desc.dtype().size();
                BatchLayout { desc, batch_size: batch, row_stride, plane_stride, batch_stride }
            }
        }
    }
}

fn uniforms(values: &[f32]) -> Uniforms {
    values.into()
}

fn desc(w: u32, h: u32, format: PixelFormat, dtype: DType, layout: Layout) -> ImageDesc {
    ImageDesc::new(w, h, format, dtype).expect("a small image").with_layout(layout)
}

/// Weights of a triangle of the given support around each output's centre (bilinear for a support of 1).
pub fn triangle(input: u32, output: u32, support: f64) -> AxisTaps {
    let scale = f64::from(input) / f64::from(output);
    let taps = |o: u32| {
        let centre = (f64::from(o) + 0.5) * scale - 0.5;
        let (first, last) = ((centre - support).ceil() as i64, (centre + support).floor() as i64);
        let raw: Vec<(i64, f64)> = (first..=last)
            .map(|i| (i, 1.0 - (i as f64 - centre).abs() / support))
            .filter(|t| t.1 > 0.0)
            .collect();
        let sum: f64 = raw.iter().map(|t| t.1).sum();
        raw.into_iter().map(|(i, w)| (i, w / sum)).collect::<Vec<_>>()
    };
    AxisTaps::from_contributions(input, (0..output).map(taps))
}

/// Normalised weights from the centre outwards.
pub fn gauss(radius: u32, sigma: f64) -> Vec<f32> {
    let raw: Vec<f64> = (0..=radius).map(|i| (-f64::from(i * i) / (2.0 * sigma * sigma)).exp()).collect();
    let sum = raw[0] + 2.0 * raw[1..].iter().sum::<f64>();
    raw.iter().map(|w| (w / sum) as f32).collect()
}

fn same(name: &str, kernel: Kernel, values: &[f32], image: ImageDesc) -> Case {
    Case { name: name.to_owned(), kernel, uniforms: uniforms(values), inputs: vec![image], output: image }
}

fn maps(cases: &mut Vec<Case>, image: ImageDesc) {
    let full = image.dtype().full_scale() as f32;
    let other = if image.layout() == Layout::Hwc { Layout::Chw } else { Layout::Hwc };
    let point = |kernel| Kernel::Point(kernel);
    cases.push(Case {
        output: image.with_layout(other),
        ..same("copy to other order", point(Point::copy()), &[], image)
    });
    for to in PixelFormat::PICTURES {
        let kernel = point(Point::convert(image.format(), to, image.dtype()));
        cases.push(Case {
            output: image.with_format(to).unwrap(),
            ..same(&format!("color to {to}"), kernel, &[], image)
        });
    }
    let n = image.channels();
    for dtype in DType::ALL {
        let scale = (dtype.full_scale() / image.dtype().full_scale()) as f32;
        let pair = |c: usize| [scale * (1.0 + 0.37 * c as f32), scale * full * 0.031 * c as f32];
        let values: Vec<f32> = (0..n).flat_map(pair).collect();
        let case = same(&format!("affine to {dtype}"), point(Point::affine(image.format())), &values, image);
        cases.push(Case { output: image.with_dtype(dtype).unwrap(), ..case });
    }
    cases.push(same("threshold", point(Point::threshold()), &[0.4 * full, 0.77 * full], image));
    let blend = same("blend", point(Point::blend(image.format())), &[0.7, 0.3], image);
    cases.push(Case { inputs: vec![image, image.with_layout(other)], ..blend });
}

/// The kernel and the numbers of an expression, and its result.
pub fn point(text: &str, inputs: &[ImageDesc]) -> (Kernel, Uniforms, ImageDesc) {
    let point = mip_ops::Point::text(text).expect(text);
    let point = if text.contains("gain") { point.set_uniform("gain", 0.75) } else { point };
    let step = point.lower(inputs).expect(text).steps.remove(0);
    (step.kernel, step.uniforms, step.output)
}

/// The kernels of an operator in one line.
fn lowered(text: &str, image: ImageDesc) -> Vec<mip_ops::KernelStep> {
    let (name, rest) = text.split_once(' ').expect(text);
    let value = |text: &str| match (text.parse::<i64>(), text.parse::<bool>()) {
        (Ok(number), _) => mip_ops::Value::Int(number),
        (_, Ok(flag)) => mip_ops::Value::Bool(flag),
        _ => mip_ops::Value::from(text),
    };
    let params = rest.split(' ').filter_map(|pair| pair.split_once('='));
    let params: Vec<_> = params.map(|(name, text)| (name.to_owned(), value(text))).collect();
    mip_ops::create(name, &params).expect(text).lower(&[image]).expect(text).steps
}

/// The kernel of an expression of neighbours, and its result; `None` for images without its channels.
pub fn stencil(text: &str, border: Border, input: ImageDesc) -> Option<(Kernel, Uniforms, ImageDesc)> {
    let point = mip_ops::Point::text(text).expect(text);
    let point = if text.contains("gain") { point.set_uniform("gain", 0.75) } else { point };
    let mut step = point.lower(&[input]).ok()?.steps.remove(0);
    if let Kernel::Stencil(stencil) = &mut step.kernel {
        stencil.border = border;
    }
    Some((step.kernel, step.uniforms, step.output))
}

fn stencils(cases: &mut Vec<Case>, image: ImageDesc) {
    let borders = [
        Border::Reflect101,
        Border::Reflect,
        Border::Replicate,
        Border::Wrap,
        Border::Constant(7.0),
        Border::Constant(0.3),
    ];
    let mut add = |text: &str, border: Border| {
        if let Some((kernel, uniforms, output)) = stencil(text, border, image) {
            let name = format!("stencil {text} {border:?}");
            cases.push(Case { name, kernel, uniforms, inputs: vec![image], output });
        }
    };
    for border in borders {
        add("abs(v(1, 0) - v(-1, 0)) * gain + v(0, -2) / 3", border);
    }
    add(
        "min(min(v(-1, -1), v(0, -1), v(1, -1)), min(v(-1, 0), v, v(1, 0)), v(-1, 1), v(0, 1), v(1, 1))",
        Border::Replicate,
    );
    add("max(v(-15, 2), v(15, -15)) - v", Border::Reflect101);
    add("r(1, 1), g - r(0, -1), b(-2, 0)", Border::Reflect);
    add("r(1, 1) + g(-2, 0) - b", Border::Wrap);
    add("max(v(0, 1) - abs(x() - 5) - y(), v)", Border::Replicate);
    add("lookup(v(1, 0) - v(-1, 0) + 2, 9, 200, 0.5, 80) + v(0, -1)", Border::Reflect101);
}

fn points(cases: &mut Vec<Case>, image: ImageDesc) {
    let other = if image.layout() == Layout::Hwc { Layout::Chw } else { Layout::Hwc };
    let gray = image.with_format(PixelFormat::Gray).unwrap().with_dtype(DType::F32).unwrap();
    let mut add = |text: &str, inputs: &[ImageDesc]| {
        let (kernel, uniforms, output) = point(text, inputs);
        cases.push(Case { name: format!("point {text}"), kernel, uniforms, inputs: inputs.to_vec(), output });
    };
    add("v * gain + 3", &[image]);
    add("x = abs(v - v2); x > 30 ? sqrt(x) : -x / 3", &[image, image.with_layout(other)]);
    add("clamp(fma(v, v2, v3), 0.25, 1e9)", &[image, gray, image]);
    add("min(max(v, v2), max(v3, v4))", &[image, image, gray, image.with_layout(other)]);
    add("x() < 3 || y() >= height() - 2 ? 9 : v + x() - y()", &[image]);
    add("pow(v / 255, gain) * 200 + log(v + 1) * 9 - cbrt(v)", &[image]);
    add("exponent(v * 1e-39) + significand(v * -1e-39) * 8 + power_of_two(v - 140) * 1e38", &[image]);
    add("lookup(v / 9 - 2, 3, 200.5, -7, nan, 90) + lookup(v, -1, 2.5, 2)", &[image]);
    if image.format() != PixelFormat::Gray {
        add("lookup(b, 1, 2, 3) * gain, lookup(g + r, 40, 50), lookup(x(), 9, 8, 7, 6, 5)", &[image]);
        add("(r*0.393 + g*0.769 + b*0.189) * gain", &[image]);
        add("floor(b), ceil(r / 7), round(g * 0.37)", &[image]);
        add("r, g, b, r < g && g != b ? r : 200", &[image]);
    }
}

/// Operators that are long expressions.
fn long_expressions(cases: &mut Vec<Case>, image: ImageDesc) {
    const CUBE: &str = "lut file=LUT_3D_SIZE\t2\n0\t.1\t0\n1\t0\t.2\n.1\t.9\t0\n.8\t1\t0\n0\t.2\t1\n1\t.1\t.7\n0\t1\t1\n1\t.9\t1";
    if image.format() != PixelFormat::Rgb || !matches!(image.dtype(), DType::U8 | DType::F32) {
        return;
    }
    for name in [
        "color_convert to=hsv",
        "color_convert to=lab",
        "color_convert to=luv",
        "bilateral sigma_color=40 sigma_space=2",
        CUBE,
        &format!("{CUBE} method=trilinear"),
    ] {
        let step = lowered(name, image).remove(0);
        let (kernel, uniforms, output) = (step.kernel, step.uniforms, step.output);
        let name = name.replace(['\t', '\n'], "_");
        cases.push(Case { name, kernel, uniforms, inputs: vec![image], output });
    }
}

fn gathers(cases: &mut Vec<Case>, image: ImageDesc) {
    let (w, h) = (image.width(), image.height());
    let gather = |x, y| Kernel::Gather(Gather { x, y });
    let flip = |n: u32| AxisMap::Flip { last: n - 1 };
    let whole = AxisMap::Offset { first: 0 };
    cases.push(same("flip x", gather(flip(w), whole), &[], image));
    cases.push(same("flip y", gather(whole, flip(h)), &[], image));
    let (x, y) = (w / 3, h / 4);
    let crop = gather(AxisMap::Offset { first: x }, AxisMap::Offset { first: y });
    let output = image.with_size((w - x).div_ceil(2), (h - y).div_ceil(2)).unwrap();
    cases.push(Case { output, ..same("crop", crop, &[], image) });
    for (name, ow, oh) in
        [("nearest up", w * 2 + 1, h + h / 2 + 1), ("nearest down", w.div_ceil(2), h.div_ceil(3))]
    {
        let kernel =
            gather(AxisMap::Nearest { input: w, output: ow }, AxisMap::Nearest { input: h, output: oh });
        cases.push(Case { output: image.with_size(ow, oh).unwrap(), ..same(name, kernel, &[], image) });
    }
    for (name, border) in [
        ("pad replicate", Border::Replicate),
        ("pad reflect101", Border::Reflect101),
        ("pad reflect", Border::Reflect),
        ("pad wrap", Border::Wrap),
    ] {
        let extend = |before, input, output| AxisMap::Extend { before, input, output, border };
        let (ow, oh) = (2 * w + 5, h + 3);
        let kernel = gather(extend(w / 2 + 2, w, ow), extend(1, h, oh));
        cases.push(Case { output: image.with_size(ow, oh).unwrap(), ..same(name, kernel, &[], image) });
    }
}

fn resamples(cases: &mut Vec<Case>, image: ImageDesc) {
    let (w, h) = (image.width(), image.height());
    let sizes = [
        ("2:3", (2 * w).div_ceil(3), (2 * h).div_ceil(3)),
        ("up", w + w / 2 + 1, 2 * h + 1),
        ("1:4", w.div_ceil(4), h.div_ceil(4)),
        ("to 1x1", 1, 1),
    ];
    for (name, ow, oh) in sizes {
        for (kind, support) in
            [("bilinear", 1.0), ("wide", 2.0), ("antialias", 1.0_f64.max(f64::from(w) / f64::from(ow)) * 1.5)]
        {
            let kernel = Resample { x: triangle(w, ow, support), y: triangle(h, oh, support) };
            let case = same(&format!("resample {kind} {name}"), Kernel::Resample(kernel), &[], image);
            cases.push(Case { output: image.with_size(ow, oh).unwrap(), ..case });
        }
        // Negative weights: four taps, and many.
        for (kind, filter) in [("bicubic", "bicubic"), ("lanczos", "lanczos3 antialias=true")] {
            let text = format!("resize width={ow} height={oh} filter={filter}");
            let mut step = lowered(&text, image);
            let case = same(&format!("resample {kind} {name}"), step.remove(0).kernel, &[], image);
            cases.push(Case { output: image.with_size(ow, oh).unwrap(), ..case });
        }
    }
}

fn windows(cases: &mut Vec<Case>, image: ImageDesc) {
    let full = image.dtype().full_scale() as f32;
    let borders = [
        Border::Reflect101,
        Border::Reflect,
        Border::Replicate,
        Border::Wrap,
        Border::Constant(0.0),
        Border::Constant(full * 0.3 + 0.25),
    ];
    let separable = |rx: u32, ry: u32, border| {
        let kernel = Kernel::Separable(Separable { radius_x: rx, radius_y: ry, border });
        let values: Vec<f32> = gauss(rx, 0.3 * f64::from(rx) + 0.5)
            .into_iter()
            .chain(gauss(ry, 0.4 * f64::from(ry) + 0.5))
            .collect();
        same(&format!("separable {rx}x{ry} {border:?}"), kernel, &values, image)
    };
    for border in borders {
        cases.push(separable(2, 2, border));
        cases.push(separable(7, 4, border));
        if image.format() == PixelFormat::Gray {
            let output = image;
            cases.push(Case {
                output,
                ..same(&format!("sobel {border:?}"), Kernel::Stencil(Stencil::sobel(border)), &[], image)
            });
        }
    }
    for (rx, ry) in [(0, 0), (1, 1), (3, 3), (5, 0), (0, 3), (15, 15)] {
        cases.push(separable(rx, ry, Border::Reflect101));
    }
    cases.push(separable(0, 0, Border::Constant(full)));
    if image.dtype() == DType::F32 && !image.format().has_alpha() {
        // As far out as a border may be: sums stay in range, squares do not.
        let far = Border::Constant(-1e30);
        cases.push(separable(2, 2, far));
        if image.format() == PixelFormat::Gray {
            cases.push(same(&format!("sobel {far:?}"), Kernel::Stencil(Stencil::sobel(far)), &[], image));
        }
    }
}

/// Every kernel with images of one size, type, format and order.
pub fn cases_of(image: ImageDesc) -> Vec<Case> {
    let mut cases = Vec::new();
    maps(&mut cases, image);
    points(&mut cases, image);
    gathers(&mut cases, image);
    warps::transposed(&mut cases, image);
    // i32 is only moved, or computed with pixel by pixel.
    if image.dtype() != DType::I32 {
        long_expressions(&mut cases, image);
        stencils(&mut cases, image);
        warps::sampled(&mut cases, image);
        warps::crops(&mut cases, image);
        resamples(&mut cases, image);
        windows(&mut cases, image);
        whole::whole(&mut cases, image);
    }
    for case in &mut cases {
        case.name = format!("{} {}", case.name, image);
    }
    cases
}

/// The whole matrix for one size.
pub fn matrix(w: u32, h: u32) -> Vec<Case> {
    let formats = [PixelFormat::Gray, PixelFormat::Rgb, PixelFormat::Bgra];
    let orders =
        |format: PixelFormat| if format == PixelFormat::Gray { &Layout::ALL[..1] } else { &Layout::ALL[..] };
    let shapes = DType::ALL.into_iter().flat_map(|dtype| formats.map(|format| (dtype, format)));
    let shapes =
        shapes.flat_map(|(dtype, format)| orders(format).iter().map(move |&order| (dtype, format, order)));
    shapes.flat_map(|(dtype, format, order)| cases_of(desc(w, h, format, dtype, order))).collect()
}

/// A plan with one group whose stages are the cases, each reading pipeline inputs and writing an output.
pub fn plan(cases: &[Case], batch: usize, strides: Strides) -> Plan {
    let mut plan = Plan {
        batch,
        streams: 1,
        inputs: Vec::new(),
        outputs: Vec::new(),
        tasks: Vec::new(),
        groups: Vec::new(),
        buffers: Vec::new(),
        waits: Vec::new(),
        arena_bytes: 0,
        fusion: Vec::new(),
    };
    let mut stages = Vec::new();
    for (task, case) in cases.iter().enumerate() {
        let mut inputs = Vec::new();
        for (i, &desc) in case.inputs.iter().enumerate() {
            let name = format!("in{task}_{i}");
            inputs.push(Operand::Buffer(plan.buffers.len()));
            plan.inputs.push(PlanInput { name: name.clone(), buffer: plan.buffers.len() });
            let place = Place::Input(plan.inputs.len() - 1);
            let layout = strides.of(desc, batch);
            plan.buffers.push(Buffer { name, layout, place, producer: None, consumers: vec![0] });
        }
        let store = plan.buffers.len();
        let place = Place::Output(plan.outputs.len());
        let layout = strides.of(case.output, batch);
        plan.buffers.push(Buffer {
            name: case.name.clone(),
            layout,
            place,
            producer: Some(0),
            consumers: Vec::new(),
        });
        plan.outputs.push(PlanOutput { task, buffer: store });
        plan.tasks.push(PlanTask {
            name: case.name.as_str().into(),
            op: case.kernel.name().into(),
            producers: Vec::new(),
            output: case.output,
            derived: Vec::new(),
            group: 0,
        });
        let (kernel, uniforms) = (case.kernel.clone(), case.uniforms.clone());
        stages.push(Stage { kernel, uniforms, inputs, output: case.output, store: Some(store), task });
    }
    let tasks = (0..cases.len()).collect();
    plan.groups.push(Group { tasks, stages, stream: 0, depends_on: Vec::new(), workspace: None });
    plan
}

/// The custom matrix entry used by timing: an operator over 1080p images.
pub fn operators(w: u32, h: u32) -> Vec<Case> {
    let rgb = desc(w, h, PixelFormat::Rgb, DType::U8, Layout::Hwc);
    let gray = rgb.with_format(PixelFormat::Gray).unwrap();
    let separable = |image: ImageDesc, r: u32, sigma: f64| {
        let weights = gauss(r, sigma);
        let values: Vec<f32> = weights.iter().chain(&weights).copied().collect();
        let kernel = Kernel::Separable(Separable { radius_x: r, radius_y: r, border: Border::Reflect101 });
        same(&format!("gaussian {} {}", 2 * r + 1, image.format()), kernel, &values, image)
    };
    let point = |name: &str, kernel, values: &[f32], output| Case {
        output,
        ..same(name, Kernel::Point(kernel), values, rgb)
    };
    let (ow, oh) = (w * 2 / 3, h * 2 / 3);
    let resize = |name: &str, image: ImageDesc, ow: u32, oh: u32| {
        let kernel = Kernel::Resample(Resample { x: triangle(w, ow, 1.0), y: triangle(h, oh, 1.0) });
        Case { output: image.with_size(ow, oh).unwrap(), ..same(name, kernel, &[], image) }
    };
    let gather = |name: &str, x, y, output: ImageDesc| Case {
        output,
        ..same(name, Kernel::Gather(Gather { x, y }), &[], rgb)
    };
    let warp = |name: &str, interpolation| {
        let (coordinates, border) = (Coordinates::Affine, Border::Constant(0.0));
        let kernel = Kernel::Warp(Warp::Sampled(Sampled { coordinates, interpolation, border }));
        same(name, kernel, &[0.866, -0.5, 400.0, 0.5, 0.866, -400.0], rgb)
    };
    let (whole, half) = (AxisMap::Offset { first: 0 }, AxisMap::Offset { first: 17 });
    let floats = rgb.with_dtype(DType::F32).unwrap();
    let a = [0.017, -2.1, 0.018, -2.0, 0.019, -1.8];
    let convert = |to| Point::convert(PixelFormat::Rgb, to, DType::U8);
    let blend = same("blend gray", Kernel::Point(Point::blend(gray.format())), &[0.5, 0.5], gray);
    vec![
        point(
            "color_convert rgb -> bgr",
            convert(PixelFormat::Bgr),
            &[],
            rgb.with_format(PixelFormat::Bgr).unwrap(),
        ),
        point("color_convert rgb -> gray", convert(PixelFormat::Gray), &[], gray),
        point(
            "color_convert rgb -> rgba",
            convert(PixelFormat::Rgba),
            &[],
            rgb.with_format(PixelFormat::Rgba).unwrap(),
        ),
        point("threshold rgb", Point::threshold(), &[100.0, 255.0], rgb),
        point("normalize rgb -> f32", Point::affine(PixelFormat::Rgb), &a, floats),
        point(
            "normalize rgb -> f32 chw",
            Point::affine(PixelFormat::Rgb),
            &a,
            floats.with_layout(Layout::Chw),
        ),
        point("layout rgb -> chw", Point::copy(), &[], rgb.with_layout(Layout::Chw)),
        Case { inputs: vec![gray, gray], ..blend },
        gather("flip x rgb", AxisMap::Flip { last: w - 1 }, whole, rgb),
        gather("flip y rgb", whole, AxisMap::Flip { last: h - 1 }, rgb),
        gather("crop rgb at 17,17", half, half, rgb.with_size(w - 40, h - 40).unwrap()),
        gather(
            "nearest rgb 2:3",
            AxisMap::Nearest { input: w, output: ow },
            AxisMap::Nearest { input: h, output: oh },
            rgb.with_size(ow, oh).unwrap(),
        ),
        Case {
            output: rgb.with_size(h, w).unwrap(),
            ..same("transpose rgb", Kernel::Warp(Warp::Transposed { x: whole, y: whole }), &[], rgb)
        },
        warp("rotate rgb nearest", Interpolation::Nearest),
        warp("rotate rgb bilinear", Interpolation::Bilinear),
        resize("resize bilinear rgb 2:3", rgb, ow, oh),
        resize("resize bilinear rgb 1:2", rgb, w / 2, h / 2),
        resize("resize bilinear rgb 2:1", rgb, w * 2, h * 2),
        resize("resize bilinear gray 2:3", gray, ow, oh),
        separable(rgb, 1, 0.8),
        separable(rgb, 2, 1.1),
        separable(rgb, 3, 1.4),
        separable(rgb, 7, 3.0),
        separable(gray, 2, 1.1),
        separable(gray, 3, 1.4),
        Case { ..same("sobel gray", Kernel::Stencil(Stencil::sobel(Border::Reflect101)), &[], gray) },
    ]
}
