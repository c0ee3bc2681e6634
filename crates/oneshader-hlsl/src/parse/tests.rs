//! Tests of the parser: trees are compared as text that shows every decision.

use oneshader_diag::render::{Style, render};
use oneshader_diag::{Code, DiagnosticBag, SourceMap, codes};

use super::*;
use crate::pp::{MemoryLoader, Options};

struct Run {
    parsed: Parsed,
    map: SourceMap,
    bag: DiagnosticBag,
}

fn run_version(text: &str, hlsl_version: u16) -> Run {
    let (mut map, mut bag) = (SourceMap::new(), DiagnosticBag::new());
    let options = Options { hlsl_version, ..Options::default() };
    let loader = MemoryLoader::default();
    let parsed = parse_source(("a.hlsl", text), &options, &loader, &mut map, &mut bag);
    Run { parsed, map, bag }
}

fn run(text: &str) -> Run {
    run_version(text, 2021)
}

impl Run {
    fn codes(&self) -> Vec<Code> {
        self.bag.iter().map(|d| d.code).collect()
    }

    fn clean(self) -> Run {
        assert!(self.bag.is_empty(), "{}", render(&self.map, &self.bag, Style::default()));
        self
    }

    fn show(&self) -> Show<'_> {
        Show { ast: &self.parsed.ast, names: &self.parsed.names }
    }
}

/// Writes trees as S-expressions.
struct Show<'a> {
    ast: &'a Ast,
    names: &'a Interner,
}

