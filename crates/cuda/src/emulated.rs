//! Generated kernels compiled for the host and compared, byte for byte, with the CPU device: arithmetic,
//! addresses and tails of every kernel are tested without a GPU. Needs a C++ compiler.

#![allow(clippy::print_stdout, reason = "tests say what was skipped and how far they are")]

use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use libloading::Library;
use mip_core::{BatchLayout, DType, ImageDesc, ImageView, ImageViewMut, Layout, PixelFormat};
use mip_cpu::{CpuConfig, execute_group};
use mip_plan::{CustomError, CustomKernel, Kernel, Operand, Plan, Uniforms};

use crate::codegen::{
    BranchCode, Input, StageCode, Target, Variant, corner_offset, group_code, put_floats, put_image,
    put_pointer, put_uint, without_comments,
};
use crate::compile::KernelCache;

#[path = "../testing/cases.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, reason = "shared with the examples")]
pub(crate) mod cases;

mod branches;
#[path = "../testing/groups.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, reason = "shared with the examples")]
pub(crate) mod group_cases;
mod groups;
mod steps;

use cases::samples::{fill, first_difference, make_not_finite};
use cases::{Case, Strides, matrix, plan};

/// Compiles a program for so many branches at once, with a host function for each of its kernels. `None` without a
/// compiler.
fn build(code: &BranchCode, at_once: usize) -> Option<Library> {
    let mut text = format!("{}\n{}", include_str!("../testing/emulator.h"), without_comments(&code.source));
    for (index, stage) in code.stages.iter().enumerate() {
        let own = format!("Params{}", code.stage_of(index));
        let parameter = if at_once > 1 { format!("Branches<{own}>") } else { own };
        for entry in stage.variants.iter().map(|v| &v.entry) {
            let _ = writeln!(
                text,
                "extern \"C\" void host_{entry}(const unsigned* shape, const void* p) {{ launch(shape, shape[5], [](const void* p) {{ {entry}(*(const {parameter}*)p); }}, p); }}"
            );
        }
    }
    let folder = std::env::temp_dir().join("mip-emulated");
    fs::create_dir_all(&folder).unwrap();
    let library = folder.join(format!("{}.so", KernelCache::key(&[&text])));
    if !library.exists() {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let unique = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let (source, fresh) = (folder.join(format!("{unique}.cpp")), folder.join(format!("{unique}.so")));
        fs::write(&source, text).unwrap();
        let flags =
            ["-std=c++17", "-O0", "-w", "-shared", "-fPIC", "-ffp-contract=off", "-fno-strict-aliasing"];
        let machine: &[&str] = if cfg!(target_arch = "x86_64") { &["-mfma"] } else { &[] };
        let mut compiler = Command::new("c++");
        let Ok(output) = compiler.args(flags).args(machine).arg("-o").arg(&fresh).arg(&source).output()
        else {
            println!("SKIPPED: no C++ compiler");
            return None;
        };
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{}: {}",
            source.display(),
            log.chars().take(3000).collect::<String>()
        );
        fs::remove_file(source).unwrap();
        fs::rename(fresh, &library).unwrap();
    }
    // SAFETY: made by the compiler just now, from our own source; its initialisers do nothing.
    Some(unsafe { Library::new(library) }.unwrap())
}

/// Memory that faults when it is read or written outside.
struct Guarded<'a> {
    library: &'a Library,
    start: *mut u8,
    bytes: usize,
    align: usize,
}

impl<'a> Guarded<'a> {
    fn new(library: &'a Library, bytes: usize, align: usize) -> Self {
        // SAFETY: the function is the emulator's, with this signature.
        let start = unsafe {
            let make = library.get::<extern "C" fn(usize, usize) -> *mut u8>(b"guarded").unwrap();
            make(bytes, align)
        };
        Self { library, start, bytes, align }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: mapped, zeroed, and reached through this value alone while it is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes) }
    }
}

impl Drop for Guarded<'_> {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, unmapped once.
        unsafe {
            let free = self.library.get::<extern "C" fn(*mut u8, usize, usize)>(b"release").unwrap();
            free(self.start, self.bytes, self.align);
        }
    }
}

/// A kernel's parameters for a branch, and the memory they name.
struct Bound<'a> {
    parameters: Vec<u8>,
    _tables: Vec<Vec<u64>>,
    _sources: Vec<Guarded<'a>>,
    targets: Vec<Guarded<'a>>,
}

