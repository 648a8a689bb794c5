//! Parallel lines side by side: each line gets the first track where nothing else is in its way.

/// A stretch of a line, and whose it is: stretches of one owner may lie on each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch<K> {
    pub(super) owner: K,
    pub(super) from: f64,
    pub(super) to: f64,
}

/// Lines of one direction in one corridor.
#[derive(Debug, Clone)]
pub(super) struct Tracks<K> {
    tracks: Vec<Vec<Stretch<K>>>,
}

impl<K> Default for Tracks<K> {
    fn default() -> Self {
        Self { tracks: Vec::new() }
    }
}

impl<K: PartialEq + Copy> Tracks<K> {
    /// The track for a stretch: that of the same owner if there it is free, else the first free one.
    pub(super) fn add(&mut self, owner: K, a: f64, b: f64) -> usize {
        let stretch = Stretch { owner, from: a.min(b), to: a.max(b) };
        let free = |track: &Vec<Stretch<K>>| {
            track.iter().all(|o| o.owner == owner || o.to < stretch.from || stretch.to < o.from)
        };
        let own = self.tracks.iter().position(|t| free(t) && t.iter().any(|o| o.owner == owner));
        let index = own.or_else(|| self.tracks.iter().position(free)).unwrap_or(self.tracks.len());
        if index == self.tracks.len() {
            self.tracks.push(Vec::new());
        }
        self.tracks[index].push(stretch);
        index
    }

    pub(super) const fn count(&self) -> usize {
        self.tracks.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lie_side_by_side_unless_they_are_one_owners_or_apart() {
        let mut tracks = Tracks::default();
        assert_eq!(tracks.add('a', 0.0, 10.0), 0);
        assert_eq!(tracks.add('b', 5.0, 15.0), 1);
        assert_eq!(tracks.add('a', 20.0, 8.0), 0, "on top of its own");
        assert_eq!(tracks.add('c', 21.0, 30.0), 0, "behind the others");
        assert_eq!(tracks.add('d', 0.0, 30.0), 2);
        assert_eq!(tracks.count(), 3);
    }
}
