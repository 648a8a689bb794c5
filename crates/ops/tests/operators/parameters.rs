//! What must hold for every parameter of every operator.

use std::collections::BTreeSet;

use crate::examples::{Params, examples};
use mip_core::{DType, ImageDesc, Layout, PixelFormat};
use mip_ops::{Change, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec, Value, create, operators};
use proptest::prelude::*;
use proptest::sample::select;

/// Expressions that need no more than an image.
const TEXTS: &[&str] = &["v + 1", "v * v", "r, g, b", "v > 3 ? 1 : v"];

/// A value that a parameter allows. Whole numbers stay small: they are sizes.
fn value(kind: ParamKind) -> BoxedStrategy<Value> {
    let number = |min: f64, max: f64, above_min: bool| {
        let near = (-4.0_f64..300.0).prop_map(move |v| v.clamp(min, max));
        let far = (0.0..=1.0_f64).prop_map(move |t| min + t * (max - min));
        prop_oneof![near, far]
            .prop_map(move |v| if above_min && v <= min { f64::midpoint(min, max) } else { v })
    };
    match kind {
        ParamKind::Int { min, max, odd } => {
            (min..=max.min(min + 40)).prop_map(move |v| Value::Int(if odd { v | 1 } else { v })).boxed()
        }
        ParamKind::Float { min, max, above_min } => {
            number(min, max, above_min).prop_map(Value::Float).boxed()
        }
        ParamKind::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        ParamKind::Choice { words } => select(words).prop_map(Value::from).boxed(),
        ParamKind::Text { .. } => select(TEXTS).prop_map(Value::from).boxed(),
        ParamKind::Numbers { counts, max } => {
            let lists =
                select(counts).prop_flat_map(move |n| prop::collection::vec(number(-max, max, false), n));
            lists.prop_map(Value::List).boxed()
        }
        ParamKind::PerChannel { min, max, above_min } => {
            let lists = [1, 3, 4].map(|n| prop::collection::vec(number(min, max, above_min), n));
            select(lists.to_vec()).prop_flat_map(|list| list).prop_map(Value::List).boxed()
        }
    }
}

fn image() -> impl Strategy<Value = ImageDesc> {
    let formats = (select(&PixelFormat::ALL[..]), select(&DType::ALL[..]), select(&Layout::ALL[..]));
    (1..20_u32, 1..20_u32, formats).prop_map(|(width, height, (format, dtype, layout))| {
        ImageDesc::new(width, height, format, dtype).unwrap().with_layout(layout)
    })
}

/// The examples that a parameter goes with: it does not contradict what they give.
fn examples_with(spec: &'static OperatorSpec, param: &ParamSpec) -> impl Iterator<Item = Params> {
    let (name, value) = (param.name, param.kind.corners().swap_remove(0));
    examples(spec).into_iter().filter(move |params| {
        let others = params.iter().filter(|(given, _)| given != name).cloned();
        let with: Params = others.chain([(name.to_owned(), value.clone())]).collect();
        !matches!(create(spec.name, &with), Err(ParamError::Conflict { .. }))
    })
}

/// Every uniform parameter with every example that it goes with.
fn uniform_parameters() -> Vec<(&'static OperatorSpec, &'static ParamSpec, Params)> {
    let mut all = Vec::new();
    for spec in operators() {
        for param in spec.params.iter().filter(|p| p.change == Change::Uniform) {
            // With some of the others' values it may be structural.
            let uniform =
                |params: &Params| create(spec.name, params).unwrap().change(param.name) == Change::Uniform;
            all.extend(examples_with(spec, param).filter(uniform).map(|params| (*spec, param, params)));
        }
    }
    all
}