impl<'a> Bound<'a> {
    fn new(
        library: &'a Library,
        stage: &StageCode,
        variant: &Variant,
        inputs: &[(&[u8], BatchLayout)],
        outputs: &[BatchLayout],
        uniforms: &dyn Fn(usize) -> Uniforms,
    ) -> Self {
        let mut parameters = stage.fields.bytes();
        let mut tables: Vec<Vec<u64>> = Vec::new();
        for table in &stage.tables {
            let mut words = vec![0_u64; table.bytes.len().div_ceil(8)];
            for (word, bytes) in words.iter_mut().zip(table.bytes.chunks(8)) {
                let mut whole = [0; 8];
                whole[..bytes.len()].copy_from_slice(bytes);
                *word = u64::from_ne_bytes(whole);
            }
            put_pointer(&mut parameters, stage.fields.offset(&table.field), words.as_ptr().addr() as u64);
            tables.push(words);
        }
        let mut sources: Vec<Guarded<'_>> = Vec::new();
        for (index, (bytes, layout)) in inputs.iter().enumerate() {
            let mut memory = Guarded::new(library, bytes.len(), variant.align_in);
            memory.bytes_mut().copy_from_slice(bytes);
            let address = memory.start.addr() + corner_offset(layout, stage.inputs[index].corner);
            put_image(&mut parameters, stage.fields.offset("in"), index, address as u64, layout);
            sources.push(memory);
        }
        let mut targets: Vec<Guarded<'_>> = Vec::new();
        for (index, output) in outputs.iter().enumerate() {
            let mut memory = Guarded::new(library, output.span(), variant.align_out);
            memory.bytes_mut().fill(0xC3);
            put_image(&mut parameters, stage.fields.offset("out"), index, memory.start.addr() as u64, output);
            targets.push(memory);
        }
        put_uint(&mut parameters, stage.fields.offset("batch"), outputs[0].batch_size as u32);
        for (stage_index, field) in &stage.uniforms {
            put_floats(&mut parameters, stage.fields.offset(field), &uniforms(*stage_index));
        }
        Self { parameters, _tables: tables, _sources: sources, targets }
    }

    fn results(mut self) -> Vec<Vec<u8>> {
        self.targets.iter_mut().map(|target| target.bytes_mut().to_vec()).collect()
    }
}

/// Launches a variant of a kernel with this parameter, for so many branches at once.
fn launch(
    library: &Library,
    stage: &StageCode,
    variant: &Variant,
    batch: u32,
    at_once: u32,
    parameter: &[u8],
) {
    let words: Vec<u64> =
        parameter.chunks_exact(8).map(|w| u64::from_ne_bytes(w.try_into().unwrap())).collect();
    let grid = stage.grid;
    let images = batch * grid.planes;
    // Few blocks along y and z, so that the kernels' own loops are tested.
    let barriers = u32::from(grid.shared > 0);
    let [width, height] = grid.block;
    let shape = [grid.x, (grid.y as u32).min(3), images.min(2) * at_once, width, height, barriers];
    assert!(grid.shared <= 48 << 10);
    // SAFETY: the function was generated with this signature; the parameters were laid out by its generator.
    unsafe {
        let name = format!("host_{}", variant.entry);
        let run = library.get::<extern "C" fn(*const u32, *const c_void)>(name.as_bytes()).unwrap();
        run(shape.as_ptr(), words.as_ptr().cast());
    }
}

/// Runs one variant of a kernel; the bytes of its outputs.
fn emulate(
    library: &Library,
    stage: &StageCode,
    variant: usize,
    inputs: &[(&[u8], BatchLayout)],
    outputs: &[BatchLayout],
    uniforms: &dyn Fn(usize) -> Uniforms,
) -> Vec<Vec<u8>> {
    let variant = &stage.variants[variant];
    let bound = Bound::new(library, stage, variant, inputs, outputs, uniforms);
    launch(library, stage, variant, outputs[0].batch_size as u32, 1, &bound.parameters);
    bound.results()
}

/// Whether a variant may be used with a layout whose memory is aligned as the variant wants.
fn fits(layout: &BatchLayout, align: usize) -> bool {
    let planes = if layout.desc.planes() > 1 { layout.plane_stride } else { 0 };
    let frames = if layout.batch_size > 1 { layout.batch_stride } else { 0 };
    (layout.row_stride | planes | frames).is_multiple_of(align)
}

