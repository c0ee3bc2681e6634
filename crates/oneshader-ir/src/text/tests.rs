use super::*;
use crate::*;
use oneshader_diag::{FileId, Span};

/// Uses every kind of declaration, operand and terminator; the printer's own form.
const SAMPLE: &str = r#"module handles_resolved
struct s0 "Light" {
  "pos": f32x3
  "m": f32x4x4 row
  "k": [f16 x 3] at 96
}
struct s1 "Block" {
  "lights": [s0 x 4]
}
spec0 "SAMPLES" id 7 = u32 4
global g0 "tex": handle texture_2darray<f32x4> resource register(t, 3, space 1) vk_binding(2, 1) combined
global g1 "smp": handle samplercmp resource register(s, space 2)
global g2 "cb": handle cbuffer<s1> resource implicit
global g3 "buf": handle rwstructured<f32x2x2, append, row> resource vk_counter_binding(4) coherent
global g4 "img": handle [rwtexture_3d<u32> x 4] resource vk_image_format("r32ui")
global g5 "all": handle [texture_cube<f32x3>] resource
global g6 "uv": input f32x3 io("TEXCOORD", 2) location(1) noperspective centroid
global g7 "col": output f32x4 io("SV_Target", 0) location(0)
global g8 "a \"b\\\x01": private [i64 x 2] = [i64 x 2] [-9223372036854775808, 5] readonly
global g9 "raw": handle rwbytes resource
func fn0 "pick" (v0 "x": f32, v1 "out": ptr<function, i32>) -> f32 {
  local l0 "t": f32x3
block0 selection(block3) [branch]:
  v2 "c": bool = lt.precise v0, f32 0.1
  condbr v2, block1, block2
block1:
  store l0, f32x3 [1.0, -0.0, 0x7f800000]
  v3: f32 = mul v0, f32 2.5e-8
  br block3
block2:
  br block3
block3:
  v4: f32 = phi block1: v3, block2: f32 undef
  store v1, i32 -1
  ret v4
}
func fn1 "main" () -> void {
  local l0 "n": i32
  local l1 "unused": bool
block0:
  v0: texture_2darray<f32x4> = load g0
  v1: samplercmp = load g1
  v2: f32x3 = load g6
  v3: f32 = sample v0, sampler v1, coord v2, compare f32 0.5, offset i32x2 [1, -1]
  v4: f32x2 = swizzle v2, #xy
  v5: f32x4 = gather #2, v0, sampler v1, coord v2, offsets i32x2 zero i32x2 zero i32x2 zero i32x2 [0, 1]
  v6: cbuffer<s1> = load g2
  v7: ptr<constant, s1> = blockptr v6
  v8: u32 = add.nonuniform.relaxed u32 spec0, u32 1
  v9: ptr<constant, f32> = access v7, u32 0, v8, u32 1, u32 2, u32 3
  v10: f32 = load v9
  v11: f32 = call fn0(v10, l0)
  v12: f32x4 = insert v5, v11, #3
  v13: f32 = extract v12, #1
  v14: rwstructured<f32x2x2, append, row> = load g3
  v15: u32 = counter v14, #1
  groupmemorybarrier
  debugbreak
  printf "%u \"%f\"", v15, f32 1.0
  printf "none"
  v16: rwbytes = load g9
  rawstore v16, v15, f32x2 [1.0, 2.0]
  br block1
block1 loop(block4, block3) [unroll 4]:
  v17: u32 = phi block0: u32 0, block3: v18
  switch v17, block2 [0: block2, 18446744073709551615: block4]
block2:
  br block3
block3:
  v18: u32 = add v17, u32 1
  br block1
block4:
  discard
  store g7, v12
  ret
}
func fn2 "nothing" () -> f64 {
block0:
  unreachable
}
entry pixel "main" fn1 in(g6) out(g7) threads(1, 1, 1) wave(4, 64, 32) early depth(less) modes(16, 5017)
"#;

#[test]
fn text_survives() {
    let module = parse(SAMPLE).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(print(&module), SAMPLE);
}

#[test]
fn numbers_are_compacted_and_comments_dropped() {
    let text = "module ; a comment\nfunc fn0 \"f\" (v7 \"x\": f32) -> f32 {\nblock9: ; 3 of them\n  v40: f32 = add v7, \
                v7\n  ret v40\n}\n";
    let expected = "module\nfunc fn0 \"f\" (v0 \"x\": f32) -> f32 {\nblock0:\n  v1: f32 = add v0, v0\n  ret v1\n}\n";
    let module = parse(text).unwrap();
    assert_eq!(print(&module), expected);
}

