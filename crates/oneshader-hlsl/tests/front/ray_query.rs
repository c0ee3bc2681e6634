//! Ray queries: what each method becomes, how objects are declared and passed, and what cannot be done with them.

use super::{cs, ps, vs};

const HEAD: &str = "RaytracingAccelerationStructure scene; RaytracingAccelerationStructure scenes[3];
RWStructuredBuffer<float4> O; RayDesc ray() { RayDesc r = { float3(0, 0, 1), 0.25, float3(0, 1, 0), 8 }; return r; }\n";

fn main(body: &str) -> super::Compile {
    cs(&format!("{HEAD}[numthreads(8, 1, 1)] void main(uint i : SV_DispatchThreadID) {{\n{body}\n}}"))
}

#[test]
fn a_search_takes_the_flags_of_type_and_call() {
    main(
        "RayQuery<RAY_FLAG_FORCE_OPAQUE | RAY_FLAG_SKIP_PROCEDURAL_PRIMITIVES> q;
        q.TraceRayInline(scene, RAY_FLAG_ACCEPT_FIRST_HIT_AND_END_SEARCH, 0xff, ray());",
    )
    .has(&["\"scene\": handle accelstruct", "local l1 \"q\": rayquery", "raytrace l1, v", "u32 517, u32 255"]);
    // Flags that are not constant.
    main("RayQuery<RAY_FLAG_CULL_NON_OPAQUE> q; q.TraceRayInline(scene, i, i, ray());")
        .has(&["or", "u32 128", "raytrace"]);
    main("RayQuery<0> q; q.TraceRayInline(scenes[i], i, 1, ray());").has(&["access g1", "raytrace"]);
}

#[test]
fn the_parts_of_a_ray_are_in_order() {
    // Origin, least distance, direction, greatest distance: as SPIR-V takes them.
    main(
        "RayQuery<0> q; RayDesc r; r.Origin = float3(1, 2, 3); r.TMin = 4; r.Direction = float3(5, 6, 7); r.TMax = 8;
        q.TraceRayInline(scene, 0, 1, r);",
    )
    .has(&["= load l", "extract v", "#0", "extract v", "#1", "extract v", "#2", "extract v", "#3", "raytrace"]);
}

#[test]
fn every_method_is_there() {
    main(
        "RayQuery<0> q; q.TraceRayInline(scene, 0, 1, ray());
        float4 f = 0; float3x4 m = 0; float4x3 n = 0; bool b = false; uint u = 0;
        while (q.Proceed()) {
            if (q.CandidateType() == CANDIDATE_NON_OPAQUE_TRIANGLE) q.CommitNonOpaqueTriangleHit();
            if (q.CandidateType() == CANDIDATE_PROCEDURAL_PRIMITIVE) q.CommitProceduralPrimitiveHit(2);
            b = b || q.CandidateProceduralPrimitiveNonOpaque() || q.CandidateTriangleFrontFace();
            f.x += q.CandidateTriangleRayT(); f.xy += q.CandidateTriangleBarycentrics();
            f.xyz += q.CandidateObjectRayOrigin() + q.CandidateObjectRayDirection();
            m += q.CandidateObjectToWorld3x4() + q.CandidateWorldToObject3x4();
            n += q.CandidateObjectToWorld4x3() + q.CandidateWorldToObject4x3();
            u += q.CandidateInstanceIndex() + q.CandidateInstanceID() + q.CandidateGeometryIndex()
                + q.CandidatePrimitiveIndex() + q.CandidateInstanceContributionToHitGroupIndex();
            if (u > 9) q.Abort();
        }
        b = b || q.CommittedTriangleFrontFace();
        f.xyz += q.WorldRayOrigin() + q.WorldRayDirection(); f.x += q.RayTMin() + q.CommittedRayT();
        f.xy += q.CommittedTriangleBarycentrics(); u += q.RayFlags() + q.CommittedStatus();
        f.xyz += q.CommittedObjectRayOrigin() + q.CommittedObjectRayDirection();
        m += q.CommittedObjectToWorld3x4() + q.CommittedWorldToObject3x4();
        n += q.CommittedObjectToWorld4x3() + q.CommittedWorldToObject4x3();
        u += q.CommittedInstanceIndex() + q.CommittedInstanceID() + q.CommittedGeometryIndex()
            + q.CommittedPrimitiveIndex() + q.CommittedInstanceContributionToHitGroupIndex();
        O[i] = f + m[0] + n[0].xyzz + u + b;",
    )
    .has(&["rayproceed l", "raycommittriangle l", "raycommitprocedural l", "rayabort l", "raycommittedstatus l"]);
}

#[test]
fn matrices_are_transposed_where_their_name_says_3x4() {
    main("RayQuery<0> q; q.TraceRayInline(scene, 0, 1, ray()); O[i] = q.CommittedObjectToWorld3x4()[1];")
        .has(&["f32x4x3 = raycommittedobjecttoworld", "f32x3x4 = transpose"]);
    main("RayQuery<0> q; q.TraceRayInline(scene, 0, 1, ray()); O[i] = q.CommittedObjectToWorld4x3()[1].xyzz;")
        .has_not(&["transpose"]);
}

