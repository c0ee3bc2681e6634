use super::*;

#[test]
fn loops_carry_their_structure() {
    body("for (uint i = 0; i < 4; ++i) { if (i == id.x) continue; if (i == 3) break; U[i] = i; }")
        .has(&["loop(", "condbr"]);
    body("uint i = 0; while (i < 4 && U[i].x != 0) ++i; U[0] = i;").has(&["loop(", "phi"]);
    body("uint i = 0; do { ++i; if (i == id.x) continue; } while (i < 9); U[0] = i;").has(&["loop("]);
    body("for (;;) { if (U[0].x == 1) return; U[1] = 2; }").has(&["ret"]);
    body(
        "[unroll(3)] for (int i = 0; i < 3; ++i) U[i] = 1; [loop] while (U[0].x) U[0]--; [branch] if (id.x) U[0] = 2;",
    )
    .has(&["[unroll 3]", "[loop]", "[branch]"]);
    body("while (bool b = U[0].x > 3) { U[0]--; if (!b) break; }").compiles();
}

#[test]
fn switches_fall_through() {
    body(
        "switch (id.x) { case 0: U[0] = 1; case 1: U[1] = 2; break; case 2: case 3: { U[2] = 3; return; }
         default: U[3] = 4; }",
    )
    .has(&["switch"]);
    body("switch (id.x) { case 1: break;\ncase 1: break; }").refused(&["OSH2051 at 4"]);
    body("switch (id.x) { default: break;\ndefault: break; }").refused(&["OSH2051 at 4"]);
    body("switch (F[0].xy) { case 1: break; }").refused(&["OSH2052 at 3"]);
    body("switch (id.x) { case 0: { case 1: break; } default: break; }").compiles();
    body("for (;;) { switch (id.x) { case 0: continue; default: break; } break; }").compiles();
    body("switch (id.x) { case U[0].x: break; }").refused(&["OSH2034 at 3"]);
}

#[test]
fn misplaced_statements_are_refused() {
    body("break;").refused(&["OSH2050 at 3"]);
    body("switch (id.x) { case 0: continue; }").refused(&["OSH2050 at 3"]);
    body("if (id.x) { case 0: ; }").refused(&["OSH2050 at 3"]);
    body("if (F[0]) U[0] = 1;").refused(&["OSH2052 at 3"]);
}

#[test]
fn code_after_a_jump_is_checked_and_dropped() {
    body("return; U[0] = 1;").has_not(&["elementptr"]);
    body("return;\nU[0] = nothing;").refused(&["OSH2001 at 4"]);
    body("if (id.x > 3) { return; } else { return; } U[0] = 1;").compiles();
}

#[test]
fn discard_is_for_pixels() {
    ps("float4 main(float a : A) : SV_Target { if (a < 0) discard; return a; }").has(&["discard"]);
    body("discard;").refused(&["OSH2070 at 3"]);
    vs("groupshared float g; float4 main() : SV_Position { return g; }").refused(&["OSH2070 at 1"]);
}

#[test]
fn long_chains_need_no_recursion() {
    let sum = vec!["id.x"; 3000].join(" + ");
    body(&format!("U[0].x = {sum};")).compiles();
    let chain: String = (0..1500).map(|i| format!("if (id.x == {i}) U[0] = {i}; else ")).collect();
    body(&format!("{chain} U[0] = 9;")).compiles();
}
