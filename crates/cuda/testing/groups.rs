//! Groups of several stages that every way of running them is tested and timed with. Shared by the emulated
//! tests, the NVRTC check and `parity`; stands beside `cases`.

use mip_core::{DType, ImageDesc, Layout, PixelFormat};
use mip_plan::{
    AxisMap, Border, Buffer, Gather, Group, Kernel, Operand, Place, Plan, PlanInput, PlanOutput, PlanTask,
    Point, Resample, Separable, Stage, Stencil, YuvFactors,
};

use super::cases::{Strides, gauss, point, stencil, triangle};

#[path = "group_parts.rs"]
pub mod parts;

use parts::parts;

/// Stages that read each other.
#[derive(Debug, Clone)]
pub struct GroupCase {
    pub name: String,
    pub inputs: Vec<ImageDesc>,
    pub stages: Vec<Stage>,
    /// Stages whose results are written.
    pub stored: Vec<usize>,
}

impl GroupCase {
    fn new(name: &str, inputs: &[ImageDesc]) -> Self {
        Self { name: name.to_owned(), inputs: inputs.to_vec(), stages: Vec::new(), stored: Vec::new() }
    }

    /// Adds a stage; the result's operand.
    pub fn add(
        &mut self,
        kernel: Kernel,
        uniforms: &[f32],
        inputs: &[Operand],
        output: ImageDesc,
    ) -> Operand {
        let (inputs, task) = (inputs.to_vec(), self.stages.len());
        self.stages.push(Stage { kernel, uniforms: uniforms.into(), inputs, output, store: None, task });
        Operand::Stage(task)
    }

    fn desc(&self, source: Operand) -> ImageDesc {
        match source {
            Operand::Buffer(id) => self.inputs[id],
            Operand::Stage(s) => self.stages[s].output,
        }
    }

    pub fn resize(&mut self, from: Operand, w: u32, h: u32) -> Operand {
        let input = self.desc(from);
        let kernel = Resample { x: triangle(input.width(), w, 1.0), y: triangle(input.height(), h, 1.0) };
        self.add(Kernel::Resample(kernel), &[], &[from], input.with_size(w, h).unwrap())
    }

    pub fn gray(&mut self, from: Operand) -> Operand {
        let output = self.desc(from).with_format(PixelFormat::Gray).unwrap().with_layout(Layout::Hwc);
        let input = self.desc(from);
        self.point(Point::convert(input.format(), output.format(), input.dtype()), &[], &[from], output)
    }

    pub fn point(&mut self, kernel: Point, uniforms: &[f32], from: &[Operand], output: ImageDesc) -> Operand {
        self.add(Kernel::Point(kernel), uniforms, from, output)
    }

    pub fn gaussian(&mut self, from: Operand, radius: u32, border: Border) -> Operand {
        let weights = gauss(radius, 0.5 * f64::from(radius) + 0.1);
        let uniforms = [weights.clone(), weights].concat();
        let kernel = Separable { radius_x: radius, radius_y: radius, border };
        self.add(Kernel::Separable(kernel), &uniforms, &[from], self.desc(from))
    }

    pub fn sobel(&mut self, from: Operand, border: Border) -> Operand {
        self.add(Kernel::Stencil(Stencil::sobel(border)), &[], &[from], self.desc(from))
    }

    pub fn gather(&mut self, from: Operand, x: AxisMap, y: AxisMap, w: u32, h: u32) -> Operand {
        let output = self.desc(from).with_size(w, h).unwrap();
        self.add(Kernel::Gather(Gather { x, y }), &[], &[from], output)
    }

    fn storing(mut self, stored: &[usize]) -> Self {
        self.stored = stored.to_vec();
        self
    }

    /// Stores the last stage only.
    fn last(self) -> Self {
        let last = self.stages.len() - 1;
        self.storing(&[last])
    }

    /// Bytes of inputs and outputs of one frame.
    pub fn bytes(&self) -> usize {
        let outputs = self.stored.iter().map(|&s| self.stages[s].output.bytes());
        self.inputs.iter().map(ImageDesc::bytes).chain(outputs).sum()
    }
}

pub fn image(w: u32, h: u32, format: PixelFormat, dtype: DType) -> ImageDesc {
    ImageDesc::new(w, h, format, dtype).expect("a small image")
}

const IN: Operand = Operand::Buffer(0);
const MIRROR: Border = Border::Reflect101;