/// The same for what a kernel reads of an image.
fn fits_input(input: &Input, layout: &BatchLayout, align: usize) -> bool {
    fits(layout, align) && corner_offset(layout, input.corner).is_multiple_of(align)
}

fn expected(plan: &Plan, stage: usize, data: &HashMap<usize, Vec<u8>>) -> Vec<u8> {
    // The stage alone, as a group of its own.
    let mut alone = plan.clone();
    alone.groups[0].stages = vec![plan.groups[0].stages[stage].clone()];
    let group = &alone.groups[0];
    let inputs: Vec<ImageView<'_>> = group
        .reads()
        .into_iter()
        .map(|id| ImageView::new(plan.buffers[id].layout, &data[&id]).unwrap())
        .collect();
    let layout = plan.buffers[group.writes()[0]].layout;
    let mut bytes = mip_core::AlignedBytes::zeroed(layout.span());
    bytes.as_mut_slice().fill(0xC3);
    let mut outputs = [ImageViewMut::new(layout, bytes.as_mut_slice()).unwrap()];
    let config = CpuConfig::default();
    execute_group(&alone, 0, &inputs, &mut outputs, &config).unwrap();
    bytes.as_slice().to_vec()
}

/// Compares every case, in every variant that fits, with the CPU device.
fn compare(cases: &[Case], batch: usize, strides: Strides) -> usize {
    let finite = compare_samples(cases, batch, strides, false);
    // Counts are no numbers like others.
    let counts = |case: &Case| matches!(case.kernel, Kernel::Whole(_));
    let floats = |case: &Case| case.inputs.iter().all(|desc| desc.dtype().is_float()) && !counts(case);
    let floats: Vec<Case> = cases.iter().filter(|case| floats(case)).cloned().collect();
    if floats.is_empty() { finite } else { finite + compare_samples(&floats, batch, strides, true) }
}

