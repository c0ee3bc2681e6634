//! The table of a ray query's operations (DirectX Raytracing specification, "RayQuery"; `SPV_KHR_ray_query`; Metal Shading
//! Language specification, "Intersection query").
//!
//! A query is memory of type [`TypeKind::RayQuery`](crate::TypeKind::RayQuery): it is never loaded, stored or chosen, and
//! each operation takes its address first. The front end finds a method's row by name, the verifier its types, each
//! backend its spelling.

use crate::intrinsic::Intrinsic;
use crate::types::{Scalar, TypeKind};

/// What an operation takes behind the query's address, or gives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RayType {
    /// Nothing.
    Void,
    /// `RaytracingAccelerationStructure`.
    Structure,
    /// `bool`.
    Bool,
    /// `uint`.
    Uint,
    /// `float`.
    Float,
    /// `float2`.
    Float2,
    /// `float3`.
    Float3,
    /// `float4x3`: row `i` is the image of axis `i`, the last row the translation.
    Float4x3,
}

impl RayType {
    /// The shape of the IR's type; `None` for an acceleration structure, which is a resource.
    pub const fn kind(self) -> Option<TypeKind> {
        let elem = Scalar::F32;
        Some(match self {
            Self::Void => TypeKind::Void,
            Self::Structure => return None,
            Self::Bool => TypeKind::Scalar(Scalar::Bool),
            Self::Uint => TypeKind::Scalar(Scalar::U32),
            Self::Float => TypeKind::Scalar(elem),
            Self::Float2 => TypeKind::Vector { elem, len: 2 },
            Self::Float3 => TypeKind::Vector { elem, len: 3 },
            Self::Float4x3 => TypeKind::Matrix { elem, rows: 4, cols: 3 },
        })
    }
}

/// Which hit of a query an operation asks about. The number is that of SPIR-V's `RayQueryIntersection`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Hit {
    /// The one that `Proceed` stopped at.
    Candidate = 0,
    /// The nearest one that was accepted.
    Committed = 1,
}

/// One operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RayMethod {
    /// The intrinsic.
    pub intrinsic: Intrinsic,
    /// HLSL method.
    pub name: &'static str,
    /// HLSL method that gives the transposed result, where there is one.
    pub transposed: Option<&'static str>,
    /// What it takes behind the query.
    pub operands: &'static [RayType],
    /// What it gives.
    pub result: RayType,
    /// The hit it asks about; `None` where it asks about none.
    pub hit: Option<Hit>,
    /// SPIR-V opcode. A hit is its last operand, except that of `OpRayQueryGetIntersectionCandidateAABBOpaqueKHR`.
    pub spirv: u16,
    /// Method of Metal's `intersection_query`; `None` where it has none of this meaning.
    pub metal: Option<&'static str>,
}

const fn method(intrinsic: Intrinsic, name: &'static str, spirv: u16, metal: Option<&'static str>) -> RayMethod {
    RayMethod { intrinsic, name, transposed: None, operands: &[], result: RayType::Void, hit: None, spirv, metal }
}

impl RayMethod {
    const fn takes(mut self, operands: &'static [RayType]) -> Self {
        self.operands = operands;
        self
    }

    const fn gives(mut self, result: RayType) -> Self {
        self.result = result;
        self
    }

    const fn of(mut self, hit: Hit) -> Self {
        self.hit = Some(hit);
        self
    }

    const fn or_transposed(mut self, name: &'static str) -> Self {
        self.transposed = Some(name);
        self
    }
}

use Hit::{Candidate, Committed};
use Intrinsic as I;
use RayType::{Bool, Float, Float2, Float3, Float4x3, Structure, Uint};

