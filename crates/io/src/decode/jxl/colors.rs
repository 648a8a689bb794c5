//! Colours beyond those of sRGB, of pictures that are stored as XYB.
//!
//! The library brings what XYB holds into sRGB before it goes on to other primaries: a red of Display P3 would lose its red. It gives
//! linear colours of sRGB's primaries as they are, though, of which some are below 0, and those are made what the file names here.

use jxl_oxide::color::{ColourEncoding, ColourSpace, TransferFunction};
use jxl_oxide::{JxlImage, Render};
use mip_core::{ImageBuffer, Sample};
use moxcms::ColorProfile;

/// From linear colours of sRGB's primaries to those of a file.
pub(super) struct Wide {
    matrix: [[f32; 3]; 3],
    curve: TransferFunction,
}

/// What the colours of a picture need.
pub(super) enum Need {
    /// What the library gives is right.
    Nothing,
    Wide(Wide),
    /// What is beyond sRGB is lost.
    Clipped,
}

impl Need {
    pub(super) fn of(image: &JxlImage) -> Self {
        let about = &image.image_header().metadata;
        let ColourEncoding::Enum(named) = &about.colour_encoding else { return Self::Nothing };
        if !about.xyb_encoded || named.colour_space != ColourSpace::Rgb || named.is_srgb_gamut() {
            return Self::Nothing;
        }
        // Those of HDR go with how bright things are shown.
        if matches!(named.tf, TransferFunction::Pq | TransferFunction::Hlg | TransferFunction::Unknown) {
            return Self::Clipped;
        }
        let Ok(profile) = ColorProfile::new_from_slice(&image.rendered_icc()) else { return Self::Clipped };
        let matrix = ColorProfile::new_srgb().transform_matrix(&profile).v;
        Self::Wide(Wide { matrix: matrix.map(|row| row.map(|v| v as f32)), curve: named.tf })
    }
}

impl Wide {
    /// Copies a picture that was rendered in linear colours of sRGB's primaries.
    pub(super) fn copy<T: Sample>(&self, render: &Render, image: &mut ImageBuffer) {
        let mut stream = render.stream();
        let (width, height) = (stream.width() as usize, stream.height() as usize);
        let channels = stream.channels() as usize;
        let full = T::DTYPE.full_scale() as f32;
        let mut row = vec![0_f32; width * channels];
        let mut view = image.view_mut();
        for y in 0..height {
            stream.write_to_buffer(&mut row);
            let to = view.row_as_mut::<T>(0, 0, y).chunks_exact_mut(channels);
            for (to, from) in to.zip(row.chunks_exact(channels)) {
                for (to, [x, y, z]) in to.iter_mut().zip(self.matrix) {
                    *to = T::from_f32(self.encode(x * from[0] + y * from[1] + z * from[2]) * full);
                }
                if let ([_, _, _, to], [_, _, _, alpha]) = (to, from) {
                    *to = T::from_f32(alpha * full);
                }
            }
        }
    }

    /// A linear value by the tone curve; what is negative by its mirror image.
    fn encode(&self, value: f32) -> f32 {
        let linear = value.abs();
        let encoded = match self.curve {
            TransferFunction::Gamma { g, inverted } => {
                let gamma = g as f32 / 1e7;
                linear.powf(if inverted { gamma } else { 1.0 / gamma })
            }
            TransferFunction::Bt709 if linear < 0.018 => 4.5 * linear,
            TransferFunction::Bt709 => 1.099 * linear.powf(0.45) - 0.099,
            TransferFunction::Srgb if linear <= 0.003_130_8 => 12.92 * linear,
            TransferFunction::Srgb => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
            TransferFunction::Dci => linear.powf(1.0 / 2.6),
            _ => linear,
        };
        encoded.copysign(value)
    }
}
