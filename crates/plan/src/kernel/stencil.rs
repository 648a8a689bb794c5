use std::sync::{Arc, LazyLock};

use mip_core::{ImageDesc, PixelFormat};

use super::Border;
use crate::{Binary, Channel, Expr, ExprBuilder, Offset, Results, Unary, ValueId};

/// An expression of the samples of a pixel and of those around it, of one image; width and height stay, the dtype
/// may change. As for [`super::Point`], one that is computed for each channel keeps the format, and alpha is
/// copied from the pixel itself; samples are not premultiplied.
///
/// Outside the image lies what the border says; of a constant border every channel has that value, also where
/// the dtype cannot hold it.
///
/// Uniforms: the expression's.
#[derive(Debug, Clone, PartialEq)]
pub struct Stencil {
    /// What is computed.
    pub expr: Arc<Expr>,
    /// What is read outside the image.
    pub border: Border,
}

impl Stencil {
    /// Gradient magnitude of each channel with the 3x3 Sobel kernels.
    ///
    /// With rows -1, 0, +1 and columns -1, 0, +1 around the pixel and `d(j) = p[j][+1] - p[j][-1]`,
    /// `s(j) = fma(2, p[j][0], p[j][-1] + p[j][+1])`: `gx = fma(2, d(0), d(-1) + d(+1))`, `gy = s(+1) - s(-1)`, result
    /// `sqrt(fma(gx, gx, gy * gy))`. For u8 all of it before the root is exact.
    pub fn sobel(border: Border) -> Self {
        Self { expr: SOBEL.clone(), border }
    }

    /// Whether it is [`Stencil::sobel`] of a gray image, for which devices have a faster way.
    pub fn is_gray_sobel(&self, input: &ImageDesc, output: &ImageDesc) -> bool {
        let gray = input.format() == PixelFormat::Gray && input.dtype() == output.dtype();
        gray && (Arc::ptr_eq(&self.expr, &SOBEL) || *self.expr == **SOBEL)
    }
}

static SOBEL: LazyLock<Arc<Expr>> = LazyLock::new(|| Arc::new(sobel().expect("a small expression")));

fn sobel() -> Result<Expr, String> {
    let mut e = ExprBuilder::default();
    let two = e.constant(2.0);
    let p = |e: &mut ExprBuilder, dy, dx| e.neighbor(0, Channel::Own, Offset { dx, dy });
    let d = |e: &mut ExprBuilder, dy| {
        let (right, left) = (p(e, dy, 1), p(e, dy, -1));
        e.binary(Binary::Sub, right, left)
    };
    let s = |e: &mut ExprBuilder, dy| {
        let (left, right) = (p(e, dy, -1), p(e, dy, 1));
        let (sides, center) = (e.binary(Binary::Add, left, right), p(e, dy, 0));
        e.fma(two, center, sides)
    };
    let [above, here, below] = [-1, 0, 1].map(|dy| d(&mut e, dy));
    let sides = e.binary(Binary::Add, above, below);
    let gx = e.fma(two, here, sides);
    let [below, above] = [1, -1].map(|dy| s(&mut e, dy));
    let gy = e.binary(Binary::Sub, below, above);
    let square: ValueId = e.binary(Binary::Mul, gy, gy);
    let sum = e.fma(gx, gx, square);
    let root = e.unary(Unary::Sqrt, sum);
    e.finish(&Results::EachChannel(root))
}
