//! Operations across lanes, intrinsics by the table.

mod common;

use common::{check_all, check_for, has, lacks};
use oneshader_ir::Intrinsic;
use oneshader_ir::intrinsic::{Class, Signature};
use oneshader_spirv::TargetEnv;

const HEAD: &str = r#"module handles_resolved
global g0 "gi": input u32 io("SV_GroupIndex", 0) builtin(group_index)
global g1 "out": handle rwbytes resource
"#;

fn kernel(body: &str) -> String {
    format!(
        "{HEAD}func fn0 \"main\" () -> void {{\nblock0:\n{body}\n  ret\n}}\nentry compute \"main\" fn0 in(g0) out() threads(64, 1, 1)\n"
    )
}

#[test]
fn wave_and_quad_operations() {
    let out = check_all(&kernel(
        "  v0: u32 = load g0
  v1: bool = waveisfirstlane
  v2: u32 = wavelaneindex
  v3: u32 = wavelanecount
  v4: bool = waveany v1
  v5: bool = waveall v4
  v6: f32x2 = construct f32 1.0, f32 2.0
  v7: boolx2 = waveallequal v6
  v8: u32x4 = waveballot v5
  v9: f32x2 = wavereadlaneat v6, v2
  v10: f32x2 = wavereadlaneat v6, u32 3
  v11: bool = wavereadlanefirst v1
  v12: u32 = wavesum v0
  v13: u32 = wavecountbits v1
  v14: u32 = waveprefixcountbits v1
  v15: f32x2 = waveprefixproduct v6
  v16: u32x4 = wavematch v6
  v17: f32x2 = wavemultiprefixsum v6, v16
  v18: u32 = wavemultiprefixbitand v0, v16
  v19: u32 = wavemultiprefixcountbits v1, v16
  v20: f32x2 = quadreadacrossx v6
  v21: f32x2 = quadreadacrossdiagonal v6
  v22: f32x2 = quadreadlaneat v6, u32 2
  v23: f32x2 = quadreadlaneat v6, v0
  v24: bool = quadany v1
  v25: u32x4 = wavematch v1
  v26: rwbytes = load g1
  rawstore v26, v18, v17",
    ));
    for capability in [
        "GroupNonUniform",
        "GroupNonUniformVote",
        "GroupNonUniformBallot",
        "GroupNonUniformShuffle",
        "GroupNonUniformArithmetic",
        "GroupNonUniformQuad",
    ] {
        has(&out, &format!("OpCapability {capability}\n"));
    }
    lacks(&out, "Partitioned");
    lacks(&out, "OpExtension \"SPV_KHR_shader_ballot\"");
}

#[test]
fn helper_lanes() {
    let text = r#"module handles_resolved
global g0 "o": output f32x4 io("SV_Target", 0) location(0)
func fn0 "main" () -> void {
block0:
  v0: bool = ishelperlane
  v1: f32 = convert v0
  v2: u32 = wavelaneindex
  v3: f32x4 = splat v1
  store g0, v3
  ret
}
entry pixel "main" fn0 in() out(g0) threads(1, 1, 1)
"#;
    has(&check_for(text, TargetEnv::Vulkan1_3), "Volatile");
    has(&check_for(text, TargetEnv::Vulkan1_1), "HelperInvocation");
    check_all(text);
}

/// Operand types and the result's for an intrinsic, one line for each choice; none for those with rules of their own.
fn uses(intrinsic: Intrinsic) -> Vec<String> {
    let types = |class| match class {
        Class::Float => vec!["f32", "f32x3", "f16x2", "f64"],
        Class::Int => vec!["i32", "u32x3", "i16x2", "u64x2"],
        Class::Num => vec!["f32x3", "i32x2", "u32", "f64", "i64", "u16"],
        Class::Any => vec!["f32x3", "i32x2", "u64", "boolx2"],
    };
    let lanes = |ty: &str| ty.split_once('x').map_or(String::new(), |(_, n)| format!("x{n}"));
    let scalar = |ty: &str| ty.split_once('x').map_or(ty.to_string(), |(s, _)| s.to_string());
    let mut out = Vec::new();
    let mut add = |ty: &str, result: String| {
        // Geometry in three components; operations on waves take what the device has.
        if intrinsic == Intrinsic::Cross && !ty.ends_with("x3") {
            return;
        }
        let operands = vec![format!("{ty} undef"); intrinsic.arity()].join(", ");
        out.push(format!("  vN: {result} = {} {operands}", intrinsic.text()));
    };
    match intrinsic.signature() {
        Signature::Same(class) => types(class).into_iter().for_each(|ty| add(ty, ty.to_string())),
        Signature::Test(class) => types(class).into_iter().for_each(|ty| add(ty, format!("bool{}", lanes(ty)))),
        Signature::Reduce(class) => types(class).into_iter().for_each(|ty| add(ty, scalar(ty))),
        Signature::Bits => types(Class::Int).into_iter().for_each(|ty| add(ty, format!("u32{}", lanes(ty)))),
        Signature::Bools => {
            add("bool", "bool".into());
            if !intrinsic.text().starts_with("wave") && !intrinsic.text().starts_with("quad") {
                add("boolx3", "bool".into());
            }
        }
        Signature::Ray | Signature::Own => {}
    }
    out
}

#[test]
fn every_intrinsic_of_the_table_for_every_type_it_takes() {
    let mut body = String::new();
    let mut n = 0;
    for &intrinsic in Intrinsic::ALL {
        if oneshader_ir::intrinsic::Stages::COMPUTE & intrinsic.stages() != oneshader_ir::intrinsic::Stages::COMPUTE {
            continue;
        }
        for line in uses(intrinsic) {
            body.push_str(&line.replace("vN", &format!("v{n}")));
            body.push('\n');
            n += 1;
        }
    }
    assert!(n > 200, "{n}");
    check_all(&kernel(body.trim_end()));
}

#[test]
fn intrinsics_with_rules_of_their_own() {
    let out = check_all(&kernel(
        "  v0: f32x3 = construct f32 1.0, f32 2.0, f32 3.0
  v1: i32x3 = frexpexponent v0
  v2: f32x3 = refract v0, v0, f32 0.5
  v3: f32x3x3 = construct v0, v0, v0
  v4: f32x3x3 = transpose v3
  v5: f32 = determinant v4
  v6: u32x3 = f32tof16 v0
  v7: f32x3 = f16tof32 v6
  devicememorybarrier
  allmemorybarriersync
  v8: rwbytes = load g1
  rawstore v8, u32 0, v7",
    ));
    has(&out, "PackHalf2x16");
}
