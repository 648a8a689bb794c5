use std::path::Path;

use mip_core::DType;

use super::apply::{Call, Reference};
use crate::{Params, Real};

pub(super) const REFERENCE: Reference =
    Reference::new("lut", &["table", "map", "file", "method", "to"], of_call)
        .output(|params, desc| desc.with_dtype(target(params).unwrap_or(desc.dtype())).unwrap());

fn target(params: &Params) -> Option<DType> {
    params.word("to").map(|to| to.parse().expect("a dtype"))
}

fn of_call(call: &Call<'_>) -> Real {
    let (image, params, desc) = (call.image(0), call.params, call.desc());
    if let Some(table) = params.list("table") {
        let alpha = target(params).map_or(1.0, |to| to.full_scale() / 255.0);
        return lut(&image, &table, alpha);
    }
    if let Some(map) = params.word("map") {
        let colors = color_map(map);
        let of = |x, y, c: usize| 255.0 * colors[image.at(x, y, 0) as usize][c];
        return Real::from_fn(image.width, image.height, 3, of);
    }
    let given = params.word("file").expect("table, map or file");
    let read = |path: &str| std::fs::read_to_string(Path::new(path)).expect(path);
    let cube = Cube::parse(&if given.contains('\n') { given.to_owned() } else { read(given) });
    let (full, trilinear) = (desc.dtype().full_scale(), params.word("method") == Some("trilinear"));
    let places = desc.format().color_indices().expect("colours");
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| {
        match places.iter().position(|&place| place == c) {
            Some(channel) => full * cube.color(places.map(|p| image.at(x, y, p) / full), trilinear)[channel],
            None => image.at(x, y, c),
        }
    })
}

/// Each byte's number in a table: of 256 for all colour channels, or of 256 for each. Alpha is multiplied by a factor.
pub fn lut(image: &Real, table: &[f64], alpha: f64) -> Real {
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| match image.at(x, y, c) {
        v if c == 3 => v * alpha,
        v if table.len() == 256 => table[v as usize],
        v => table[256 * c + v as usize],
    })
}

/// The colours of matplotlib's map of that name.
fn color_map(name: &str) -> Vec<[f64; 3]> {
    let lines = include_str!("color_maps.txt").lines().skip_while(|line| *line != name).skip(1).take(256);
    lines.map(three).collect()
}

fn three(line: &str) -> [f64; 3] {
    let numbers: Vec<f64> = line.split_whitespace().map(|word| word.parse().expect(line)).collect();
    numbers.try_into().expect("three numbers")
}

struct Cube {
    one_dimensional: bool,
    steps: usize,
    min: [f64; 3],
    max: [f64; 3],
    rows: Vec<[f64; 3]>,
}

