use mip_ops::operators;
use serde_json::{Value as Json, json};

use super::{PipelineSpec, json_schema};

/// Whether a document is valid, for the part of JSON Schema that ours uses (the crate that knows all of it
/// brings fifty others). A keyword it does not know fails the test.
fn valid(root: &Json, schema: &Json, document: &Json) -> bool {
    let keywords = schema.as_object().expect("a schema is an object");
    keywords.iter().all(|(keyword, value)| match keyword.as_str() {
        "$schema" | "$defs" | "title" | "description" | "default" | "then" => true,
        "$ref" => {
            let pointer = value.as_str().unwrap().strip_prefix('#').unwrap();
            valid(root, root.pointer(pointer).expect(pointer), document)
        }
        "type" => match value.as_str().unwrap() {
            "object" => document.is_object(),
            "array" => document.is_array(),
            "string" => document.is_string(),
            "boolean" => document.is_boolean(),
            "number" => document.is_number(),
            "integer" => document.is_i64(),
            other => panic!("type {other}"),
        },
        "const" => document == value,
        "enum" => value.as_array().unwrap().contains(document),
        "not" => !valid(root, value, document),
        "allOf" => value.as_array().unwrap().iter().all(|s| valid(root, s, document)),
        "oneOf" => value.as_array().unwrap().iter().filter(|s| valid(root, s, document)).count() == 1,
        "if" => !valid(root, value, document) || valid(root, &schema["then"], document),
        "minimum" => document.as_f64().is_none_or(|d| d >= value.as_f64().unwrap()),
        "exclusiveMinimum" => document.as_f64().is_none_or(|d| d > value.as_f64().unwrap()),
        "maximum" => document.as_f64().is_none_or(|d| d <= value.as_f64().unwrap()),
        "multipleOf" => document.as_i64().is_none_or(|d| d % value.as_i64().unwrap() == 0),
        "pattern" => document.as_str().is_none_or(|d| matches_name(value.as_str().unwrap(), d)),
        "minItems" => document.as_array().is_none_or(|d| d.len() as u64 >= value.as_u64().unwrap()),
        "maxItems" => document.as_array().is_none_or(|d| d.len() as u64 <= value.as_u64().unwrap()),
        "uniqueItems" => {
            document.as_array().is_none_or(|d| d.iter().enumerate().all(|(i, x)| !d[..i].contains(x)))
        }
        "items" => document.as_array().is_none_or(|d| d.iter().all(|item| valid(root, value, item))),
        "required" => document.as_object().is_none_or(|d| {
            value.as_array().unwrap().iter().all(|key| d.contains_key(key.as_str().unwrap()))
        }),
        "properties" => document.as_object().is_none_or(|d| {
            d.iter().all(|(key, item)| value.get(key).is_none_or(|schema| valid(root, schema, item)))
        }),
        "additionalProperties" => {
            assert_eq!(value, &json!(false));
            document.as_object().is_none_or(|d| d.keys().all(|key| schema["properties"].get(key).is_some()))
        }
        other => panic!("keyword {other}"),
    })
}

/// The two patterns of names, with and without a leading `@`.
fn matches_name(pattern: &str, text: &str) -> bool {
    let text = match pattern.strip_prefix("^@?") {
        Some(_) => text.strip_prefix('@').unwrap_or(text),
        None => text,
    };
    assert!(pattern.ends_with("[A-Za-z_][A-Za-z0-9_-]*$"), "{pattern}");
    crate::names::check_name("a task", text).is_ok()
}

fn accepts(toml: &str) -> bool {
    let document: Json = toml::from_str(toml).expect("TOML");
    let schema = json_schema();
    valid(&schema, &schema, &document)
}

#[test]
fn the_schema_names_every_operator_with_its_parameters() {
    let schema = json_schema();
    let names = schema["properties"]["task"]["items"]["properties"]["op"]["enum"].as_array().unwrap();
    assert_eq!(names.len(), operators().len());
    let blur = &schema["$defs"]["operator-gaussian_blur"]["properties"];
    assert_eq!(blur["kernel"]["default"], json!(5));
    assert_eq!(blur["kernel"]["maximum"], json!(255));
    assert!(blur["sigma"]["description"].as_str().is_some_and(|d| d.contains("pixels")));
}

#[test]
fn every_default_that_is_a_value_fits_its_own_schema() {
    let schema = json_schema();
    for spec in operators() {
        for param in spec.params {
            let own = &schema["$defs"][format!("operator-{}", spec.name)]["properties"][param.name];
            if let Some(default) = own.get("default") {
                assert!(valid(&schema, own, default), "{} {}: {default}", spec.name, param.name);
            }
        }
    }
}

#[test]
fn the_schema_takes_the_files_that_are_right_and_no_others() {
    let good = [
        "[[task]]\nop = \"sobel\"",
        "name = \"x\"\ninputs = [\"l\", \"r\"]\noutputs = [\"mix\"]\n[[task]]\nname = \"mix\"\nop = \"blend\"\ninputs = [\"@l\", \"@r\"]",
        "[[task]]\nop = \"resize\"\nwidth = 3\nheight = 4\n[[task]]\nop = \"color_convert\"\nto = \"gray\"",
        "[[task]]\nop = \"gaussian_blur\"\nkernel = 31\nsigma = 2",
        "[[task]]\nop = \"normalize\"\nmean = [0.5, 0.4, 0.3]\nstd = 0.25",
        "[[task]]\nop = \"rotate90\"\ndirection = 180\n[[task]]\nop = \"rotate90\"\ndirection = \"180\"",
    ];
    for text in good {
        assert!(accepts(text), "{text}");
        PipelineSpec::parse_toml(text, "f").unwrap_or_else(|e| panic!("{text}\n{e}"));
    }
    let bad = [
        "",
        "task = []",
        "nam = \"x\"\n[[task]]\nop = \"sobel\"",
        "[[task]]\nname = \"a\"",
        "[[task]]\nop = \"sobl\"",
        "[[task]]\nop = \"sobel\"\nkernel = 3",
        "[[task]]\nop = \"gaussian_blur\"\nkernel = 4",
        "[[task]]\nop = \"gaussian_blur\"\nkernel = 257",
        "[[task]]\nop = \"gaussian_blur\"\nkernel = 3.5",
        "[[task]]\nop = \"gaussian_blur\"\nsigma = 0",
        "[[task]]\nop = \"gaussian_blur\"\nsigma = \"1\"",
        "[[task]]\nop = \"color_convert\"",
        "[[task]]\nop = \"color_convert\"\nto = \"grey\"",
        "[[task]]\nname = \"a b\"\nop = \"sobel\"",
        "[[task]]\nop = \"sobel\"\ninputs = [\"@input\", \"@input\"]",
        "[[task]]\nop = \"sobel\"\ninputs = \"@input\"",
        "[[task]]\nop = \"blend\"",
        "[[task]]\nop = \"rotate90\"\ndirection = 90",
        "[[task]]\nop = \"normalize\"\nmean = [1, 2, 3, 4, 5]\nstd = 1",
    ];
    for text in bad {
        assert!(!accepts(text), "{text}");
        PipelineSpec::parse_toml(text, "f").expect_err(text);
    }
}