impl Show<'_> {
    fn name(&self, name: Name) -> &str {
        self.names.text(name)
    }

    fn list<T: Copy>(&self, items: &[T], show: impl Fn(T) -> String) -> String {
        items.iter().map(|i| show(*i)).collect::<Vec<_>>().join(" ")
    }

    fn exprs(&self, list: Slice<ExprId>) -> String {
        self.list(&self.ast[list], |e| self.expr(e))
    }

    fn args(&self, args: Slice<TemplateArg>) -> String {
        let arg = |arg: TemplateArg| match arg.kind {
            TemplateArgKind::Type(ty) => self.ty(ty),
            TemplateArgKind::Expr(expr) => format!("={}", self.expr(expr)),
        };
        format!("<{}>", self.list(&self.ast[args], arg))
    }

    fn path(&self, path: PathId) -> String {
        let path = self.ast[path];
        let segments = self.ast[path.segments]
            .iter()
            .map(|s| format!("{}{}", self.name(s.name), s.args.map(|args| self.args(args)).unwrap_or_default()));
        format!("{}{}", if path.global { "::" } else { "" }, segments.collect::<Vec<_>>().join("::"))
    }

    fn ty(&self, ty: TypeId) -> String {
        let ty = self.ast[ty];
        let mods: String = ty.mods.iter_names().map(|(name, _)| format!("{} ", name.to_lowercase())).collect();
        let mods = if matches!(ty.kind, TypeKind::Array { .. }) { String::new() } else { mods };
        mods + &match ty.kind {
            TypeKind::Error => "error".into(),
            TypeKind::Numeric(numeric) => match numeric {
                crate::builtin::NumericType::Scalar(kind) => format!("{kind:?}"),
                crate::builtin::NumericType::Vector(kind, n) => format!("{kind:?}{n}"),
                crate::builtin::NumericType::Matrix(kind, r, c) => format!("{kind:?}{r}x{c}"),
            },
            TypeKind::Object { kind, args } if args.is_empty() => format!("{kind:?}"),
            TypeKind::Object { kind, args } => format!("{kind:?}{}", self.args(args)),
            TypeKind::Path(path) => format!("'{}", self.path(path)),
            TypeKind::Array { element, size } => {
                format!("{}[{}]", self.ty(element), size.map(|s| self.expr(s)).unwrap_or_default())
            }
            TypeKind::Struct(decl) | TypeKind::Enum(decl) => format!("{{{}}}", self.decl(decl)),
            TypeKind::Decltype(expr) => format!("decltype({})", self.expr(expr)),
            TypeKind::Auto => "auto".into(),
        }
    }

    fn expr(&self, id: ExprId) -> String {
        let expr = self.ast[id];
        match expr.kind {
            ExprKind::Error => "error".into(),
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::Int(value, IntSuffix::None) => value.to_string(),
            ExprKind::Int(value, suffix) => format!("{value}{suffix:?}"),
            ExprKind::Float(value, FloatSuffix::None) => format!("{value:?}"),
            ExprKind::Float(value, suffix) => format!("{value:?}{suffix:?}"),
            ExprKind::Str(id) => format!("{:?}", self.ast.string(id)),
            ExprKind::Name(name) => self.name(name).into(),
            ExprKind::Path(path) => format!("({})", self.path(path)),
            ExprKind::This => "this".into(),
            ExprKind::Unary { op, operand } if op.is_postfix() => format!("({} post{})", self.expr(operand), op.text()),
            ExprKind::Unary { op, operand } => format!("({}{})", op.text(), self.expr(operand)),
            ExprKind::Binary { op, lhs, rhs } => format!("({} {} {})", self.expr(lhs), op.text(), self.expr(rhs)),
            ExprKind::Assign { op, lhs, rhs } => {
                format!("({} {}= {})", self.expr(lhs), op.map_or("", BinaryOp::text), self.expr(rhs))
            }
            ExprKind::Ternary { cond, yes, no } => {
                format!("({} ? {} : {})", self.expr(cond), self.expr(yes), self.expr(no))
            }
            ExprKind::Cast { ty, operand } => format!("(cast {} {})", self.ty(ty), self.expr(operand)),
            ExprKind::Construct { ty, args } => format!("(new {} [{}])", self.ty(ty), self.exprs(args)),
            ExprKind::Call { callee, args } => format!("(call {} [{}])", self.expr(callee), self.exprs(args)),
            ExprKind::Index { base, index } => format!("{}[{}]", self.expr(base), self.expr(index)),
            ExprKind::Member { base, name } => format!("{}.{}", self.expr(base), self.name(name)),
            ExprKind::MemberPath { base, path } => format!("{}.({})", self.expr(base), self.path(path)),
            ExprKind::InitList(list) => format!("{{{}}}", self.exprs(list)),
            ExprKind::SizeofType(ty) => format!("sizeof({})", self.ty(ty)),
            ExprKind::SizeofExpr(expr) => format!("(sizeof {})", self.expr(expr)),
            ExprKind::DeclCondition(decl) => format!("(decl {})", self.decl(decl)),
            ExprKind::EffectState => "state".into(),
        }
    }

    fn attributes(&self, list: Slice<Attribute>) -> String {
        let show = |a: Attribute| {
            let space = a.space.map(|s| format!("{}::", self.name(s))).unwrap_or_default();
            format!("[{space}{} {}] ", self.name(a.name), self.exprs(a.args)).replace(" ]", "]")
        };
        self.ast[list].iter().map(|a| show(*a)).collect()
    }

    fn stmt(&self, id: StmtId) -> String {
        let stmt = self.ast[id];
        let one = |id: StmtId| self.stmt(id);
        self.attributes(stmt.attributes)
            + &match stmt.kind {
                StmtKind::Error => "error".into(),
                StmtKind::Empty => ";".into(),
                StmtKind::Expr(expr) => self.expr(expr),
                StmtKind::Decl(list) => format!("decl {}", self.list(&self.ast[list], |d| self.decl(d))),
                StmtKind::Block(list) => {
                    format!("{{{}}}", self.ast[list].iter().map(|s| one(*s)).collect::<Vec<_>>().join("; "))
                }
                StmtKind::If { cond, then, otherwise } => {
                    let otherwise = otherwise.map(|s| format!(" else {}", one(s))).unwrap_or_default();
                    format!("if {} {}{otherwise}", self.expr(cond), one(then))
                }
                StmtKind::For { init, cond, step, body } => {
                    let expr = |e: Option<ExprId>| e.map(|e| self.expr(e)).unwrap_or_default();
                    format!("for ({}; {}; {}) {}", init.map(one).unwrap_or_default(), expr(cond), expr(step), one(body))
                }
                StmtKind::While { cond, body } => format!("while {} {}", self.expr(cond), one(body)),
                StmtKind::DoWhile { body, cond } => format!("do {} while {}", one(body), self.expr(cond)),
                StmtKind::Switch { on, body } => format!("switch {} {}", self.expr(on), one(body)),
                StmtKind::Case(value) => format!("case {}", self.expr(value)),
                StmtKind::Default => "default".into(),
                StmtKind::Break => "break".into(),
                StmtKind::Continue => "continue".into(),
                StmtKind::Discard => "discard".into(),
                StmtKind::Return(value) => format!("return {}", value.map(|v| self.expr(v)).unwrap_or_default()),
            }
    }

    fn annotations(&self, list: Slice<Annotation>) -> String {
        let show = |a: &Annotation| match a.kind {
            AnnotationKind::Semantic(name) => format!(" :{}", self.name(name)),
            AnnotationKind::Register(r) => {
                let slot = r.slot.map(|(letter, number)| format!("{}{number}", char::from(letter))).unwrap_or_default();
                let space = r.space.map(|s| format!(" space{s}")).unwrap_or_default();
                let profile = r.profile.map(|p| format!("{} ", self.name(p))).unwrap_or_default();
                let offset = r.offset.map(|e| format!("+{}", self.expr(e))).unwrap_or_default();
                format!(" :reg({profile}{slot}{offset}{space})")
            }
            AnnotationKind::PackOffset(p) => format!(" :pack({}.{})", p.register, p.component),
            AnnotationKind::PayloadAccess => " :access".into(),
        };
        self.ast[list].iter().map(show).collect()
    }

    fn decl(&self, id: DeclId) -> String {
        let decl = self.ast[id];
        let mut text = self.attributes(decl.attributes);
        if let Some(template) = decl.template {
            let param = |p: &TemplateParam| {
                let name = p.name.map_or("", |n| self.name(n));
                match p.kind {
                    TemplateParamKind::Type { default } => {
                        format!("type {name}{}", default.map(|t| format!("={}", self.ty(t))).unwrap_or_default())
                    }
                    TemplateParamKind::Value { ty, default } => {
                        let default = default.map(|e| format!("={}", self.expr(e))).unwrap_or_default();
                        format!("{} {name}{default}", self.ty(ty))
                    }
                }
            };
            let params: Vec<String> = self.ast[self.ast[template].params].iter().map(param).collect();
            text += &format!("template<{}> ", params.join(", "));
        }
        let members = |list: Slice<DeclId>| self.ast[list].iter().map(|d| self.decl(*d)).collect::<Vec<_>>().join("; ");
        text + &match decl.kind {
            DeclKind::Error => "error".into(),
            DeclKind::Empty => "empty".into(),
            DeclKind::Var(id) => {
                let var = self.ast[id];
                let mods = var.mods.difference(Mods::TYPE);
                let mods: String = mods.iter_names().map(|(name, _)| format!("{} ", name.to_lowercase())).collect();
                let qualifier = var.qualifier.map(|p| format!("{}::", self.path(p))).unwrap_or_default();
                let args = var.args.map(|args| self.args(args)).unwrap_or_default();
                let name = format!("{}{args}", var.name.map_or("_", |n| self.name(n)));
                let bits = var.bits.map(|e| format!(" bits {}", self.expr(e))).unwrap_or_default();
                let init = var.init.map(|e| format!(" = {}", self.expr(e))).unwrap_or_default();
                format!("{mods}{} {qualifier}{name}{}{bits}{init}", self.ty(var.ty), self.annotations(var.annotations))
            }
            DeclKind::Function(id) => {
                let f = self.ast[id];
                let name = match f.name {
                    FunctionName::Ident(name) => self.name(name).to_string(),
                    FunctionName::Operator(op) => format!("operator {op:?}"),
                    FunctionName::Conversion => "conversion".into(),
                };
                let mods: String = f.mods.iter_names().map(|(name, _)| format!("{} ", name.to_lowercase())).collect();
                let qualifier = f.qualifier.map(|p| format!("{}::", self.path(p))).unwrap_or_default();
                let args = f.args.map(|args| self.args(args)).unwrap_or_default();
                let params: Vec<String> = self.ast[f.params].iter().map(|p| self.decl(*p)).collect();
                let is_const = if f.is_const { " const" } else { "" };
                let body = f.body.map(|b| format!(" {}", self.stmt(b))).unwrap_or_default();
                let result = self.ty(f.result);
                let annotations = self.annotations(f.annotations);
                format!("{mods}{result} {qualifier}{name}{args}({}){is_const}{annotations}{body}", params.join(", "))
            }
            DeclKind::Struct(id) => {
                let s = self.ast[id];
                let kind = format!("{:?}", s.kind).to_lowercase();
                let args = s.args.map(|args| self.args(args)).unwrap_or_default();
                let bases = if s.bases.is_empty() {
                    String::new()
                } else {
                    format!(" : {}", self.list(&self.ast[s.bases], |t| self.ty(t)))
                };
                let body = s.members.map(|m| format!(" {{{}}}", members(m))).unwrap_or_default();
                format!("{kind} {}{args}{bases}{body}", s.name.map_or("_", |n| self.name(n)))
            }
            DeclKind::Enum(id) => {
                let e = self.ast[id];
                let scoped = if e.scoped { "class " } else { "" };
                let under = e.underlying.map(|t| format!(" : {}", self.ty(t))).unwrap_or_default();
                let list = e.enumerators.map(|list| {
                    let show = |e: Enumerator| {
                        format!(
                            "{}{}",
                            self.name(e.name),
                            e.value.map(|v| format!("={}", self.expr(v))).unwrap_or_default()
                        )
                    };
                    format!(" {{{}}}", self.list(&self.ast[list], show))
                });
                format!("enum {scoped}{}{under}{}", e.name.map_or("_", |n| self.name(n)), list.unwrap_or_default())
            }
            DeclKind::Cbuffer(id) => {
                let b = self.ast[id];
                let kind = if b.is_tbuffer { "tbuffer" } else { "cbuffer" };
                let name = b.name.map_or("_", |n| self.name(n));
                format!("{kind} {name}{} {{{}}}", self.annotations(b.annotations), members(b.members))
            }
            DeclKind::Namespace(id) => {
                let n = self.ast[id];
                format!("namespace {} {{{}}}", n.name.map_or("_", |n| self.name(n)), members(n.members))
            }
            DeclKind::Alias(id) => format!("alias {} {}", self.name(self.ast[id].name), self.ty(self.ast[id].ty)),
            DeclKind::UsingNamespace(path) => format!("using namespace {}", self.path(path)),
            DeclKind::UsingDecl(path) => format!("using {}", self.path(path)),
            DeclKind::StaticAssert { cond, message } => {
                format!("assert {} {:?}", self.expr(cond), message.map(|m| self.ast.string(m)))
            }
            DeclKind::Instantiate(decl) => format!("instantiate {}", self.decl(decl)),
        }
    }

    fn unit(&self) -> String {
        self.ast[self.ast.unit].iter().map(|d| self.decl(*d)).collect::<Vec<_>>().join("\n")
    }
}

