use mip_core::{ImageDesc, PixelFormat};
use mip_plan::Channel;

use crate::expr::Term;
use crate::field::{Parameters as _, create};
use crate::pointwise::{Formula, Pointwise, pointwise};
use crate::{Extra, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "select",
    summary: "Picks and reorders channels",
    inputs: &["in"],
    params: &[ParamSpec::new(
        "channels",
        ParamKind::numbers(&[1, 3, 4], 3.0),
        "For each channel of the result the channel of the image, from 0 in its own order; -1 is filled with 0",
    )
    .required()],
    extra: Extra::NONE,
    examples: &["channels=[2,1,0]", "channels=[1]", "channels=[0,0,-1,0]", "channels=[3,0,1,2]", "channels=[-1,2,2]"],
    create: create::<Select>,
};

/// Channels of an image by their index, in any order and any number of times.
///
/// One channel makes a gray image; as many as the image has keep its format; otherwise three make rgb and four rgba.
/// Samples are moved, not computed with. CV-CUDA's `channelreorder`, OpenCV's `mixChannels` and `extractChannel`. To split an
/// image, take a task for each channel: those of one input are one launch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Select {
    channels: Option<Vec<f64>>,
}

impl Select {
    /// These channels, from 0; -1 is filled with 0.
    pub fn new(channels: &[i8]) -> Self {
        Self { channels: Some(channels.iter().map(|&c| f64::from(c)).collect()) }
    }
}

pointwise! { Select: SPEC, "channels" => channels }

impl Pointwise for Select {
    fn formula(&self, input: &ImageDesc) -> Result<Formula, ParamError> {
        let channels = self.channels.as_deref().unwrap_or_default();
        let term = |&channel: &f64| {
            let inside = channel.fract() == 0.0 && (-1.0..input.channels() as f64).contains(&channel);
            inside.then(|| match channel {
                -1.0 => Term::from(0.0),
                _ => Term::channel(0, Channel::Index(channel as u8)),
            })
        };
        let Some(terms) = channels.iter().map(term).collect::<Option<Vec<_>>>() else {
            let given =
                format!("[{}]", channels.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
            let last = input.channels() - 1;
            return Err(self.invalid(
                "channels",
                given,
                format!("whole numbers from -1 to {last} for {input}"),
            ));
        };
        // Results stand in the order red, green, blue, alpha, wherever the format keeps them.
        let format = match terms.len() {
            n if n == input.channels() => input.format(),
            1 => PixelFormat::Gray,
            3 => PixelFormat::Rgb,
            _ => PixelFormat::Rgba,
        };
        let places = format.color_indices().map_or(vec![0], |rgb| [&rgb[..], &[3]].concat());
        let results: Vec<Term> = places.into_iter().filter_map(|place| terms.get(place).cloned()).collect();
        Ok(Formula::channels(results))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::DType;

    use super::*;
    use crate::Operator as _;

    #[test]
    fn channels_outside_are_refused_and_formats_follow() {
        let image = ImageDesc::new(4, 3, PixelFormat::Bgr, DType::U8).unwrap();
        let format = |channels: &[i8]| Select::new(channels).infer(&[image]).unwrap().format();
        assert_eq!(format(&[2, 1, 0]), PixelFormat::Bgr);
        assert_eq!((format(&[0]), format(&[0, 1, 2, -1])), (PixelFormat::Gray, PixelFormat::Rgba));
        let refused = Select::new(&[0, 3, 1]).infer(&[image]).unwrap_err().to_string();
        assert!(
            refused.contains("'channels' of 'select' is [0, 3, 1], but must be whole numbers from -1 to 2"),
            "{refused}"
        );
    }
}