/// All operations.
pub static METHODS: &[RayMethod] = &[
    // Structure, flags, mask, origin, least distance, direction, greatest distance.
    method(I::RayTrace, "TraceRayInline", 4473, Some("reset"))
        .takes(&[Structure, Uint, Uint, Float3, Float, Float3, Float]),
    method(I::RayProceed, "Proceed", 4477, Some("next")).gives(Bool),
    method(I::RayAbort, "Abort", 4474, Some("abort")),
    method(I::RayCommitTriangle, "CommitNonOpaqueTriangleHit", 4476, Some("commit_triangle_intersection")),
    method(I::RayCommitProcedural, "CommitProceduralPrimitiveHit", 4475, Some("commit_bounding_box_intersection"))
        .takes(&[Float]),
    method(I::RayFlags, "RayFlags", 6017, None).gives(Uint),
    method(I::RayTMin, "RayTMin", 6016, Some("get_ray_min_distance")).gives(Float),
    method(I::RayWorldOrigin, "WorldRayOrigin", 6030, Some("get_world_space_ray_origin")).gives(Float3),
    method(I::RayWorldDirection, "WorldRayDirection", 6029, Some("get_world_space_ray_direction")).gives(Float3),
    method(I::RayCandidateType, "CandidateType", 4479, Some("get_candidate_intersection_type"))
        .gives(Uint)
        .of(Candidate),
    method(I::RayCommittedStatus, "CommittedStatus", 4479, Some("get_committed_intersection_type"))
        .gives(Uint)
        .of(Committed),
    method(
        I::RayCandidateProceduralNonOpaque,
        "CandidateProceduralPrimitiveNonOpaque",
        6026,
        Some("is_candidate_non_opaque_bounding_box"),
    )
    .gives(Bool),
    method(I::RayCandidateT, "CandidateTriangleRayT", 6018, Some("get_candidate_triangle_distance"))
        .gives(Float)
        .of(Candidate),
    method(I::RayCommittedT, "CommittedRayT", 6018, Some("get_committed_distance")).gives(Float).of(Committed),
    method(I::RayCandidateInstanceIndex, "CandidateInstanceIndex", 6020, Some("get_candidate_instance_id"))
        .gives(Uint)
        .of(Candidate),
    method(I::RayCommittedInstanceIndex, "CommittedInstanceIndex", 6020, Some("get_committed_instance_id"))
        .gives(Uint)
        .of(Committed),
    method(I::RayCandidateInstanceId, "CandidateInstanceID", 6019, Some("get_candidate_user_instance_id"))
        .gives(Uint)
        .of(Candidate),
    method(I::RayCommittedInstanceId, "CommittedInstanceID", 6019, Some("get_committed_user_instance_id"))
        .gives(Uint)
        .of(Committed),
    method(I::RayCandidateInstanceContribution, "CandidateInstanceContributionToHitGroupIndex", 6021, None)
        .gives(Uint)
        .of(Candidate),
    method(I::RayCommittedInstanceContribution, "CommittedInstanceContributionToHitGroupIndex", 6021, None)
        .gives(Uint)
        .of(Committed),
    method(I::RayCandidateGeometryIndex, "CandidateGeometryIndex", 6022, Some("get_candidate_geometry_id"))
        .gives(Uint)
        .of(Candidate),
    method(I::RayCommittedGeometryIndex, "CommittedGeometryIndex", 6022, Some("get_committed_geometry_id"))
        .gives(Uint)
        .of(Committed),
    method(I::RayCandidatePrimitiveIndex, "CandidatePrimitiveIndex", 6023, Some("get_candidate_primitive_id"))
        .gives(Uint)
        .of(Candidate),
    method(I::RayCommittedPrimitiveIndex, "CommittedPrimitiveIndex", 6023, Some("get_committed_primitive_id"))
        .gives(Uint)
        .of(Committed),
    method(I::RayCandidateObjectOrigin, "CandidateObjectRayOrigin", 6028, Some("get_candidate_ray_origin"))
        .gives(Float3)
        .of(Candidate),
    method(I::RayCommittedObjectOrigin, "CommittedObjectRayOrigin", 6028, Some("get_committed_ray_origin"))
        .gives(Float3)
        .of(Committed),
    method(I::RayCandidateObjectDirection, "CandidateObjectRayDirection", 6027, Some("get_candidate_ray_direction"))
        .gives(Float3)
        .of(Candidate),
    method(I::RayCommittedObjectDirection, "CommittedObjectRayDirection", 6027, Some("get_committed_ray_direction"))
        .gives(Float3)
        .of(Committed),
    method(
        I::RayCandidateObjectToWorld,
        "CandidateObjectToWorld4x3",
        6031,
        Some("get_candidate_object_to_world_transform"),
    )
    .or_transposed("CandidateObjectToWorld3x4")
    .gives(Float4x3)
    .of(Candidate),
    method(
        I::RayCommittedObjectToWorld,
        "CommittedObjectToWorld4x3",
        6031,
        Some("get_committed_object_to_world_transform"),
    )
    .or_transposed("CommittedObjectToWorld3x4")
    .gives(Float4x3)
    .of(Committed),
    method(
        I::RayCandidateWorldToObject,
        "CandidateWorldToObject4x3",
        6032,
        Some("get_candidate_world_to_object_transform"),
    )
    .or_transposed("CandidateWorldToObject3x4")
    .gives(Float4x3)
    .of(Candidate),
    method(
        I::RayCommittedWorldToObject,
        "CommittedWorldToObject4x3",
        6032,
        Some("get_committed_world_to_object_transform"),
    )
    .or_transposed("CommittedWorldToObject3x4")
    .gives(Float4x3)
    .of(Committed),
    method(
        I::RayCandidateBarycentrics,
        "CandidateTriangleBarycentrics",
        6024,
        Some("get_candidate_triangle_barycentric_coord"),
    )
    .gives(Float2)
    .of(Candidate),
    method(
        I::RayCommittedBarycentrics,
        "CommittedTriangleBarycentrics",
        6024,
        Some("get_committed_triangle_barycentric_coord"),
    )
    .gives(Float2)
    .of(Committed),
    method(I::RayCandidateFrontFace, "CandidateTriangleFrontFace", 6025, Some("is_candidate_triangle_front_facing"))
        .gives(Bool)
        .of(Candidate),
    method(I::RayCommittedFrontFace, "CommittedTriangleFrontFace", 6025, Some("is_committed_triangle_front_facing"))
        .gives(Bool)
        .of(Committed),
];

