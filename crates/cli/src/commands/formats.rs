use mip_io::{Facts, FileFormat, Samples};
use serde_json::{Value, json};

use crate::console;
use crate::failure::Failure;

/// Lists the picture formats: extensions, what is read and written, and what can be set
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mip formats\n  mip formats --json

The first bytes of a file tell its format, whatever its name; TGA alone has none that tell, so that its extension does.
Where nothing else is said, what is read is what is written.")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.json {
        return console::json(&json!({ "formats": FileFormat::ALL.map(document) }));
    }
    let extensions =
        |facts: &Facts| facts.extensions.iter().map(|e| format!(".{e}")).collect::<Vec<_>>().join(" ");
    let width = FileFormat::ALL.iter().map(|format| extensions(format.facts()).len()).max().unwrap_or(0);
    for format in FileFormat::ALL {
        let facts = format.facts();
        console::line(format_args!("{:5} {:width$}  {}", facts.name, extensions(facts), about(format)))?;
    }
    Ok(())
}

/// What a format can hold, and what can be set.
fn about(format: FileFormat) -> String {
    let facts = format.facts();
    let mut about = vec![pictures(facts.reads)];
    if facts.writes.is_empty() {
        about.push("only read".to_owned());
    } else if facts.writes != facts.reads {
        about.push(format!("writes {}", pictures(facts.writes)));
    }
    for (is, words) in
        [(facts.lossy, "lossy"), (facts.quality, "--quality"), (facts.compression, "--compression")]
    {
        if is {
            about.push(words.to_owned());
        }
    }
    if let Some(feature) = format.missing_feature() {
        about.push(format!("not in this program, which was built without the feature `{feature}`"));
    }
    about.join("; ")
}

/// `u8 u16 gray rgb rgba`: the sample types, then the pixels that all of them have.
fn pictures(all: &[Samples]) -> String {
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for samples in all {
        let formats: Vec<&str> = samples.formats.iter().map(|format| format.name()).collect();
        match groups.iter_mut().find(|(_, known)| *known == formats) {
            Some((types, _)) => types.push(samples.dtype.name()),
            None => groups.push((vec![samples.dtype.name()], formats)),
        }
    }
    let group =
        |(types, formats): &(Vec<&str>, Vec<&str>)| format!("{} {}", types.join(" "), formats.join(" "));
    groups.iter().map(group).collect::<Vec<_>>().join(", ")
}

fn document(format: FileFormat) -> Value {
    let facts = format.facts();
    let samples = |all: &[Samples]| -> Vec<Value> {
        all.iter().map(|samples| json!({ "dtype": samples.dtype, "formats": samples.formats })).collect()
    };
    json!({
        "name": facts.name,
        "missing_feature": format.missing_feature(),
        "extensions": facts.extensions,
        "reads": samples(facts.reads),
        "writes": samples(facts.writes),
        "lossy": facts.lossy,
        "longest_side": facts.longest_side,
        "quality": facts.quality,
        "compression": facts.compression,
    })
}