/// The declarations of a source without complaints.
fn decls(text: &str) -> String {
    run(text).clean().show().unit()
}

/// The body of a function without complaints, `prelude` before it.
fn body_in(prelude: &str, text: &str) -> String {
    let run = run(&format!("{prelude}\nvoid zz() {{ {text} }}")).clean();
    let unit = run.show().unit();
    let (_, body) = unit.rsplit_once("zz() {").unwrap();
    body.strip_suffix('}').unwrap().to_string()
}

fn body(text: &str) -> String {
    body_in("", text)
}

#[test]
fn operators_bind_as_in_c() {
    let cases = [
        ("a + b * c - d;", "((a + (b * c)) - d)"),
        ("a = b += c ? d : e = f;", "(a = (b += (c ? d : (e = f))))"),
        ("a ? b : c ? d : e;", "(a ? b : (c ? d : e))"),
        (
            "a || b && c | d ^ e & f == g < h << i + j % k;",
            "(a || (b && (c | (d ^ (e & (f == (g < (h << (i + (j % k))))))))))",
        ),
        ("a, b = c, d;", "((a , (b = c)) , d)"),
        ("-a++ * !~b--;", "((-(a post++)) * (!(~(b post--))))"),
        ("++a.b[c + 1].d(e, f)[2];", "(++(call a.b[(c + 1)].d [e f])[2])"),
        ("a >> b >= c;", "((a >> b) >= c)"),
        ("a[b, c];", "a[(b , c)]"),
        ("(a, b).x;", "(a , b).x"),
        ("a < b > (c);", "((a < b) > c)"),
        ("a <<= b >>= c ^= d;", "(a <<= (b >>= (c ^= d)))"),
        ("this.x = -1.5f + 0x10u;", "(this.x = ((-1.5F) + 16U))"),
        ("1.xxx; 1.0.xy; 2.5h.rrr;", "1.xxx; 1.0.xy; 2.5H.rrr"),
        ("sizeof(float3) + sizeof(a) + sizeof b;", "((sizeof(Float3) + (sizeof a)) + (sizeof b))"),
        (
            "'a'; '\\n'; '\\x41'; '\\101'; printf(\"a\\t\" \"b\\\"\");",
            "97U; 10U; 65U; 65U; (call printf [\"a\\tb\\\"\"])",
        ),
        ("x = { 1, { a, b }, };", "(x = {1 {a b}})"),
    ];
    for (text, want) in cases {
        assert_eq!(body(text), want, "{text}");
    }
}

