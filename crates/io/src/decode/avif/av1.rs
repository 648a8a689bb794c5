//! Streams of AV1 to planes of samples, by the crate `re_rav1d`.

use mip_core::{ImageError, faults, panics};
use re_rav1d::{Decoder, Error, Picture, PixelLayout, PlanarImageComponent, Settings};

use super::super::Fault;
use super::picture::Colour;

/// Samples of a picture as they are stored, luma and chroma (or green, blue and red).
pub(super) struct Planes {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Bits that samples have.
    pub(super) bits: u32,
    pub(super) layout: PixelLayout,
    /// What the stream says of them.
    pub(super) colour: Colour,
    samples: [Vec<u16>; 3],
}

impl Planes {
    /// The pictures of several streams beside each other, `columns` in a row, each of the size of a tile; what goes over the sides is left
    /// out. A picture that is no grid has one.
    pub(super) fn decode(
        streams: impl ExactSizeIterator<Item = Result<Vec<u8>, Fault>>,
        columns: usize,
        tile: (u32, u32),
        (width, height): (u32, u32),
    ) -> Result<Self, Fault> {
        let (w, h) = (tile.0 as usize, tile.1 as usize);
        let (width, height) = (width as usize, height as usize);
        let covers =
            |tile: usize, count: usize, side: usize| tile * count >= side && tile * (count - 1) < side;
        let rows = streams.len() / columns;
        if rows == 0 || !covers(w, columns, width) || !covers(h, rows, height) {
            return Err(Fault::Corrupt("the tiles of its picture do not cover it".to_owned()));
        }
        let mut all: Option<Self> = None;
        for (index, stream) in streams.enumerate() {
            let picture = decode(stream?, u64::from(tile.0) * u64::from(tile.1))?;
            let is = (picture.width(), picture.height());
            if is != tile {
                let text = format!("its stream has {}x{} pixels, and its boxes say {w}x{h}", is.0, is.1);
                return Err(Fault::Corrupt(text));
            }
            let planes = match &mut all {
                Some(planes) => planes,
                all => all.insert(Self::empty(&picture, width, height)?),
            };
            if picture.pixel_layout() != planes.layout || bits(&picture)? != planes.bits {
                return Err(Fault::Corrupt("the tiles of its picture are not alike".to_owned()));
            }
            let (across, down) = planes.shared();
            // Chroma of a tile with an odd side would lie between two.
            if columns > 1 && w % across != 0 || rows > 1 && h % down != 0 {
                return Err(Fault::Corrupt("the tiles of its picture have odd sides".to_owned()));
            }
            planes.put(&picture, index % columns * w, index / columns * h)?;
        }
        all.ok_or_else(|| Fault::Corrupt("its picture has no tiles".to_owned()))
    }

    fn empty(picture: &Picture, width: usize, height: usize) -> Result<Self, Fault> {
        // The library panics over numbers that stand for nothing yet.
        let matrix = panics::caught(|| picture.matrix_coefficients()).map_or(u8::MAX, |matrix| matrix as u8);
        let full = picture.color_range() as u8 == FULL;
        let mut planes = Self {
            width,
            height,
            bits: bits(picture)?,
            layout: picture.pixel_layout(),
            colour: Colour { primaries: 2, transfer: 2, matrix, full },
            samples: Default::default(),
        };
        for plane in 0..planes.count() {
            let (w, h) = planes.sides(plane);
            let none = |_| ImageError::OutOfMemory { bytes: w * h * 2, what: "planes of samples".to_owned() };
            faults::try_reserve_exact(&mut planes.samples[plane], w * h).map_err(none)?;
            planes.samples[plane].resize(w * h, 0);
        }
        Ok(planes)
    }

