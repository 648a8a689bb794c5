//! Colours of values, as matplotlib defines them; `tests/color_maps/make_tables.py` writes them down and says who made them.

use std::sync::LazyLock;

use mip_plan::LookupTable;

use crate::choice::choice;

choice! {
    /// Colours for the values of a gray image, matplotlib's of the same name.
    pub enum ColorMap as MAPS {
        /// Blue, green, yellow, red: many steps can be told apart, for pictures of depth.
        Turbo = "turbo",
        /// Dark blue to yellow; even steps look even.
        #[default]
        Viridis = "viridis",
        /// Black by way of purple to light yellow; even steps look even.
        Magma = "magma",
        /// Black by way of red to light yellow; even steps look even.
        Inferno = "inferno",
        /// Blue by way of red to yellow; even steps look even.
        Plasma = "plasma",
        /// Blue by way of gray to yellow, alike for those who cannot tell red from green.
        Cividis = "cividis",
    }
}

/// A name, and 16 lines of 16 colours for each map.
const TEXT: &str = include_str!("color_maps.txt");

static TABLES: LazyLock<Vec<(&str, [LookupTable; 3])>> = LazyLock::new(|| {
    let mut maps: Vec<(&str, Vec<u32>)> = Vec::new();
    for line in TEXT.lines() {
        let colors: Option<Vec<u32>> = line
            .split(' ')
            .map(|word| u32::from_str_radix(word, 16).ok().filter(|_| word.len() == 6))
            .collect();
        match (colors, maps.last_mut()) {
            (Some(colors), Some((_, all))) => all.extend(colors),
            _ => maps.push((line, Vec::new())),
        }
    }
    let table = |colors: &[u32], shift: u32| {
        let numbers: Vec<f32> = colors.iter().map(|color| (color >> shift & 0xFF) as f32).collect();
        LookupTable::new(&numbers).expect("colours under a name")
    };
    maps.iter().map(|(name, colors)| (*name, [16, 8, 0].map(|shift| table(colors, shift)))).collect()
});

impl ColorMap {
    /// Red, green and blue of the 256 values, 0 to 255.
    pub(crate) fn tables(self) -> &'static [LookupTable; 3] {
        let (_, tables) = TABLES.iter().find(|(name, _)| *name == self.name()).expect("a map of that name");
        tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_map_is_there() {
        assert_eq!(TABLES.len(), ColorMap::ALL.len());
        for map in ColorMap::ALL {
            assert!(map.tables().iter().all(|table| table.len() == 256), "{map}");
        }
        let [red, green, blue] = ColorMap::Inferno.tables().each_ref().map(|table| table.at(255.0));
        assert_eq!([red, green, blue], [252.0, 255.0, 164.0]);
    }
}