#[test]
fn casts_and_constructors() {
    let structs = "struct S { int a; static int b; }; typedef float4 V; namespace N { struct T { int x; }; int f; }";
    let cases = [
        ("(float)a + b;", "((cast Float a) + b)"),
        ("(float3)(a + b).x;", "(cast Float3 (a + b).x)"),
        ("(S)0;", "(cast 'S 0)"),
        ("(N::T)0;", "(cast 'N::T 0)"),
        ("(N::f) + 1;", "((N::f) + 1)"),
        ("(S::b) - 1;", "((S::b) - 1)"),
        ("(a) - 1;", "(a - 1)"),
        ("(a)(b);", "(call a [b])"),
        ("(float3(1, 2, 3)).x;", "(new Float3 [1 2 3]).x"),
        ("float3(1, 2, 3).x = 2;", "((new Float3 [1 2 3]).x = 2)"),
        ("V(1, a);", "(new 'V [1 a])"),
        ("(float[2])a;", "(cast Float[2] a)"),
        ("(row_major float4x4)m;", "(cast row_major Float4x4 m)"),
        ("(const unsigned int)a;", "(cast const Uint a)"),
        ("(vector<float, 3>)a;", "(cast Vector<Float =3> a)"),
        ("vector<float, 2>(1, 2);", "(new Vector<Float =2> [1 2])"),
        ("(int)-(uint)~a;", "(cast Int (-(cast Uint (~a))))"),
        ("(Unknown)a;", "(cast 'Unknown a)"),
        ("float x = (S::b);", "decl Float x = (S::b)"),
        ("S s = (S)0, t; s.a;", "decl 'S s = (cast 'S 0) 'S t; s.a"),
        ("N::T t; t.x = N::f;", "decl 'N::T t; (t.x = (N::f))"),
        ("float S = 1; (S) - 1;", "decl Float S = 1; (S - 1)"),
    ];
    for (text, want) in cases {
        assert_eq!(body_in(structs, text), want, "{text}");
    }
}

#[test]
fn declarations_and_expressions_are_told_apart() {
    let prelude =
        "struct S { int a; }; template<typename T> struct P { T x; }; template<typename T> T id(T x) { return x; }";
    let cases = [
        ("S s;", "decl 'S s"),
        ("Mystery m; Mystery<int> n;", "decl 'Mystery m; decl 'Mystery<Int> n"),
        ("a * b;", "(a * b)"),
        ("a < b;", "(a < b)"),
        ("P<float> p; P<P<int>> q;", "decl 'P<Float> p; decl 'P<'P<Int>> q"),
        ("id<float>(1) + id(2);", "((call (id<Float>) [1]) + (call id [2]))"),
        ("P<int>(1);", "(new 'P<Int> [1])"),
        (
            "b.Load<float4>(x); b.Load < x; b.foo < c > (d);",
            "(call b.(Load<Float4>) [x]); (b.Load < x); ((b.foo < c) > d)",
        ),
        ("const float a = 1, b[2] = { 1, 2 }, c;", "decl const Float a = 1 const Float[2] b = {1 2} const Float c"),
        ("static const uint n = 4u;", "decl static const Uint n = 4U"),
        (
            "precise float x; float precise, sample, center; sample = precise;",
            "decl precise Float x; decl Float precise Float sample Float center; (sample = precise)",
        ),
        ("float a[2][N + 1];", "decl Float[(N + 1)][2] a"),
        ("struct { float x; } l; l.x;", "decl struct _ {Float x} {struct _ {Float x}} l; l.x"),
        ("enum E { A, B = 3 }; E e = A;", "decl enum E {A B=3}; decl 'E e = A"),
        ("Texture2D texture = tex; texture.Load(0);", "decl Texture2D texture = tex; (call texture.Load [0])"),
        ("auto x = 1;", "decl auto x = 1"),
        ("decltype(a) b = a;", "decl decltype(a) b = a"),
        ("float x = a, y = (b, c);", "decl Float x = a Float y = (b , c)"),
        ("unsigned u; unsigned int2 v; signed int s;", "decl Uint u; decl Uint2 v; decl Int s"),
    ];
    for (text, want) in cases {
        assert_eq!(body_in(prelude, text), want, "{text}");
    }
}

