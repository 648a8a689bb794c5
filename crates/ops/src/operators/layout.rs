use mip_core::{ImageDesc, Layout};
use mip_plan::{Kernel, Point};

use crate::choice::LAYOUTS;
use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "layout",
    summary: "Changes the layout: interleaved (hwc) or planar (chw)",
    inputs: &["in"],
    params: &[ParamSpec::new("to", ParamKind::choice(LAYOUTS), "Layout of the result").required()],
    extra: Extra::SUMS,
    examples: &["to=hwc", "to=chw"],
    create: create::<ToLayout>,
};

/// Changes the order of samples in memory; samples stay as they are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToLayout {
    to: Option<Layout>,
}

impl ToLayout {
    /// A change to the given order.
    pub const fn to(to: Layout) -> Self {
        Self { to: Some(to) }
    }
}

impl Parameters for ToLayout {
    fields! { "to" => to }
}

impl Operator for ToLayout {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        Ok(self.to.map_or(input, |to| input.with_layout(to)))
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        Ok(Lowered::single(Kernel::Point(Point::copy()), [], output))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;

    #[test]
    fn only_the_order_changes() {
        let image = ImageDesc::new(4, 3, PixelFormat::Rgb, DType::U8).unwrap();
        let planar = ToLayout::to(Layout::Chw).infer(&[image]).unwrap();
        assert_eq!(planar, image.with_layout(Layout::Chw));
        let missing = ToLayout::default().infer(&[image]).unwrap_err().to_string();
        assert_eq!(missing, "'layout' needs parameter 'to' (one of hwc, chw)");
    }
}
