//! What operators are validated with: the examples and corners that the registry has of each, and what depends on the image.
//! A test holds both to the registry's schema.

use std::fmt::Write as _;

use mip_core::{DType, ImageDesc};
use mip_ops::{Call, OperatorSpec};

/// How an operator is called beyond what the registry says.
#[derive(Debug)]
struct OperatorCases {
    op: &'static str,
    /// With every kind of image and every size.
    usual: CasesOf,
    /// Ends of the parameters' ranges, with every kind of image and a few sizes.
    corners: CasesOf,
}

/// Parameters for inputs of a shape.
type CasesOf = fn(&ImageDesc) -> Vec<TestCase>;

/// Parameters, as in a pipeline file.
#[derive(Debug, Clone)]
pub(super) struct TestCase {
    pub(super) params: String,
    /// Whether every step stays in the range of binary32, so that the f64 reference tells the result. Bytes are compared
    /// with the CPU's in any case.
    pub(super) in_range: bool,
}

/// With every kind of image and every size: the examples that such images take, and what depends on the image.
pub(super) fn usual(spec: &OperatorSpec, desc: &ImageDesc) -> Vec<TestCase> {
    let mut cases = taken(spec, spec.example_calls(), desc);
    cases.extend(of_image(spec, desc).into_iter().flat_map(|table| (table.usual)(desc)));
    cases
}

/// Ends of the parameters' ranges, with every kind of image and a few sizes.
pub(super) fn corners(spec: &OperatorSpec, desc: &ImageDesc) -> Vec<TestCase> {
    let mut cases = taken(spec, spec.corner_calls(), desc);
    if spec.params.iter().any(|param| param.name == "border_value") && desc.dtype() != DType::I32 {
        // Which values a border may have depends on the dtype.
        if let Some(mut call) = spec.example_calls().into_iter().find(|call| takes(spec, call, desc)) {
            call.retain(|(name, _)| !name.starts_with("border"));
            cases.extend(border_values(desc, &text(&call)));
        }
    }
    cases.extend(of_image(spec, desc).into_iter().flat_map(|table| (table.corners)(desc)));
    cases
}

/// Nothing where i32 is refused.
fn of_image(spec: &OperatorSpec, desc: &ImageDesc) -> Option<&'static OperatorCases> {
    let taken = spec.extra.sums || desc.dtype() != DType::I32;
    OF_IMAGE.iter().find(|table| taken && table.op == spec.name)
}

/// The calls that images like this one take.
fn taken(spec: &OperatorSpec, calls: Vec<Call>, desc: &ImageDesc) -> Vec<TestCase> {
    calls.into_iter().filter(|call| takes(spec, call, desc)).map(|call| case(text(&call))).collect()
}

fn takes(spec: &OperatorSpec, call: &Call, desc: &ImageDesc) -> bool {
    let infers = |operator: Box<dyn mip_ops::Operator>| {
        operator.inputs_like(desc).is_ok_and(|inputs| operator.infer(&inputs).is_ok())
    };
    spec.call(call).is_ok_and(infers)
}

/// A call as it stands in the one-line form.
pub(super) fn text(call: &Call) -> String {
    call.iter().fold(String::new(), |mut text, (name, value)| {
        let blank = if text.is_empty() { "" } else { " " };
        let mut value = value.to_string();
        if value.starts_with('[') {
            value.retain(|c| c != ' ');
        }
        let _ = write!(text, "{blank}{name}={value}");
        text
    })
}