#[test]
fn statements() {
    let cases = [
        (";", ";"),
        ("if (a) b; else if (c) d; else { e; }", "if a b else if c d else {e}"),
        ("if (int x = f()) x;", "if (decl Int x = (call f [])) x"),
        ("for (int i = 0; i < 4; ++i) { continue; }", "for (decl Int i = 0; (i < 4); (++i)) {continue}"),
        ("for (;;) break;", "for (; ; ) break"),
        ("for (a = 1, b = 2; a; a--, b--);", "for (((a = 1) , (b = 2)); a; ((a post--) , (b post--))) ;"),
        ("while (a) { discard; } do a--; while (a > 0);", "while a {discard}; do (a post--) while (a > 0)"),
        (
            "switch (a) { case 1: case 2 + 1: b; break; default: return; }",
            "switch a {case 1; case (2 + 1); b; break; default; return }",
        ),
        (
            "[unroll(4)] for (;;) {} [branch] if (a) {} else [flatten] if (b) {}",
            "[unroll 4] for (; ; ) {}; [branch] if a {} else [flatten] if b {}",
        ),
        ("[loop] while (a) [[vk::x(1, 2)]] { }", "[loop] while a [vk::x 1 2] {}"),
        ("return a, b;", "return (a , b)"),
        ("return (float4)0;", "return (cast Float4 0)"),
        ("{ { } }", "{{}}"),
    ];
    for (text, want) in cases {
        assert_eq!(body(text), want, "{text}");
    }
}

#[test]
fn resources_and_buffers() {
    let cases = [
        ("Texture2D<float4> t : register(t1, space2);", "Texture2D<Float4> t :reg(t1 space2)"),
        ("RWTexture2D<unorm float4> t[4] : register(u0);", "RwTexture2D<unorm Float4>[4] t :reg(u0)"),
        ("SamplerState s : register(ps, s3[2]);", "SamplerState s :reg(ps s3+2)"),
        (
            "SamplerState s : register(space1), t : register(s);",
            "SamplerState s :reg( space1)\nSamplerState t :reg(s0)",
        ),
        (
            "cbuffer B : register(b0) { float4 a : packoffset(c0); float b : packoffset(c1.y); row_major float3x4 m; };",
            "cbuffer B :reg(b0) {Float4 a :pack(0.0); Float b :pack(1.1); row_major Float3x4 m}",
        ),
        ("tbuffer T { int x; }", "tbuffer T {Int x}"),
        ("struct C { float4 a; }; ConstantBuffer<C> c[];", "struct C {Float4 a}\nConstantBuffer<'C>[] c"),
        ("[[vk::binding(1, 2)]] [[vk::x]] Buffer<uint> b;", "[vk::binding 1 2] [vk::x] Buffer<Uint> b"),
        (
            "[[vk::push_constant]] struct { int a; } pc;",
            "[vk::push_constant] struct _ {Int a}\n[vk::push_constant] {[vk::push_constant] struct _ {Int a}} pc",
        ),
        ("groupshared float s[64]; static const int N = 4;", "groupshared Float[64] s\nstatic const Int N = 4"),
        ("globallycoherent RWByteAddressBuffer b;", "globallycoherent RwByteAddressBuffer b"),
        (
            "StructuredBuffer<vector<float, 4> > a; Texture2DMS<float4, 8> m;",
            "StructuredBuffer<Vector<Float =4>> a\nTexture2DMs<Float4 =8> m",
        ),
        (
            "#pragma pack_matrix(row_major)\nfloat4x4 a;\n#pragma pack_matrix(column_major)\nfloat3x3 b; float4 c;",
            "pack_row_major Float4x4 a\npack_column_major Float3x3 b\nFloat4 c",
        ),
        ("float a : FOO, b : BAR1;", "Float a :FOO\nFloat b :BAR1"),
    ];
    for (text, want) in cases {
        let run = run(text).clean();
        let got = run.show().unit();
        assert_eq!(got, *want, "{text}");
    }
}

