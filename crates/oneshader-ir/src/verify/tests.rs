//! A negative test for each rule; what is legal is shown by the positive ones.

use super::*;
use crate::text::parse;
use crate::*;
use oneshader_diag::Span;

const LEGAL: [u16; 0] = [];

fn rules(m: &IrModule) -> Vec<u16> {
    let mut rules: Vec<u16> = match verify(m, "test") {
        Ok(()) => Vec::new(),
        Err(report) => report.errors.iter().map(|e| e.rule).collect(),
    };
    rules.dedup();
    rules
}

fn of_text(text: &str) -> Vec<u16> {
    rules(&parse(&format!("module\n{text}")).unwrap_or_else(|e| panic!("{e}\n{text}")))
}

/// A function of one `f32` parameter, one `bool`, one local `f32`.
fn body(text: &str) -> Vec<u16> {
    of_text(&format!(
        "func fn0 \"f\" (v0 \"x\": f32, v1 \"c\": bool, v2 \"i\": u32) -> void {{\n  local l0 \"t\": f32\n{text}\n}}"
    ))
}

#[test]
fn legal_modules() {
    let loops = "block0:\n br block1\nblock1 loop(block9, block7):\n v3: u32 = phi block0: u32 0, block7: v8\n \
                 v4: bool = lt v3, u32 9\n condbr v4, block2, block9\nblock2 selection(block5):\n condbr v1, block3, \
                 block4\nblock3:\n br block7\nblock4:\n br block9\nblock5:\n br block7\nblock7:\n v8: u32 = add v3, u32 \
                 1\n br block1\nblock9:\n ret";
    // Both arms leave: the merge block is reached by no edge.
    assert_eq!(body(loops), LEGAL);
    let switch = "block0 selection(block4):\n switch v2, block3 [0: block1, 1: block2]\nblock1:\n br block2\nblock2:\n br \
                  block4\nblock3:\n br block4\nblock4:\n ret";
    assert_eq!(body(switch), LEGAL);
    let short = "block0:\n condbr v1, block1, block2\nblock1:\n v3: bool = gt v0, f32 1.0\n br block2\nblock2 \
                 selection(block4):\n v4: bool = phi block0: bool false, block1: v3\n condbr v4, block3, \
                 block4\nblock3:\n br block4\nblock4:\n ret";
    assert_eq!(body(short), LEGAL);
    let do_while = "block0:\n br block1\nblock1 loop(block3, block2):\n br block2\nblock2:\n condbr v1, block1, \
                    block3\nblock3:\n ret";
    assert_eq!(body(do_while), LEGAL);
    let break_in_switch = "block0:\n br block1\nblock1 loop(block8, block7):\n br block2\nblock2 selection(block5):\n \
                           switch v2, block4 [0: block3]\nblock3:\n br block8\nblock4:\n br block5\nblock5:\n br \
                           block7\nblock7:\n br block1\nblock8:\n ret";
    assert_eq!(body(break_in_switch), LEGAL);
}

#[test]
fn v001_types() {
    let mut m = IrModule::new();
    m.types.intern(TypeKind::Vector { elem: Scalar::F32, len: 5 });
    assert_eq!(rules(&m), [1]);
    let mut m = IrModule::new();
    let name = m.names.intern("s");
    let id = TypeKind::Struct(StructId::from_u32(0));
    let ty = m.types.intern(id);
    let member = Member { name, ty, order: MatrixOrder::ColumnMajor, offset: None, span: Span::NONE };
    m.types.structs.push(StructType { name, members: vec![member] });
    assert_eq!(rules(&m), [1]);
    let mut m = IrModule::new();
    m.types.matrix(Scalar::I32, 2, 2);
    assert_eq!(rules(&m), [1]);
    assert_eq!(
        of_text("inline asm0 32 operands([4], type f32)\ninline asm1 28 operands(type asm0, const u32 3)"),
        LEGAL
    );
    for wrong in ["operands(type asm0)", "operands(type asm1)", "operands(type asm9)"] {
        assert_eq!(of_text(&format!("inline asm0 28 {wrong}\ninline asm1 21 operands()"))[0], 1);
    }
}

#[test]
fn v002_constants() {
    let mut m = IrModule::new();
    let f = m.types.scalar(Scalar::F32);
    m.consts.intern(f, ConstData::Int(1));
    assert_eq!(rules(&m), [2]);
    assert_eq!(of_text("global g0 \"x\": private f32x3 = f32x3 [1.0, 2.0]"), [2]);
}