/// `not_finite`: with infinities and NaNs among the samples.
fn compare_samples(cases: &[Case], batch: usize, strides: Strides, not_finite: bool) -> usize {
    let plan = plan(cases, batch, strides);
    let code = group_code(&plan, 0, Target { multiprocessors: 2, ..Target::default() }).unwrap_or_else(
        |(stage, reason)| {
            panic!("{}: {reason}", cases[stage].name);
        },
    );
    let Some(library) = build(&code, 1) else { return 0 };
    let mut compared = 0;
    let mut differing = Vec::new();
    for (index, stage) in code.stages.iter().enumerate() {
        let planned = &plan.groups[0].stages[index];
        let mut data = HashMap::new();
        for operand in &planned.inputs {
            let Operand::Buffer(id) = *operand else { unreachable!("cases read buffers") };
            let layout = plan.buffers[id].layout;
            let mut bytes = mip_core::AlignedBytes::zeroed(layout.span());
            fill(bytes.as_mut_slice(), layout.desc.dtype(), id as u64 + 1);
            if not_finite {
                make_not_finite(bytes.as_mut_slice(), layout.desc.dtype(), id as u64 + 7);
            }
            data.insert(id, bytes.as_slice().to_vec());
        }
        let inputs: Vec<(&[u8], BatchLayout)> = planned
            .inputs
            .iter()
            .map(|o| match o {
                Operand::Buffer(id) => (&data[id][..], plan.buffers[*id].layout),
                Operand::Stage(_) => unreachable!("cases read buffers"),
            })
            .collect();
        let output = plan.buffers[planned.store.unwrap()].layout;
        let wanted = expected(&plan, index, &data);
        for (variant, v) in stage.variants.iter().enumerate() {
            if !inputs.iter().all(|(_, l)| fits(l, v.align_in)) || !fits(&output, v.align_out) {
                continue;
            }
            let got = emulate(&library, stage, variant, &inputs, &[output], &|_| planned.uniforms.clone())
                .remove(0);
            if let Some(at) = first_difference(&got, &wanted, output.desc.dtype()) {
                let (row, column) = (at / output.row_stride, at % output.row_stride);
                differing.push(format!(
                    "{} ({strides:?}, batch {batch}, {}): byte {column} of row {row} is {} instead of {}; {} of {} differ",
                    cases[index].name,
                    v.entry,
                    got[at],
                    wanted[at],
                    (0..got.len()).filter(|&i| got[i] != wanted[i]).count(),
                    got.len(),
                ));
            }
            compared += 1;
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    compared
}

/// A kernel of each family, in every build.
#[test]
fn some_kernels_give_the_bytes_of_the_cpu() {
    let names = [
        "color to gray 37x21 rgb u8",
        "affine to f32 37x21 rgb u8 chw",
        "crop 37x21 rgb u16",
        "nearest up 37x21 bgra u8",
        "transpose 37x21 gray u16",
        "turn cw 37x21 rgb u8",
        "turn ccw 37x21 bgra u8",
        "transpose part 37x21 rgb f32 chw",
        "transpose nearest 37x21 bgra f32",
        "resample bilinear 2:3 37x21 bgra u8",
        "separable 2x2 Constant(0.0) 37x21 rgb u8",
        "separable 7x4 Wrap 37x21 gray u16",
        "sobel Reflect101 37x21 gray u8",
        // Counts, tables of them, and lookups.
        "histogram bands 37x21 rgb u8",
        "histogram tiles 37x21 bgra u8 chw",
        "histogram tiles 37x21 gray u8",
        "table Statistics 37x21 rgb u8",
        "table Equalize 37x21 rgb u8",
        "table Threshold(Otsu, Binary) 37x21 rgb u8",
        "table Threshold(Triangle, ToZero) 37x21 rgb u8",
        "table Clahe { pixels: 200 } 37x21 rgb u8",
        "lookup Rows 37x21 bgra u8",
        "lookup Rows 37x21 rgb u8 chw",
        "lookup Between(TileGrid { columns: 3, rows: 2, width: 13, height: 13 }) 37x21 bgra u8",
        // Expressions of one pixel of several images, which need not be alike.
        "point x = abs(v - v2); x > 30 ? sqrt(x) : -x / 3 37x21 rgb u8",
        "point clamp(fma(v, v2, v3), 0.25, 1e9) 37x21 bgra u8",
        "point min(max(v, v2), max(v3, v4)) 37x21 rgb u16 chw",
        // Expressions of neighbours, from a tile and straight from memory.
        "stencil abs(v(1, 0) - v(-1, 0)) * gain + v(0, -2) / 3 Constant(0.3) 37x21 rgb u8",
        "stencil abs(v(1, 0) - v(-1, 0)) * gain + v(0, -2) / 3 Wrap 37x21 bgra u16 chw",
        "stencil max(v(-15, 2), v(15, -15)) - v Reflect101 37x21 gray f32",
        "stencil r(1, 1), g - r(0, -1), b(-2, 0) Reflect 37x21 bgra u8",
        // What depends on the place of a pixel; images that go on beyond their edges.
        "point x() < 3 || y() >= height() - 2 ? 9 : v + x() - y() 37x21 rgb u8",
        "stencil max(v(0, 1) - abs(x() - 5) - y(), v) Replicate 37x21 gray u16",
        "pad reflect101 37x21 rgb u8",
        "pad wrap 37x21 bgra u16 chw",
        // Negative weights, with alpha in binary64.
        "resample bicubic 2:3 37x21 rgb u8",
        "resample lanczos 1:4 37x21 rgb u16",
        "resample bicubic up 37x21 bgra u8",
        "resample lanczos to 1x1 37x21 bgra u16 chw",
        // Ends of what parameters may be.
        "resample antialias to 1x1 37x21 rgb u8",
        // Long sums along x, along both axes, and in planes that alpha ties together.
        "resample antialias to 1x1 37x21 rgb u16",
        "resample antialias to 1x1 37x21 bgra u16",
        "resample antialias to 1x1 37x21 bgra u16 chw",
        "resample antialias to 1x1 37x21 rgb f32",
        // Samples that need not be finite, beside taps of weight 0.
        "resample bilinear 2:3 37x21 gray f32",
        "resample bilinear up 37x21 rgb f32 chw",
        "resample wide 1:4 37x21 bgra f32",
        "separable 0x0 Constant(255.0) 37x21 rgb u8",
        "separable 2x2 Constant(-1e30) 37x21 rgb f32",
        "sobel Constant(-1e30) 37x21 gray f32",
    ];
    let cases: Vec<Case> = matrix(37, 21).into_iter().filter(|c| names.contains(&c.name.as_str())).collect();
    assert_eq!(cases.len(), names.len());
    compare(&cases, 2, Strides::Tight);
}

/// What reads a whole image, of every kind of image and in rows of every alignment.
#[test]
fn warps_give_the_bytes_of_the_cpu() {
    let warp = |case: &Case| matches!(case.kernel, Kernel::Warp(_));
    let cases: Vec<Case> = matrix(41, 35).into_iter().filter(warp).collect();
    for (chunk, strides) in cases.chunks(cases.len().div_ceil(3)).zip(Strides::ALL) {
        compare(chunk, 3, strides);
    }
}

/// |a - b| * uniform + x, of one image as it is and one in another order and size.
#[derive(Debug)]
struct Difference;

impl CustomKernel for Difference {
    fn name(&self) -> &'static str {
        "difference"
    }

    fn input_count(&self) -> usize {
        2
    }

    fn run(
        &self,
        inputs: &[ImageView<'_>],
        uniforms: &[f32],
        output: &mut ImageViewMut<'_>,
    ) -> Result<(), CustomError> {
        let layout = *output.layout();
        let planar = |l: &BatchLayout| l.desc.planes() > 1;
        let value = |view: &ImageView<'_>, frame: usize, x: usize, y: usize, c: usize| {
            let l = view.layout();
            let (plane, at) = if planar(l) { (c, x) } else { (0, x * l.desc.channels() + c) };
            f32::from(view.row(frame, plane, y)[at])
        };
        for frame in 0..layout.batch_size {
            for (y, x) in (0..layout.desc.height() as usize)
                .flat_map(|y| (0..layout.desc.width() as usize).map(move |x| (y, x)))
            {
                for c in 0..layout.desc.channels() {
                    let a = value(&inputs[0], frame, x, y, c);
                    let b = value(&inputs[1], frame, x / 2, y / 2, c);
                    let v = ((a - b).abs() * uniforms[0] + x as f32).min(255.0) as u8;
                    let (plane, at) =
                        if planar(&layout) { (c, x) } else { (0, x * layout.desc.channels() + c) };
                    output.row_mut(frame, plane, y)[at] = v;
                }
            }
        }
        Ok(())
    }

    fn cuda_source(&self) -> Option<&str> {
        Some(
            "__device__ void pixel(const View* in, const View& out, int x, int y, const float* uniform) {
                for (int c = 0; c < out.channels; c++) {
                    float d = (float)*in[0].at<In0>(x, y, c) - (float)*in[1].at<In1>(x / 2, y / 2, c);
                    float v = (d < 0 ? -d : d) * uniform[0] + (float)x;
                    *out.at<Out>(x, y, c) = (Out)(v > 255.0f ? 255.0f : v);
                }
            }",
        )
    }
}