/// The row of an intrinsic; `None` when it is none of a ray query.
pub fn of_intrinsic(which: Intrinsic) -> Option<&'static RayMethod> {
    METHODS.iter().find(|m| m.intrinsic == which)
}

/// The row of an HLSL method, and whether it gives the transposed result.
pub fn find(name: &str) -> Option<(&'static RayMethod, bool)> {
    METHODS.iter().find_map(|m| match m.transposed {
        _ if m.name == name => Some((m, false)),
        Some(transposed) if transposed == name => Some((m, true)),
        _ => None,
    })
}

/// `RAY_FLAG` (DirectX Raytracing specification, "Ray flags"); SPIR-V's `RayFlags` have the same bits.
pub mod flag {
    /// All hits are opaque.
    pub const FORCE_OPAQUE: u32 = 0x1;
    /// No hit is opaque.
    pub const FORCE_NON_OPAQUE: u32 = 0x2;
    /// The first hit that is accepted ends the search.
    pub const ACCEPT_FIRST_HIT_AND_END_SEARCH: u32 = 0x4;
    /// For shaders of hits; means nothing to a query.
    pub const SKIP_CLOSEST_HIT_SHADER: u32 = 0x8;
    /// Back faces are not hit.
    pub const CULL_BACK_FACING_TRIANGLES: u32 = 0x10;
    /// Front faces are not hit.
    pub const CULL_FRONT_FACING_TRIANGLES: u32 = 0x20;
    /// What is opaque is not hit.
    pub const CULL_OPAQUE: u32 = 0x40;
    /// What is not opaque is not hit.
    pub const CULL_NON_OPAQUE: u32 = 0x80;
    /// Triangles are not hit.
    pub const SKIP_TRIANGLES: u32 = 0x100;
    /// Procedural primitives are not hit.
    pub const SKIP_PROCEDURAL_PRIMITIVES: u32 = 0x200;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intrinsic::Signature;

    #[test]
    fn every_intrinsic_of_a_query_has_one_row_with_its_operands() {
        for &which in Intrinsic::ALL {
            let rows = METHODS.iter().filter(|m| m.intrinsic == which).count();
            let is_ray = which.signature() == Signature::Ray;
            assert_eq!(rows, usize::from(is_ray), "{}", which.text());
            if let Some(method) = of_intrinsic(which) {
                assert_eq!(which.arity(), method.operands.len() + 1, "{}", method.name);
            }
        }
    }

    #[test]
    fn names_are_found_and_hits_are_what_they_say() {
        for method in METHODS {
            assert_eq!(find(method.name).map(|(m, t)| (m.intrinsic, t)), Some((method.intrinsic, false)));
            if let Some(name) = method.transposed {
                assert_eq!(find(name).map(|(m, t)| (m.intrinsic, t)), Some((method.intrinsic, true)));
            }
            let said = match method.hit {
                Some(Hit::Candidate) => "Candidate",
                Some(Hit::Committed) => "Committed",
                None => continue,
            };
            assert!(method.name.starts_with(said), "{}", method.name);
            let metal = method.metal.unwrap_or(said);
            assert!(metal.to_lowercase().contains(&said.to_lowercase()), "{metal}");
        }
        assert!(find("CandidateRayT").is_none());
    }
}