fn broken(f: impl FnOnce(&mut IrModule, &mut Function)) -> Vec<u16> {
    let text = "module\nfunc fn0 \"f\" (v0 \"x\": f32) -> void {\nblock0:\n v1: f32 = add v0, v0\n br block1\nblock1:\n \
                ret\n}";
    let mut m = parse(text).unwrap();
    let mut func = m.functions[Func::from_u32(0)].clone();
    f(&mut m, &mut func);
    m.functions[Func::from_u32(0)] = func;
    rules(&m)
}

#[test]
fn v003_to_v009_what_cannot_be_walked() {
    assert_eq!(broken(|_, _| {}), LEGAL);
    assert_eq!(broken(|_, f| f.order.clear()), [3]);
    assert_eq!(broken(|_, f| f.order.push(f.order[0])), [3]);
    let (b0, i0) = (Block::from_u32(0), Inst::from_u32(0));
    assert_eq!(broken(|_, f| f.blocks[b0].insts.push(i0)), [4]);
    assert_eq!(broken(|_, f| f.blocks[b0].insts.push(Inst::from_u32(99))), [4]);
    assert_eq!(broken(|_, f| f.insts[i0].args[0] = Value::from_u32(99)), [5]);
    assert_eq!(broken(|_, f| f.values[Value::from_u32(0)].def = ValueDef::Param(7)), [5]);
    assert_eq!(broken(|_, f| f.order.truncate(1)), [6]);
    assert_eq!(broken(|_, f| f.insts[i0].result = None), [7]);
    assert_eq!(broken(|_, f| f.insts[i0].op = Op::Call(Func::from_u32(0))), [8]);
    assert_eq!(broken(|_, f| f.ret = Type::from_u32(1000)), [9]);
    let entry = "func fn0 \"m\" () -> void {\nblock0:\n ret\n}\nglobal g0 \"x\": private f32\nentry vertex \"m\" fn0 in(g0) \
                 out() threads(1, 1, 1)";
    assert_eq!(of_text(entry), [9]);
}

#[test]
fn v010_entry_block() {
    assert!(body("block0:\n br block0").contains(&10));
}

#[test]
fn v011_order() {
    assert_eq!(body("block0:\n br block2\nblock1:\n ret\nblock2:\n br block1"), [11]);
}

#[test]
fn v012_dominance() {
    assert_eq!(body("block0:\n v3: f32 = add v4, v4\n v4: f32 = add v0, v0\n ret"), [12]);
    let arms = "block0 selection(block3):\n condbr v1, block1, block2\nblock1:\n v3: f32 = neg v0\n br block3\nblock2:\n br \
                block3\nblock3:\n v4: f32 = neg v3\n ret";
    assert_eq!(body(arms), [12]);
    let phi = "block0 selection(block3):\n condbr v1, block1, block2\nblock1:\n v3: f32 = neg v0\n br block3\nblock2:\n br \
               block3\nblock3:\n v4: f32 = phi block1: v0, block2: v3\n ret";
    assert_eq!(body(phi), [12]);
}

#[test]
fn v013_phis() {
    assert_eq!(body("block0:\n br block1\nblock1:\n v3: f32 = neg v0\n v4: f32 = phi block0: v0\n ret"), [13]);
    assert_eq!(body("block0:\n br block1\nblock1:\n v4: f32 = phi block0: v0, block1: v0\n ret"), [13]);
    assert_eq!(body("block0:\n br block1\nblock1:\n v4: f32 = phi\n ret"), [13]);
}

