/// Texts of characters from 32 to 126, which stand at the upper left corners of boxes.
///
/// Box `i` has text `i % texts`. A character takes [`Labels::CELL`] pixels, and a text of `n > 0` of them is `6 n + 1` wide and 10 high, all times
/// `scale`. Its left column is that of the box, or 0 if that is less; its lower row is the one above the box, or the text begins in row
/// 0 if that leaves no room. A box none of whose pixels are in the image has no text. Where texts overlap, the later box's
/// is seen; it covers its rectangle with a colour, and characters have another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Labels {
    /// How many texts there are.
    pub texts: u32,
    /// Uniforms of each text: [`Labels::pack`] makes them.
    pub words: u32,
}

impl Labels {
    /// Columns and rows of a character, the empty ones to its right, above and below among them.
    pub const CELL: [u32; 2] = [6, 10];
    /// Uniforms of all texts at most.
    pub const MAX_WORDS: u32 = 640;
    /// Uniforms in front of the texts.
    pub(crate) const FIRST: usize = 9;
    /// Characters of a uniform.
    const IN_WORD: usize = 3;

    /// Of so many texts, the longest of so many characters; `None` if there are none, or too many characters.
    pub fn of(texts: usize, longest: usize) -> Option<Self> {
        let words = longest.div_ceil(Self::IN_WORD);
        let all = texts.checked_mul(words)?;
        let fits = all > 0 && all <= Self::MAX_WORDS as usize;
        fits.then_some(Self { texts: texts as u32, words: words as u32 })
    }

    /// A text as uniforms, three characters each.
    pub fn pack(self, text: &str) -> Vec<f32> {
        let word =
            |bytes: &[u8]| bytes.iter().rev().fold(0_u32, |word, &byte| word << 8 | u32::from(byte)) as f32;
        let mut words: Vec<f32> = text.as_bytes().chunks(Self::IN_WORD).map(word).collect();
        words.resize(self.words as usize, 0.0);
        words
    }

    /// The characters of a box's text, from all uniforms.
    pub(crate) fn unpacked(self, uniforms: &[f32], index: usize) -> Vec<u8> {
        let first = Self::FIRST + index % self.texts as usize * self.words as usize;
        let words = uniforms[first..][..self.words as usize].iter();
        words
            .flat_map(|&word| (word as u32).to_le_bytes().into_iter().take(Self::IN_WORD))
            .take_while(|&byte| byte != 0)
            .collect()
    }

    /// Uniforms: the scale, two colours of four numbers each, texts.
    pub(super) const fn uniform_count(self) -> usize {
        Self::FIRST + self.texts as usize * self.words as usize
    }

    pub(super) fn check(self) -> Result<(), String> {
        let words = u64::from(self.texts) * u64::from(self.words);
        if words > 0 && words <= Self::MAX_WORDS.into() {
            return Ok(());
        }
        Err(format!("texts of {words} words, 1 to {} are possible", Self::MAX_WORDS))
    }