/// resize -> gray -> Gaussian 5 -> Sobel.
pub fn edges(name: &str, input: ImageDesc, w: u32, h: u32, border: Border) -> GroupCase {
    let mut case = GroupCase::new(name, &[input]);
    let small = case.resize(IN, w, h);
    let gray = if input.format() == PixelFormat::Gray { small } else { case.gray(small) };
    let soft = case.gaussian(gray, 2, border);
    case.sobel(soft, border);
    case.last()
}

/// gray -> {Gaussian 7, Sobel} -> blend -> threshold.
pub fn fork(name: &str, input: ImageDesc, border: Border) -> GroupCase {
    let mut case = GroupCase::new(name, &[input]);
    let gray = case.gray(IN);
    let (soft, edges) = (case.gaussian(gray, 3, border), case.sobel(gray, border));
    let full = input.dtype().full_scale() as f32;
    let output = case.desc(gray);
    let mix = case.point(Point::blend(output.format()), &[0.5, 0.5], &[soft, edges], output);
    case.point(Point::threshold(), &[0.35 * full, full], &[mix], output);
    case.last()
}

/// resize -> crop -> normalise to f32 planes.
pub fn tensor(name: &str, input: ImageDesc, w: u32, h: u32, crop: (u32, u32)) -> GroupCase {
    let mut case = GroupCase::new(name, &[input]);
    let small = case.resize(IN, w, h);
    let offset = |n: u32, crop: u32| AxisMap::Offset { first: (n - crop) / 2 };
    let cropped = case.gather(small, offset(w, crop.0), offset(h, crop.1), crop.0, crop.1);
    let output = case.desc(cropped).with_dtype(DType::F32).unwrap().with_layout(Layout::Chw);
    case.point(Point::affine(output.format()), &[0.017, -2.1, 0.018, -2.0, 0.019, -1.8], &[cropped], output);
    case.last()
}

/// crop -> resize -> normalise to f32 planes.
pub fn piece(
    name: &str,
    input: ImageDesc,
    (left, top): (u32, u32),
    size: (u32, u32),
    w: u32,
    h: u32,
) -> GroupCase {
    pieces(name, input, &[(left, top)], size, w, h)
}

/// The same for several places, each a branch of its own.
pub fn pieces(
    name: &str,
    input: ImageDesc,
    places: &[(u32, u32)],
    size: (u32, u32),
    w: u32,
    h: u32,
) -> GroupCase {
    let mut case = GroupCase::new(name, &[input]);
    for (n, &(left, top)) in places.iter().enumerate() {
        let (x, y) = (AxisMap::Offset { first: left }, AxisMap::Offset { first: top });
        let cropped = case.gather(IN, x, y, size.0, size.1);
        let small = case.resize(cropped, w, h);
        let output = case.desc(small).with_dtype(DType::F32).unwrap().with_layout(Layout::Chw);
        let lighter = n as f32 / 8.0;
        let uniforms = [0.017, lighter - 2.1, 0.018, lighter - 2.0, 0.019, lighter - 1.8];
        case.point(Point::affine(output.format()), &uniforms, &[small], output);
        case.stored.push(case.stages.len() - 1);
    }
    case
}

/// A branch for each input.
pub fn side_by_side(
    name: &str,
    inputs: &[ImageDesc],
    branch: impl Fn(&mut GroupCase, Operand) -> Operand,
) -> GroupCase {
    let mut case = GroupCase::new(name, inputs);
    for input in 0..inputs.len() {
        branch(&mut case, Operand::Buffer(input));
        case.stored.push(case.stages.len() - 1);
    }
    case
}

/// The benchmark's workloads.
pub fn workloads() -> Vec<(GroupCase, &'static [usize])> {
    let rgb = |w, h| image(w, h, PixelFormat::Rgb, DType::U8);
    vec![
        (edges("w1", rgb(1920, 1080), 1280, 720, MIRROR), &[1, 32]),
        (edges("w2", rgb(3840, 2160), 1920, 1080, MIRROR), &[1, 32]),
        (tensor("w3", rgb(500, 375), 341, 256, (224, 224)), &[1, 256]),
        (fork("w4", rgb(1920, 1080), MIRROR), &[1, 32]),
        (video_tensor("video", (1920, 1080), 640, 360), &[1, 32]),
        (video_tensor("video 4:9", (1920, 1080), 854, 480), &[1, 32]),
        (video_tensor("video small", (1920, 1080), 416, 234), &[1, 32]),
        (edges("awkward", rgb(1919, 1077), 1283, 721, MIRROR), &[1, 32]),
    ]
}

