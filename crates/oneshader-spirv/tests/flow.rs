//! Random structured control flow: whatever the IR's verifier accepts, spirv-val accepts.

mod common;

use oneshader_diag::Span;
use oneshader_ir::{
    BinaryOp, Block, EntryPoint, Func, Function, FunctionBuilder, Hint, IrModule, Merge, Op, Properties, Stage,
    SwitchCase, Value,
};
use oneshader_spirv::TargetEnv;

/// A generator of numbers (Steele and others, SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }
}

/// Where control may go from here.
#[derive(Clone, Copy, Default)]
struct Around {
    /// `break` of the innermost loop or switch.
    to: Option<Block>,
    /// `continue` of the innermost loop.
    cont: Option<Block>,
}

struct Gen<'m> {
    b: FunctionBuilder<'m>,
    rng: Random,
    /// A `u32` variable that everything reads and writes.
    var: Value,
}

impl Gen<'_> {
    fn value(&mut self) -> Value {
        let x = self.b.load(self.var);
        let n = self.rng.next(9) as u32;
        let n = self.b.u32(n);
        let y = self.b.binary(BinaryOp::Xor, x, n);
        self.b.store(self.var, y);
        y
    }

    /// A condition; now and then of short-circuit branches that go unmarked, some of them sharing one join.
    fn condition(&mut self, depth: u32) -> Value {
        let x = self.value();
        let n = self.rng.next(7) as u32;
        let n = self.b.u32(n);
        let plain = self.b.binary(BinaryOp::Lt, x, n);
        if depth == 0 || self.rng.next(3) != 0 {
            return plain;
        }
        let join = self.b.create_block();
        let shared = self.rng.next(2) == 0;
        let mut incoming = Vec::new();
        let mut at = plain;
        for _ in 0..=self.rng.next(2) {
            let more = self.b.create_block();
            let on = self.b.bool(self.rng.next(2) == 0);
            incoming.push((self.b.current(), on));
            self.b.cond_branch(at, more, join);
            self.b.switch_to(more);
            at = self.condition(depth - 1);
            if !shared {
                break;
            }
        }
        incoming.push((self.b.current(), at));
        self.b.branch(join);
        self.b.switch_to(join);
        let ty = self.b.ty(plain);
        self.b.phi(ty, &incoming)
    }

    fn statements(&mut self, depth: u32, around: Around) {
        for _ in 0..=self.rng.next(2) {
            if !self.b.is_open() {
                return;
            }
            self.statement(depth, around);
        }
    }

    fn statement(&mut self, depth: u32, around: Around) {
        match self.rng.next(if depth == 0 { 4 } else { 9 }) {
            0 | 1 => {
                self.value();
            }
            2 => match (around.to, around.cont, self.rng.next(4)) {
                (Some(to), _, 0) => self.b.branch(to),
                (_, Some(to), 1) => self.b.branch(to),
                (_, _, 2) if depth < 2 => {
                    let x = self.value();
                    self.b.ret(Some(x));
                }
                _ => {}
            },
            3 => {
                self.value();
            }
            4..=6 => self.selection(depth, around),
            7 => self.repeat(depth),
            _ => self.switch(depth, around),
        }
    }

    fn selection(&mut self, depth: u32, around: Around) {
        let cond = self.condition(2);
        let (then, merge) = (self.b.create_block(), self.b.create_block());
        let els = if self.rng.next(2) == 0 { Some(self.b.create_block()) } else { None };
        self.b.set_merge(Merge::Selection(merge), Hint::None);
        self.b.cond_branch(cond, then, els.unwrap_or(merge));
        for block in [Some(then), els].into_iter().flatten() {
            self.b.switch_to(block);
            self.statements(depth - 1, around);
            if self.b.is_open() {
                self.b.branch(merge);
            }
        }
        self.b.switch_to(merge);
    }

    fn repeat(&mut self, depth: u32) {
        let [header, body, cont, merge] = std::array::from_fn(|_| self.b.create_block());
        self.b.branch(header);
        self.b.switch_to(header);
        self.b.set_merge(Merge::Loop { merge, cont }, Hint::None);
        match self.rng.next(2) {
            // The condition of a `while` may be made of branches: they stand in a block of their own.
            0 => {
                let test = self.b.create_block();
                self.b.branch(test);
                self.b.switch_to(test);
                let cond = self.condition(1);
                self.b.set_merge(Merge::Selection(body), Hint::None);
                self.b.cond_branch(cond, body, merge);
            }
            _ => self.b.branch(body),
        }
        self.b.switch_to(body);
        self.statements(depth - 1, Around { to: Some(merge), cont: Some(cont) });
        if self.b.is_open() {
            self.b.branch(cont);
        }
        self.b.switch_to(cont);
        match self.rng.next(2) {
            0 => {
                let x = self.value();
                let n = self.b.u32(3);
                let again = self.b.binary(BinaryOp::Lt, x, n);
                self.b.cond_branch(again, header, merge);
            }
            _ => self.b.branch(header),
        }
        self.b.switch_to(merge);
    }

    fn switch(&mut self, depth: u32, around: Around) {
        let x = self.value();
        let merge = self.b.create_block();
        let cases: Vec<Block> = (0..=self.rng.next(2)).map(|_| self.b.create_block()).collect();
        let default = if self.rng.next(2) == 0 { merge } else { self.b.create_block() };
        let list = cases
            .iter()
            .enumerate()
            .map(|(i, &target)| SwitchCase { value: i as u64, target })
            .chain([SwitchCase { value: 9, target: cases[0] }])
            .collect();
        self.b.set_merge(Merge::Selection(merge), Hint::None);
        self.b.switch(x, default, list);
        for (i, &case) in cases.iter().enumerate() {
            self.b.switch_to(case);
            self.statements(depth - 1, Around { to: Some(merge), ..around });
            if self.b.is_open() {
                let falls = self.rng.next(3) == 0;
                self.b.branch(if falls { cases.get(i + 1).copied().unwrap_or(merge) } else { merge });
            }
        }
        if default != merge {
            self.b.switch_to(default);
            self.statements(depth - 1, around_switch(merge, around));
            if self.b.is_open() {
                self.b.branch(merge);
            }
        }
        self.b.switch_to(merge);
    }
}

