//! Splitting groups into the fewest chains.

use std::collections::VecDeque;

use mip_plan::GroupId;

use crate::bits::BitMatrix;

/// The chain of every group: numbers from 0, in order of the chains' first groups. In a chain every group
/// needs the one before it, directly or through others, so that running a chain on one stream orders nothing
/// that is not ordered anyway.
///
/// There are exactly as many chains as there can be groups that are all independent of each other (Dilworth's
/// theorem), found as a maximum matching of groups with successors. A group whose only consumer has no other
/// producer is always followed by it.
pub(super) fn chains(producers: &[Vec<GroupId>]) -> Vec<usize> {
    let mut matching = Matching::new(producers);
    matching.follow_producers();
    matching.complete();
    let mut chain_of = Vec::with_capacity(producers.len());
    let mut count = 0;
    for predecessor in &matching.predecessor {
        let chain = predecessor.map_or(count, |p| chain_of[p]);
        count += usize::from(predecessor.is_none());
        chain_of.push(chain);
    }
    chain_of
}

struct Matching<'a> {
    producers: &'a [Vec<GroupId>],
    consumers: Vec<usize>,
    /// Row g: everything g needs, directly or through others.
    ancestors: BitMatrix,
    successor: Vec<Option<GroupId>>,
    predecessor: Vec<Option<GroupId>>,
    /// Groups whose successor is settled: plain chains, and what a failed search has seen.
    settled: Vec<bool>,
}

impl<'a> Matching<'a> {
    fn new(producers: &'a [Vec<GroupId>]) -> Self {
        let n = producers.len();
        let mut ancestors = BitMatrix::new(n);
        let mut consumers = vec![0; n];
        for (group, list) in producers.iter().enumerate() {
            for &producer in list {
                ancestors.absorb(group, producer);
                consumers[producer] += 1;
            }
        }
        Self {
            producers,
            consumers,
            ancestors,
            successor: vec![None; n],
            predecessor: vec![None; n],
            settled: vec![false; n],
        }
    }

    /// Lets every group follow a direct producer that nobody follows yet: the one with the fewest other
    /// consumers, the latest of equals.
    fn follow_producers(&mut self) {
        for group in 0..self.producers.len() {
            let free = self.producers[group].iter().copied().filter(|&p| self.successor[p].is_none());
            if let Some(producer) = free.min_by_key(|&p| (self.consumers[p], std::cmp::Reverse(p))) {
                self.link(producer, group);
                self.settled[producer] = self.consumers[producer] == 1 && self.producers[group].len() == 1;
            }
        }
    }

    /// Augmenting paths for the groups that follow nobody yet.
    fn complete(&mut self) {
        for group in 0..self.producers.len() {
            if self.predecessor[group].is_none() {
                self.augment(group);
            }
        }
    }

    /// Breadth-first search for a group to follow, where groups already followed may be handed over.
    fn augment(&mut self, start: GroupId) {
        // For each group seen: who would follow it.
        let mut follower: Vec<Option<GroupId>> = vec![None; self.producers.len()];
        let mut queue = VecDeque::from([start]);
        while let Some(group) = queue.pop_front() {
            for candidate in (0..group).rev() {
                let seen = self.settled[candidate] || follower[candidate].is_some();
                if seen || !self.ancestors.contains(group, candidate) {
                    continue;
                }
                follower[candidate] = Some(group);
                match self.successor[candidate] {
                    Some(next) => queue.push_back(next),
                    None => return self.flip(candidate, &follower),
                }
            }
        }
        // What a failed search has seen can be part of no later augmenting path.
        for (settled, follower) in self.settled.iter_mut().zip(follower) {
            *settled |= follower.is_some();
        }
    }

    fn flip(&mut self, free: GroupId, follower: &[Option<GroupId>]) {
        let mut producer = free;
        while let Some(group) = follower[producer] {
            let handed_over = self.predecessor[group];
            self.link(producer, group);
            match handed_over {
                Some(previous) => producer = previous,
                None => return,
            }
        }
    }

    fn link(&mut self, producer: GroupId, group: GroupId) {
        self.successor[producer] = Some(group);
        self.predecessor[group] = Some(producer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_one_and_a_diamond_two() {
        assert_eq!(chains(&[vec![], vec![0], vec![1], vec![2]]), [0, 0, 0, 0]);
        assert_eq!(chains(&[vec![], vec![0], vec![0], vec![1, 2]]), [0, 0, 1, 1]);
    }

    #[test]
    fn streams_come_back_into_use_after_a_join() {
        let two_diamonds = [vec![], vec![0], vec![0], vec![1, 2], vec![3], vec![3], vec![4, 5]];
        assert_eq!(chains(&two_diamonds), [0, 0, 1, 1, 1, 0, 0]);
    }

    #[test]
    fn a_producer_is_left_to_the_group_that_has_no_other() {
        // 2 reads 0 and 1, 3 reads 1 only: two chains are enough.
        assert_eq!(chains(&[vec![], vec![], vec![0, 1], vec![1]]), [0, 1, 0, 1]);
    }

    #[test]
    fn an_earlier_choice_is_revised_when_that_saves_a_chain() {
        // 2 and 3 both read 0 and 1, 4 reads 1 alone: three independent groups, three chains.
        assert_eq!(chains(&[vec![], vec![], vec![0, 1], vec![0, 1], vec![1]]).iter().max(), Some(&2));
        // 3 follows 1 by preference (0 has two consumers, 1 has two); 4 needs 1's place.
        let revised = chains(&[vec![], vec![], vec![0], vec![0, 1], vec![1, 2]]);
        assert_eq!(revised.iter().max(), Some(&1), "{revised:?}");
    }
}
