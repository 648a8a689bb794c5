//! Expressions in binary32, in 16 bits and as comparisons, medians and mirrored rows: rows of all short lengths and of several
//! blocks, and numbers that decide for one way or the other.

use mip_core::{DType, ImageDesc, Layout, PixelFormat};
use mip_ops::{StepInput, Value};

use crate::kernels::check;

/// Checks every kernel of an operator, `name parameter=value ...`, on its own.
fn operator(text: &str, image: ImageDesc) {
    let mut words = text.split_whitespace();
    let name = words.next().expect("a name");
    let params: Vec<(String, Value)> =
        words.filter_map(|word| word.split_once('=')).map(|(k, v)| (k.to_owned(), Value::parse(v))).collect();
    let operator = mip_ops::create(name, &params).expect(text);
    let inputs = operator.inputs_like(&image).expect(text);
    let steps = operator.lower(&inputs).expect(text).steps;
    for step in &steps {
        let desc = |input: &StepInput| match *input {
            StepInput::Slot(slot) => inputs[slot],
            StepInput::Step(step) => steps[step].output,
        };
        let descs: Vec<ImageDesc> = step.inputs.iter().map(desc).collect();
        check(&step.kernel, &step.uniforms, &descs, step.output);
    }
}

/// Images of all widths up to 70, of changing formats, dtypes, layouts and heights, and some wider than any block.
fn images(mut f: impl FnMut(ImageDesc, usize)) {
    for (n, width) in (1..=70).chain([341, 1030, 1100]).enumerate() {
        for (k, format) in PixelFormat::PICTURES.into_iter().enumerate() {
            let dtype =
                if n % 3 == 0 { DType::PICTURES[(n / 3 + k) % DType::PICTURES.len()] } else { DType::U8 };
            let layout = Layout::ALL[(n / 2 + k) % 2];
            let height = [1, 5, 2, 7][(n + k) % 4];
            f(ImageDesc::new(width, height, format, dtype).unwrap().with_layout(layout), n + k);
        }
    }
}

#[test]
fn least_greatest_and_median() {
    const BORDERS: [&str; 5] = ["reflect101", "reflect", "replicate", "wrap", "constant border_value=9"];
    images(|image, n| {
        let border = BORDERS[n % 5];
        operator(&format!("median kernel=3 border={border}"), image);
        operator(&format!("median kernel=5 border={border}"), image);
        operator(&format!("erode kernel={} border={border}", 2 + n % 8), image);
        operator(&format!("dilate kernel={} shape=cross border={border}", 2 + n % 8), image);
        operator("arithmetic operation=max", image);
    });
}

#[test]
fn sums_whose_numbers_are_whole_or_not() {
    images(|image, n| {
        for weights in [
            "[0,-1,0,-1,5,-1,0,-1,0]",
            "[0.25,0,0.125,0.5,1,-1,0.0625,0,0.25] delta=0.5",
            "[1,2,3,40,5,60,7,8,200]",
            "[0.1,0.2,0.3,-0.4,0.5,0.6,0.7,0.8,0.9] delta=-3.3",
            "[1000000,0,0,0,0,0,0,0,-1000000]",
            "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]",
            "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] delta=-7",
        ] {
            if n % 2 == 0 {
                operator(&format!("filter2d weights={weights} border=constant border_value=3"), image);
            } else {
                operator(&format!("filter2d weights={weights}"), image);
            }
        }
        for rest in
            ["", "kernel=3", "kernel=5", "scale=0.5 delta=0.25", "kernel=3 scale=0.3", "kernel=3 scale=-64"]
        {
            operator(&format!("laplacian {rest}"), image);
            if !image.format().has_alpha() {
                operator(&format!("laplacian {rest} to=i16"), image);
            }
        }
    });
}

#[test]
fn samples_of_several_images_and_channels() {
    images(|image, _| {
        for text in [
            "absdiff",
            "invert",
            "arithmetic operation=add",
            "arithmetic operation=subtract",
            "arithmetic operation=multiply scale=0.004",
            "arithmetic operation=multiply",
            "arithmetic operation=weighted alpha=0.5 beta=-0.25 gamma=3.5",
            "arithmetic operation=weighted alpha=0.7 beta=0.1",
            "in_range lower=20 upper=200",
            "in_range lower=-1e9 upper=100.5",
            "flip",
        ] {
            operator(text, image);
        }
        if image.format().rgb_indices().is_some() {
            operator("color_matrix matrix=[0.393,0.769,0.189,0.349,0.686,0.168,0.272,0.534,0.131]", image);
            operator("color_matrix matrix=[1,0.5,0,0.5,0,-1,0,3,0.25,0.25,0.5,0]", image);
            operator("in_range lower=[20,30,40] upper=[200,210,220]", image);
            operator("saturation factor=1.7", image);
            operator("point expr=fma(b,0.3,fma(r,-0.2,7)),fma(g,1.5,3),fma(r,1,fma(b,2,-90))", image);
        }
    });
}