#[test]
fn functions() {
    let cases = [
        (
            "float4 main(float2 uv : TEXCOORD0, out float d : SV_Depth) : SV_Target { return 0; }",
            "Float4 main(Float2 uv :TEXCOORD0, out Float d :SV_Depth) :SV_Target {return 0}",
        ),
        (
            "[numthreads(8, 8, 1)] void CS(uint3 id : SV_DispatchThreadID);",
            "[numthreads 8 8 1] Void CS(Uint3 id :SV_DispatchThreadID)",
        ),
        ("[shader(\"compute\")][numthreads(1,1,1)] void f() {}", "[shader \"compute\"] [numthreads 1 1 1] Void f() {}"),
        (
            "void f(void); void f(int, inout float a[4], const int b = 1 + 2);",
            "Void f()\nVoid f(Int _, in out Float[4] a, const Int b = (1 + 2))",
        ),
        (
            "void f(nointerpolation centroid float a : A, in uniform int b);",
            "Void f(nointerpolation centroid Float a :A, uniform in Int b)",
        ),
        ("static inline float f();", "static inline Float f()"),
        (
            "void g(triangle float4 p[3], inout TriangleStream<float> s) {}",
            "Void g(triangle Float4[3] p, in out TriangleStream<Float> s) {}",
        ),
        ("int f()[2] { }", "Int[2] f() {}"),
        (
            "struct V { V operator+(V o) { return this; } bool operator[](int i) const; void operator()(); operator float4(); };",
            "struct V {'V operator Binary(Add)('V o) {return this}; Bool operator Index(Int i) const; Void operator Call(); Float4 conversion()}",
        ),
        (
            "struct S { int x; float get(); }; float S::get() { return x; }",
            "struct S {Int x; Float get()}\nFloat S::get() {return x}",
        ),
        ("struct S { static int n; }; static int S::n = 3;", "struct S {Static Int n}\nstatic Int S::n = 3"),
        (
            "export void f(); void vs(Texture2D<float4> t, SamplerState s = q) {}",
            "export Void f()\nVoid vs(Texture2D<Float4> t, SamplerState s = q) {}",
        ),
    ];
    for (text, want) in cases {
        assert_eq!(decls(text).to_lowercase(), want.to_lowercase(), "{text}");
    }
}

#[test]
fn structs_enums_and_names() {
    let cases = [
        (
            "struct A { float4 p : SV_Position; nointerpolation uint i : I; }; struct B : A { int x, y[2]; } b;",
            "struct A {Float4 p :SV_Position; nointerpolation Uint i :I}\nstruct B : 'A {Int x; Int[2] y}\n{struct B : 'A {Int x; Int[2] y}} b",
        ),
        ("struct F { uint a : 4; uint b : 28; int : 3; };", "struct F {Uint a bits 4; Uint b bits 28; Int _ bits 3}"),
        (
            "class C { struct I { int v; }; I i; typedef I J; J j; };",
            "class C {struct I {Int v}; 'I i; alias J 'I; 'J j}",
        ),
        ("struct S { struct I { int v; }; }; S::I x;", "struct S {struct I {Int v}}\n'S::I x"),
        ("struct D; struct D { int a; };", "struct D\nstruct D {Int a}"),
        ("interface I { float f(); };", "interface I {Float f()}"),
        (
            "enum E : uint { A, B = 1 << 2, }; enum class F { C }; E e = A; F f = F::C;",
            "enum E : Uint {A B=(1 << 2)}\nenum class F {C}\n'E e = A\n'F f = (F::C)",
        ),
        (
            "namespace A { namespace B { struct S { int x; }; } int f(B::S s); } using namespace A; B::S s; A::B::S t;",
            "namespace A {namespace B {struct S {Int x}}; Int f('B::S s)}\nusing namespace A\n'B::S s\n'A::B::S t",
        ),
        ("namespace A::B { int x; }", "namespace A {namespace B {Int x}}"),
        (
            "namespace A { struct S {}; } using A::S; S s; using T = A::S; T t;",
            "namespace A {struct S {}}\nusing A::S\n'S s\nalias T 'A::S\n'T t",
        ),
        (
            "typedef float F, G[2]; G g; typedef struct { int x; } H; H h;",
            "alias F Float\nalias G Float[2]\n'G g\nstruct _ {Int x}\nalias H {struct _ {Int x}}\n'H h",
        ),
        ("typedef row_major float3x4 M; typedef const int I;", "alias M row_major Float3x4\nalias I const Int"),
        ("_Static_assert(sizeof(int) == 4, \"four\");", "assert (sizeof(Int) == 4) Some(\"four\")"),
        (
            "struct S { float Buffer; float f() { return Buffer.x; } };",
            "struct S {Float Buffer; Float f() {return Buffer.x}}",
        ),
        (
            "struct B { int y; struct Q { int z; }; }; struct C : B { Q q; };",
            "struct B {Int y; struct Q {Int z}}\nstruct C : 'B {'Q q}",
        ),
    ];
    for (text, want) in cases {
        assert_eq!(decls(text), want, "{text}");
    }
}