/// Groups of many shapes over images of one size.
pub fn groups(w: u32, h: u32) -> Vec<GroupCase> {
    let rgb = image(w, h, PixelFormat::Rgb, DType::U8);
    let gray = rgb.with_format(PixelFormat::Gray).unwrap();
    let of = |name: &str| format!("{name} {w}x{h}");
    let two_thirds = |n: u32| (2 * n).div_ceil(3);
    let mut all = vec![
        edges(&of("edges 2:3"), rgb, two_thirds(w), two_thirds(h), MIRROR),
        edges(&of("edges 1:2"), rgb, w.div_ceil(2), h.div_ceil(2), MIRROR),
        edges(&of("edges 2:3 gray"), gray, two_thirds(w), two_thirds(h), MIRROR),
        edges(&of("edges 1:2 gray"), gray, w.div_ceil(2), h.div_ceil(2), Border::Replicate),
        edges(&of("edges 2:3 stored"), rgb, two_thirds(w), two_thirds(h), MIRROR).storing(&[1, 3]),
        edges(&of("edges up"), rgb, w + w / 3 + 1, h + h / 4 + 1, Border::Reflect),
        edges(&of("edges replicate"), rgb, two_thirds(w), h.div_ceil(2), Border::Replicate),
        edges(&of("edges skipping rows"), rgb, w + 1, h.div_ceil(4), MIRROR),
        edges(&of("edges constant"), rgb, w, two_thirds(h), Border::Constant(40.0)),
        edges(
            &of("edges no sample"),
            gray.with_format(PixelFormat::Bgr).unwrap(),
            w,
            h,
            Border::Constant(76.75),
        ),
        edges(&of("edges u16"), rgb.with_dtype(DType::U16).unwrap(), two_thirds(w), h, MIRROR),
        edges(&of("edges f32"), rgb.with_dtype(DType::F32).unwrap(), two_thirds(w), h, MIRROR),
        edges(&of("edges planar"), rgb.with_layout(Layout::Chw), two_thirds(w), h, Border::Replicate),
        fork(&of("fork"), rgb, MIRROR),
        fork(&of("fork replicate"), rgb, Border::Replicate),
        fork(
            &of("fork f32"),
            rgb.with_dtype(DType::F32).unwrap().with_format(PixelFormat::Bgra).unwrap(),
            Border::Reflect,
        ),
        tensor(&of("tensor"), rgb, two_thirds(w), two_thirds(h), (w.div_ceil(3), h.div_ceil(2))),
    ];
    all.push(piece(
        &of("piece"),
        rgb,
        (w / 3, h / 4),
        (w.div_ceil(2), h.div_ceil(2)),
        w.div_ceil(3),
        h.div_ceil(3),
    ));
    all.extend(parts(&of, rgb));
    // Nothing but the resize is left.
    let mut case = piece(&of("piece as it is"), rgb, (w / 2, 0), (w.div_ceil(2), h), w.div_ceil(3), h);
    case.stages.truncate(2);
    all.push(case.storing(&[1]));
    let mut case = edges(&of("edges all stored"), rgb, two_thirds(w), two_thirds(h), MIRROR);
    case.stored = vec![0, 1, 2, 3];
    all.push(case);
    let mut case = fork(&of("fork some stored"), rgb, MIRROR);
    case.stored = vec![0, 2, 3, 4];
    all.push(case);
    all.extend(shapes(&of, rgb));
    all.extend(sparse(&of, rgb));
    all
}

/// Planes of NV12 video -> colours.
fn video(name: &str, w: u32, h: u32) -> (GroupCase, Operand) {
    let gray = |w, h| image(w, h, PixelFormat::Gray, DType::U8);
    let luma = gray(w, h);
    let mut case = GroupCase::new(name, &[luma, gray(2 * w.div_ceil(2), h.div_ceil(2))]);
    let mut chroma = |first| {
        let (x, y) = (
            AxisMap::Step { first, step: 2, shift: 1, last: 2 * w.div_ceil(2) - 1 },
            AxisMap::Step { first: 0, step: 1, shift: 1, last: h.div_ceil(2) - 1 },
        );
        case.gather(Operand::Buffer(1), x, y, w, h)
    };
    let planes = [IN, chroma(0), chroma(1)];
    let factors = YuvFactors {
        luma: [255.0 / 219.0, -16.0 * 255.0 / 219.0],
        middle: 128.0,
        red_v: 1.79,
        green: [-0.21, -0.53],
        blue_u: 2.11,
    };
    let output = luma.with_format(PixelFormat::Rgb).unwrap();
    let colors = case.point(Point::yuv_to_rgb(factors, None), &[], &planes, output);
    (case, colors)
}