#[test]
fn v014_types_of_operations() {
    let wrong = [
        "v3: f32 = add v0, v2",
        "v3: bool = add v1, v1",
        "v3: f32 = lt v0, v0",
        "v3: f32 = shl v0, v0",
        "v3: bool = not v2",
        "v3: f32 = select v2, v0, v0",
        "v3: f32x2 = convert v0",
        "v3: f64 = bitcast v0",
        "v3: u32 = copy v0",
        "v3: f32x3 = construct v0, v0",
        "v3: f32x3 = construct v0, v0, v2",
        "v3: [f32 x 2] = construct v0",
        "v3: u32x2 = splat v0",
        "v3: f32 = extract f32x2 [1.0, 2.0], #2",
        "v3: f32x2 = insert f32x2 [1.0, 2.0], v2, #0",
        "v3: f32 = extractdynamic f32x2 [1.0, 2.0], v0",
        "v3: f32x2 = swizzle f32x2 [1.0, 2.0], #xz",
        "v3: f32x2 = matmul f32x3 zero, f32x2x2 zero",
        "v3: ptr<function, f32> = access l0, u32 0",
        "v3: u32 = load l0",
        "store l0, v2",
        "v3: u32 = bufferlength v0",
        "v3: f32 = min v0, v2",
        "v3: f32 = all v1",
        "v3: f32x2 = dot f32x2 zero, f32x2 zero",
        "v3: f32 = saturate v0, v0",
        "v3: f32x2x3 = transpose f32x2x3 zero",
        "v3: u32 = wavesum v0",
        "v3: f32 = waveballot v1",
        "v3: f32x4 = sample v0, sampler v0, coord v0",
        "v3: u32 = counter v0, #1",
        "v3: u32 = atomic_add l0, v0",
    ];
    for inst in wrong {
        let found = body(&format!("block0:\n {inst}\n ret"));
        assert!(found.contains(&14), "{inst}: {found:?}");
    }
}

#[test]
fn v014_types_of_phis() {
    assert_eq!(body("block0:\n br block1\nblock1:\n v3: f32 = phi block0: v2\n ret"), [14]);
}

/// The body of an entry-less function with a texture, a sampler, a cbuffer and two structured buffers at hand.
fn with_resources(text: &str) -> Vec<u16> {
    of_text(&format!(
        "struct s0 \"B\" {{ \"x\": f32 \"a\": [f32x2x3 x 2] }}\n\
         global g0 \"t\": handle texture_2darray<f32x4> resource\nglobal g1 \"s\": handle sampler resource\n\
         global g2 \"cb\": handle cbuffer<s0> resource\nglobal g3 \"ro\": handle structured<f32> resource\n\
         global g4 \"rw\": handle rwstructured<u32, counter> resource\nglobal g5 \"raw\": handle rwbytes resource\n\
         global g6 \"st\": private f32 = f32 1.0 readonly\nglobal g7 \"w\": workgroup u32\n\
         global g8 \"im\": handle rwtexture_2d<u32> resource\n\
         func fn0 \"f\" (v0 \"x\": f32, v1 \"u\": u32) -> void {{\nblock0:\n v10: texture_2darray<f32x4> = load g0\n \
         v11: sampler = load g1\n v12: cbuffer<s0> = load g2\n v13: structured<f32> = load g3\n v14: rwstructured<u32, \
         counter> = load g4\n v15: rwbytes = load g5\n v16: ptr<constant, s0> = blockptr v12\n v17: ptr<storage, f32> = \
         elementptr v13, v1\n v18: ptr<storage, u32> = elementptr v14, v1\n v19: ptr<storage, u32> = rawptr v15, v1\n \
         v20: rwtexture_2d<u32> = load g8\n v21: ptr<texel, u32> = texelptr v20, u32x2 zero\n {text}\n ret\n}}"
    ))
}