    /// Characters from 32: bit `5 row + column` is set where a pixel is.
    #[rustfmt::skip]
    pub const FONT: [u64; 95] = [
        0x00000_00000, 0x01004_21084, 0x00000_0294a, 0x0295f_57d4a, 0x011f4_717c4, 0x06322_22263, //  !"#$%
        0x05935_11526, 0x00000_00884, 0x02082_10888, 0x00888_42082, 0x00095_75480, 0x00084_f9080, // &'()*+
        0x00886_00000, 0x00000_f8000, 0x018c0_00000, 0x00022_22200, 0x03a33_ae62e, 0x03884_210c4, // ,-./01
        0x07c44_4422e, 0x03a30_4111f, 0x0211f_4a988, 0x03a30_83c3f, 0x03a31_7844c, 0x00842_2221f, // 234567
        0x03a31_7462e, 0x01910_f462e, 0x000c6_018c0, 0x00886_018c0, 0x02082_08888, 0x0001f_07c00, // 89:;<=
        0x00888_82082, 0x01004_4422e, 0x0383d_af62e, 0x04631_fc62e, 0x03e31_7c62f, 0x03a21_0862e, // >?@ABC
        0x01d31_8c527, 0x07c21_7843f, 0x00421_7843f, 0x07a31_e862e, 0x04631_fc631, 0x03884_2108e, // DEFGHI
        0x01928_4211c, 0x04525_19531, 0x07c21_08421, 0x04631_ad771, 0x04639_ace31, 0x03a31_8c62e, // JKLMNO
        0x00421_7c62f, 0x05935_8c62e, 0x04525_7c62f, 0x03e10_7043e, 0x01084_2109f, 0x03a31_8c631, // PQRSTU
        0x01151_8c631, 0x04775_ac631, 0x0462a_22a31, 0x01084_22a31, 0x07c22_2221f, 0x03842_1084e, // VWXYZ[
        0x00208_20820, 0x03908_4210e, 0x00000_04544, 0xf8000_00000, 0x00000_02082, 0x07a3e_83800, // \]^_`a
        0x03e31_8bc21, 0x03a21_0b800, 0x07a31_8fa10, 0x0383f_8b800, 0x00842_38a4c, 0x743d1_8f800, // bcdefg
        0x04631_9b421, 0x03884_21804, 0x32508_43008, 0x024a3_2a421, 0x03884_21086, 0x056b5_aac00, // hijklm
        0x04631_9b400, 0x03a31_8b800, 0x085f1_8bc00, 0x843d1_8f800, 0x00421_9b400, 0x03e0e_0f800, // nopqrs
        0x03242_11c42, 0x05b31_8c400, 0x01151_8c400, 0x02ab5_8c400, 0x04544_54400, 0x743d1_8c400, // tuvwxy
        0x07c44_47c00, 0x02084_11088, 0x01084_21084, 0x00884_41082, 0x00008_a8800, // z{|}~
    ];

    /// Whether a character has a pixel in a column and a row of what a text covers, which begins with an empty one of each.
    pub(crate) fn is_set(text: &[u8], column: u32, row: u32) -> bool {
        let (Some(column), Some(row)) = (column.checked_sub(1), row.checked_sub(1)) else { return false };
        let glyph = text
            .get((column / 6) as usize)
            .and_then(|&byte| Self::FONT.get(usize::from(byte).wrapping_sub(32)));
        column % 6 < 5 && row < 8 && glyph.is_some_and(|glyph| glyph >> (5 * row + column % 6) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        let labels = Labels::of(2, 5).unwrap();
        assert_eq!(labels, Labels { texts: 2, words: 2 });
        let mut uniforms = vec![0.0; Labels::FIRST];
        uniforms.extend(["a", "~}bcd"].iter().flat_map(|text| labels.pack(text)));
        assert_eq!(uniforms.len(), labels.uniform_count());
        assert_eq!([0, 1, 2].map(|i| labels.unpacked(&uniforms, i)), [&b"a"[..], b"~}bcd", b"a"]);
        assert_eq!(Labels::of(1, 1921), None);
        assert_eq!(Labels::of(3, 0), None);
    }

    #[test]
    fn characters_are_drawn() {
        let rows = |text: &str| {
            let row = |y| {
                (0..7)
                    .map(|x| if Labels::is_set(text.as_bytes(), x, y) { '#' } else { '.' })
                    .collect::<String>()
            };
            (0..10).map(row).collect::<Vec<_>>().join("\n")
        };
        let wanted = [
            ".......", ".......", ".......", "..####.", ".#...#.", ".#...#.", "..####.", ".....#.",
            "..###..", ".......",
        ];
        assert_eq!(rows("g"), wanted.join("\n"));
        assert!(!rows(" ").contains('#') && !rows("").contains('#'));
    }
}