/// NV12 video -> resize -> normalise to f16 planes: what a network reads.
pub fn video_tensor(name: &str, (w, h): (u32, u32), to_w: u32, to_h: u32) -> GroupCase {
    let (mut case, colors) = video(name, w, h);
    let small = case.resize(colors, to_w, to_h);
    let output = case.desc(small).with_dtype(DType::F16).unwrap().with_layout(Layout::Chw);
    let uniforms = [0.017, -2.1, 0.018, -2.0, 0.019, -1.8];
    case.point(Point::affine(output.format()), &uniforms, &[small], output);
    case.last()
}

/// Resizes by so much that what they read is computed a pixel at a time, where sides are long enough.
fn sparse(of: &dyn Fn(&str) -> String, rgb: ImageDesc) -> Vec<GroupCase> {
    let (w, h) = (rgb.width(), rgb.height());
    let mut all = Vec::new();
    for (name, w2, h2) in
        [("video third", w.div_ceil(3), h.div_ceil(3)), ("video small", w / 4 + 1, h / 5 + 1)]
    {
        let (mut case, colors) = video(&of(name), w, h);
        let small = case.resize(colors, w2, h2);
        let output = case.desc(small).with_dtype(DType::F16).unwrap().with_layout(Layout::Chw);
        let uniforms = [0.017, -2.1, 0.018, -2.0, 0.019, -1.8];
        case.point(Point::affine(output.format()), &uniforms, &[small], output);
        all.push(case.last());
    }
    let (mut case, colors) = video(&of("video nearest and gray"), w, h);
    let gray = case.gray(colors);
    let turned = case.gather(gray, AxisMap::Flip { last: w - 1 }, AxisMap::Offset { first: 0 }, w, h);
    let (w2, h2) = (w.div_ceil(2), h.div_ceil(3));
    let (x, y) = (AxisMap::Nearest { input: w, output: w2 }, AxisMap::Nearest { input: h, output: h2 });
    case.gather(turned, x, y, w2, h2);
    all.push(case.last());
    // Alpha, infinities, uniforms; what is pulled is written, too.
    let bgra = rgb.with_format(PixelFormat::Bgra).unwrap().with_dtype(DType::F32).unwrap();
    let mut case = GroupCase::new(&of("alpha small"), &[bgra]);
    let cut = case.point(Point::threshold(), &[90.0, 200.0], &[IN], bgra);
    let (kernel, uniforms, output) = point("(v + lookup(v * 4, 3, 7, nan)) * gain", &[bgra]);
    let bright = case.add(kernel, &uniforms, &[cut], output);
    case.resize(bright, w / 4 + 1, h / 4 + 1);
    all.push(case.last());
    all
}

