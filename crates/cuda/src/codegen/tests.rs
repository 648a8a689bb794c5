//! What is generated, as text; and proofs of the shortcuts that kernels take.

use mip_plan::{Border, Plan};

use super::{BranchCode, Target, group_code, programs};
use crate::emulated::cases::{Case, Strides, cases_of, matrix, operators, plan};
use crate::emulated::group_cases::parts::blurred_pieces;
use crate::emulated::group_cases::{edges, piece, pieces, plan as group_plan, workloads};

fn code(plan: &Plan) -> BranchCode {
    group_code(plan, 0, Target::default()).unwrap_or_else(|(stage, why)| panic!("stage {stage}: {why}"))
}

/// The generated part of a case's source: without the fixed pieces, which are files of their own.
fn generated(name: &str, cases: Vec<Case>) -> String {
    let case =
        cases.into_iter().find(|c| c.name.starts_with(name)).unwrap_or_else(|| panic!("no case {name}"));
    code(&plan(&[case], 1, Strides::Tight)).stages.remove(0).text
}

#[test]
fn generated_text() {
    let of = |name| generated(name, operators(1920, 1080));
    insta::assert_snapshot!("gray", of("color_convert rgb -> gray"));
    insta::assert_snapshot!("gaussian", of("gaussian 5 rgb"));
    insta::assert_snapshot!("warp", of("rotate rgb bilinear"));
    insta::assert_snapshot!("transpose", of("transpose rgb"));
    insta::assert_snapshot!("resize", of("resize bilinear rgb 2:3"));
    insta::assert_snapshot!("normalize_to_planes", of("normalize rgb -> f32 chw"));
    // Rows of 51 bytes: nothing is aligned in the tight layout, but the memory bound later may be.
    insta::assert_snapshot!("odd_width", generated("flip x 17x9 rgb u8", matrix(17, 9)));
}

#[test]
fn fused_groups() {
    let of = |name: &str| {
        let (case, _) = workloads().into_iter().find(|(c, _)| c.name == name).unwrap();
        let code = code(&group_plan(&case, 32, Strides::Tight));
        assert_eq!((code.unfused, code.stages.len()), (None, 1), "{name}");
        let text = &code.stages[0].text;
        // The first of the entries, which differ in alignments.
        let second = text.match_indices("extern \"C\"").nth(1).map_or(text.len(), |(at, _)| at);
        text[..second].to_owned()
    };
    insta::assert_snapshot!("w1_fused", of("w1"));
    insta::assert_snapshot!("w3_fused", of("w3"));
    insta::assert_snapshot!("w4_fused", of("w4"));
    insta::assert_snapshot!("awkward_fused", of("awkward"));
    insta::assert_snapshot!("video_fused", of("video"));
}

/// Where a crop lies is in the tables of the resize that reads it.
#[test]
fn crops_of_one_size_share_a_kernel() {
    let image = operators(1920, 1080).remove(0).inputs[0];
    let at = |place| piece("piece", image, place, (300, 200), 224, 224);
    let program = |place| {
        let code = code(&group_plan(&at(place), 1, Strides::Tight));
        assert_eq!((code.unfused, code.stages.len()), (None, 1));
        super::without_comments(&code.source)
    };
    let first = program((0, 0));
    assert_eq!(first, program((1001, 333)));
    assert_eq!(first, program((1620, 880)));
}

/// Where a crop lies is in the address that a kernel is given, where something else than a resize reads it.
#[test]
fn blurred_crops_of_one_size_share_a_kernel() {
    let image = operators(1920, 1080).remove(0).inputs[0];
    let generated = |place| {
        let case = blurred_pieces("piece", image, &[place], (300, 200), Border::Reflect101);
        let code = code(&group_plan(&case, 1, Strides::Tight));
        assert_eq!((&code.unfused, code.stages.len()), (&None, 1));
        (
            super::without_comments(&code.source),
            code.stages[0].variants.clone(),
            code.stages[0].inputs.clone(),
        )
    };
    let (first, variants, inputs) = generated((0, 0));
    assert_eq!(inputs[0].corner, [0, 0]);
    let aligned: Vec<usize> = variants.iter().map(|v| v.align_in).collect();
    assert_eq!(aligned, [4, 1, 1], "whole words where a place allows it, and any place");
    for place in [(1001, 333), (1620, 880)] {
        let (other, _, inputs) = generated(place);
        assert!(first == other, "{place:?} is in the code");
        assert_eq!(inputs[0].corner, [place.0, place.1]);
    }
}

/// Crops of one size side by side are elements of one launch.
#[test]
fn crops_of_one_size_are_one_program() {
    let image = operators(1920, 1080).remove(0).inputs[0];
    let places = [(0, 0), (1001, 333), (1620, 880)];
    let plan = group_plan(&pieces("crops", image, &places, (300, 200), 224, 224), 1, Strides::Tight);
    let programs = programs(&plan, 0, Target::default()).unwrap();
    let [program] = &programs[..] else { panic!("{} programs", programs.len()) };
    assert_eq!((program.at_once, program.branches.len(), program.code.stages.len()), (3, 3, 1));
    assert!(program.code.source.starts_with("#define BRANCHES 3u\n"));
    let text = &program.code.stages[0].text;
    let second = text.match_indices("extern \"C\"").nth(1).map_or(text.len(), |(at, _)| at);
    insta::assert_snapshot!("crops_fused", &text[..second]);
}

