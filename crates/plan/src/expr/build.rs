use std::collections::HashMap;

use crate::kernel::Axis;

use super::{Binary, Bits, Channel, Compare, Expr, LookupTable, Offset, Op, Results, Unary, ValueId, luma};

/// Makes an [`Expr`], operation by operation. Operations on constants are done at once (in binary32, as a device would do
/// them), and an operation that is there already is not added again.
#[derive(Debug, Default)]
pub struct ExprBuilder {
    ops: Vec<Op>,
    known: HashMap<Op, ValueId>,
    uniforms: Vec<String>,
    tables: Vec<LookupTable>,
    overflow: bool,
}

impl ExprBuilder {
    /// Operations and uniforms that a builder holds, used or not: far more than an expression may have.
    const MAX: usize = 1 << 14;

    /// With the operations of an expression in their places, to be finished with other results.
    pub(super) fn of(expr: &Expr) -> Self {
        let Expr { ops, uniforms, tables, .. } = expr.clone();
        Self { ops, uniforms, tables, ..Self::default() }
    }

    /// Puts another operation in the place of one.
    pub(super) fn replace(&mut self, id: ValueId, op: Op) {
        self.ops[usize::from(id)] = op;
    }

    /// A sample of an input image.
    pub fn input(&mut self, slot: u8, channel: Channel) -> ValueId {
        self.neighbor(slot, channel, Offset::NONE)
    }

    /// A sample of an input image, of the pixel at a distance from the one that is being computed.
    pub fn neighbor(&mut self, slot: u8, channel: Channel, at: Offset) -> ValueId {
        self.op(Op::Input { slot, channel, at })
    }

    /// The column or the row of the pixel.
    pub fn position(&mut self, axis: Axis) -> ValueId {
        self.op(Op::Position(axis))
    }

    /// The uniform of that name.
    pub fn uniform(&mut self, name: &str) -> ValueId {
        let index = match self.uniforms.iter().position(|n| n == name) {
            Some(index) => index,
            None if self.uniforms.len() == Self::MAX => {
                self.overflow = true;
                0
            }
            None => {
                self.uniforms.push(name.to_owned());
                self.uniforms.len() - 1
            }
        };
        self.op(Op::Uniform(index as u16))
    }

    /// A number.
    pub fn constant(&mut self, value: f32) -> ValueId {
        self.op(Op::Const(Bits::new(value)))
    }

    /// An operation on one number.
    pub fn unary(&mut self, op: Unary, a: ValueId) -> ValueId {
        match (op, self.ops[usize::from(a)]) {
            (_, Op::Const(bits)) => self.constant(op.apply(bits.get())),
            // Turns the sign bit twice.
            (Unary::Neg, Op::Unary(Unary::Neg, a)) => a,
            _ => self.op(Op::Unary(op, a)),
        }
    }

    /// An operation on two numbers.
    pub fn binary(&mut self, op: Binary, a: ValueId, b: ValueId) -> ValueId {
        match (self.number(a), self.number(b)) {
            (Some(a), Some(b)) => self.constant(op.apply(a, b)),
            _ => self.op(Op::Binary(op, a, b)),
        }
    }

    /// `a * b + c`, rounded once.
    pub fn fma(&mut self, a: ValueId, b: ValueId, c: ValueId) -> ValueId {
        match (self.number(a), self.number(b), self.number(c)) {
            (Some(a), Some(b), Some(c)) => self.constant(a.mul_add(b, c)),
            _ => self.op(Op::Fma(a, b, c)),
        }
    }

    /// The luma of three numbers, see [`luma`].
    pub fn luma(&mut self, r: ValueId, g: ValueId, b: ValueId) -> ValueId {
        match (self.number(r), self.number(g), self.number(b)) {
            (Some(r), Some(g), Some(b)) => self.constant(luma(r, g, b)),
            _ => self.op(Op::Luma(r, g, b)),
        }
    }

    /// `compare(a, b) ? then : other`.
    pub fn select(&mut self, compare: Compare, [a, b]: [ValueId; 2], [then, other]: [ValueId; 2]) -> ValueId {
        match (self.number(a), self.number(b)) {
            (Some(a), Some(b)) => {
                if compare.holds(a, b) {
                    then
                } else {
                    other
                }
            }
            _ if then == other => then,
            _ => self.op(Op::Select { compare, a, b, then, other }),
        }
    }

    /// The number of a table at an index, see [`LookupTable::at`].
    pub fn lookup(&mut self, table: &LookupTable, a: ValueId) -> ValueId {
        if let Some(index) = self.number(a) {
            return self.constant(table.at(index));
        }
        let index = match self.tables.iter().position(|known| known == table) {
            Some(index) => index,
            None if self.tables.len() == Self::MAX => {
                self.overflow = true;
                0
            }
            None => {
                self.tables.push(table.clone());
                self.tables.len() - 1
            }
        };
        self.op(Op::Lookup(index as u16, a))
    }