/// What a module built by hand, with dead instructions and values in another order, is to be.
#[test]
fn parse_of_print_is_the_module() {
    let mut m = IrModule::new();
    let f32_ = m.types.scalar(Scalar::F32);
    let (name, x) = (m.names.intern("f"), m.names.intern("x"));
    let at = |lo| Span::new(FileId(0), lo, lo + 1);
    let mut func = Function::new(name, f32_, at(1));
    let a = func.add_param(x, f32_);
    let mut b = FunctionBuilder::new(&mut m, func);
    let (join, then) = (b.create_block(), b.create_block());
    b.span = at(5);
    let two = b.f32(2.0);
    let v = b.binary(BinaryOp::Mul, two, a);
    let dead = b.binary(BinaryOp::Add, v, v);
    let c = b.binary(BinaryOp::Lt, v, a);
    b.set_merge(Merge::Selection(join), Hint::Flatten);
    b.cond_branch(c, then, join);
    b.switch_to(then);
    b.branch(join);
    b.switch_to(join);
    b.ret(Some(v));
    let (m, mut func) = b.finish();
    let inst = func.def_inst(dead).unwrap().0;
    func.blocks[func.order[0]].insts.retain(|&i| i != inst);
    func.value_names[v] = Some(x);
    m.functions.push(func);
    let options = PrintOptions { spans: true };
    let text = print_with(m, options);
    let back = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(print_with(&back, options), text);
    let (f, g) = (&m.functions[Func::from_u32(0)], &back.functions[Func::from_u32(0)]);
    assert_eq!((f.span, f.order.len(), g.order.len()), (g.span, 3, 3));
    // Each living instruction is the same, with operands that are the same things.
    let describe = |m: &IrModule, f: &Function, v: Value| match f.values[v].def {
        ValueDef::Const(c) => format!("{:?} {}", m.consts.data(c), type_text(&m.types, m.consts.ty(c))),
        ValueDef::Param(i) => format!("param {i}"),
        ValueDef::Inst(i) => format!("{:?}", f.live_insts().position(|(_, at, _)| at == i)),
        def => format!("{def:?}"),
    };
    let list = |m: &IrModule, f: &Function| -> Vec<String> {
        let place = |b: Block| f.order.iter().position(|&o| o == b);
        f.live_insts()
            .map(|(b, _, d)| {
                let args: Vec<_> = d.args.iter().map(|&a| describe(m, f, a)).collect();
                format!("{:?} {:?} {:?} {:?} {args:?}", place(b), d.op, d.flags, d.span)
            })
            .chain(f.order.iter().map(|&b| {
                let d = &f.blocks[b];
                let succs: Vec<_> = d.term.successors().map(place).collect();
                let merge = match d.merge {
                    Merge::Selection(b) => place(b),
                    _ => None,
                };
                format!(
                    "{succs:?} {merge:?} {:?} {:?} {:?}",
                    d.hint,
                    d.term.span,
                    d.term.arg().map(|a| describe(m, f, a))
                )
            }))
            .collect()
    };
    assert_eq!(list(m, f), list(&back, g));
    assert_eq!(g.value_names.values().filter(|n| n.is_some()).count(), 1);
}

#[test]
fn every_operation_has_its_own_word() {
    use std::collections::BTreeSet;
    let mut words = BTreeSet::new();
    for intrinsic in Intrinsic::ALL {
        assert!(words.insert(intrinsic.text()), "{} twice", intrinsic.text());
        assert_eq!(spell::plain_op_from_name(intrinsic.text()), Some(Op::Intrinsic(*intrinsic)));
    }
    for word in ["sample", "texload", "texstore", "texsize", "call", "phi", "extract", "load", "br", "ret", "add"] {
        assert!(words.insert(word), "{word} twice");
    }
}

#[test]
fn errors_say_where() {
    let cases = [
        ("", "1:1: expected `module`"),
        ("module\nglobal g1 \"x\": private f32", "2:8: ids count up: expected `g0`"),
        ("module\nglobal g0 \"x\": private f33", "2:24: `f33` is no type"),
        ("module\nfunc fn0 \"f\" () -> void {\nblock0:\n  store v1, v2\n  ret\n}", "4:9: v1 is not defined"),
        ("module\nfunc fn0 \"f\" () -> void {\nblock0:\n  br block1\n}", "4:6: block1 is not defined"),
        ("module\nfunc fn0 \"f\" () -> void {\nblock0:\n  frob\n}", "4:3: `frob` is no operation"),
        ("module\nfunc fn0 \"f\" () -> void {\nblock0:\n  call fn3()\n  ret\n}", "4:8: there is no fn3"),
        ("module\nfunc fn0 \"f\" () -> void {\nblock0:\n  ret u16 65536\n}", "4:11: `65536` is no value of this type"),
        ("module\nglobal g0 \"x", "2:11: a name without its end"),
        ("module\nstruct s0 \"x\" { \"y\": s0 }", "2:22: there is no s0 yet"),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text).map(|m| print(&m)).unwrap_err().to_string(), expected, "{text}");
    }
}

#[test]
fn hostile_text_is_an_error() {
    let deep = format!("module\nglobal g0 \"x\": private {}f32", "[".repeat(100_000));
    assert!(parse(&deep).is_err());
    // Every prefix of a text, and every text without one token, parses or fails; it never panics.
    for end in (0..SAMPLE.len()).filter(|&i| SAMPLE.is_char_boundary(i)) {
        let _ = parse(&SAMPLE[..end]);
    }
    let words: Vec<&str> = SAMPLE.split_inclusive([' ', '\n', ',', '(', ')']).collect();
    for skip in 0..words.len() {
        let text: String = words.iter().enumerate().filter(|(i, _)| *i != skip).map(|(_, w)| *w).collect();
        if let Ok(module) = parse(&text) {
            let _ = verify(&module, "a lost word");
            assert_eq!(print(&parse(&print(&module)).unwrap()), print(&module));
        }
    }
}