#[test]
fn custom_kernels_give_the_bytes_of_their_cpu_side() {
    let image = ImageDesc::new(37, 21, PixelFormat::Rgb, DType::U8).unwrap();
    let (chw, half) = (image.with_layout(Layout::Chw), image.with_size(19, 11).unwrap());
    let shapes = [[image, half, chw], [chw, half.with_layout(Layout::Chw), image]];
    let cases = shapes.map(|[first, second, output]| Case {
        name: "difference".to_owned(),
        kernel: Kernel::Custom(Arc::new(Difference)),
        uniforms: [1.5].into(),
        inputs: vec![first, second],
        output,
    });
    for strides in Strides::ALL {
        compare(&cases, 3, strides);
    }
}

/// Everything: minutes. `MIP_EMULATE=17x9` picks one size, `MIP_EMULATE_EVERY=7` every 7th kernel.
#[test]
#[ignore = "compiles hundreds of kernels: minutes"]
fn all_kernels_give_the_bytes_of_the_cpu() {
    let sizes = match std::env::var("MIP_EMULATE") {
        Ok(text) => {
            vec![text.split_once('x').map(|(w, h)| (w.parse().unwrap(), h.parse().unwrap())).unwrap()]
        }
        Err(_) => vec![(1, 1), (1, 33), (33, 1), (2, 3), (15, 17), (31, 5), (133, 71), (400, 40)],
    };
    let every = std::env::var("MIP_EMULATE_EVERY").map_or(1, |n| n.parse().unwrap());
    for (w, h) in sizes {
        let cases: Vec<Case> = matrix(w, h).into_iter().step_by(every).collect();
        for chunk in cases.chunks(60) {
            for strides in Strides::ALL {
                let compared = compare(chunk, 3, strides);
                println!("{w}x{h} {strides:?}: {compared} variants of {} cases equal", chunk.len());
            }
        }
    }
}