/// Turned, and far away.
#[test]
fn nearest_pixels() {
    images(|image, n| {
        let border = ["reflect101", "constant border_value=200", "wrap", "constant", "replicate"][n % 5];
        for matrix in ["[0.8,0.6,-3,-0.6,0.8,2]", "[1e9,3,-1e9,0,1e9,1]", "[1,0,0.5,0,1,-0.5]"] {
            operator(&format!("warp_affine matrix={matrix} filter=nearest border={border}"), image);
        }
    });
}

/// Of tiles, whole ones and parts: every side up to two of them.
#[test]
fn rows_that_become_columns() {
    for (width, height) in (1..=70).flat_map(|side| [(side, 71 - side), (65, side), (side, 33)]) {
        for format in [PixelFormat::Gray, PixelFormat::Rgb] {
            let image = ImageDesc::new(width, height, format, DType::U8).unwrap();
            for text in ["transpose", "rotate90 direction=cw", "rotate90 direction=ccw"] {
                operator(text, image);
            }
        }
    }
}

/// Weights of bytes are looked up by their distances.
#[test]
fn weighted_means() {
    images(|image, n| {
        if image.format().has_alpha() {
            return;
        }
        let border = ["reflect101", "constant border_value=1", "wrap", "constant", "replicate"][n % 5];
        for rest in ["diameter=5 sigma_color=30 sigma_space=3", "diameter=9 sigma_color=0.2 sigma_space=2.5"]
        {
            operator(&format!("bilateral {rest} border={border}"), image);
        }
    });
}

/// Looked up, or computed where the result is no byte.
#[test]
fn functions() {
    images(|image, _| {
        for text in [
            "gamma gamma=0.45 gain=1.1",
            "point expr=exp(v/60)-log2(v+0.5)*3+cbrt(v-100)",
            "point expr=power_of_two(v*0.05)+significand(v*1e-40)*9+exponent(v*1e-40)",
            "point expr=lookup(v/20-1,5,7.5,-3,nan,300,90.25)",
            "point expr=lookup(v/90-x()/40,0.5,300,nan,2)*gain gain=1.5",
            "point expr=pow(v-100,3)/9e3+100*pow(v/255,gain) gain=2.2",
        ] {
            operator(text, image);
        }
        // Colour spaces have no i16.
        if image.format().rgb_indices().is_some() && image.dtype() != DType::I16 {
            operator("color_convert to=linear", image);
            for space in [PixelFormat::Hls, PixelFormat::Hsv] {
                operator(&format!("color_convert to={}", space.name()), image);
                if image.channels() == 3 {
                    let from = image.with_format(space).unwrap();
                    operator(&format!("color_convert to={}", image.format().name()), from);
                }
            }
        }
        if image.format().rgb_indices().is_some() && image.dtype() == DType::U8 {
            operator("color_convert to=lab", image);
            operator("color_convert to=luv", image);
        }
        if image.format().rgb_indices().is_some() {
            operator("point expr=pow(g,1.1),cbrt(r)*40,200-exp(b*0.02)", image);
            operator("point expr=pow(r/255,1.1)*g,b,log(g+b+1)*40", image);
        }
    });
}

#[test]
fn raw_images() {
    images(|image, n| {
        if image.format() != PixelFormat::Gray {
            return;
        }
        let pattern = ["rggb", "bggr", "grbg", "gbrg"][n % 4];
        for method in ["bilinear", "malvar"] {
            operator(&format!("demosaic pattern={pattern} method={method}"), image);
        }
    });
    // Around the ends of blocks of 512 pixels.
    for (width, height) in (510..=514).chain(1022..=1026).zip([1, 2, 3, 6].into_iter().cycle()) {
        let image = ImageDesc::new(width, height, PixelFormat::Gray, DType::U8).unwrap();
        for pattern in ["rggb", "bggr", "grbg", "gbrg"] {
            operator(&format!("demosaic pattern={pattern}"), image);
        }
    }
}
