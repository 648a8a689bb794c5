use std::str::FromStr;

use clap::Args;
use mip_core::{DType, ImageDesc, Layout, PixelFormat};

use crate::failure::Failure;

/// The shapes of a pipeline's inputs, for commands that read no images.
#[derive(Debug, Args)]
pub(crate) struct SizeArgs {
    /// Shape of the input images: width and height, then format and dtype (rgb,u8 when left out).
    /// For a pipeline with several inputs, `NAME=WxH...` gives one of them its own
    #[arg(long = "size", value_name = "[NAME=]WxH[,FORMAT][,TYPE]", required = true)]
    sizes: Vec<SizeArg>,
}

/// One `--size`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SizeArg {
    name: Option<String>,
    desc: ImageDesc,
}

impl SizeArgs {
    /// Shapes that another argument gave.
    pub(crate) const fn of(sizes: Vec<SizeArg>) -> Self {
        Self { sizes }
    }

    /// Shapes in the order of the pipeline's inputs.
    pub(crate) fn resolve(&self, inputs: &[String]) -> Result<Vec<ImageDesc>, Failure> {
        let names = || inputs.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        for name in self.sizes.iter().filter_map(|s| s.name.as_ref()) {
            if !inputs.contains(name) {
                return Err(Failure::Request(format!(
                    "--size names input '{name}', but the inputs are: {}",
                    names()
                )));
            }
        }
        let shape_of = |input: &String| {
            let own = self.sizes.iter().find(|s| s.name.as_ref() == Some(input));
            own.or_else(|| self.sizes.iter().find(|s| s.name.is_none())).map(|s| s.desc).ok_or_else(|| {
                Failure::Request(format!("no --size for input '{input}'; add `--size {input}=WxH`"))
            })
        };
        inputs.iter().map(shape_of).collect()
    }
}

impl FromStr for SizeArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, shape) = match text.split_once('=') {
            Some((name, shape)) => (Some(name.trim_start_matches('@').to_owned()), shape),
            None => (None, text),
        };
        let mut words = shape.split(',');
        let size = words.next().unwrap_or_default();
        let (width, height) =
            size.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?))).ok_or_else(
                || format!("'{size}' is no size; expected WIDTHxHEIGHT in pixels, for example 1920x1080"),
            )?;
        let (mut format, mut dtype, mut layout) = (PixelFormat::Rgb, DType::U8, Layout::Hwc);
        for word in words {
            match (PixelFormat::from_str(word), DType::from_str(word), Layout::from_str(word)) {
                (Ok(f), ..) => format = f,
                (_, Ok(d), _) => dtype = d,
                (.., Ok(l)) => layout = l,
                _ => {
                    return Err(format!(
                        "'{word}' is neither a format (gray, rgb, bgr, rgba, bgra) nor a dtype \
                         (u8, u16, f32) nor a layout (hwc, chw)"
                    ));
                }
            }
        }
        let desc = ImageDesc::new(width, height, format, dtype).map_err(|e| e.to_string())?;
        Ok(Self { name, desc: desc.with_layout(layout) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, String> {
        text.parse::<SizeArg>().map(|s| format!("{:?} {}", s.name, s.desc))
    }

    #[test]
    fn sizes_with_and_without_details() {
        assert_eq!(parse("1920x1080").unwrap(), "None 1920x1080 rgb u8");
        assert_eq!(parse("5x3,gray").unwrap(), "None 5x3 gray u8");
        assert_eq!(parse("left=5x3,u16,rgba,chw").unwrap(), "Some(\"left\") 5x3 rgba u16 chw");
    }

    #[test]
    fn wrong_sizes_say_what_is_right() {
        assert!(parse("1920").unwrap_err().contains("WIDTHxHEIGHT"));
        assert!(parse("0x5").unwrap_err().contains("no pixels"));
        assert!(parse("-1x5").unwrap_err().contains("WIDTHxHEIGHT"));
        assert!(parse("5x5,grey").unwrap_err().contains("'grey' is neither"));
    }

    #[test]
    fn every_input_gets_its_shape() {
        let args = |sizes: &[&str]| SizeArgs { sizes: sizes.iter().map(|s| s.parse().unwrap()).collect() };
        let inputs = ["left".to_owned(), "right".to_owned()];
        let shapes = args(&["4x4", "right=8x8,gray"]).resolve(&inputs).unwrap();
        assert_eq!((shapes[0].width, shapes[1].width), (4, 8));
        let missing = args(&["right=8x8"]).resolve(&inputs).unwrap_err();
        assert!(missing.message().unwrap().contains("no --size for input 'left'"));
        let unknown = args(&["middle=8x8"]).resolve(&inputs).unwrap_err();
        assert!(unknown.message().unwrap().contains("left, right"));
    }
}