#[test]
fn templates() {
    let cases = [
        (
            "template<typename T, int N = 2> T f(T a[N]) { return a[0]; }",
            "template<type T, Int N=2> 'T f('T[N] a) {return a[0]}",
        ),
        (
            "template<class T = float> struct S { T x; S next(); T m() { return S(0).x; } }; S<> a; S<int> b;",
            "template<type T=Float> struct S {'T x; 'S next(); 'T m() {return (new 'S [0]).x}}\n'S<> a\n'S<Int> b",
        ),
        (
            "template<typename T> struct S {}; template<> struct S<int> { int x; }; template<typename U> struct S<vector<U, 2> > {};",
            "template<type T> struct S {}\ntemplate<> struct S<Int> {Int x}\ntemplate<type U> struct S<Vector<'U =2>> {}",
        ),
        (
            "template<typename T> T f(T x); template<> float f<float>(float x) { return x; }",
            "template<type T> 'T f('T x)\ntemplate<> Float f<Float>(Float x) {return x}",
        ),
        (
            "template<typename T> struct S { T get(); template<typename U> U as(); }; template<typename T> T S<T>::get() { return x; }",
            "template<type T> struct S {'T get(); template<type U> 'U as()}\ntemplate<type T> 'T S<'T>::get() {return x}",
        ),
        (
            "template<typename T> using V = vector<T, 4>; V<float> v;",
            "template<type T> alias V Vector<'T =4>\n'V<Float> v",
        ),
        (
            "template<int N> struct A { int x[N]; }; A<(3 > 2)> a; A<1 + 2> b;",
            "template<Int N> struct A {Int[N] x}\n'A<=(3 > 2)> a\n'A<=(1 + 2)> b",
        ),
        (
            "template<typename T> T g(T x) { typename T::Inner i; return T::make(x); }",
            "template<type T> 'T g('T x) {decl 'T::Inner i; return (call (T::make) [x])}",
        ),
        (
            "template<typename T> static const bool same = false; bool b = same<int>;",
            "template<type T> static const Bool same = false\nBool b = (same<Int>)",
        ),
        (
            "template<typename T> struct S { T x; }; template struct S<int>;",
            "template<type T> struct S {'T x}\ninstantiate struct S<Int>",
        ),
        (
            "struct S { template<typename T> T as(); }; S s; float f() { return s.as<float>() + s.as < 2; }",
            "struct S {template<type T> 'T as()}\n'S s\nFloat f() {return (((call s.(as<Float>) []) + s.as) < 2)}",
        ),
    ];
    for (text, want) in cases {
        assert_eq!(decls(text), want, "{text}");
    }
    assert_eq!(run_version("template<typename T> T f(T x) { return x; }", 2018).codes(), [codes::NEEDS_NEWER_HLSL]);
    assert_eq!(run_version("struct S { uint a : 3; };", 2018).codes(), [codes::NEEDS_NEWER_HLSL]);
    assert_eq!(run_version("enum E { A };", 2016).codes(), [codes::NEEDS_NEWER_HLSL]);
    assert!(run_version("enum E { A };", 2017).bag.is_empty());
}

#[test]
fn effects_leftovers_are_ignored_with_warnings() {
    let text = "float4 c < string UIName = \"colour\"; > = 1;\n\
        SamplerState s { Filter = MIN_MAG_MIP_LINEAR; };\n\
        sampler t = sampler_state { Texture = <x>; };\n\
        BlendState b { AlphaToCoverageEnable = FALSE; };\n\
        technique10 T { pass P { SetVertexShader(CompileShader(vs_4_0, VS())); } }\n\
        int last;";
    let run = run(text);
    assert_eq!(run.codes(), [codes::IGNORED_CONSTRUCT; 6], "{}", render(&run.map, &run.bag, Style::default()));
    let want = "Float4 c = 1\nSamplerState s = state\nSampler t = state\nempty\nInt last";
    assert_eq!(run.show().unit(), want);
}

#[test]
fn errors_are_found_each_on_its_own() {
    let cases: &[(&str, &[Code])] = &[
        ("int a = ;", &[codes::EXPECTED_EXPRESSION]),
        ("int a", &[codes::EXPECTED_TOKEN]),
        ("struct S { int a; }\nint b;", &[codes::EXPECTED_TOKEN]),
        ("void f() { a + ; b * ; }\nint x = ;", &[codes::EXPECTED_EXPRESSION; 3]),
        ("void f() { if (a { b; } }\nint c;", &[codes::EXPECTED_TOKEN]),
        ("void f() { a = b\n c = d; }", &[codes::EXPECTED_TOKEN]),
        ("}\nint a;", &[codes::EXPECTED_DECLARATION]),
        ("void f() {", &[codes::EXPECTED_TOKEN]),
        ("float* p;", &[codes::NOT_HLSL]),
        ("void f(float& r) {}", &[codes::NOT_HLSL]),
        ("union U { int a; };", &[codes::NOT_HLSL]),
        ("void f() { goto x; }", &[codes::RESERVED_WORD]),
        ("char c;", &[codes::RESERVED_WORD]),
        ("struct S { S(int x) {} int y; };", &[codes::NOT_HLSL]),
        ("struct S { ~S() {} public: int y; };", &[codes::NOT_HLSL; 2]),
        ("Texture2D t : register(q0);", &[codes::BAD_REGISTER]),
        ("Texture2D t : register(t0, t1);", &[codes::BAD_REGISTER]),
        ("Texture2D t : registr(t0);", &[codes::BAD_REGISTER]),
        ("float4 a : packoffset(b0);", &[codes::BAD_PACKOFFSET]),
        ("int a = 08;", &[codes::BAD_NUMBER]),
        ("int a = 1e;", &[codes::BAD_NUMBER]),
        ("uint64_t a = 18446744073709551616;", &[codes::NUMBER_TOO_LARGE]),
        ("int a = float;", &[codes::EXPECTED_EXPRESSION]),
        ("static extern int a;", &[codes::MISPLACED_MODIFIER]),
        ("float groupshared x;", &[codes::MISPLACED_MODIFIER]),
        ("static static int a;", &[codes::DUPLICATE_MODIFIER]),
        ("float;", &[codes::EMPTY_DECLARATION]),
        ("f() { }", &[codes::EXPECTED_TYPE]),
        ("void f() { int g() { return 1; } }", &[codes::NOT_HLSL]),
        ("template<typename... T> void f();", &[codes::BAD_TEMPLATE]),
        ("int a = b ?: c;", &[codes::NOT_HLSL]),
        ("void f() { a->b; }", &[codes::NOT_HLSL]),
        ("void f() { x = (float3){1, 2, 3}; }", &[codes::NOT_HLSL]),
        ("int $ = 1;", &[codes::UNEXPECTED_CHAR]),
        ("void f() { else a; }", &[codes::SYNTAX]),
        ("[numthreads(1,1,1) void f();", &[codes::EXPECTED_TOKEN]),
        ("cbuffer { int a; };", &[codes::EXPECTED_NAME]),
        ("enum E { 1 };", &[codes::EXPECTED_NAME]),
        ("int a[2;", &[codes::EXPECTED_TOKEN]),
        ("void f(int a, ) {} void g(int a b) {} int c;", &[codes::EXPECTED_TYPE, codes::EXPECTED_TOKEN]),
        ("float3 v(1, 2, 3);", &[codes::NOT_HLSL]),
        ("void f() { float3 v(1, 2, 3); }", &[codes::NOT_HLSL]),
        ("struct S { S operator+=(S s); S operator++(); };", &[codes::BAD_DECLARATOR; 2]),
        ("struct S { int x; }; S operator+(S a, S b) { return a; }", &[codes::BAD_DECLARATOR]),
        ("int a[b = 2];", &[codes::EXPECTED_TOKEN]),
        ("volatile int a;", &[codes::RESERVED_WORD]),
    ];
    for (text, want) in cases {
        let run = run(text);
        assert_eq!(run.codes(), *want, "{text}\n{}", render(&run.map, &run.bag, Style::default()));
    }
}

