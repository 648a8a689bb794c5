//! Chains of products and sums as one operation, whose sum stays in registers.

use mip_plan::Binary;

use super::program::{MAX_OPERANDS, Node, Number, Start, uses};

/// The nodes with chains of `fma`, and of sums and differences, as sums. Every step of a chain is the same rounded operation: `a + b`
/// is `fma(b, 1, a)`, `a - b` is `fma(b, -1, a)`, and `a * b` is `fma(a, b, -0)`, the number that changes no other.
pub(super) fn fused(mut nodes: Vec<Node>, results: &[usize]) -> Vec<Node> {
    let uses = uses(&nodes, results);
    for index in 0..nodes.len() {
        if let Some(of) = products(&nodes, &uses, index) {
            nodes[index] = Node::Products(of);
        } else if let Some((before, term)) = link(&nodes, index) {
            let Some((start, mut terms)) = chain(&nodes, before, uses[before] == 1) else { continue };
            terms.push(term);
            if terms.len() < MAX_OPERANDS {
                nodes[index] = Node::Sum { start, terms };
            }
        }
    }
    nodes
}

/// A chain of at least two products of what is no number.
fn products(nodes: &[Node], uses: &[usize], index: usize) -> Option<Vec<usize>> {
    let number = |node: usize| matches!(nodes[node], Node::Number(_));
    let Node::Fma([a, b, before]) = nodes[index] else { return None };
    if number(a) || number(b) || uses[before] > 1 {
        return None;
    }
    let mut of = match &nodes[before] {
        Node::Products(of) if of.len() + 2 <= MAX_OPERANDS => of.clone(),
        &Node::Fma([a, b, start]) if !number(a) && !number(b) => vec![start, a, b],
        _ => return None,
    };
    of.extend([a, b]);
    Some(of)
}

/// What an operation adds to which node.
fn link(nodes: &[Node], index: usize) -> Option<(usize, (usize, Number))> {
    const ONE: Number = Number::Const(1.0);
    let number = |node: usize| if let Node::Number(number) = nodes[node] { Some(number) } else { None };
    let is_chain = |node: usize| {
        matches!(nodes[node], Node::Sum { .. } | Node::Binary(Binary::Add | Binary::Sub, ..))
            || product(nodes, node).is_some()
    };
    match nodes[index] {
        Node::Fma([a, b, c]) => match (number(a), number(b)) {
            (None, Some(weight)) => Some((c, (a, weight))),
            (Some(weight), None) => Some((c, (b, weight))),
            _ => None,
        },
        // Two blocks are added as fast on their own.
        Node::Binary(Binary::Add, a, b) if number(a).is_none() && number(b).is_none() => {
            if is_chain(a) {
                Some((a, (b, ONE)))
            } else if is_chain(b) {
                Some((b, (a, ONE)))
            } else {
                None
            }
        }
        Node::Binary(Binary::Sub, a, b) if number(b).is_none() && is_chain(a) => {
            Some((a, (b, Number::Const(-1.0))))
        }
        _ => None,
    }
}

/// A product with a number.
fn product(nodes: &[Node], index: usize) -> Option<(usize, Number)> {
    let Node::Binary(Binary::Mul, a, b) = nodes[index] else { return None };
    match (&nodes[a], &nodes[b]) {
        (Node::Number(_), Node::Number(_)) => None,
        (Node::Number(weight), _) => Some((b, *weight)),
        (_, Node::Number(weight)) => Some((a, *weight)),
        _ => None,
    }
}

/// A node as the start of a chain that goes on; `alone`: nothing else reads it.
fn chain(nodes: &[Node], index: usize, alone: bool) -> Option<(Start, Vec<(usize, Number)>)> {
    let whole = Some((Start::Node(index), vec![]));
    match &nodes[index] {
        Node::Number(number) => Some((Start::Number(*number), vec![])),
        Node::Sum { start, terms } if alone && terms.len() + 2 < MAX_OPERANDS => {
            Some((*start, terms.clone()))
        }
        Node::Binary(Binary::Mul, ..) if alone => match product(nodes, index) {
            Some(term) => Some((Start::Number(Number::Const(-0.0)), vec![term])),
            None => whole,
        },
        &Node::Binary(op @ (Binary::Add | Binary::Sub), a, b) if alone => {
            let number = |node: usize| matches!(nodes[node], Node::Number(_));
            if number(a) || number(b) {
                return whole;
            }
            let weight = if op == Binary::Add { 1.0 } else { -1.0 };
            Some((Start::Node(a), vec![(b, Number::Const(weight))]))
        }
        _ => whole,
    }
}