fn shapes(of: &dyn Fn(&str) -> String, rgb: ImageDesc) -> Vec<GroupCase> {
    let (w, h) = (rgb.width(), rgb.height());
    let mut all = Vec::new();
    // A map chain, mirrored, over two inputs of different orders.
    let mut case = GroupCase::new(&of("maps"), &[rgb, rgb.with_layout(Layout::Chw)]);
    let mix = case.point(Point::blend(rgb.format()), &[0.6, 0.3], &[IN, Operand::Buffer(1)], rgb);
    let flip = AxisMap::Flip { last: w - 1 };
    let turned = case.gather(mix, flip, AxisMap::Flip { last: h - 1 }, w, h);
    let output = rgb.with_format(PixelFormat::Bgra).unwrap();
    case.point(Point::convert(rgb.format(), output.format(), rgb.dtype()), &[], &[turned], output);
    all.push(case.storing(&[0, 2]));
    // Blur, then smaller, then blur: a tile whose place comes from a table.
    let mut case = GroupCase::new(&of("blur resize blur"), &[rgb]);
    let soft = case.gaussian(IN, 1, Border::Replicate);
    let small = case.resize(soft, w.div_ceil(2) + 1, h.div_ceil(3) + 1);
    case.gaussian(small, 2, MIRROR);
    all.push(case.last());
    // A resize of a part of what is blurred.
    let mut case = GroupCase::new(&of("blur crop resize"), &[rgb]);
    let soft = case.gaussian(IN, 1, MIRROR);
    let (x, y) = (AxisMap::Offset { first: w / 3 }, AxisMap::Offset { first: h / 4 });
    let cropped = case.gather(soft, x, y, w.div_ceil(2), h.div_ceil(2));
    case.resize(cropped, w.div_ceil(3), h.div_ceil(2) + 1);
    all.push(case.last());
    // A blurred image that goes on beyond its edges, blurred again; and one that is filled there.
    for border in [Border::Replicate, MIRROR, Border::Reflect] {
        let mut case = GroupCase::new(&of(&format!("blur pad blur {border:?}")), &[rgb]);
        let soft = case.gaussian(IN, 1, MIRROR);
        let extend = |before, input, output| AxisMap::Extend { before, input, output, border };
        let (ow, oh) = (w + w / 3 + 3, h + 5);
        let padded = case.gather(soft, extend(w / 4 + 1, w, ow), extend(2, h, oh), ow, oh);
        case.gaussian(padded, 2, MIRROR);
        all.push(case.last());
    }
    // Mirrored before and after a window; a nearest resize of it.
    let mut case = GroupCase::new(&of("flip blur flip nearest"), &[rgb]);
    let same = AxisMap::Offset { first: 0 };
    let turned = case.gather(IN, flip, same, w, h);
    let soft = case.gaussian(turned, 1, MIRROR);
    let back = case.gather(soft, flip, AxisMap::Flip { last: h - 1 }, w, h);
    let (ow, oh) = (w + w / 2 + 1, h.div_ceil(2));
    let x = AxisMap::Nearest { input: w, output: ow };
    case.gather(back, x, AxisMap::Nearest { input: h, output: oh }, ow, oh);
    all.push(case.last());
    // A mirrored resize with alpha, blurred.
    let bgra = rgb.with_format(PixelFormat::Bgra).unwrap();
    let mut case = GroupCase::new(&of("alpha"), &[bgra]);
    let small = case.resize(IN, w.div_ceil(2) + 2, (2 * h).div_ceil(3));
    let (sw, sh) = (w.div_ceil(2) + 2, (2 * h).div_ceil(3));
    let turned = case.gather(small, AxisMap::Flip { last: sw - 1 }, AxisMap::Flip { last: sh - 1 }, sw, sh);
    let soft = case.gaussian(turned, 1, Border::Constant(9.0));
    case.point(Point::threshold(), &[90.0, 200.0], &[soft], bgra.with_size(sw, sh).unwrap());
    all.push(case.storing(&[1, 2, 3]));
    // A window whose rows are kept from one to the next, read from bottom to top behind a pointwise kernel.
    let mut case = GroupCase::new(&of("blur threshold flip"), &[rgb]);
    let soft = case.gaussian(IN, 1, MIRROR);
    let cut = case.point(Point::threshold(), &[100.0, 255.0], &[soft], rgb);
    case.gather(cut, AxisMap::Offset { first: 0 }, AxisMap::Flip { last: h - 1 }, w, h);
    all.push(case.storing(&[0, 2]));
    // An expression between windows, and one of two values at different places of the group.
    let mut case = GroupCase::new(&of("blur point blur point"), &[rgb]);
    let soft = case.gaussian(IN, 1, MIRROR);
    let (kernel, uniforms, output) = point("lookup(abs(v - v2) / 3, 9, 40, 2.5, 200) * gain", &[rgb, rgb]);
    let edges = case.add(kernel, &uniforms, &[IN, soft], output);
    let (kernel, uniforms, output) = point("r*0.25 + g*0.5 + b*0.25", &[rgb]);
    let gray = case.add(kernel, &uniforms, &[edges], output);
    let wide = case.gaussian(gray, 1, MIRROR);
    let (kernel, uniforms, output) = point("v > 12 ? v * v2 / 255 : v2", &[rgb, case.desc(wide)]);
    case.add(kernel, &uniforms, &[IN, wide], output);
    all.push(case.last());
    // Expressions of neighbours: of an input, of a blur, before a resize, mirrored.
    let mut case = GroupCase::new(&of("stencil blur stencil flip resize"), &[rgb]);
    let near = |text: &str, border, input| stencil(text, border, input).expect(text);
    let (kernel, uniforms, output) =
        near("lookup(v(1, 0) - v(-1, 0), 3, 90) * gain + v(0, -2) / 3", Border::Reflect, rgb);
    let across = case.add(kernel, &uniforms, &[IN], output);
    let soft = case.gaussian(across, 1, MIRROR);
    let (kernel, uniforms, output) = near("min(v(-1, 0), v, v(3, 2))", Border::Constant(9.0), rgb);
    let low = case.add(kernel, &uniforms, &[soft], output);
    let turned = case.gather(low, flip, AxisMap::Flip { last: h - 1 }, w, h);
    case.resize(turned, w.div_ceil(2) + 1, h.div_ceil(3) + 1);
    all.push(case.last());
    let mut case = GroupCase::new(&of("stencil point"), &[rgb]);
    let (kernel, uniforms, output) = near("r(1, -1) + g(-2, 0) - b(0, 4)", MIRROR, rgb);
    let gray = case.add(kernel, &uniforms, &[IN], output);
    let edges = case.sobel(gray, MIRROR);
    let (kernel, uniforms, output) = point("v - v2 * gain", &[rgb, output]);
    case.add(kernel, &uniforms, &[IN, edges], output);
    all.push(case.storing(&[0, 2]));
    // Three windows, one after the other.
    let mut case = GroupCase::new(&of("three windows"), &[rgb.with_format(PixelFormat::Gray).unwrap()]);
    let a = case.gaussian(IN, 2, MIRROR);
    let b = case.gaussian(a, 1, MIRROR);
    case.sobel(b, MIRROR);
    all.push(case.last());
    all
}

