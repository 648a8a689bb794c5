//! Lines from producers to readers, around the nodes between them.
//!
//! A line leaves its producer downwards into the gap below, runs along a gutter beside the reader's column to the gap
//! above the reader, and enters it from above. Lines of one producer lie on each other; those of different ones side by
//! side. Inside a fused group the gutter on the right is used, so that a box around the group holds them.

use std::collections::BTreeMap;

use super::super::model::{Edge, EdgeKind, Model};
use super::place::Places;
use super::tracks::Tracks;

pub(super) const NODE_HEIGHT: f64 = 56.0;
const TRACK: f64 = 9.0;
/// Room in a gap for the edges of boxes and for arrow heads.
const BELOW: f64 = 16.0;
const ABOVE: f64 = 30.0;
const GUTTER: f64 = 14.0;
const PORT: f64 = 18.0;
pub(super) const TOP: f64 = 64.0;
const MARGIN: f64 = 16.0;

/// Coordinates of everything.
#[derive(Debug)]
pub(super) struct Routes {
    /// Left edge of the nodes of each column.
    pub(super) column_x: Vec<f64>,
    /// Room beside the nodes of each column for lines inside groups.
    pub(super) inner: Vec<f64>,
    /// Left edges of the columns' strips, and the right edge of the last.
    pub(super) strips: Vec<f64>,
    pub(super) row_y: Vec<f64>,
    pub(super) width: f64,
    pub(super) height: f64,
    /// Corner points of each edge's line.
    pub(super) lines: Vec<Vec<(f64, f64)>>,
}

/// A corridor beside a column: `true` is the right one, inside boxes.
type Gutter = (usize, bool);
/// Lines in gutters: whose, and whether dashed.
type Gutters = BTreeMap<Gutter, Tracks<(usize, bool)>>;
/// A line along a gutter: which, and its track.
type Vertical = (Gutter, usize);

struct Router<'a> {
    places: &'a Places,
    edges: &'a [Edge],
    node_width: f64,
}

pub(super) fn route(model: &Model, places: &Places, node_width: f64) -> Routes {
    Router { places, edges: &model.edges, node_width }.run()
}

impl Router<'_> {
    fn run(&self) -> Routes {
        let places = self.places;
        let (gutters, vertical) = self.vertical();
        let tracks_in = |gutter: Gutter| gutters.get(&gutter).map_or(0, Tracks::count) as f64 * TRACK;
        let mut x = MARGIN;
        let (mut column_x, mut inner, mut strips) = (Vec::new(), Vec::new(), vec![x]);
        for column in 0..places.columns {
            x += GUTTER + tracks_in((column, false));
            column_x.push(x);
            inner.push(tracks_in((column, true)));
            x += self.node_width + tracks_in((column, true)) + GUTTER;
            strips.push(x);
        }
        let center = |node: usize| column_x[places.of[node].1] + self.node_width / 2.0;
        let ports = self.ports(&vertical);
        let track_x = |gutter: Gutter, track: usize| match gutter {
            (column, false) => column_x[column] - 12.0 - TRACK * track as f64,
            (column, true) => column_x[column] + self.node_width + 8.0 + TRACK * track as f64,
        };
        // Lines across: the producer's gap, then the reader's.
        let mut gaps: Vec<Tracks<(usize, usize)>> = vec![Tracks::default(); places.rows];
        let mut across = Vec::new();
        for (index, edge) in self.edges.iter().enumerate() {
            let (from, to) = (center(edge.from), center(edge.to) + ports[index]);
            let first_gap = places.of[edge.from].0;
            let last_gap = places.of[edge.to].0 - 1;
            // Dashes would not show on a solid line.
            let owner = (edge.from, usize::MAX - usize::from(edge.kind == EdgeKind::Waits));
            across.push(match vertical[index] {
                None if (from - to).abs() < 0.5 => (None, None),
                None => (Some((first_gap, gaps[first_gap].add(owner, from, to), to)), None),
                Some((gutter, track)) => {
                    let x = track_x(gutter, track);
                    let first = gaps[first_gap].add(owner, from, x);
                    let last = gaps[last_gap].add((edge.from, edge.to), x, to);
                    (Some((first_gap, first, x)), Some((last_gap, last, to)))
                }
            });
        }
        let mut y = TOP;
        let mut row_y = Vec::new();
        for gap in &gaps {
            row_y.push(y);
            y += NODE_HEIGHT + BELOW + ABOVE + TRACK * gap.count() as f64;
        }
        let gap_y = |gap: usize, track: usize| row_y[gap] + NODE_HEIGHT + BELOW + TRACK * track as f64;
        let line = |(edge, (first, last)): (&Edge, &(Option<Across>, Option<Across>))| {
            let mut at = center(edge.from);
            let mut points = vec![(at, row_y[places.of[edge.from].0] + NODE_HEIGHT)];
            for &(gap, track, x) in [first, last].into_iter().flatten() {
                points.extend([(at, gap_y(gap, track)), (x, gap_y(gap, track))]);
                at = x;
            }
            points.push((at, row_y[places.of[edge.to].0]));
            points
        };
        let lines = self.edges.iter().zip(&across).map(line).collect();
        Routes { width: x + MARGIN, height: y, column_x, inner, strips, row_y, lines }
    }

    /// The gutter and track of each edge that has to pass by other rows.
    fn vertical(&self) -> (Gutters, Vec<Option<Vertical>>) {
        let mut gutters = Gutters::new();
        let mut by_length: Vec<usize> = (0..self.edges.len()).collect();
        // Short ones first: they get the tracks next to the nodes, and lines cross less.
        by_length.sort_by_key(|&index| self.rows_between(&self.edges[index]));
        let mut vertical = vec![None; self.edges.len()];
        for index in by_length {
            let edge = &self.edges[index];
            if self.rows_between(edge) > 0 {
                let (first, last) = (self.places.of[edge.from].0, self.places.of[edge.to].0 - 1);
                let gutter = (self.places.of[edge.to].1, edge.kind == EdgeKind::Inside);
                let tracks = gutters.entry(gutter).or_default();
                vertical[index] = Some((
                    gutter,
                    tracks.add((edge.from, edge.kind == EdgeKind::Waits), first as f64, last as f64),
                ));
            }
        }
        (gutters, vertical)
    }

    fn rows_between(&self, edge: &Edge) -> usize {
        self.places.of[edge.to].0 - self.places.of[edge.from].0 - 1
    }

    /// Where each edge enters its reader, from the middle: those from the left to the left, in order.
    fn ports(&self, vertical: &[Option<Vertical>]) -> Vec<f64> {
        let side = |index: usize| {
            let edge = &self.edges[index];
            let (from, to) = (self.places.of[edge.from].1, self.places.of[edge.to].1);
            match vertical[index] {
                Some(((_, right), _)) => {
                    if right {
                        1
                    } else {
                        -1
                    }
                }
                None => (from as i64 - to as i64).signum(),
            }
        };
        let mut used: BTreeMap<(usize, i64), usize> = BTreeMap::new();
        (0..self.edges.len())
            .map(|index| {
                let side = side(index);
                let count = used.entry((self.edges[index].to, side)).or_default();
                *count += 1;
                // Only lines that come straight from above may enter in the middle.
                side as f64 * (PORT * *count as f64).min(self.node_width / 2.0 - 8.0)
            })
            .collect()
    }
}

/// A stretch across: gap, track, where it ends.
type Across = (usize, usize, f64);
