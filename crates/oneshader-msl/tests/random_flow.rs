//! Random structured programs keep their paths: each is built as a graph with phis, emitted, executed by `metal-check`, and
//! compared with a walk over the program itself.

use metal_check::run::{Dispatch, Executor};
use oneshader_diag::{DiagnosticBag, Span};
use oneshader_ir::{
    Access, AddressSpace, BinaryOp, Block, BuiltIn, CounterKind, EntryPoint, Func, Function, FunctionBuilder,
    GlobalKind, GlobalVar, Hint, IoVar, IrModule, MatrixOrder, Merge, Op, Properties, ResourceType, ResourceVar,
    Scalar, Stage, SwitchCase, TypeKind, Value,
};
use oneshader_msl::{MslBackend, MslOptions};

/// A program over one number: its history of what happened.
#[derive(Debug, Clone)]
enum Stmt {
    /// h = h * 31 + n
    Note(u32),
    If(u32, Vec<Stmt>, Vec<Stmt>),
    /// `if (a && b)` or `||` by branches without marker.
    Short(u32, u32, bool, Vec<Stmt>),
    /// At most so many rounds, while bit `.1` asks for it; the last list is the continue construct.
    Loop(u32, u32, Vec<Stmt>, Vec<Stmt>),
    /// Body first, then the condition.
    DoWhile(u32, u32, Vec<Stmt>),
    /// Cases with whether they fall through; the last one is the default.
    Switch(u32, Vec<(Vec<Stmt>, bool)>),
    Break,
    Continue,
    Return,
}

/// A small generator of numbers (xorshift); the programs are the same in every run.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % u64::from(n)) as u32
    }

    fn list(&mut self, depth: u32, in_loop: bool, in_switch: bool) -> Vec<Stmt> {
        let mut out = Vec::new();
        for _ in 0..=self.below(3) {
            out.push(Stmt::Note(self.below(1000)));
            if depth == 0 {
                continue;
            }
            let stmt = match self.below(9) {
                0 | 1 => {
                    let (bit, a) = (self.below(12), self.list(depth - 1, in_loop, in_switch));
                    let b = if self.below(2) == 0 { Vec::new() } else { self.list(depth - 1, in_loop, in_switch) };
                    Stmt::If(bit, a, b)
                }
                2 => Stmt::Short(
                    self.below(12),
                    self.below(12),
                    self.below(2) == 0,
                    self.list(depth - 1, in_loop, in_switch),
                ),
                3 => {
                    let (rounds, bit) = (1 + self.below(4), self.below(12));
                    let body = self.list(depth - 1, true, false);
                    // Without jumps of its own.
                    let cont =
                        if self.below(2) == 0 { vec![Stmt::Note(self.below(9))] } else { self.list(1, false, false) };
                    Stmt::Loop(rounds, bit, body, cont.into_iter().filter(|s| !matches!(s, Stmt::Return)).collect())
                }
                4 => Stmt::DoWhile(1 + self.below(4), self.below(12), self.list(depth - 1, true, false)),
                5 => {
                    let n = 1 + self.below(4);
                    let bit = self.below(6);
                    let cases = (0..=n).map(|i| {
                        let body = self.list(depth - 1, in_loop, true);
                        let falls = i < n && self.below(3) == 0;
                        (body, falls)
                    });
                    Stmt::Switch(bit, cases.collect())
                }
                6 if in_loop || in_switch => Stmt::If(self.below(12), vec![Stmt::Break], Vec::new()),
                7 if in_loop => Stmt::If(self.below(12), vec![Stmt::Note(7), Stmt::Continue], Vec::new()),
                8 if self.below(3) == 0 => Stmt::If(self.below(12), vec![Stmt::Return], Vec::new()),
                _ => continue,
            };
            out.push(stmt);
        }
        out
    }
}

/// How a list of statements ends.
#[derive(PartialEq)]
enum End {
    On,
    Break,
    Continue,
    Return,
}

fn bit(h: u32, n: u32) -> bool {
    h >> n & 1 == 1
}