    /// Copies a decoded picture to a place.
    fn put(&mut self, picture: &Picture, left: usize, top: usize) -> Result<(), Fault> {
        for plane in 0..self.count() {
            let (across, down) = if plane == 0 { (1, 1) } else { self.shared() };
            let (left, top) = (left / across, top / down);
            let (width, height) = self.sides(plane);
            let (w, h) = sides(picture.width() as usize, picture.height() as usize, plane, self.shared());
            let (w, h) = (w.min(width.saturating_sub(left)), h.min(height.saturating_sub(top)));
            let component =
                [PlanarImageComponent::Y, PlanarImageComponent::U, PlanarImageComponent::V][plane];
            let stored = picture.plane(component);
            let stride = picture.stride(component) as usize;
            let short = || Fault::Corrupt("the decoder gives too few samples".to_owned());
            for y in 0..h {
                let row = stored.get(y * stride..).ok_or_else(short)?;
                let to = &mut self.samples[plane][(top + y) * width + left..][..w];
                if self.bits == 8 {
                    let row = row.get(..w).ok_or_else(short)?;
                    to.iter_mut().zip(row).for_each(|(to, from)| *to = u16::from(*from));
                } else {
                    let row = row.get(..2 * w).ok_or_else(short)?;
                    let pairs = row.as_chunks::<2>().0;
                    to.iter_mut().zip(pairs).for_each(|(to, from)| *to = u16::from_ne_bytes(*from));
                }
            }
        }
        Ok(())
    }

    pub(super) fn row(&self, plane: usize, y: usize) -> &[u16] {
        let (width, _) = self.sides(plane);
        &self.samples[plane][y * width..][..width]
    }

    /// Pixels that share a sample of chroma, across and down.
    pub(super) fn shared(&self) -> (usize, usize) {
        match self.layout {
            PixelLayout::I420 => (2, 2),
            PixelLayout::I422 => (2, 1),
            PixelLayout::I444 | PixelLayout::I400 => (1, 1),
        }
    }

    fn count(&self) -> usize {
        if self.layout == PixelLayout::I400 { 1 } else { 3 }
    }

    fn sides(&self, plane: usize) -> (usize, usize) {
        sides(self.width, self.height, plane, self.shared())
    }
}

fn sides(width: usize, height: usize, plane: usize, (across, down): (usize, usize)) -> (usize, usize) {
    if plane == 0 { (width, height) } else { (width.div_ceil(across), height.div_ceil(down)) }
}

/// The library's number for samples that use all values.
const FULL: u8 = re_rav1d::pixel::YUVRange::Full as u8;

fn bits(picture: &Picture) -> Result<u32, Fault> {
    let unknown = || Fault::Corrupt("its stream has a depth that is not known".to_owned());
    let bits = picture.bits_per_component().ok_or_else(unknown)?.0;
    Ok(bits as u32)
}

/// The first picture of a stream that has no more than so many pixels.
fn decode(stream: Vec<u8>, pixels: u64) -> Result<Picture, Fault> {
    let mut settings = Settings::new();
    // Files are decoded beside each other already.
    settings.set_n_threads(1);
    settings.set_max_frame_delay(1);
    // 0 would stand for no limit.
    settings.set_frame_size_limit(u32::try_from(pixels.max(1)).unwrap_or(u32::MAX));
    settings.set_all_layers(false);
    let mut decoder = Decoder::with_settings(&settings).map_err(fault)?;
    let mut sent = decoder.send_data(stream, None, None, None);
    loop {
        match sent {
            Ok(()) | Err(Error::Again) => {}
            Err(error) => return Err(fault(error)),
        }
        match decoder.get_picture() {
            Ok(picture) => return Ok(picture),
            Err(Error::Again) if sent.is_err() => sent = decoder.send_pending_data(),
            Err(Error::Again) => {
                return Err(Fault::Truncated("its stream ends before its picture does".to_owned()));
            }
            Err(error) => return Err(fault(error)),
        }
    }
}

fn fault(error: Error) -> Fault {
    Fault::Corrupt(match error {
        Error::NotEnoughMemory => "the decoder of AV1 has too little memory".to_owned(),
        Error::InvalidArgument => "its stream of AV1 makes no sense".to_owned(),
        Error::UnsupportedBitstream => "its stream of AV1 is of a kind that is not read".to_owned(),
        error => format!("its stream of AV1 cannot be decoded ({error})"),
    })
}
