//! Ray queries: every operation is the instruction of `SPV_KHR_ray_query`, with its hit, for every target.

mod common;

use common::{check_all, disassemble, emit, has, lacks};
use oneshader_ir::ray_query::{METHODS, RayType};
use oneshader_spirv::SpirvOptions;
use std::fmt::Write;

const HEAD: &str = r#"module handles_resolved
global g0 "scene": handle accelstruct resource
global g1 "scenes": handle [accelstruct x 3] resource
"#;

fn kernel(body: &str) -> String {
    format!(
        "{HEAD}func fn0 \"main\" () -> void {{\n  local l0 \"q\": rayquery\n  local l1 \"qs\": [rayquery x 2]\nblock0:\n{body}\n  ret\n}}\nentry compute \"main\" fn0 in() out() threads(1, 1, 1)\n"
    )
}

/// Every operation on `l0`, in the order of the table.
fn every_operation() -> String {
    let mut body = String::from("  v0: accelstruct = load g0\n");
    for (i, method) in METHODS.iter().enumerate() {
        let mut operands = vec!["l0".to_owned()];
        operands.extend(method.operands.iter().map(|o| {
            match o {
                RayType::Structure => "v0",
                RayType::Uint => "u32 5",
                RayType::Float => "f32 0.5",
                _ => "f32x3 [0.0, 1.0, 2.0]",
            }
            .to_owned()
        }));
        let result = match method.result {
            RayType::Void | RayType::Structure => String::new(),
            RayType::Bool => format!("v{}: bool = ", i + 1),
            RayType::Uint => format!("v{}: u32 = ", i + 1),
            RayType::Float => format!("v{}: f32 = ", i + 1),
            RayType::Float2 => format!("v{}: f32x2 = ", i + 1),
            RayType::Float3 => format!("v{}: f32x3 = ", i + 1),
            RayType::Float4x3 => format!("v{}: f32x4x3 = ", i + 1),
        };
        let _ = writeln!(body, "  {result}{} {}", method.intrinsic.text(), operands.join(", "));
    }
    body.trim_end().to_owned()
}

/// The instructions in the order of the table and the hit each asks about, from the extension's own list.
const EXPECTED: &[(&str, Option<u32>)] = &[
    ("RayQueryInitializeKHR", None),
    ("RayQueryProceedKHR", None),
    ("RayQueryTerminateKHR", None),
    ("RayQueryConfirmIntersectionKHR", None),
    ("RayQueryGenerateIntersectionKHR", None),
    ("RayQueryGetRayFlagsKHR", None),
    ("RayQueryGetRayTMinKHR", None),
    ("RayQueryGetWorldRayOriginKHR", None),
    ("RayQueryGetWorldRayDirectionKHR", None),
    ("RayQueryGetIntersectionTypeKHR", Some(0)),
    ("RayQueryGetIntersectionTypeKHR", Some(1)),
    ("RayQueryGetIntersectionCandidateAABBOpaqueKHR", None),
    ("RayQueryGetIntersectionTKHR", Some(0)),
    ("RayQueryGetIntersectionTKHR", Some(1)),
    ("RayQueryGetIntersectionInstanceIdKHR", Some(0)),
    ("RayQueryGetIntersectionInstanceIdKHR", Some(1)),
    ("RayQueryGetIntersectionInstanceCustomIndexKHR", Some(0)),
    ("RayQueryGetIntersectionInstanceCustomIndexKHR", Some(1)),
    ("RayQueryGetIntersectionInstanceShaderBindingTableRecordOffsetKHR", Some(0)),
    ("RayQueryGetIntersectionInstanceShaderBindingTableRecordOffsetKHR", Some(1)),
    ("RayQueryGetIntersectionGeometryIndexKHR", Some(0)),
    ("RayQueryGetIntersectionGeometryIndexKHR", Some(1)),
    ("RayQueryGetIntersectionPrimitiveIndexKHR", Some(0)),
    ("RayQueryGetIntersectionPrimitiveIndexKHR", Some(1)),
    ("RayQueryGetIntersectionObjectRayOriginKHR", Some(0)),
    ("RayQueryGetIntersectionObjectRayOriginKHR", Some(1)),
    ("RayQueryGetIntersectionObjectRayDirectionKHR", Some(0)),
    ("RayQueryGetIntersectionObjectRayDirectionKHR", Some(1)),
    ("RayQueryGetIntersectionObjectToWorldKHR", Some(0)),
    ("RayQueryGetIntersectionObjectToWorldKHR", Some(1)),
    ("RayQueryGetIntersectionWorldToObjectKHR", Some(0)),
    ("RayQueryGetIntersectionWorldToObjectKHR", Some(1)),
    ("RayQueryGetIntersectionBarycentricsKHR", Some(0)),
    ("RayQueryGetIntersectionBarycentricsKHR", Some(1)),
    ("RayQueryGetIntersectionFrontFaceKHR", Some(0)),
    ("RayQueryGetIntersectionFrontFaceKHR", Some(1)),
];

#[test]
fn every_operation_is_its_instruction() {
    let text = kernel(&every_operation());
    let out = check_all(&text);
    has(&out, "OpCapability RayQueryKHR");
    has(&out, "OpExtension \"SPV_KHR_ray_query\"");
    let words = emit(&text, &SpirvOptions::default());
    let module = rspirv::dr::load_words(&words).expect("words that rspirv reads");
    // Numbers of constants.
    let constants: Vec<(u32, u32)> = module
        .types_global_values
        .iter()
        .filter_map(|i| match i.operands.first() {
            Some(rspirv::dr::Operand::LiteralBit32(n)) => Some((i.result_id?, *n)),
            _ => None,
        })
        .collect();
    let block = &module.functions[0].blocks[0];
    let rays = block.instructions.iter().filter(|i| i.class.opname.starts_with("RayQuery"));
    let found: Vec<(&str, Option<u32>)> = rays
        .map(|i| {
            let hit = match (i.operands.get(1), i.operands.len()) {
                (Some(rspirv::dr::Operand::IdRef(id)), 2) if i.result_id.is_some() => {
                    constants.iter().find(|c| c.0 == *id).map(|c| c.1)
                }
                _ => None,
            };
            (i.class.opname, hit)
        })
        .collect();
    assert_eq!(found, EXPECTED, "{}", disassemble(&words));
}

#[test]
fn arrays_of_structures_and_of_queries_are_indexed_without_a_capability() {
    let out = check_all(&kernel(
        "  v0: u32 = rayflags l0
  v1: ptr<handle, accelstruct> = access g1, v0
  v2: accelstruct = load v1
  v3: u32 = and v0, u32 1
  v4: ptr<function, rayquery> = access l1, v3
  raytrace v4, v2, u32 0, u32 255, f32x3 [0.0, 0.0, 0.0], f32 0.0, f32x3 [0.0, 0.0, 1.0], f32 1.0
  v5: bool = rayproceed v4",
    ));
    lacks(&out, "DynamicIndexing");
    has(&out, "OpTypeArray");
}

#[test]
fn a_candidate_that_is_not_opaque_is_the_opposite_of_an_opaque_one() {
    let out = check_all(&kernel("  v0: bool = raycandidateproceduralnonopaque l0\n  v1: u32 = convert v0"));
    let lines = common::lines(&out);
    let at = lines.iter().position(|l| l.starts_with("OpRayQueryGetIntersectionCandidateAABBOpaqueKHR"));
    assert!(at.is_some_and(|at| lines[at + 1].starts_with("OpLogicalNot")), "{out}");
}