fn walk(list: &[Stmt], h: &mut u32) -> End {
    for stmt in list {
        let end = match stmt {
            Stmt::Note(n) => {
                *h = h.wrapping_mul(31).wrapping_add(*n);
                End::On
            }
            Stmt::If(b, then, els) => walk(if bit(*h, *b) { then } else { els }, h),
            Stmt::Short(a, b, and, then) => {
                let cond = if *and { bit(*h, *a) && bit(*h, *b) } else { bit(*h, *a) || bit(*h, *b) };
                if cond { walk(then, h) } else { End::On }
            }
            Stmt::Loop(rounds, b, body, cont) => {
                let (mut left, mut end) = (*rounds, End::On);
                while left > 0 && bit(*h, *b) {
                    left -= 1;
                    match walk(body, h) {
                        End::Break => break,
                        End::Return => {
                            end = End::Return;
                            break;
                        }
                        _ => {}
                    }
                    if walk(cont, h) == End::Return {
                        end = End::Return;
                        break;
                    }
                }
                end
            }
            Stmt::DoWhile(rounds, b, body) => {
                let (mut left, mut end) = (*rounds, End::On);
                loop {
                    left -= 1;
                    match walk(body, h) {
                        End::Break => break,
                        End::Return => {
                            end = End::Return;
                            break;
                        }
                        _ => {}
                    }
                    if left == 0 || !bit(*h, *b) {
                        break;
                    }
                }
                end
            }
            Stmt::Switch(b, cases) => {
                let mut at = ((*h >> b & 7) as usize).min(cases.len() - 1);
                loop {
                    match walk(&cases[at].0, h) {
                        End::Break => break End::On,
                        End::On if cases[at].1 => at += 1,
                        End::On => break End::On,
                        other => break other,
                    }
                }
            }
            Stmt::Break => End::Break,
            Stmt::Continue => End::Continue,
            Stmt::Return => End::Return,
        };
        if end != End::On {
            return end;
        }
    }
    End::On
}

/// Where jumps go, with the values that arrive.
#[derive(Clone, Copy)]
struct Target {
    block: Block,
    index: usize,
}

struct Graph<'m> {
    b: FunctionBuilder<'m>,
    /// For each target: the blocks that come, with their values.
    arrivals: Vec<Vec<(Block, Value)>>,
    brk: Option<Target>,
    cont: Option<Target>,
}