/// What cannot be one kernel says why, and is launched unfused.
#[test]
fn groups_that_are_not_fused_say_why() {
    let image = operators(64, 64).remove(0).inputs[0];
    for (case, reason) in [
        (edges("wrap", image, 32, 32, Border::Wrap), "a wrapped border reads the far side of the image"),
        (edges("mirrored", image, 9, 7, Border::Reflect), ""),
    ] {
        let code = code(&group_plan(&case, 1, Strides::Tight));
        match code.unfused {
            Some(why) => assert_eq!((why.as_str(), code.stages.len()), (reason, 4)),
            None => assert_eq!((reason, code.stages.len()), ("", 1)),
        }
    }
}

/// `divided<16>` and `divided<4>`: one fused multiply-add in binary32 rounds every sum to the nearest even.
#[test]
fn sums_of_integer_weights_round_to_nearest_even() {
    const MAGIC: f32 = 8_388_608.0;
    for divisor in [4_u32, 16] {
        for sum in 0..=255 * divisor {
            let d = divisor as f32;
            let rounded = (MAGIC + sum as f32).mul_add(1.0 / d, MAGIC - MAGIC / d) - MAGIC;
            assert_eq!(
                rounded,
                (f64::from(sum) / f64::from(divisor)).round_ties_even() as f32,
                "{sum} / {divisor}"
            );
        }
    }
}

#[test]
fn sizes_do_not_change_the_program() {
    let program = |w, h| super::without_comments(&generated("gaussian 5 rgb", operators(w, h)));
    assert_eq!(program(1920, 1080), program(640, 512));
    assert_ne!(program(1920, 1080), program(644, 512), "rows of another alignment are another program");
}

#[test]
fn every_kernel_of_the_matrix_is_generated_for_every_size() {
    // Every case in one size, and every third in those where sides are extreme.
    for (index, (w, h)) in [(1, 1), (1, 100_000), (5000, 3), (640, 480)].into_iter().enumerate() {
        let cases = match index {
            3 => matrix(w, h),
            first => matrix(w, h).into_iter().skip(first).step_by(3).collect(),
        };
        let code = code(&plan(&cases, 1, Strides::Tight));
        assert_eq!(code.stages.len(), cases.len());
        for (stage, case) in code.stages.iter().zip(&cases) {
            assert!(
                stage.grid.shared <= 48 << 10,
                "{}: {} bytes of shared memory",
                case.name,
                stage.grid.shared
            );
        }
    }
}

#[test]
fn a_compiler_log_is_attributed_to_its_stage() {
    let image = operators(64, 64).remove(0).inputs[0];
    let cases: Vec<Case> = cases_of(image).into_iter().take(3).collect();
    let code = code(&plan(&cases, 1, Strides::Tight));
    let line = |text: &str| code.source.lines().position(|l| l.contains(text)).unwrap() + 1;
    let log = format!("group.cu({}): error: no", line("s1_point"));
    assert_eq!(code.stage_of_log(&log), 1);
    assert_eq!(code.stage_of_log(&format!("group.cu(3): error\n at line {}", line("s2_point"))), 2);
}

/// `Luma<u8>`: n / 1000 as m + 0.024 m with m = n / 1024, for every sum that can occur.
#[test]
fn gray_of_bytes_is_exact() {
    const MAGIC: f32 = 8_388_608.0;
    for n in 0..=255_000_u32 {
        let m = n as f32 / 1024.0;
        let rounded = m.mul_add(0.024, m) + MAGIC - MAGIC;
        let (quotient, rest) = (n / 1000, n % 1000);
        let exact = quotient + u32::from(rest > 500 || (rest == 500 && quotient % 2 == 1));
        assert_eq!(rounded, exact as f32, "{n}");
    }
}

/// `gray_near`: the same from how far the luma is from green.
#[test]
fn gray_near_green_is_exact() {
    const MAGIC: f32 = 8_388_608.0;
    for difference in -105_315..=105_315_i32 {
        let m = difference as f32 / 1024.0;
        let near = m.mul_add(0.024, m);
        // What is not below 0 nor above 255: the luma of bytes.
        for green in if difference < 0 { [254_i32, 255] } else { [0, 1] } {
            let rounded = near + (MAGIC + green as f32) - MAGIC;
            let n = green * 1000 + difference;
            let (quotient, rest) = (n.div_euclid(1000), n.rem_euclid(1000));
            let exact = quotient + i32::from(rest > 500 || (rest == 500 && quotient % 2 != 0));
            assert_eq!(rounded, exact as f32, "{difference} from {green}");
        }
    }
}

/// `magnitude<u8>`: a root that is off by up to 4 units in the last place rounds like the exact one.
#[test]
fn approximate_roots_of_integers_round_right() {
    let rounded = |v: f32| v.clamp(0.0, 255.0).round_ties_even();
    for square in 1..=2 * 1020 * 1020_u32 {
        let root = (square as f32).sqrt();
        let exact = f64::from(square).sqrt().min(255.0).round_ties_even();
        for off in [-4, 4] {
            let near = f32::from_bits(root.to_bits().wrapping_add_signed(off));
            assert_eq!(f64::from(rounded(near)), exact, "{square}");
        }
    }
}