impl Cube {
    fn parse(text: &str) -> Self {
        let mut cube =
            Self { one_dimensional: false, steps: 0, min: [0.0; 3], max: [1.0; 3], rows: Vec::new() };
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.split_once(' ').expect(line) {
                ("LUT_1D_SIZE", steps) => (cube.one_dimensional, cube.steps) = (true, steps.parse().unwrap()),
                ("LUT_3D_SIZE", steps) => cube.steps = steps.parse().unwrap(),
                ("DOMAIN_MIN", numbers) => cube.min = three(numbers),
                ("DOMAIN_MAX", numbers) => cube.max = three(numbers),
                _ => cube.rows.push(three(line)),
            }
        }
        cube
    }

    fn color(&self, rgb: [f64; 3], trilinear: bool) -> [f64; 3] {
        let last = (self.steps - 1) as f64;
        let place = |c: usize| {
            let place = (rgb[c] - self.min[c]) / (self.max[c] - self.min[c]) * last;
            if place.is_nan() { 0.0 } else { place.clamp(0.0, last) }
        };
        let places = [place(0), place(1), place(2)];
        let below = places.map(|place| place.floor() as usize);
        let above = below.map(|step| (step + 1).min(self.steps - 1));
        let rest = [0, 1, 2].map(|c| places[c] - below[c] as f64);
        if self.one_dimensional {
            return [0, 1, 2]
                .map(|c| self.rows[below[c]][c] * (1.0 - rest[c]) + self.rows[above[c]][c] * rest[c]);
        }
        // The corner with red, green and blue above or below.
        let corner = |up: [bool; 3]| {
            let [r, g, b] = [0, 1, 2].map(|c| if up[c] { above[c] } else { below[c] });
            self.rows[(b * self.steps + g) * self.steps + r]
        };
        let mut color = [0.0; 3];
        let mut add = |up: [bool; 3], weight: f64| {
            color.iter_mut().zip(corner(up)).for_each(|(sum, number)| *sum += weight * number);
        };
        if trilinear {
            for bits in 0..8 {
                let up = [0, 1, 2].map(|c| bits >> c & 1 == 1);
                let along = |c: usize| if up[c] { rest[c] } else { 1.0 - rest[c] };
                add(up, along(0) * along(1) * along(2));
            }
            return color;
        }
        // FFmpeg's six tetrahedra, by which rest is the largest and which the smallest.
        let [r, g, b] = rest;
        let (order, [first, second]) = match (r > g, g > b, r > b) {
            (true, true, _) => ([r, g, b], [[true, false, false], [true, true, false]]),
            (true, false, true) => ([r, b, g], [[true, false, false], [true, false, true]]),
            (true, false, false) => ([b, r, g], [[false, false, true], [true, false, true]]),
            (false, false, _) => ([b, g, r], [[false, false, true], [false, true, true]]),
            (false, true, false) => ([g, b, r], [[false, true, false], [false, true, true]]),
            (false, true, true) => ([g, r, b], [[false, true, false], [true, true, false]]),
        };
        add([false; 3], 1.0 - order[0]);
        add(first, order[0] - order[1]);
        add(second, order[1] - order[2]);
        add([true; 3], order[2]);
        color
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_keep_alpha_and_may_differ_by_channel() {
        let image = Real::from_fn(1, 1, 4, |_, _, c| [1.0, 2.0, 255.0, 7.0][c]);
        let table: Vec<f64> = (0..768).map(f64::from).collect();
        assert_eq!(lut(&image, &table, 1.0).data, [1.0, 258.0, 767.0, 7.0]);
        assert_eq!(lut(&image, &table[..256], 2.0).data, [1.0, 2.0, 255.0, 14.0]);
    }

    #[test]
    fn maps_have_their_colours() {
        for map in ["turbo", "viridis", "magma", "inferno", "plasma", "cividis"] {
            assert_eq!(color_map(map).len(), 256, "{map}");
        }
        assert_eq!(color_map("viridis")[0], [0.267_004, 0.004_874, 0.329_415]);
    }

    #[test]
    fn both_methods_are_exact_where_the_table_is_linear_and_differ_elsewhere() {
        let row = |i: usize, of: fn([f64; 3]) -> f64| {
            let rgb = [i % 3, i / 3 % 3, i / 9].map(|step| step as f64 / 2.0);
            format!("{} {} {}\n", of(rgb), rgb[1], rgb[2])
        };
        let cube =
            |of| Cube::parse(&format!("LUT_3D_SIZE 3\n{}", (0..27).map(|i| row(i, of)).collect::<String>()));
        let linear = cube(|[r, g, b]| 0.5 * r - g + 2.0 * b);
        let product = cube(|[r, g, _]| r * g);
        for rgb in [[0.1, 0.7, 0.4], [0.9, 0.2, 1.0], [0.5, 0.5, 0.5], [0.3, 0.8, 0.9], [0.6, 0.8, 0.1]] {
            let exact = 0.5 * rgb[0] - rgb[1] + 2.0 * rgb[2];
            for trilinear in [false, true] {
                assert!((linear.color(rgb, trilinear)[0] - exact).abs() < 1e-12, "{rgb:?}");
            }
        }
        let at = |trilinear| product.color([0.25, 0.25, 0.0], trilinear)[0];
        assert_eq!([at(true), at(false)], [0.0625, 0.125]);
    }
}