impl Graph<'_> {
    fn target(&mut self) -> Target {
        let block = self.b.create_block();
        self.arrivals.push(Vec::new());
        Target { block, index: self.arrivals.len() - 1 }
    }

    fn jump(&mut self, to: Target, h: Value) {
        let from = self.b.current();
        self.arrivals[to.index].push((from, h));
        self.b.branch(to.block);
    }

    /// Goes on at `to`; nothing when no way leads there.
    fn arrive(&mut self, to: Target) -> Option<Value> {
        self.b.switch_to(to.block);
        let incoming = self.arrivals[to.index].clone();
        if incoming.is_empty() {
            self.b.terminate(oneshader_ir::TerminatorKind::Unreachable);
            return None;
        }
        let ty = self.b.module.types.scalar(Scalar::U32);
        Some(self.b.phi(ty, &incoming))
    }

    fn bit(&mut self, h: Value, n: u32) -> Value {
        let (by, one) = (self.b.u32(n), self.b.u32(1));
        let shifted = self.b.binary(BinaryOp::Shr, h, by);
        let masked = self.b.binary(BinaryOp::And, shifted, one);
        self.b.binary(BinaryOp::Eq, masked, one)
    }

    fn list(&mut self, list: &[Stmt], mut h: Value) -> Option<Value> {
        for stmt in list {
            h = self.stmt(stmt, h)?;
        }
        Some(h)
    }

    fn arm(&mut self, list: &[Stmt], block: Block, h: Value, merge: Target) {
        self.b.switch_to(block);
        if let Some(h) = self.list(list, h) {
            self.jump(merge, h);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, h: Value) -> Option<Value> {
        match stmt {
            Stmt::Note(n) => {
                let (by, n) = (self.b.u32(31), self.b.u32(*n));
                let product = self.b.binary(BinaryOp::Mul, h, by);
                Some(self.b.binary(BinaryOp::Add, product, n))
            }
            Stmt::If(n, then, els) => {
                let cond = self.bit(h, *n);
                self.selection(cond, then, els, h)
            }
            Stmt::Short(x, y, and, then) => {
                let first = self.bit(h, *x);
                let from = self.b.current();
                let (right, join) = (self.b.create_block(), self.b.create_block());
                let (a, b) = if *and { (right, join) } else { (join, right) };
                self.b.cond_branch(first, a, b);
                self.b.switch_to(right);
                let second = self.bit(h, *y);
                self.b.branch(join);
                self.b.switch_to(join);
                let known = self.b.bool(!*and);
                let ty = self.b.module.types.bool();
                let cond = self.b.phi(ty, &[(from, known), (right, second)]);
                self.selection(cond, then, &[], h)
            }
            Stmt::Loop(rounds, n, body, cont) => self.counted(*rounds, Some(*n), body, cont, None, h),
            Stmt::DoWhile(rounds, n, body) => self.counted(*rounds, None, body, &[], Some(*n), h),
            Stmt::Switch(n, cases) => self.switch(*n, cases, h),
            Stmt::Break => {
                let to = self.brk.unwrap();
                self.jump(to, h);
                None
            }
            Stmt::Continue => {
                let to = self.cont.unwrap();
                self.jump(to, h);
                None
            }
            Stmt::Return => {
                self.b.ret(Some(h));
                None
            }
        }
    }

    fn selection(&mut self, cond: Value, then: &[Stmt], els: &[Stmt], h: Value) -> Option<Value> {
        let merge = self.target();
        let then_block = self.b.create_block();
        self.b.set_merge(Merge::Selection(merge.block), Hint::None);
        if els.is_empty() {
            let from = self.b.current();
            self.arrivals[merge.index].push((from, h));
            self.b.cond_branch(cond, then_block, merge.block);
            self.arm(then, then_block, h, merge);
        } else {
            let els_block = self.b.create_block();
            self.b.cond_branch(cond, then_block, els_block);
            self.arm(then, then_block, h, merge);
            self.arm(els, els_block, h, merge);
        }
        self.arrive(merge)
    }

    /// A loop of at most `rounds`: `while` by bit `before`, or `do while` by bit `after`.
    fn counted(
        &mut self,
        rounds: u32,
        before: Option<u32>,
        body: &[Stmt],
        cont: &[Stmt],
        after: Option<u32>,
        h: Value,
    ) -> Option<Value> {
        let uint = self.b.module.types.scalar(Scalar::U32);
        let (merge, next) = (self.target(), self.target());
        let header = self.b.create_block();
        let entry = self.b.current();
        self.b.branch(header);
        self.b.switch_to(header);
        let start = self.b.u32(rounds);
        let phi = self.b.phi(uint, &[(entry, h)]);
        let left = self.b.phi(uint, &[(entry, start)]);
        let one = self.b.u32(1);
        self.b.set_merge(Merge::Loop { merge: merge.block, cont: next.block }, Hint::None);
        let inside = self.b.create_block();
        match before {
            Some(n) => {
                let zero = self.b.u32(0);
                let more = self.b.binary(BinaryOp::Gt, left, zero);
                let set = self.bit(phi, n);
                let cond = self.b.binary(BinaryOp::And, more, set);
                self.arrivals[merge.index].push((header, phi));
                self.b.cond_branch(cond, inside, merge.block);
            }
            None => self.b.branch(inside),
        }
        self.b.switch_to(inside);
        let fewer = self.b.binary(BinaryOp::Sub, left, one);
        let outer = (self.brk.replace(merge), self.cont.replace(next));
        if let Some(h) = self.list(body, phi) {
            self.jump(next, h);
        }
        (self.brk, self.cont) = outer;
        if let Some(h) = self.arrive(next)
            && let Some(h) = self.list(cont, h)
        {
            let last = self.b.current();
            match after {
                Some(n) => {
                    let zero = self.b.u32(0);
                    let more = self.b.binary(BinaryOp::Gt, fewer, zero);
                    let set = self.bit(h, n);
                    let cond = self.b.binary(BinaryOp::And, more, set);
                    let last = self.b.current();
                    self.arrivals[merge.index].push((last, h));
                    self.b.cond_branch(cond, header, merge.block);
                }
                None => self.b.branch(header),
            }
            for (value, back) in [(phi, h), (left, fewer)] {
                let inst = self.b.func.def_inst(value).unwrap().0;
                self.b.func.insts[inst].args.push(back);
                self.b.func.insts[inst].preds.push(last);
            }
        }
        self.arrive(merge)
    }

    fn switch(&mut self, n: u32, cases: &[(Vec<Stmt>, bool)], h: Value) -> Option<Value> {
        let merge = self.target();
        let (by, mask) = (self.b.u32(n), self.b.u32(7));
        let shifted = self.b.binary(BinaryOp::Shr, h, by);
        let selector = self.b.binary(BinaryOp::And, shifted, mask);
        let targets: Vec<Target> = cases.iter().map(|_| self.target()).collect();
        let from = self.b.current();
        targets.iter().for_each(|t| self.arrivals[t.index].push((from, h)));
        self.b.set_merge(Merge::Selection(merge.block), Hint::None);
        let list = targets[..targets.len() - 1]
            .iter()
            .enumerate()
            .map(|(i, t)| SwitchCase { value: i as u64, target: t.block })
            .collect();
        self.b.switch(selector, targets[targets.len() - 1].block, list);
        let outer = self.brk.replace(merge);
        for (i, (body, falls)) in cases.iter().enumerate() {
            let h = self.arrive(targets[i]).unwrap();
            if let Some(h) = self.list(body, h) {
                self.jump(if *falls { targets[i + 1] } else { merge }, h);
            }
        }
        self.brk = outer;
        self.arrive(merge)
    }
}