#[test]
fn resources() {
    let legal = [
        "v30: f32x4 = sample v10, sampler v11, coord f32x3 zero, grad f32x2 zero f32x2 zero, offset i32x2 zero",
        "v30: f32x4 = gather #3, v10, sampler v11, coord f32x3 zero",
        "v30: f32x4 = texload v10, coord i32x3 zero, level i32 0",
        "v30: u32x3 = texsize v10, level u32 0",
        "v30: ptr<constant, f32> = access v16, u32 1, v1, u32 1, u32 2",
        "v30: u32 = atomic_add v18, v1",
        "v30: u32 = atomic_xor v19, v1",
        "v30: u32 = atomic_max v21, v1",
        "v30: u32 = atomic_cmpxchg g7, v1, v1",
        "v30: u32 = counter v14, #-1",
        "v30: f32x3 = rawload v15, v1",
        "v30: u32 = bufferlength v13",
    ];
    for inst in legal {
        assert_eq!(with_resources(inst), LEGAL, "{inst}");
    }
    let wrong = [
        (14, "v30: f32x4 = sample v10, sampler v11, coord f32x2 zero"),
        (14, "v30: f32 = sample v10, sampler v11, coord f32x3 zero, compare v0"),
        (14, "v30: f32x4 = sample v10, sampler v11, coord f32x3 zero, bias v0, level v0"),
        (14, "v30: f32x4 = texload v10, coord f32x3 zero"),
        (14, "v30: u32x2 = texsize v10"),
        (14, "v30: f32x4 = gather #4, v10, sampler v11, coord f32x3 zero"),
        (14, "v30: ptr<storage, s0> = blockptr v12"),
        (14, "v30: ptr<storage, f32> = elementptr v13, v0"),
        (14, "v30: u32 = counter v13, #1"),
        (14, "v30: ptr<constant, f32> = access v16, u32 2"),
        (14, "v30: ptr<constant, f32> = access v16, v1"),
        (15, "v30: u32 = load v19"),
        (15, "v30: u32 = load v21"),
        (15, "v30: ptr<storage, f32> = copy v17"),
        (16, "store v17, v0"),
        (16, "store g6, v0"),
        (16, "texstore v10, coord i32x3 zero, value f32x4 zero"),
    ];
    for (rule, inst) in wrong {
        let found = with_resources(inst);
        assert!(found.contains(&rule), "{inst}: {found:?}");
    }
}

#[test]
fn v015_pointers() {
    assert_eq!(of_text("func fn0 \"f\" (v0 \"p\": ptr<storage, f32>) -> void {\nblock0:\n ret\n}"), [15]);
    assert_eq!(
        of_text("func fn0 \"f\" (v0 \"p\": ptr<function, f32>) -> ptr<function, f32> {\nblock0:\n ret v0\n}"),
        [15]
    );
}

#[test]
fn v017_terminators() {
    assert_eq!(body("block0 selection(block1):\n condbr v0, block1, block1\nblock1:\n ret"), [17]);
    assert_eq!(body("block0:\n ret v0"), [17]);
    let twice =
        "block0 selection(block2):\n switch v2, block2 [3: block1, 3: block2]\nblock1:\n br block2\nblock2:\n ret";
    assert_eq!(body(twice), [17]);
}

#[test]
fn v018_calls() {
    let text = "func fn0 \"f\" (v0 \"x\": f32) -> f32 {\nblock0:\n ret v0\n}\nfunc fn1 \"g\" () -> void {\nblock0:\n v0: f32 = \
                call fn0(u32 1)\n ret\n}";
    assert_eq!(of_text(text), [18]);
}

#[test]
fn v020_markers() {
    let leaves = "block0 selection(block3):\n condbr v1, block1, block2\nblock1:\n condbr v1, block2, block3\nblock2:\n br \
                  block3\nblock3:\n ret";
    assert_eq!(body(leaves), [20]);
    assert_eq!(body("block0:\n switch v2, block1 [0: block2]\nblock1:\n br block2\nblock2:\n ret"), [20]);
    assert_eq!(body("block0 selection(block1):\n br block1\nblock1:\n ret"), [20]);
}

#[test]
fn v021_merge_blocks() {
    let shared = "block0 selection(block3):\n condbr v1, block1, block3\nblock1 selection(block3):\n condbr v1, block2, \
                  block3\nblock2:\n br block3\nblock3:\n ret";
    assert!(body(shared).contains(&21));
    let not_dominated = "block0 selection(block4):\n condbr v1, block1, block2\nblock1 selection(block2):\n condbr v1, \
                         block3, block2\nblock3:\n br block2\nblock2:\n br block4\nblock4:\n ret";
    assert!(body(not_dominated).contains(&21), "{:?}", body(not_dominated));
}

#[test]
fn v022_leaving() {
    // From the inner selection straight to the outer one's merge block.
    let outer = "block0 selection(block4):\n condbr v1, block1, block4\nblock1 selection(block3):\n condbr v1, block2, \
                 block3\nblock2:\n br block4\nblock3:\n br block4\nblock4:\n ret";
    assert_eq!(body(outer), [22]);
    // Out of two loops at once.
    let two = "block0:\n br block1\nblock1 loop(block8, block7):\n br block2\nblock2 loop(block5, block4):\n condbr v1, \
               block3, block5\nblock3:\n br block8\nblock4:\n br block2\nblock5:\n br block7\nblock7:\n br \
               block1\nblock8:\n ret";
    assert_eq!(body(two), [22]);
    // Out of a switch around a loop.
    let switch = "block0 selection(block6):\n switch v2, block6 [0: block1]\nblock1:\n br block2\nblock2 loop(block5, \
                  block4):\n condbr v1, block3, block5\nblock3:\n br block6\nblock4:\n br block2\nblock5:\n br \
                  block6\nblock6:\n ret";
    assert_eq!(body(switch), [22]);
}