/// Operators some of whose parameters depend on the image.
const OF_IMAGE: &[OperatorCases] = &[
    OperatorCases {
        op: "resize",
        usual: |_| {
            texts(&[
                "width=40 height=30",
                "width=7 height=50 filter=nearest",
                "width=13 height=9 filter=area",
                "width=20 height=11 antialias=true",
            ])
        },
        corners: |d| {
            let (w, h) = (d.width().div_ceil(2), d.height().div_ceil(2));
            let (wide, tall) = (2 * d.width(), 2 * d.height());
            let mut cases = texts(&[
                "width=1 height=1 filter=bilinear antialias=false",
                "width=1 height=1 antialias=true",
                "width=1 height=1 filter=nearest",
                "width=1 height=1 filter=area",
                "shorter_side=1",
                "longer_side=1",
                "width=9 height=8 filter=bicubic a=-2",
                "width=9 height=8 filter=bicubic a=0",
                "width=9",
                "height=10 filter=area",
                "shorter_side=6 antialias=true",
            ]);
            cases.extend([
                case(format!("width={w} height={h}")),
                case(format!("width={w} height={h} filter=area")),
                case(format!("width={wide} height={tall} antialias=true")),
                case(format!("width={wide} height={tall} filter=area")),
            ]);
            cases
        },
    },
    OperatorCases {
        op: "gaussian_blur",
        usual: |_| {
            texts(&[
                "kernel=5 sigma=1.1",
                "kernel=3",
                "kernel=7 border=replicate",
                "kernel=31 border=wrap sigma=6",
                "kernel=9 border=reflect",
                "kernel=5 border=constant border_value=1",
            ])
        },
        corners: |_| {
            texts(&[
                "",
                "kernel=1",
                "kernel=1 border=constant border_value=1",
                "kernel=31 border=reflect101",
                "kernel=31 border=constant",
                "kernel=29 border=replicate sigma=1000000",
                "kernel=11 border=reflect sigma=0.001",
                "kernel=13 border=wrap",
            ])
        },
    },
    OperatorCases {
        op: "sobel",
        usual: |_| {
            texts(&[
                "",
                "border=replicate",
                "border=constant border_value=1",
                "border=wrap",
                "border=reflect",
            ])
        },
        corners: |_| Vec::new(),
    },
    OperatorCases {
        op: "crop",
        usual: |d| {
            let (w, h) = (d.width().div_ceil(2), d.height().div_ceil(2));
            vec![
                case(format!("x={} y={} width=1 height=1", d.width() - 1, d.height() - 1)),
                case(format!("center=true width={w} height={h}")),
            ]
        },
        corners: |d| {
            let (w, h) = (d.width(), d.height());
            vec![
                case(format!("width={w} height={h}")),
                case(format!("x=0 y=0 width={w} height=1 center=false")),
                case(format!("x={} width=1 height={h}", w / 2)),
                case(format!("y={} width={w} height={}", h / 2, h - h / 2)),
                case(format!("center=true width={} height={h}", w.div_ceil(3))),
            ]
        },
    },
    OperatorCases {
        op: "warp_affine",
        usual: |_| Vec::new(),
        // Not every matrix can be inverted.
        corners: |_| {
            texts(&[
                "matrix=[1e9,0,0,0,1e9,0] inverse=false border=reflect101",
                "matrix=[-1e9,0,7,0,1e9,0] inverse=true filter=bilinear border=replicate",
                "matrix=[0,1,0,1,0,0] width=1 height=1 filter=nearest",
            ])
        },
    },
    OperatorCases {
        op: "warp_perspective",
        usual: |_| Vec::new(),
        // Not every matrix can be inverted, and points at the ends of their range are one point.
        corners: |_| {
            texts(&[
                "matrix=[1e9,0,0,0,1e9,0,0,0,1e9] inverse=false border=reflect101",
                "matrix=[-1e9,0,7,0,1e9,0,0,0,1] inverse=true filter=bilinear border=replicate",
                "points=[-1e9,-1e9,1e9,-1e9,1e9,1e9,-1e9,1e9,0,0,7,0,7,5,0,5] width=1 height=1 filter=nearest",
            ])
        },
    },
    OperatorCases {
        op: "point",
        usual: |d| {
            let mut cases = texts(&["expr=\"v * 0.5 + 3\"", "expr=\"abs(v - v2) * gain\" gain=1.5"]);
            if d.format().rgb_indices().is_some() {
                cases.push(case("expr=\"(r*0.393 + g*0.769 + b*0.189) * gain\" gain=0.8".to_owned()));
                cases.push(case("expr=\"b, max(r, g), r / 3\"".to_owned()));
            }
            cases
        },
        corners: |d| {
            let mut cases = texts(&[
                "expr=\"x = max(v, 1); y = min(v2, x); x > y + 5 ? fma(x, 0.25, y) : round(x) / 3\"",
                "expr=\"floor(v) + ceil(v / 7) - sqrt(abs(v))\"",
                "expr=\"v * 1e30 * 1e30\"",
            ]);
            cases[2].in_range = false;
            // Alpha is kept as it is, so that its dtype stays.
            if !d.format().has_alpha() {
                cases.extend(texts(&["expr=v to=u8", "expr=\"v * 7\" to=u16", "expr=\"v / 255\" to=f32"]));
            }
            cases
        },
    },
];