    /// The expression with these results: what no result needs is left out, and the rest brought to the order in which the
    /// results need it, so that the same computation is the same expression however it was built.
    ///
    /// # Errors
    /// More operations, inputs, uniforms or numbers in tables than an expression may have, or no result or more than four.
    pub fn finish(self, results: &Results) -> Result<Expr, String> {
        let roots: &[ValueId] = match results {
            Results::EachChannel(root) => std::slice::from_ref(root),
            Results::Channels(roots) => roots,
        };
        if roots.is_empty() || roots.len() > 4 {
            return Err(format!("{} results, but a pixel has 1 to 4 channels", roots.len()));
        }
        if self.overflow {
            return Err(format!("it has more than {} operations or uniforms", Self::MAX));
        }
        let mut order = Order {
            from: &self,
            place: vec![None; self.ops.len()],
            ops: Vec::new(),
            uniforms: Vec::new(),
            tables: Vec::new(),
        };
        let placed: Vec<ValueId> = roots.iter().map(|&root| order.visit(root)).collect();
        let Order { ops, uniforms, tables, .. } = order;
        let tables: Vec<LookupTable> =
            tables.into_iter().map(|table| self.tables[usize::from(table)].clone()).collect();
        let results = match results {
            Results::EachChannel(_) => Results::EachChannel(placed[0]),
            Results::Channels(_) => Results::Channels(placed),
        };
        let expr = Expr { ops, results, uniforms, tables };
        let (across, down) = expr.reach();
        if across.max(down) > Offset::MAX as u32 {
            return Err(format!(
                "it reads {} pixels away, but {} is the limit",
                across.max(down),
                Offset::MAX
            ));
        }
        let limits = [
            (expr.ops.len(), Expr::MAX_OPS, "operations"),
            (expr.input_count(), Expr::MAX_INPUTS, "input images"),
            (expr.uniforms.len(), Expr::MAX_UNIFORMS, "uniforms"),
            (expr.tables.iter().map(LookupTable::len).sum(), LookupTable::MAX, "numbers in tables"),
        ];
        match limits.into_iter().find(|(count, max, _)| count > max) {
            Some((count, max, what)) => Err(format!("it has {count} {what}, but {max} is the limit")),
            None => Ok(expr),
        }
    }

    pub(super) fn number(&self, id: ValueId) -> Option<f32> {
        match self.ops[usize::from(id)] {
            Op::Const(bits) => Some(bits.get()),
            _ => None,
        }
    }

    fn op(&mut self, op: Op) -> ValueId {
        if let Some(&id) = self.known.get(&op) {
            return id;
        }
        if self.ops.len() == Self::MAX {
            // Whatever comes now, `finish` refuses.
            self.overflow = true;
            return 0;
        }
        let id = self.ops.len() as ValueId;
        self.ops.push(op);
        self.known.insert(op, id);
        id
    }
}

/// Operations in the order of a depth-first walk from the results.
struct Order<'a> {
    from: &'a ExprBuilder,
    place: Vec<Option<ValueId>>,
    ops: Vec<Op>,
    uniforms: Vec<String>,
    /// Numbers that the tables had.
    tables: Vec<u16>,
}

impl Order<'_> {
    /// Without recursion: an operation is visited again when its operands have their places.
    fn visit(&mut self, root: ValueId) -> ValueId {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.place[usize::from(id)].is_some() {
                stack.pop();
                continue;
            }
            let op = self.from.ops[usize::from(id)];
            let open = op.operands().into_iter().flatten().rev();
            let before = stack.len();
            stack.extend(open.filter(|&o| self.place[usize::from(o)].is_none()));
            if stack.len() == before {
                let placed = self.moved(op);
                self.place[usize::from(id)] = Some(self.ops.len() as ValueId);
                self.ops.push(placed);
                stack.pop();
            }
        }
        self.place[usize::from(root)].expect("just placed")
    }

    fn moved(&mut self, op: Op) -> Op {
        let at = |id: ValueId| self.place[usize::from(id)].expect("operands come first");
        match op {
            Op::Uniform(index) => {
                self.uniforms.push(self.from.uniforms[usize::from(index)].clone());
                Op::Uniform(self.uniforms.len() as u16 - 1)
            }
            Op::Lookup(table, a) => {
                let known = self.tables.iter().position(|&known| known == table);
                let index = known.unwrap_or_else(|| {
                    self.tables.push(table);
                    self.tables.len() - 1
                });
                Op::Lookup(index as u16, at(a))
            }
            _ => op.with_operands(at),
        }
    }
}