/// A module whose kernel stores the result of each program for each thread.
fn module(programs: &[Vec<Stmt>]) -> IrModule {
    let mut m = IrModule::new();
    let (uint, void) = (m.types.scalar(Scalar::U32), m.types.void());
    let mut funcs: Vec<Func> = Vec::new();
    for (i, program) in programs.iter().enumerate() {
        let (name, x) = (m.names.intern(&format!("program{i}")), m.names.intern("x"));
        let mut func = Function::new(name, uint, Span::NONE);
        let h = func.add_param(x, uint);
        let mut graph = Graph { b: FunctionBuilder::new(&mut m, func), arrivals: Vec::new(), brk: None, cont: None };
        if let Some(h) = graph.list(program, h) {
            graph.b.ret(Some(h));
        }
        let (module, func) = graph.b.finish();
        funcs.push(module.functions.push(func));
    }
    let (out, id, main) = (m.names.intern("results"), m.names.intern("id"), m.names.intern("run"));
    let resource = ResourceType::StructuredBuffer {
        elem: uint,
        access: Access::ReadWrite,
        counter: CounterKind::None,
        order: MatrixOrder::default(),
    };
    let handle = m.types.intern(TypeKind::Resource(resource));
    let global =
        |name, ty, space, kind| GlobalVar { name, ty, space, init: None, kind, readonly: false, span: Span::NONE };
    let buffer =
        m.globals.push(global(out, handle, AddressSpace::Handle, GlobalKind::Resource(ResourceVar::default())));
    let io = IoVar {
        semantic: m.names.intern("SV_GroupIndex"),
        index: 0,
        builtin: Some(BuiltIn::GroupIndex),
        location: None,
        blend_index: 0,
        interpolation: Default::default(),
        sampling: Default::default(),
    };
    let index = m.globals.push(global(id, uint, AddressSpace::Input, GlobalKind::Io(io)));
    let func = Function::new(main, void, Span::NONE);
    let mut b = FunctionBuilder::new(&mut m, func);
    let at = b.global(index);
    let at = b.load(at);
    let (scale, count) = (b.u32(0x9E37_79B1), b.u32(funcs.len() as u32));
    let seed = b.binary(BinaryOp::Mul, at, scale);
    let base = b.binary(BinaryOp::Mul, at, count);
    for (i, &func) in funcs.iter().enumerate() {
        let result = b.call(func, &[seed]).unwrap();
        let (variable, i) = (b.global(buffer), b.u32(i as u32));
        let handle = b.load(variable);
        let index = b.binary(BinaryOp::Add, base, i);
        let place = b.address(Op::ElementPtr, AddressSpace::Storage, uint, &[handle, index]);
        b.store(place, result);
    }
    b.ret(None);
    let (_, func) = b.finish();
    let func = m.functions.push(func);
    m.entry_points.push(EntryPoint {
        name: main,
        stage: Stage::Compute,
        func,
        inputs: vec![index],
        outputs: vec![],
        threads: [THREADS, 1, 1],
        wave_size: None,
        early_depth_stencil: false,
        depth: Default::default(),
        spirv_modes: Vec::new(),
        span: Span::NONE,
    });
    m.properties = Properties::HANDLES_RESOLVED;
    m
}