/// A plan with the stages in one group.
pub fn plan(case: &GroupCase, batch: usize, strides: Strides) -> Plan {
    let mut stages = case.stages.clone();
    let buffer = |name: String, desc, place, producer| {
        let consumers = if producer == Some(0) { Vec::new() } else { vec![0] };
        Buffer { name, layout: strides.of(desc, batch), place, producer, consumers }
    };
    let (mut inputs, mut outputs, mut buffers) = (Vec::new(), Vec::new(), Vec::new());
    for (i, &desc) in case.inputs.iter().enumerate() {
        inputs.push(PlanInput { name: format!("in{i}"), buffer: i });
        buffers.push(buffer(format!("@in{i}"), desc, Place::Input(i), None));
    }
    for (n, &task) in case.stored.iter().enumerate() {
        stages[task].store = Some(buffers.len());
        outputs.push(PlanOutput { task, buffer: buffers.len() });
        buffers.push(buffer(format!("task{task}"), stages[task].output, Place::Output(n), Some(0)));
    }
    let task = |(n, stage): (usize, &Stage)| PlanTask {
        name: format!("task{n}").into(),
        op: stage.kernel.name().into(),
        producers: Vec::new(),
        output: stage.output,
        derived: Vec::new(),
        group: 0,
    };
    let tasks = stages.iter().enumerate().map(task).collect();
    let group = (0..stages.len()).collect();
    let group = Group { tasks: group, stages, stream: 0, depends_on: Vec::new(), workspace: None };
    Plan {
        batch,
        streams: 1,
        inputs,
        outputs,
        tasks,
        groups: vec![group],
        buffers,
        waits: Vec::new(),
        arena_bytes: 0,
        fusion: Vec::new(),
    }
}

/// A plan with a group a stage, intermediates in buffers.
pub fn split(case: &GroupCase, batch: usize, strides: Strides) -> Plan {
    let mut plan = plan(case, batch, strides);
    let stages = std::mem::take(&mut plan.groups[0].stages);
    let mut groups = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    for (index, mut stage) in stages.into_iter().enumerate() {
        let place = stage.store.unwrap_or_else(|| {
            let layout = Strides::Pitched.of(stage.output, batch);
            let (name, place) = (format!("task{index}"), Place::Arena { offset: 0 });
            plan.buffers.push(Buffer { name, layout, place, producer: Some(index), consumers: Vec::new() });
            plan.buffers.len() - 1
        });
        stage.store = Some(place);
        for input in &mut stage.inputs {
            if let Operand::Stage(earlier) = *input {
                *input = Operand::Buffer(places[earlier]);
            }
        }
        places.push(place);
        let stages = vec![stage];
        groups.push(Group { tasks: vec![index], stages, stream: 0, depends_on: Vec::new(), workspace: None });
    }
    plan.groups = groups;
    plan
}
