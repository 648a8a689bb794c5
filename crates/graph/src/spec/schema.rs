//! A JSON Schema of pipeline files, so that editors complete and check them.

use mip_ops::{OperatorSpec, ParamKind, ParamSpec, operators};
use serde_json::{Map, Value as Json, json};

const NAME: &str = "^[A-Za-z_][A-Za-z0-9_-]*$";

/// The JSON Schema (draft 2020-12) of pipeline files, made from the operators' specifications.
pub fn json_schema() -> Json {
    let mut tasks: Map<String, Json> =
        operators().iter().map(|spec| (definition(spec), task_schema(spec))).collect();
    tasks.insert(
        "name".to_owned(),
        json!({
            "description": "A name of letters, digits, '_' and '-', not beginning with a digit or '-'",
            "type": "string",
            "pattern": NAME,
        }),
    );
    tasks.insert(
        "source".to_owned(),
        json!({
            "description": "A task by name, or a pipeline input as @name",
            "type": "string",
            "pattern": "^@?[A-Za-z_][A-Za-z0-9_-]*$",
        }),
    );
    // The operator alone first, so that an editor offers the list of all before it knows which one it is.
    let names: Vec<&str> = operators().iter().map(|o| o.name).collect();
    let choose: Vec<Json> = operators()
        .iter()
        .map(|o| {
            json!({
                "if": { "properties": { "op": { "const": o.name } }, "required": ["op"] },
                "then": { "$ref": format!("#/$defs/{}", definition(o)) },
            })
        })
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Mini-ImagePipe pipeline",
        "type": "object",
        "required": ["task"],
        "additionalProperties": false,
        "properties": {
            "name": { "description": "A name for people", "type": "string" },
            "inputs": {
                "description": "Names of the pipeline inputs; one named 'input' when left out",
                "type": "array",
                "items": { "$ref": "#/$defs/name" },
                "uniqueItems": true,
            },
            "outputs": {
                "description": "Tasks whose results are given back; every task that nothing consumes when left out",
                "type": "array",
                "items": { "$ref": "#/$defs/name" },
                "uniqueItems": true,
            },
            "task": {
                "description": "The tasks; one without inputs takes the task before it",
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "required": ["op"],
                    "properties": { "op": { "description": "The operator", "enum": names } },
                    "allOf": choose,
                },
            },
        },
        "$defs": tasks,
    })
}

/// Where an operator's tasks are defined.
fn definition(spec: &OperatorSpec) -> String {
    format!("operator-{}", spec.name)
}

fn task_schema(spec: &OperatorSpec) -> Json {
    let mut properties = Map::new();
    properties.insert("name".to_owned(), json!({ "$ref": "#/$defs/name" }));
    properties.insert("op".to_owned(), json!({ "const": spec.name, "description": spec.summary }));
    properties.insert(
        "inputs".to_owned(),
        json!({
            "description": format!("Where its inputs come from, in order: {}", spec.inputs.join(", ")),
            "type": "array",
            "items": { "$ref": "#/$defs/source" },
            "minItems": spec.inputs.len(),
            "maxItems": spec.inputs.len() + spec.extra.inputs,
        }),
    );
    properties.extend(spec.params.iter().map(|p| (p.name.to_owned(), param_schema(p))));
    let mut required = vec!["op"];
    // Only one input can come from the task before.
    if spec.inputs.len() > 1 {
        required.push("inputs");
    }
    required.extend(spec.params.iter().filter(|p| p.required).map(|p| p.name));
    json!({
        "description": spec.summary,
        "type": "object",
        "required": required,
        "additionalProperties": spec.extra.number.as_ref().map_or(json!(false), param_schema),
        "properties": properties,
    })
}

fn param_schema(param: &ParamSpec) -> Json {
    let mut schema = match param.kind {
        ParamKind::Int { min, max, odd } => {
            let mut schema = json!({ "type": "integer", "minimum": min, "maximum": max });
            if odd {
                schema["not"] = json!({ "multipleOf": 2 });
            }
            schema
        }
        ParamKind::Float { min, max, above_min } => number(min, max, above_min),
        ParamKind::Bool => json!({ "type": "boolean" }),
        ParamKind::Choice { words } => {
            // Words of digits may stand without quotes.
            let numbers = words.iter().filter_map(|word| word.parse::<i64>().ok()).map(Json::from);
            json!({ "enum": words.iter().map(|&word| word.into()).chain(numbers).collect::<Vec<Json>>() })
        }
        ParamKind::Text { .. } => json!({ "type": "string" }),
        ParamKind::Numbers { counts, max } => {
            let one = number(-max, max, false);
            let of = |count: &usize| json!({ "type": "array", "items": one, "minItems": count, "maxItems": count });
            match counts {
                [count] => of(count),
                several => json!({ "oneOf": several.iter().map(of).collect::<Vec<Json>>() }),
            }
        }
        ParamKind::PerChannel { min, max, above_min } => {
            let one = number(min, max, above_min);
            json!({ "oneOf": [one, { "type": "array", "items": one, "minItems": 1, "maxItems": 4 }] })
        }
    };
    schema["description"] = json!(param.help);
    if let Some(default) = param.default {
        schema["default"] = default_value(param.kind, default);
    }
    schema
}

fn number(min: f64, max: f64, above_min: bool) -> Json {
    let lower = if above_min { "exclusiveMinimum" } else { "minimum" };
    json!({ "type": "number", lower: min, "maximum": max })
}

/// The default in the parameter's own type; as text where it describes itself in words.
fn default_value(kind: ParamKind, default: &str) -> Json {
    let value = mip_ops::Value::parse(default);
    match (kind, kind.accept(&value)) {
        (ParamKind::PerChannel { .. }, Some(mip_ops::Value::List(list))) if list.len() == 1 => json!(list[0]),
        (_, Some(accepted)) => json!(accepted),
        (_, None) => json!(default),
    }
}