const THREADS: u32 = 32;
const ROUNDS: u32 = 4;

/// The first thread and program whose result differs, with the text.
fn wrong(executor: &Executor, programs: &[Vec<Stmt>]) -> Option<(usize, u32, String)> {
    let module = module(programs);
    oneshader_ir::verify::verify(&module, "the generator").unwrap_or_else(|e| panic!("{e}"));
    let mut bag = DiagnosticBag::new();
    let output = MslBackend::emit(&module, "run", &MslOptions::default(), &mut bag)
        .unwrap_or_else(|| panic!("{:?}", bag.iter().map(|d| d.message.clone()).collect::<Vec<_>>()));
    let kernel = executor
        .compile("flow.metal", &output.source, None, &Default::default())
        .unwrap_or_else(|e| panic!("{e}\n{}", output.source));
    let size = THREADS as usize * programs.len() * 4;
    let done = kernel.dispatch(&Dispatch::new([1, 1, 1], [THREADS, 1, 1]).with_buffer(0, vec![0u8; size])).unwrap();
    let words: Vec<u32> =
        done.buffer(0).unwrap().chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect();
    for thread in 0..THREADS {
        for (i, program) in programs.iter().enumerate() {
            let mut h = thread.wrapping_mul(0x9E37_79B1);
            walk(program, &mut h);
            if words[thread as usize * programs.len() + i] != h {
                let text = output.source.split("static inline").find(|t| t.contains(&format!(" program{i}("))).unwrap();
                return Some((i, thread, text.to_owned()));
            }
        }
    }
    None
}

/// Calls `f` on each list of statements, the program's own first, until it says so.
fn each_list(list: &mut Vec<Stmt>, f: &mut impl FnMut(&mut Vec<Stmt>) -> bool) -> bool {
    if f(list) {
        return true;
    }
    list.iter_mut().any(|stmt| match stmt {
        Stmt::If(_, a, b) | Stmt::Loop(_, _, a, b) => each_list(a, f) || each_list(b, f),
        Stmt::Short(.., a) | Stmt::DoWhile(.., a) => each_list(a, f),
        Stmt::Switch(_, cases) => cases.iter_mut().any(|c| each_list(&mut c.0, f)),
        _ => false,
    })
}

/// A smaller program that is still wrong.
fn shrink(executor: &Executor, mut program: Vec<Stmt>) -> Vec<Stmt> {
    let mut at = 0;
    loop {
        let (mut smaller, mut skip) = (program.clone(), at);
        let removed = each_list(&mut smaller, &mut |list| {
            if skip < list.len() {
                list.remove(skip);
                return true;
            }
            skip -= list.len();
            false
        });
        if !removed {
            return program;
        }
        match wrong(executor, std::slice::from_ref(&smaller)) {
            Some(_) => program = smaller,
            None => at += 1,
        }
    }
}

#[test]
fn random_programs_take_their_paths() {
    let executor = Executor::new(Default::default()).unwrap();
    let mut rng = Rng(0x1234_5678_9abc_def1);
    // More of them on request.
    let rounds = std::env::var("ONESHADER_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(ROUNDS);
    for round in 0..rounds {
        let programs: Vec<Vec<Stmt>> = (0..40).map(|_| rng.list(1 + round % 4, false, false)).collect();
        if let Some((i, _, _)) = wrong(&executor, &programs) {
            let program = shrink(&executor, programs[i].clone());
            let (_, thread, text) = wrong(&executor, std::slice::from_ref(&program)).unwrap();
            panic!("thread {thread}: {program:?}\n{text}");
        }
    }
}