fn with_two_values() -> impl Strategy<Value = (&'static OperatorSpec, &'static ParamSpec, Params, [Value; 2])>
{
    select(uniform_parameters()).prop_flat_map(|(spec, param, params)| {
        [value(param.kind), value(param.kind)].prop_map(move |two| (spec, param, params.clone(), two))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    /// A uniform parameter changes nothing but uniforms, set alone or when the operator is made.
    #[test]
    fn uniform_parameters_are_uniform((spec, param, params, values) in with_two_values(), image in image()) {
        let inputs = vec![image; spec.inputs.len()];
        let lowered = values.map(|value| {
            let mut operator = create(spec.name, &params).unwrap();
            operator.set(param.name, spec.check(param.name, &value).unwrap()).unwrap();
            assert_eq!(operator.get(param.name), Some(value.clone()));
            let mut all: Params = params.iter().filter(|(name, _)| name != param.name).cloned().collect();
            all.push((param.name.to_owned(), value));
            let made = create(spec.name, &all).unwrap();
            assert_eq!(operator.lower(&inputs), made.lower(&inputs));
            operator.lower(&inputs)
        });
        // What does not fit the image (a list of three on a gray one) is refused; that is tested elsewhere.
        if let [Ok(a), Ok(b)] = lowered {
            prop_assert_eq!(a.steps.len(), b.steps.len());
            for (a, b) in a.steps.iter().zip(&b.steps) {
                prop_assert_eq!((&a.kernel, &a.inputs, &a.output), (&b.kernel, &b.inputs, &b.output));
                prop_assert_eq!(a.uniforms.len(), b.uniforms.len());
            }
        }
    }

    /// Any mixture of allowed values is accepted or refused with a reason, and never panics.
    #[test]
    fn any_mixture_of_values(
        (spec, params) in select(operators()).prop_flat_map(|spec| {
            let all: Vec<_> = spec.params.iter().map(|p| prop::option::weighted(0.5, value(p.kind))).collect();
            all.prop_map(move |values| {
                let given = spec.params.iter().zip(values).filter_map(|(p, v)| Some((p.name.to_owned(), v?)));
                (spec, given.collect::<Params>())
            })
        }),
        image in image(),
    ) {
        let inputs = vec![image; spec.inputs.len()];
        match create(spec.name, &params) {
            Err(error) => prop_assert!(error.to_string().contains(spec.name)),
            Ok(operator) => {
                for (name, value) in &params {
                    prop_assert_eq!(operator.get(name), Some(value.clone()));
                }
                prop_assert_eq!(operator.infer(&inputs).is_ok(), operator.lower(&inputs).is_ok());
            }
        }
    }
}

/// Every uniform parameter does reach the uniforms (a parameter that does nothing would pass the test above).
#[test]
fn uniform_parameters_have_an_effect() {
    // Some operators take bytes alone, and some round their parameters.
    let images = [DType::F32, DType::U8].map(|t| ImageDesc::new(6, 5, PixelFormat::Rgb, t).unwrap());
    for spec in operators() {
        for param in spec.params.iter().filter(|p| p.change == Change::Uniform) {
            let values = match param.kind {
                ParamKind::Bool => vec![Value::Bool(false), Value::Bool(true)],
                ParamKind::Int { min, .. } => [min, min + 2].map(Value::Int).to_vec(),
                ParamKind::Numbers { counts, .. } => [0.25, 0.75]
                    .map(|v| Value::List((1..=counts[0]).map(|i| v * (i * i) as f64).collect()))
                    .to_vec(),
                _ => [0.25, 0.75, 1.75, -0.25].map(Value::Float).to_vec(),
            };
            let all =
                examples_with(spec, param).flat_map(|params| images.map(|image| (params.clone(), image)));
            let differs = all.into_iter().any(|(params, image)| {
                let uniforms = values.iter().filter_map(|value| {
                    let mut operator = create(spec.name, &params).unwrap();
                    operator.set(param.name, value.clone()).unwrap();
                    let lowered = operator.lower(&operator.inputs_like(&image).unwrap()).ok()?;
                    Some(lowered.steps.into_iter().map(|step| step.uniforms).collect::<Vec<_>>())
                });
                let uniforms: Vec<_> = uniforms.collect();
                uniforms.windows(2).any(|two| two[0] != two[1])
            });
            assert!(differs, "'{}' of '{}'", param.name, spec.name);
        }
    }
}

/// What a specification calls uniform is not where other parameters make it structural.
#[test]
fn a_large_kernel_makes_its_sigma_structural() {
    let change = |kernel: i64| {
        create("gaussian_blur", &[("kernel".to_owned(), kernel.into())]).unwrap().change("sigma")
    };
    assert_eq!((change(31), change(33)), (Change::Uniform, Change::Structural));
}

/// The other direction: a structural parameter does change kernels or shapes, or it should not cost a plan.
#[test]
fn structural_parameters_need_a_new_plan() {
    let image = ImageDesc::new(40, 30, PixelFormat::Rgb, DType::F32).unwrap();
    // Some operators take planes of integers alone.
    let of = |format, dtype| ImageDesc::new(40, 30, format, dtype).unwrap();
    let (gray, planes) = (of(PixelFormat::Gray, DType::U8), of(PixelFormat::Gray, DType::U16));
    let images = [image, planes, of(PixelFormat::Rgba, DType::U8), gray];
    for spec in operators() {
        for param in spec.params.iter().filter(|p| p.change == Change::Structural) {
            let values: Vec<Value> = match param.kind {
                // The last two where a result must not be smaller than the image.
                ParamKind::Int { min, .. } => [min, min + 2, 61, 65].map(Value::Int).to_vec(),
                ParamKind::Choice { words } => words.iter().map(|w| Value::from(*w)).collect(),
                ParamKind::Bool => vec![Value::Bool(false), Value::Bool(true)],
                ParamKind::Text { .. } => {
                    let given = examples(spec).into_iter().flatten();
                    let given = given.filter(|(name, _)| name == param.name).map(|(_, value)| value);
                    given.chain(TEXTS.iter().map(|text| Value::from(*text))).collect()
                }
                ParamKind::Numbers { counts, .. } => {
                    let lists = |&count: &usize| [0.0, 1.0, 3.0].map(|v| Value::List(vec![v; count]));
                    counts.iter().flat_map(lists).collect()
                }
                ParamKind::Float { min, max, .. } if max < 0.75 => {
                    vec![Value::Float(0.25 * min), Value::Float(0.75 * min)]
                }
                _ => vec![Value::Float(0.25), Value::Float(0.75)],
            };
            let all =
                images.iter().flat_map(|image| examples(spec).into_iter().map(move |params| (image, params)));
            let differs = all.into_iter().any(|(&image, params)| {
                let plans = values.iter().filter_map(|value| {
                    let mut operator = create(spec.name, &params).unwrap();
                    operator.set(param.name, value.clone()).ok()?;
                    let lowered = operator.lower(&operator.inputs_like(&image).unwrap()).ok()?;
                    Some(lowered.steps.into_iter().map(|s| (s.kernel, s.output)).collect::<Vec<_>>())
                });
                let plans: Vec<_> = plans.collect();
                plans.windows(2).any(|two| two[0] != two[1])
            });
            // Two means are two lists of numbers; a word is no number that a replay could patch.
            let patched = (spec.name, param.name) == ("adaptive_threshold", "method");
            // A task keeps its number of inputs.
            let kept = (spec.name, param.name) == ("tile", "count");
            assert!(differs || patched || kept, "'{}' of '{}'", param.name, spec.name);
        }
    }
}

#[test]
fn defaults_are_what_they_say() {
    for spec in operators() {
        for params in examples(spec) {
            let operator = create(spec.name, &params).unwrap();
            for param in spec.params.iter().filter(|p| params.iter().all(|(name, _)| name != p.name)) {
                assert!(!param.required, "examples give what is required");
                let documented = param.default.map(|text| {
                    let checked = spec.check(param.name, &Value::parse(text));
                    checked.unwrap_or_else(|e| panic!("default of {}: {e}", spec.name))
                });
                assert_eq!(operator.get(param.name), documented, "'{}' of '{}'", param.name, spec.name);
            }
        }
    }
}

#[test]
fn every_parameter_is_documented_distinct_and_in_an_example() {
    for spec in operators() {
        let names: BTreeSet<_> = spec.params.iter().map(|p| p.name).collect();
        assert_eq!(names.len(), spec.params.len(), "{}", spec.name);
        assert!(!spec.summary.is_empty() && !spec.inputs.is_empty());
        let used: BTreeSet<_> = examples(spec).into_iter().flatten().map(|(name, _)| name).collect();
        for param in spec.params {
            assert!(
                !param.help.is_empty() && used.contains(param.name),
                "'{}' of '{}'",
                param.name,
                spec.name
            );
            assert!(!(param.required && param.default.is_some()), "'{}' of '{}'", param.name, spec.name);
        }
    }
}

/// What `get` gives makes the same operator again: how a pipeline is written back to a file.
#[test]
fn operators_are_made_again_from_their_own_values() {
    for spec in operators() {
        for params in examples(spec) {
            let operator = create(spec.name, &params).unwrap();
            // An operator may have parameters of its own: the numbers that an expression names.
            let mut names: BTreeSet<&str> = spec.params.iter().map(|p| p.name).collect();
            names.extend(params.iter().map(|(name, _)| name.as_str()));
            let values = |o: &dyn Operator| -> Params {
                names.iter().filter_map(|name| Some(((*name).to_owned(), o.get(name)?))).collect()
            };
            let again = create(spec.name, &values(operator.as_ref())).unwrap();
            assert_eq!(values(again.as_ref()), values(operator.as_ref()));
        }
    }
}