#[test]
fn v023_back_edges() {
    let from_body = "block0:\n br block1\nblock1 loop(block4, block3):\n br block2\nblock2 selection(block5):\n condbr v1, \
                     block1, block5\nblock5:\n br block3\nblock3:\n condbr v1, block1, block4\nblock4:\n ret";
    assert_eq!(body(from_body), [23]);
    assert!(body("block0:\n br block1\nblock1:\n br block1").contains(&23));
}

#[test]
fn v024_fall_through() {
    let skips = "block0 selection(block4):\n switch v2, block4 [0: block1, 1: block2, 2: block3]\nblock1:\n br \
                 block3\nblock2:\n br block4\nblock3:\n br block4\nblock4:\n ret";
    assert_eq!(body(skips), [24]);
}

#[test]
fn v030_variables() {
    assert_eq!(of_text("global g0 \"x\": storage f32"), [30]);
    assert_eq!(of_text("global g0 \"x\": handle f32 resource"), [30]);
    assert_eq!(of_text("global g0 \"x\": workgroup f32 = f32 1.0"), [30]);
    assert_eq!(of_text("global g0 \"x\": private f32 = u32 1"), [30]);
}

fn entry(stage: &str, io: &str, inst: &str) -> Vec<u16> {
    of_text(&format!(
        "global g0 \"uv\": input f32 io(\"TEXCOORD\", 0) location(0)\nglobal g1 \"id\": input u32 io(\"SV_VertexID\", 0) \
         builtin(vertex_id)\nglobal g2 \"o\": output f32 io(\"O\", 0) location(0)\nglobal g3 \"w\": workgroup u32\n\
         func fn0 \"m\" () -> void {{\nblock0:\n {inst}\n ret\n}}\nentry {stage} \"m\" fn0 {io} threads(1, 1, 1)"
    ))
}

#[test]
fn v031_stages() {
    assert_eq!(entry("vertex", "in(g0, g1) out(g2)", "v0: f32 = load g0\n store g2, v0"), LEGAL);
    assert_eq!(entry("vertex", "in() out()", "discard"), [31]);
    assert_eq!(entry("pixel", "in() out()", "groupmemorybarriersync"), [31]);
    assert_eq!(entry("vertex", "in() out()", "v0: f32 = load g0"), [31]);
    assert_eq!(entry("pixel", "in() out()", "v0: u32 = load g3"), [31]);
    assert_eq!(entry("compute", "in() out()", "v0: u32 = load g3"), LEGAL);
}

#[test]
fn v032_entry_points() {
    assert_eq!(entry("pixel", "in(g1) out()", ""), [32]);
    assert_eq!(entry("vertex", "in(g2) out()", ""), [32]);
    assert_eq!(entry("compute", "in(g0) out()", ""), [32]);
    let text =
        "func fn0 \"m\" () -> f32 {\nblock0:\n ret f32 1.0\n}\nentry vertex \"m\" fn0 in() out() threads(1, 0, 1)";
    assert_eq!(of_text(text), [32]);
}

#[test]
fn v033_resolved_handles() {
    let text = "func fn0 \"f\" (v0 \"s\": sampler) -> void {\n local l0 \"x\": sampler\nblock0:\n v1: sampler = select bool \
                true, v0, v0\n ret\n}";
    assert_eq!(of_text(text), LEGAL);
    assert_eq!(rules(&parse(&format!("module handles_resolved\n{text}")).unwrap()), [33]);
}

#[test]
fn reports_the_pass_and_every_error() {
    let m = parse("module\nglobal g0 \"x\": storage f32\nglobal g1 \"y\": storage f32").unwrap();
    let report = verify(&m, "some-pass").unwrap_err();
    assert_eq!(report.errors.len(), 2);
    let text = report.to_string();
    assert!(text.starts_with("the module is not legal after some-pass\n  V030: g0 x"), "{text}");
}
