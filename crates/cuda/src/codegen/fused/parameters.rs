use std::borrow::Cow;

use mip_core::ImageDesc;
use mip_plan::{Axis, AxisMap, AxisTaps, Border, Kernel};

use super::layout::Layout;
use super::regions::Span;
use super::roles::Roles;
use super::setting::{Setting, ceil};
use crate::codegen::fields::Fields;
use crate::codegen::point;
use crate::codegen::resample::weights_by_tap;
use crate::codegen::stage::Table;
use crate::codegen::text::border;

/// The parameter struct of a fused kernel and what fills it.
pub(super) struct Parameters {
    pub fields: Fields,
    pub tables: Vec<Table>,
    pub uniforms: Vec<(usize, Cow<'static, str>)>,
}

impl Parameters {
    fn table<const N: usize>(&mut self, kind: &str, name: String, values: impl Iterator<Item = [u8; N]>) {
        self.fields.pointer(kind, name.clone());
        self.tables.push(Table { field: name.into(), bytes: values.flatten().collect() });
    }

    fn axis(&mut self, name: &str, taps: &AxisTaps, weights: Vec<u8>) {
        self.table("u32", format!("{name}_starts"), taps.starts().iter().map(|s| s.to_ne_bytes()));
        self.table("float", format!("{name}_weights"), weights.into_iter().map(|b| [b]));
    }

    fn nearest(&mut self, name: String, map: AxisMap) {
        let in_a_line = matches!(map, AxisMap::Extend { border: Border::Replicate, .. });
        if let AxisMap::Nearest { output, .. } | AxisMap::Extend { output, .. } = map
            && !in_a_line
        {
            self.table("u32", name, (0..output).map(|i| map.map(i).to_ne_bytes()));
        }
    }

    fn origins(&mut self, name: String, span: &Span, step: i64) {
        if span.offset(step).is_none() {
            self.table("int", name, span.first.iter().map(|&f| (f as i32).to_ne_bytes()));
        }
    }
}

pub(super) fn parameters(setting: &Setting<'_>, roles: &Roles, layout: &Layout) -> Parameters {
    let mut all = Parameters { fields: Fields::default(), tables: Vec::new(), uniforms: Vec::new() };
    let reads = setting.group.reads();
    all.fields.images("in", reads.len());
    all.fields.images("out", setting.stored().count());
    all.fields.uint("batch", 1);
    let last = setting.stage(setting.stages() - 1).output;
    all.fields.int("blocks", ceil(i64::from(last.height()), layout.rows) as u32);
    for (k, &id) in reads.iter().enumerate() {
        all.fields.int(format!("in{k}_w"), setting.layouts[id].desc.width());
        all.fields.int(format!("in{k}_h"), setting.layouts[id].desc.height());
    }
    for s in 0..setting.stages() {
        let stage = setting.stage(s);
        all.fields.int(format!("w{s}"), stage.output.width());
        all.fields.int(format!("h{s}"), stage.output.height());
        match &stage.kernel {
            Kernel::Resample(kernel) => {
                all.axis(&format!("s{s}_x"), &kernel.x, weights_by_tap(&kernel.x));
                let rows = kernel.y.all_weights().iter().flat_map(|w| w.to_ne_bytes()).collect();
                all.axis(&format!("s{s}_y"), &kernel.y, rows);
            }
            Kernel::Gather(kernel) => {
                all.nearest(format!("s{s}_x"), kernel.x);
                all.nearest(format!("s{s}_y"), kernel.y);
            }
            Kernel::Point(_)
            | Kernel::Warp(_)
            | Kernel::Separable(_)
            | Kernel::Stencil(_)
            | Kernel::Whole(_)
            | Kernel::Custom(_) => {}
        }
        let inputs: Vec<ImageDesc> = stage.inputs.iter().map(|&input| setting.desc(input)).collect();
        if let Some(table) = point::tables(&stage.kernel, format!("t{s}"), &inputs, &stage.output) {
            all.fields.pointer("float", table.field.clone());
            all.tables.push(table);
        }
        if !stage.uniforms.is_empty() {
            all.fields.floats(format!("u{s}"), stage.uniforms.len());
            all.uniforms.push((s, format!("u{s}").into()));
        }
    }
    for (k, tile) in roles.tiles.iter().enumerate() {
        if let Some(b) = tile.border {
            all.fields.float(format!("constant{k}"), border(b).1);
        }
        for (axis, regions, step) in [(Axis::X, &layout.x, layout.columns), (Axis::Y, &layout.y, layout.rows)]
        {
            let name = if axis == Axis::X { "x" } else { "y" };
            all.origins(format!("tile{k}_{name}"), &regions.tiles[k], step);
        }
    }
    all
}
