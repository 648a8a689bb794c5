use mip_plan::Border;

/// The columns that stand for those outside a row, for a window of some radius.
#[derive(Debug, Clone)]
pub(crate) struct Borders {
    radius: usize,
    width: usize,
    left: Box<[Option<u32>]>,
    right: Box<[Option<u32>]>,
}

impl Borders {
    /// Tabulates `border` for `radius` columns on each side.
    pub(crate) fn new(border: Border, radius: u32, width: u32) -> Self {
        let (r, w) = (i64::from(radius), i64::from(width));
        let column = |i| border.index(i, width);
        Self {
            radius: radius as usize,
            width: width as usize,
            left: (-r..0).map(column).collect(),
            right: (w..w + r).map(column).collect(),
        }
    }

    /// The column at `x + offset`, where `x` is inside and `offset` within the radius; `None` for a constant.
    #[inline]
    pub(crate) fn column(&self, x: usize, offset: isize) -> Option<usize> {
        let i = x as isize + offset;
        if i < 0 {
            self.left[(i + self.radius as isize) as usize].map(|c| c as usize)
        } else if (i as usize) < self.width {
            Some(i as usize)
        } else {
            self.right[i as usize - self.width].map(|c| c as usize)
        }
    }

    /// Columns whose window is inside the row; empty when the row is narrower than the window.
    pub(crate) fn interior(&self) -> std::ops::Range<usize> {
        let end = self.width.saturating_sub(self.radius);
        if self.radius < end { self.radius..end } else { 0..0 }
    }

    /// Columns whose window is not inside.
    pub(crate) fn edges(&self) -> impl Iterator<Item = usize> + use<> {
        let interior = self.interior();
        (0..interior.start).chain(interior.end..self.width)
    }
}
