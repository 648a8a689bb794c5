use mip_core::{ImageDesc, PixelFormat};

use super::{Channel, Expr, ExprBuilder, Offset, Op, Results, ValueId};

impl Expr {
    /// The same computation with every channel named by its index in memory, and a result for every channel of the output
    /// in its order in memory: what a device computes for a pixel. `inputs` and `output` are those that the kernel's check
    /// accepted. Uniforms keep their numbers.
    ///
    /// # Errors
    /// A channel that an input does not have, or more operations than an expression may have.
    pub fn resolve(&self, inputs: &[ImageDesc], output: &ImageDesc) -> Result<Self, String> {
        let mut builder = ExprBuilder::default();
        let mut results = vec![None; output.channels()];
        match &self.results {
            Results::EachChannel(root) => {
                let alpha = Channel::Alpha.index(output.format());
                for (channel, result) in results.iter_mut().enumerate() {
                    *result = Some(if alpha == Some(channel) {
                        builder.input(0, Channel::Index(channel as u8))
                    } else {
                        let meaning = meaning(output.format(), channel);
                        let own = self.instance(&mut builder, inputs, (output.format(), meaning))?;
                        own[usize::from(*root)]
                    });
                }
            }
            Results::Channels(roots) => {
                let all = self.instance(&mut builder, inputs, (output.format(), None))?;
                for (root, place) in roots.iter().zip(places(output.format())) {
                    results[place] = Some(all[usize::from(*root)]);
                }
            }
        }
        let results: Option<Vec<ValueId>> = results.into_iter().collect();
        let results = results.ok_or_else(|| format!("it has no result for each channel of {output}"))?;
        Ok(builder.finish(&Results::Channels(results))?.with_numbers_of(self))
    }

    /// What the operation `root` makes of the result of the operation `from`, which takes the place of an input. Uniforms keep their
    /// numbers.
    ///
    /// # Errors
    /// Never for operations of the expression, which is larger.
    pub fn part(&self, root: ValueId, from: ValueId) -> Result<Self, String> {
        let mut builder = ExprBuilder::of(self);
        builder.replace(from, Op::Input { slot: 0, channel: Channel::Own, at: Offset::NONE });
        Ok(builder.finish(&Results::EachChannel(root))?.with_numbers_of(self))
    }

    /// With the numbers of another expression's uniforms, among which are its own: the walk from the results may have numbered
    /// them anew, and launches bring them in that expression's order.
    fn with_numbers_of(mut self, other: &Self) -> Self {
        let number = |name: &String| other.uniforms.iter().position(|n| n == name).map(|i| i as u16);
        let numbers: Vec<Option<u16>> = self.uniforms.iter().map(number).collect();
        for op in &mut self.ops {
            if let Op::Uniform(index) = op
                && let Some(number) = numbers[usize::from(*index)]
            {
                *index = number;
            }
        }
        self.uniforms.clone_from(&other.uniforms);
        self
    }

    /// The operations once more in a builder, [`Channel::Own`] standing for channel `own` of a format; where each of them is.
    fn instance(
        &self,
        builder: &mut ExprBuilder,
        inputs: &[ImageDesc],
        (format, own): (PixelFormat, Option<Channel>),
    ) -> Result<Vec<ValueId>, String> {
        let mut values: Vec<ValueId> = Vec::with_capacity(self.ops.len());
        for op in &self.ops {
            let value = |id: ValueId| values[usize::from(id)];
            let placed = match *op {
                Op::Input { slot, channel, at } => {
                    let desc = &inputs[usize::from(slot)];
                    let index = match channel {
                        // A gray image has one value for all channels.
                        Channel::Own if desc.format() == PixelFormat::Gray => Some(0),
                        // Colour spaces have channels of their own, which other formats have not.
                        Channel::Own if desc.format() != format && desc.format().is_color_space() => None,
                        Channel::Own if desc.format() != format && format.is_color_space() => None,
                        Channel::Own => own.and_then(|own| own.index(desc.format())),
                        _ => channel.index(desc.format()),
                    };
                    let index =
                        index.ok_or_else(|| format!("input {slot} ({desc}) has no channel {channel}"))?;
                    builder.neighbor(slot, Channel::Index(index as u8), at)
                }
                Op::Position(axis) => builder.position(axis),
                Op::Uniform(index) => builder.uniform(&self.uniforms[usize::from(index)]),
                Op::Const(bits) => builder.constant(bits.get()),
                Op::Unary(op, a) => builder.unary(op, value(a)),
                Op::Binary(op, a, b) => builder.binary(op, value(a), value(b)),
                Op::Fma(a, b, c) => builder.fma(value(a), value(b), value(c)),
                Op::Luma(r, g, b) => builder.luma(value(r), value(g), value(b)),
                Op::Lookup(table, a) => builder.lookup(&self.tables[usize::from(table)], value(a)),
                Op::Select { compare, a, b, then, other } => {
                    builder.select(compare, [value(a), value(b)], [value(then), value(other)])
                }
            };
            values.push(placed);
        }
        Ok(values)
    }
}

/// Where the results in the order red, green, blue, alpha (or gray, or that of a colour space) lie in memory.
fn places(format: PixelFormat) -> Vec<usize> {
    match format.color_indices() {
        None => vec![0],
        Some(rgb) => rgb.into_iter().chain(format.has_alpha().then_some(3)).collect(),
    }
}

/// What a channel in memory is, wherever other formats keep it; gray has no name of its own.
fn meaning(format: PixelFormat, index: usize) -> Option<Channel> {
    Channel::of_colors(format).into_iter().find(|c| c.index(format) == Some(index))
}
