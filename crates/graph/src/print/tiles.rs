use mip_plan::{Plan, Tiles, Tiling};

use super::table::table;

/// How a device divides the work of each launch, to stand below [`crate::render_text`]: a tiling for each
/// group of the plan, or why there is none. `device` is a name for the heading.
pub fn render_tiles(plan: &Plan, device: &str, tilings: &[Result<Tiling, String>]) -> String {
    let (mut rows, mut reasons) = (Vec::new(), Vec::new());
    for (group, tiling) in tilings.iter().enumerate() {
        let tiling = match tiling {
            Ok(tiling) => tiling,
            Err(reason) => {
                reasons.push(vec![format!("#{group}"), reason.clone()]);
                continue;
            }
        };
        let several = tiling.kernels.len() > 1;
        rows.extend(tiling.kernels.iter().map(|tiles| row(plan, group, several, tiles)));
        if let Some(why) = &tiling.unfused {
            reasons.push(vec![format!("#{group}"), format!("a launch for each stage: {why}")]);
        }
    }
    format!("\ntiles on {device}\n{}{}", table(&rows), table(&reasons))
}

fn row(plan: &Plan, group: usize, several: bool, tiles: &Tiles) -> Vec<String> {
    let stages = &plan.groups[group].stages;
    let names = tiles.stages.iter().map(|&stage| stages[stage].kernel.name());
    let names = if several { format!(" {}", names.collect::<Vec<_>>().join(" > ")) } else { String::new() };
    let [across, down] = tiles.frame;
    let threads =
        if tiles.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", tiles.threads) };
    vec![
        format!("#{group}{names}"),
        tiles.size.map_or_else(String::new, |[width, height]| format!("{width}x{height}")),
        format!("{across} x {down} a frame"),
        format!("{} in all", tiles.count),
        tiles.at_once.map_or_else(String::new, |n| format!("{n} at once")),
        match tiles.local_bytes {
            0 => threads,
            bytes => format!("{threads} in {bytes} bytes"),
        },
        tiles.halo.map_or_else(String::new, |halo| format!("{halo:.3} computed for each pixel kept")),
    ]
}