fn around_switch(merge: Block, around: Around) -> Around {
    Around { to: Some(merge), ..around }
}

fn random_function(module: &mut IrModule, seed: u64) -> Func {
    let u32_ = module.types.scalar(oneshader_ir::Scalar::U32);
    let name = module.names.intern(&format!("f{seed}"));
    let mut func = Function::new(name, u32_, Span::NONE);
    let param = func.add_param(name, u32_);
    let mut b = FunctionBuilder::new(module, func);
    let var = b.local(name, u32_);
    b.store(var, param);
    let mut g = Gen { b, rng: Random(seed), var };
    g.statements(4, Around::default());
    let last = g.value();
    g.b.ret(Some(last));
    let (module, func) = g.b.finish();
    module.functions.push(func)
}

#[test]
fn random_control_flow_is_structured() {
    for round in 0..12 {
        let mut module = IrModule::new();
        let funcs: Vec<Func> = (0..40).map(|i| random_function(&mut module, round * 1000 + i)).collect();
        let void = module.types.void();
        let name = module.names.intern("main");
        let mut b = FunctionBuilder::new(&mut module, Function::new(name, void, Span::NONE));
        let mut x = b.u32(1);
        for f in funcs {
            x = b.call(f, &[x]).unwrap();
        }
        b.ret(None);
        let (module, func) = b.finish();
        let func = module.functions.push(func);
        module.properties = Properties::HANDLES_RESOLVED;
        module.entry_points.push(EntryPoint {
            name,
            stage: Stage::Compute,
            func,
            inputs: Vec::new(),
            outputs: Vec::new(),
            threads: [1; 3],
            wave_size: None,
            early_depth_stencil: false,
            depth: Default::default(),
            spirv_modes: Vec::new(),
            span: Span::NONE,
        });
        let branches = module.functions.values().flat_map(Function::live_insts).filter(|(_, _, d)| d.op == Op::Phi);
        assert!(branches.count() > 10);
        let text = oneshader_ir::text::print(module);
        for target in [TargetEnv::Vulkan1_1, TargetEnv::Vulkan1_3] {
            common::check_for(&text, target);
        }
    }
}