#[test]
fn objects_are_passed_by_their_address() {
    for way in ["", "inout ", "in "] {
        cs(&format!(
            "{HEAD}void f({way}RayQuery<1> q) {{ q.Proceed(); }}
             [numthreads(1, 1, 1)] void main() {{ RayQuery<1> a[2], b; f(b); f(a[1]); }}"
        ))
        .has(&[
            "\"f\" (v0 \"q\": ptr<function, rayquery>)",
            "call fn0(l1)",
            "= access l0, i32 1",
            "call fn0(v",
        ]);
    }
    // Another name for an object, and a new one.
    main("RayQuery<0> a; RayQuery<0> b = a; RayQuery<0> c = RayQuery<0>(); b.Proceed(); c.Proceed();")
        .has(&["rayproceed l1", "rayproceed l2"]);
    main("struct S { RayQuery<0> q; void go() { q.Abort(); } }; S s, t[2]; s.go(); t[i].go(); s.q.Proceed();").has(&[
        "call fn0(l1)",
        "= access l2, v",
        "call fn0(v",
    ]);
    cs(&format!(
        "{HEAD}struct S {{ RayQuery<0> q; float x; }}; void f(inout S s) {{ s.q.Proceed(); s.x = 1; }}
         [numthreads(1, 1, 1)] void main() {{ S s[2]; f(s[1]); }}"
    ))
    .has(&["\"f\" (v0 \"s\": ptr<function, s1>)", "call fn0(v"]);
    // The flags of a query decide the argument of a template.
    cs("template<uint F> uint f(RayQuery<F> q) { return F; } RWStructuredBuffer<uint> O;
        [numthreads(1, 1, 1)] void main() { RayQuery<5> q; O[0] = f(q); }")
    .has(&["ret u32 5"]);
    cs(&format!(
        "{HEAD}static RayQuery<4> g; [numthreads(1, 1, 1)] void main() {{ g.TraceRayInline(scene, 0, 1, ray()); }}"
    ))
    .has(&["\"g\": private rayquery", "raytrace g"]);
}

#[test]
fn all_three_stages_have_them() {
    vs(&format!("{HEAD}float4 main(RayDesc r : RAY) : SV_Position {{ RayQuery<0> q; q.TraceRayInline(scene, 0, 1, r); q.Proceed(); return q.CommittedRayT(); }}"))
        .has(&["raytrace"]);
    ps(&format!("{HEAD}float4 main() : SV_Target {{ RayQuery<0> q; q.TraceRayInline(scene, 0, 1, ray()); q.Proceed(); return q.CommittedStatus() == COMMITTED_TRIANGLE_HIT; }}"))
        .has(&["raycommittedstatus", "u32 1"]);
}

#[test]
fn names_of_the_language_give_way_to_declared_ones() {
    cs("static const uint COMMITTED_NOTHING = 7; RWStructuredBuffer<uint> O;
        [numthreads(1, 1, 1)] void main() { O[0] = COMMITTED_NOTHING; }")
    .has(&["u32 7"]);
    cs("struct RayQuery { float x; }; RWStructuredBuffer<float> O;
        [numthreads(1, 1, 1)] void main() { RayQuery q; q.x = 2; O[0] = q.x; }")
    .has_not(&["rayquery"]);
}

#[test]
fn what_a_query_cannot_do() {
    main("\nRayQuery<0> a, b;\nb = a;").refused(&["OSH3002 at 6"]);
    main("\nRayQuery<0> a;\nRayQuery<1> b = a;").refused(&["OSH2010 at 6"]);
    main("\nRayQuery<0> a = { 0 };").refused(&["OSH2033 at 5"]);
    main("\nRayQuery<0> a;\na.Proced();").refused(&["OSH2024 at 6"]);
    main("\nRayQuery<0> a;\na.TraceRayInline(scene, 0, 1);").refused(&["OSH2023 at 6"]);
    main("\nRayQuery<0> a;\na.CommitProceduralPrimitiveHit();").refused(&["OSH2023 at 6"]);
    main("\nRayQuery<> a;").refused(&["OSH2040 at 5"]);
    main("\nRayQuery<0, 1> a;").refused(&["OSH2040 at 5"]);
    main("\nRayQuery<float> a;").refused(&["OSH2040 at 5"]);
    main("\nO[i] = RAY_FLAG_FORCE_OPAK;").refused(&["OSH2001 at 5"]);
    cs("groupshared RayQuery<0> q;\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2060 at 1"]);
    cs("RayQuery<0> q;\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2060 at 1"]);
    cs("StructuredBuffer<RayQuery<0> > q;\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2030 at 1"]);
    cs("static RayQuery<0> g; void f(RayQuery<0> q) { q.Abort(); }\n[numthreads(1, 1, 1)] void main() {\nf(g); }")
        .refused(&["OSH3002 at 3"]);
}
