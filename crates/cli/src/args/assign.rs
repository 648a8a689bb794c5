use std::path::PathBuf;
use std::str::FromStr;

/// `--set task.parameter=value`
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SetParameter {
    pub(crate) task: String,
    pub(crate) parameter: String,
    pub(crate) value: String,
}

impl FromStr for SetParameter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected TASK.PARAMETER=VALUE, for example `soft.sigma=2.5`".to_owned();
        let (target, value) = text.split_once('=').ok_or_else(wrong)?;
        let (task, parameter) = target.split_once('.').ok_or_else(wrong)?;
        if task.is_empty() || parameter.is_empty() || value.is_empty() {
            return Err(wrong());
        }
        Ok(Self { task: task.into(), parameter: parameter.into(), value: value.into() })
    }
}

/// `--input NAME=FILE`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedInput {
    pub(crate) name: String,
    pub(crate) file: PathBuf,
}

impl FromStr for NamedInput {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, file)) if !name.is_empty() && !file.is_empty() => {
                Ok(Self { name: name.trim_start_matches('@').into(), file: file.into() })
            }
            _ => Err("expected NAME=FILE, for example `left=left.png`".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_split_at_the_first_signs() {
        let set: SetParameter = "soft.sigma=2.5".parse().unwrap();
        assert_eq!((set.task.as_str(), set.parameter.as_str(), set.value.as_str()), ("soft", "sigma", "2.5"));
        for bad in ["soft.sigma", "sigma=2", ".a=1", "a.=1", "a.b="] {
            assert!(bad.parse::<SetParameter>().unwrap_err().contains("TASK.PARAMETER=VALUE"), "{bad}");
        }
        let input: NamedInput = "@left=a=b.png".parse().unwrap();
        assert_eq!((input.name.as_str(), input.file.to_str()), ("left", Some("a=b.png")));
        assert!("left=".parse::<NamedInput>().is_err() && "left.png".parse::<NamedInput>().is_err());
    }
}