/// The longest results that a resize may have.
pub(super) const LONG: &[(&str, &str, (u32, u32))] = &[
    ("resize", "width=2097152 height=1", (3, 2)),
    ("resize", "width=2097152 height=1 filter=nearest", (3, 1)),
    ("resize", "width=1 height=2097152 filter=area", (2, 5)),
    ("resize", "width=2 height=2097152 antialias=true", (2, 3)),
    ("warp_affine", "matrix=[90000,1,0,0,1,0] width=2097152 height=1", (23, 3)),
    ("warp_affine", "matrix=[1,0,0,0,90000,0] filter=nearest width=1 height=2097152", (3, 23)),
    ("warp_perspective", "matrix=[90000,1,0,0,1,0,0,0,1] width=2097152 height=1", (23, 3)),
    ("warp_perspective", "matrix=[1,0,0,0,90000,0,0,0,1] filter=nearest width=1 height=2097152", (3, 23)),
];

/// Sums of so many samples that rounding adds up unless something is done about it.
pub(super) const SUMS: &[(&str, &str, (u32, u32))] = &[
    ("resize", "width=1 height=1 filter=area", (525, 1)),
    ("resize", "width=1 height=1 filter=area", (4000, 3)),
    ("resize", "width=2 height=1 filter=area", (3, 20_000)),
    ("resize", "width=1 height=1 filter=area", (300_001, 1)),
    ("resize", "width=3 height=2 antialias=true", (70, 90)),
    ("resize", "width=5 height=4 antialias=true", (613, 41)),
];

fn case(params: String) -> TestCase {
    TestCase { params, in_range: true }
}

fn texts(list: &[&str]) -> Vec<TestCase> {
    list.iter().map(|&text| case(text.to_owned())).collect()
}