#[test]
fn parsing_goes_on_behind_errors() {
    let run = run("int a = ; struct S { int x y; float z; }; void f() { b c d; e; } float g;");
    let unit = run.show().unit();
    assert!(unit.contains("Float z") && unit.ends_with("Float g"), "{unit}");
    assert!(run.codes().len() <= 4, "{}", render(&run.map, &run.bag, Style::default()));
}

#[test]
fn spans_cover_what_was_written() {
    let text = "float4 f(float a) { return (a + 1).xxxx * g<2>(a); }";
    let run = run(&format!("template<int N> float4 g(float a);{text}")).clean();
    let snippets: Vec<String> = {
        let ast = &run.parsed.ast;
        let f = ast[ast.unit][1];
        let DeclKind::Function(f) = ast[f].kind else { panic!() };
        let StmtKind::Block(list) = ast[ast[f].body.unwrap()].kind else { panic!() };
        let StmtKind::Return(Some(value)) = ast[ast[list][0]].kind else { panic!() };
        let ExprKind::Binary { lhs, rhs, .. } = ast[value].kind else { panic!() };
        let ExprKind::Member { base, .. } = ast[lhs].kind else { panic!() };
        [value, lhs, rhs, base].iter().map(|e| run.map.snippet(ast[*e].span).to_string()).collect()
    };
    assert_eq!(snippets, ["(a + 1).xxxx * g<2>(a)", "(a + 1).xxxx", "g<2>(a)", "(a + 1)"]);
}

#[test]
fn nesting_is_bounded() {
    let deep = 100_000;
    let cases = [
        format!("int a = {}1{};", "(".repeat(deep), ")".repeat(deep)),
        format!("int a = {}1;", "-".repeat(2 * deep + 1).replace("--", "- ")),
        format!("int a = {}1;", "(float)".repeat(deep)),
        format!("int a = {};", "1?".repeat(deep)),
        format!("int a = {}1;", "b=".repeat(deep)),
        format!("int a = {};", "{".repeat(deep)),
        format!("void f() {{ {}", "{".repeat(deep)),
        format!("void f() {{ {}", "if (a) ".repeat(deep)),
        format!("void f() {{ {}", "if (a) {} else ".repeat(deep)),
        format!("void f() {{ {}", "for (;;) ".repeat(deep)),
        format!("void f() {{ a{}; }}", "[a".repeat(deep)),
        format!("void f() {{ a{}; }}", ".x".repeat(deep)),
        format!("void f() {{ a{}; }}", "()".repeat(deep)),
        format!("int a = {}1;", "1+".repeat(deep)),
        format!("int a = 1{};", ", b[a".repeat(deep)),
        "struct S {".repeat(deep),
        "namespace N {".repeat(deep),
        "cbuffer C {".repeat(deep),
        format!("Buffer<{}", "Buffer<".repeat(deep)),
        format!("int a{};", "[1]".repeat(deep)),
        format!("N{} x;", "::N".repeat(deep)),
        "template<typename T> ".repeat(deep),
        format!("int a = {}", "f<".repeat(deep)),
        "[".repeat(deep),
        format!("void f({}", "int a = f(".repeat(deep)),
        format!(
            "struct A {{}}; {}",
            (0..2000).map(|i| format!("struct B{i} : B{} {{}};", i.max(1) - 1)).collect::<String>()
        ),
    ];
    for text in cases {
        let run = run(&text);
        assert!(run.bag.len() < 200, "{}", &text[..40]);
    }
    // What people write is far below the limits.
    let chain = format!("void f() {{ {} a; }}", "if (a) b; else ".repeat(1000));
    assert!(run(&chain).bag.is_empty());
    let sum = format!("int a = {}1;", "b + ".repeat(3000));
    assert!(run(&sum).bag.is_empty());
    let parens = format!("int a = {}1{};", "(".repeat(200), ")".repeat(200));
    assert!(run(&parens).bag.is_empty());
}
