use std::num::NonZero;
use std::sync::Arc;

use crate::{RuntimeError, Session};

/// Sessions of one plan, taken in turn. Each has streams, an arena and input memory of its own, so that the upload of
/// one frame, the kernels of the next and the download of another overlap, and no frame's memory is touched by
/// the next before it is done.
#[derive(Debug)]
pub struct SessionRing {
    first: Arc<Session>,
    siblings: Vec<Arc<Session>>,
    next: usize,
}

impl SessionRing {
    /// A ring that begins as one session; siblings are made when they are first needed.
    pub const fn new(first: Arc<Session>) -> Self {
        Self { first, siblings: Vec::new(), next: 0 }
    }

    /// The session that the others are siblings of.
    pub const fn first(&self) -> &Arc<Session> {
        &self.first
    }

    /// Gives back the memory that the sessions keep between runs: see [`Session::trim`].
    pub fn trim(&self) {
        self.first.trim();
        self.siblings.iter().for_each(|sibling| sibling.trim());
    }

    /// The session for the next frame of a stream of `width` frames in flight: the one whose frame began longest
    /// ago. Sessions beyond `width` are given up.
    ///
    /// # Errors
    /// As for [`Session::sibling`], when one more is needed.
    pub fn turn(&mut self, width: NonZero<usize>) -> Result<Arc<Session>, RuntimeError> {
        let width = width.get();
        self.siblings.truncate(width - 1);
        let turn = self.next % width;
        while self.siblings.len() < turn {
            self.siblings.push(Arc::new(self.first.sibling()?));
        }
        self.next = (turn + 1) % width;
        Ok(match turn {
            0 => self.first.clone(),
            _ => self.siblings[turn - 1].clone(),
        })
    }
}
