//! Colours that a picture names by the numbers of ITU-T H.273.

use moxcms::{CicpColorPrimaries, CicpProfile, ColorProfile, MatrixCoefficients, TransferCharacteristics};

use super::picture::Colour;
use crate::Metadata;

/// Not said.
const UNSPECIFIED: u8 = 2;

/// Notes them as a profile, where they are not those of sRGB. Of HDR, which a profile does not tell well, the numbers themselves are
/// kept.
pub(super) fn note(colour: Colour, metadata: &mut Metadata) {
    match (colour.primaries, colour.transfer) {
        (1 | UNSPECIFIED, 13 | UNSPECIFIED) => {}
        (primaries, transfer @ (16 | 18)) => metadata.set_numbers(primaries, transfer),
        (primaries, transfer) => {
            let primaries = if primaries == UNSPECIFIED { 1 } else { primaries };
            let transfer = if transfer == UNSPECIFIED { 13 } else { transfer };
            let (Ok(color_primaries), Ok(transfer_characteristics)) =
                (CicpColorPrimaries::try_from(primaries), TransferCharacteristics::try_from(transfer))
            else {
                return;
            };
            let profile = ColorProfile::new_from_cicp(CicpProfile {
                color_primaries,
                transfer_characteristics,
                matrix_coefficients: MatrixCoefficients::Identity,
                full_range: true,
            });
            metadata.set_profile(profile.encode().ok());
        }
    }
}