/// Constant borders with the ends of what an image may have there: samples, and of floats any number.
fn border_values(desc: &ImageDesc, params: &str) -> Vec<TestCase> {
    let border = |value: &str| case(format!("{params} border=constant border_value={value}"));
    let full = desc.dtype().full_scale().to_string();
    let mut cases = vec![case(format!("{params} border=constant")), border("0"), border(&full)];
    if desc.dtype().is_float() {
        cases.push(border("0.25"));
    }
    // With alpha, colours are divided by a sum of alphas: that of negative ones may come near 0, where small errors are large,
    // and of two infinite ones it is NaN, whose bits no device promises.
    if desc.dtype().is_float() && !desc.format().has_alpha() {
        cases.push(border("-3.5"));
    }
    if desc.dtype() == DType::F32 && !desc.format().has_alpha() {
        // Squares beyond binary32.
        cases.extend(["1e30", "-1e30"].map(|value| TestCase { in_range: false, ..border(value) }));
    }
    cases
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use mip_core::{Layout, PixelFormat};
    use mip_graph::PipelineSpec;
    use mip_ops::{ParamKind, ParamSpec, Value};

    use super::super::operators::{kinds, line, sizes};
    use super::*;

    /// Ends of ranges that no case can have, and why.
    const OUT_OF_REACH: &[(&str, &str, &str)] = &[
        ("crop", "width", "its greatest value is the image's"),
        ("crop", "height", "its greatest value is the image's"),
        ("crop", "x", "its greatest value is the image's"),
        ("crop", "y", "its greatest value is the image's"),
        ("crop_resize", "width", "a side of that length takes seconds"),
        ("crop_resize", "height", "a side of that length takes seconds"),
        ("crop_resize", "max", "more than there are boxes"),
        ("resize", "shorter_side", "both sides of that length are more than an image may have"),
        ("resize", "longer_side", "a side of that length takes seconds"),
        ("letterbox", "width", "a side of that length takes seconds"),
        ("letterbox", "height", "a side of that length takes seconds"),
        ("pad", "left", "more than an image may have"),
        ("pad", "top", "more than an image may have"),
        ("pad", "right", "more than an image may have"),
        ("pad", "bottom", "more than an image may have"),
        ("pad", "width", "its least value is the image's"),
        ("pad", "width", "a side of that length takes seconds"),
        ("pad", "height", "its least value is the image's"),
        ("pad", "height", "a side of that length takes seconds"),
        ("box_blur", "kernel", "it is odd and not negative"),
        ("clahe", "tiles", "they are not negative"),
        ("color_matrix", "matrix", "the longest list is of an image with alpha"),
        ("color_matrix", "matrix", "the longest list is of an image with alpha"),
        ("select", "channels", "no channel has that number"),
        ("select", "channels", "the fourth channel is that of an image with alpha"),
    ];

    /// All values that a parameter is validated with; `None` where it is left out.
    fn values(op: &OperatorSpec, param: &str) -> Vec<Option<Value>> {
        // Some operators take gray images alone, and some of those want a width that four divides.
        let images = |dtype| {
            let image = |width, format| ImageDesc::new(width, 11, format, dtype).unwrap();
            [image(33, PixelFormat::Rgb), image(36, PixelFormat::Gray)]
        };
        let long =
            LONG.iter().filter(|(name, _, _)| *name == op.name).map(|(_, params, _)| (*params).to_owned());
        let cases = |desc| usual(op, &desc).into_iter().chain(corners(op, &desc));
        let all = DType::ALL.into_iter().flat_map(images).flat_map(cases).map(|case| case.params).chain(long);
        let value = |params: String| {
            let spec = PipelineSpec::parse_line(&line(op.name, &params)).unwrap();
            let given = spec.tasks.last().unwrap().params.iter().find(|(name, _)| name.value == param);
            given.map(|(_, value)| value.value.clone())
        };
        all.map(value).collect()
    }

    fn numbers_of(value: &Value) -> Vec<f64> {
        match value {
            Value::Int(v) => vec![*v as f64],
            Value::Float(v) => vec![*v],
            Value::List(list) => list.clone(),
            _ => Vec::new(),
        }
    }

    /// What is missing among the values of a parameter.
    fn missing(param: &ParamSpec, values: &[Option<Value>]) -> Vec<String> {
        let given = || values.iter().flatten();
        let numbers = || given().flat_map(numbers_of);
        let lowest = |min: f64, above: bool| {
            let near = |v: f64| if above { v > min && v <= min + 1e-3 } else { v == min };
            (!numbers().any(near)).then(|| format!("{min}"))
        };
        let highest = |max: f64| (!numbers().any(|v| v == max)).then(|| format!("{max}"));
        let word = |word: &str| {
            let default = param.default == Some(word) && values.contains(&None);
            let text = |v: &Value| match v {
                Value::Bool(v) => v.to_string() == word,
                Value::Text(v) => v == word,
                _ => false,
            };
            (!default && !given().any(text)).then(|| word.to_owned())
        };
        match param.kind {
            ParamKind::Int { min, max, .. } => {
                lowest(min as f64, false).into_iter().chain(highest(max as f64)).collect()
            }
            ParamKind::Float { min, max, above_min } => {
                lowest(min, above_min).into_iter().chain(highest(max)).collect()
            }
            ParamKind::Numbers { max, .. } => lowest(-max, false).into_iter().chain(highest(max)).collect(),
            ParamKind::PerChannel { min, max, above_min } => {
                let lists = given().any(|v| matches!(v, Value::List(list) if list.len() > 1));
                let list = (!lists).then(|| "a list".to_owned());
                lowest(min, above_min).into_iter().chain(highest(max)).chain(list).collect()
            }
            // What a text says has no ends.
            ParamKind::Text { .. } => Vec::new(),
            ParamKind::Bool => ["true", "false"].into_iter().filter_map(word).collect(),
            ParamKind::Choice { words } => words.iter().copied().filter_map(word).collect(),
        }
    }

    #[test]
    fn calls_are_written_as_they_are_read() {
        for spec in mip_ops::operators() {
            for call in spec.calls() {
                let text = line(spec.name, &text(&call));
                let read = PipelineSpec::parse_line(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
                let read = read.tasks.last().unwrap().params.iter();
                let read: Call =
                    read.map(|(name, value)| (name.value.clone(), value.value.clone())).collect();
                let same = |call: &Call| spec.call(call).map(|operator| format!("{operator:?}"));
                assert_eq!(same(&read), same(&call), "{text}");
            }
        }
    }

    /// A parameter, a word or an end of a range that the registry's calls do not reach fails here until it is validated.
    #[test]
    fn every_parameter_of_the_registry_is_validated_at_its_corners() {
        let mut gaps = Vec::new();
        for spec in mip_ops::operators() {
            for param in spec.params {
                let values = values(spec, param.name);
                if !param.required && !values.contains(&None) {
                    gaps.push(format!("{} {}: never left out", spec.name, param.name));
                }
                let is_it = |(op, name, _): &&(&str, &str, &str)| (*op, *name) == (spec.name, param.name);
                let out_of_reach = OUT_OF_REACH.iter().filter(is_it).count();
                let missing = missing(param, &values);
                let reachable = missing.len().saturating_sub(out_of_reach);
                if reachable > 0 {
                    gaps.push(format!("{} {}: not with {}", spec.name, param.name, missing.join(", ")));
                }
            }
        }
        assert_eq!(gaps, [""; 0]);
    }

    #[test]
    fn what_is_missing_is_found() {
        let sobel = mip_ops::spec("sobel").unwrap();
        let border = sobel.params.iter().find(|p| p.name == "border").unwrap();
        let mut values = values(sobel, "border");
        assert_eq!(missing(border, &values), [""; 0]);
        values.retain(|value| value.as_ref() != Some(&Value::Text("wrap".to_owned())));
        assert_eq!(missing(border, &values), ["wrap"]);
        let kernel = ParamSpec::new("kernel", ParamKind::Int { min: 1, max: 31, odd: true }, "");
        assert_eq!(missing(&kernel, &[Some(Value::Int(1)), Some(Value::Int(29))]), ["31"]);
    }

    #[test]
    fn every_kind_of_image_is_among_the_cases_and_odd_and_even_sides() {
        for full in [false, true] {
            let kinds = kinds(full);
            for format in PixelFormat::PICTURES {
                assert!(kinds.iter().any(|kind| kind.0 == format));
            }
            let others: BTreeSet<String> =
                kinds.iter().map(|kind| format!("{} {}", kind.1, kind.2)).collect();
            for dtype in DType::ALL {
                assert!(others.iter().any(|kind| kind.starts_with(&dtype.to_string())));
            }
            for layout in Layout::ALL {
                assert!(others.iter().any(|kind| kind.ends_with(&layout.to_string())));
            }
        }
        for odd in [0, 1] {
            let sizes = sizes(false);
            assert!(sizes.iter().any(|(w, _)| w % 2 == odd) && sizes.iter().any(|(_, h)| h % 2 == odd));
        }
    }
}
