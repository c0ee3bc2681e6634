//! Random programs, lowered as the front end lowers them: every variable in memory, markers on every header.

use oneshader_diag::Span;
use oneshader_ir::{
    Access, AddressSpace, BinaryOp, Block, BuiltIn, CounterKind, EntryPoint, Func, Function, FunctionBuilder, Global,
    GlobalKind, GlobalVar, Hint, InstFlags, Intrinsic, IoVar, IrModule, MatrixOrder, Member, Merge, Op, ResourceType,
    ResourceVar, Scalar, Stage, StructType, SwitchCase, Type, TypeKind, Value,
};

/// Numbers for one seed (xorshift).
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 20) % u64::from(n)) as u32
    }

    fn chance(&mut self, one_in: u32) -> bool {
        self.below(one_in) == 0
    }
}

struct Types {
    u32_: Type,
    vec: Type,
    array: Type,
    record: Type,
    bool_: Type,
}

struct Globals {
    buffer: Global,
    input: Global,
    counter: Global,
    shared: Global,
}

/// Where `break` and `continue` go.
#[derive(Clone, Copy)]
struct Jumps {
    breaks: Option<Block>,
    continues: Option<Block>,
}

struct Gen<'m, 'r> {
    b: FunctionBuilder<'m>,
    rng: &'r mut Rng,
    t: &'r Types,
    g: &'r Globals,
    /// `uint` variables, then a vector, an array and a structure.
    scalars: Vec<Value>,
    vector: Value,
    array: Value,
    record: Value,
    callees: Vec<Func>,
    is_entry: bool,
    budget: u32,
}

/// The program of a seed.
pub fn program(seed: u64) -> IrModule {
    let rng = &mut Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut m = IrModule::new();
    let u32_ = m.types.scalar(Scalar::U32);
    let (vec, array) = (m.types.vector(Scalar::U32, 3), m.types.array(u32_, 4));
    let name = m.names.intern("R");
    let member = |ty| Member { name, ty, order: MatrixOrder::ColumnMajor, offset: None, span: Span::NONE };
    let record = m.types.add_struct(StructType { name, members: vec![member(u32_), member(vec)] });
    let bool_ = m.types.bool();
    let t = Types { u32_, vec, array, record, bool_ };
    let buffer_ty = m.types.intern(TypeKind::Resource(ResourceType::StructuredBuffer {
        elem: u32_,
        access: Access::ReadWrite,
        counter: CounterKind::None,
        order: MatrixOrder::ColumnMajor,
    }));
    let global = |m: &mut IrModule, ty, space, kind, init| {
        m.globals.push(GlobalVar { name, ty, space, init, kind, readonly: false, span: Span::NONE })
    };
    let zero = m.consts.u32(&mut m.types, 5);
    let io = IoVar {
        semantic: name,
        index: 0,
        builtin: Some(BuiltIn::GroupIndex),
        location: None,
        blend_index: 0,
        interpolation: Default::default(),
        sampling: Default::default(),
    };
    let g = Globals {
        buffer: global(&mut m, buffer_ty, AddressSpace::Handle, GlobalKind::Resource(ResourceVar::default()), None),
        input: global(&mut m, u32_, AddressSpace::Input, GlobalKind::Io(io), None),
        counter: global(&mut m, u32_, AddressSpace::Private, GlobalKind::Variable, Some(zero)),
        shared: global(&mut m, u32_, AddressSpace::Private, GlobalKind::Variable, Some(zero)),
    };
    let mut callees = Vec::new();
    for _ in 0..2 {
        let func = function(&mut m, rng, &t, &g, &callees, false);
        callees.push(m.functions.push(func));
    }
    let func = function(&mut m, rng, &t, &g, &callees, true);
    let func = m.functions.push(func);
    m.entry_points.push(EntryPoint {
        name,
        stage: Stage::Compute,
        func,
        inputs: vec![g.input],
        outputs: Vec::new(),
        threads: [1, 1, 1],
        wave_size: None,
        early_depth_stencil: false,
        depth: Default::default(),
        spirv_modes: Vec::new(),
        span: Span::NONE,
    });
    m
}

fn function(m: &mut IrModule, rng: &mut Rng, t: &Types, g: &Globals, callees: &[Func], is_entry: bool) -> Function {
    let (name, void) = (m.names.intern("f"), m.types.void());
    let mut func = Function::new(name, if is_entry { void } else { t.u32_ }, Span::NONE);
    let mut params = Vec::new();
    if !is_entry {
        let out = m.types.pointer(AddressSpace::Function, t.u32_);
        params = vec![func.add_param(name, t.u32_), func.add_param(name, out)];
    }
    let mut b = FunctionBuilder::new(m, func);
    let mut scalars: Vec<Value> = (0..3).map(|_| b.local(name, t.u32_)).collect();
    let (vector, array, record) = (b.local(name, t.vec), b.local(name, t.array), b.local(name, t.record));
    for &var in &scalars {
        let start = match params.first() {
            Some(&param) => param,
            None => {
                let input = b.global(g.input);
                b.load(input)
            }
        };
        b.store(var, start);
    }
    for (var, ty) in [(vector, t.vec), (array, t.array), (record, t.record)] {
        let zero = b.zero(ty);
        b.store(var, zero);
    }
    if let Some(&out) = params.get(1) {
        let one = b.u32(1);
        b.store(out, one);
        scalars.push(out);
    }
    let budget = if is_entry { 40 } else { 14 };
    let mut generator =
        Gen { b, rng, t, g, scalars, vector, array, record, callees: callees.to_vec(), is_entry, budget };
    generator.block(3, Jumps { breaks: None, continues: None });
    generator.finish()
}

impl Gen<'_, '_> {
    fn finish(mut self) -> Function {
        if self.is_entry {
            for (i, var) in self.scalars.clone().into_iter().enumerate() {
                let value = self.b.load(var);
                self.write(i as u32, value);
            }
            let counter = self.b.global(self.g.counter);
            let value = self.b.load(counter);
            self.write(6, value);
            self.b.ret(None);
        } else {
            let value = self.expr(2);
            self.b.ret(Some(value));
        }
        self.b.finish().1
    }

    fn write(&mut self, index: u32, value: Value) {
        let buffer = self.b.global(self.g.buffer);
        let handle = self.b.load(buffer);
        let index = self.b.u32(index);
        let at = self.b.address(Op::ElementPtr, AddressSpace::Storage, self.t.u32_, &[handle, index]);
        self.b.store(at, value);
    }

    /// A `uint`.
    fn expr(&mut self, depth: u32) -> Value {
        self.b.flags = if self.rng.chance(8) { InstFlags::PRECISE } else { InstFlags::empty() };
        let value = match self.rng.below(if depth == 0 { 5 } else { 12 }) {
            0 => {
                let n = [0, 1, 2, 3, 8, 31, 100, u32::MAX][self.rng.below(8) as usize];
                self.b.u32(n)
            }
            1 | 2 => {
                let var = self.scalar();
                self.b.load(var)
            }
            3 => {
                let index = self.rng.below(3);
                let index = self.b.u32(index);
                let at = self.b.access(self.vector, &[index]);
                self.b.load(at)
            }
            4 => {
                let (one, index) = (self.b.u32(1), self.rng.below(3));
                let index = self.b.u32(index);
                let at = self.b.access(self.record, &[one, index]);
                self.b.load(at)
            }
            5 => {
                let at = self.element(depth - 1);
                self.b.load(at)
            }
            6 => {
                let (cond, a, b) = (self.cond(depth - 1), self.expr(depth - 1), self.expr(depth - 1));
                self.b.select(cond, a, b)
            }
            7 => {
                let whole = self.b.load(self.vector);
                let other = self.b.swizzle(whole, &[2, 0]);
                let which = self.rng.below(2);
                self.b.extract(other, which)
            }
            8 => {
                let (a, b) = (self.expr(depth - 1), self.expr(depth - 1));
                let which = if self.rng.chance(2) { Intrinsic::Min } else { Intrinsic::Max };
                self.b.intrinsic_same(which, &[a, b])
            }
            _ => {
                let ops = [
                    BinaryOp::Add,
                    BinaryOp::Sub,
                    BinaryOp::Mul,
                    BinaryOp::Div,
                    BinaryOp::Rem,
                    BinaryOp::Shl,
                    BinaryOp::Shr,
                    BinaryOp::And,
                    BinaryOp::Or,
                    BinaryOp::Xor,
                ];
                let op = ops[self.rng.below(10) as usize];
                let (a, b) = (self.expr(depth - 1), self.expr(depth - 1));
                self.b.binary(op, a, b)
            }
        };
        self.b.flags = InstFlags::empty();
        value
    }

    fn scalar(&mut self) -> Value {
        self.scalars[self.rng.below(self.scalars.len() as u32) as usize]
    }

    /// The address of an element of the array, its index computed and within bounds.
    fn element(&mut self, depth: u32) -> Value {
        let (index, three) = (self.expr(depth), self.b.u32(3));
        let index = self.b.binary(BinaryOp::And, index, three);
        self.b.access(self.array, &[index])
    }

    fn cond(&mut self, depth: u32) -> Value {
        if depth > 0 && self.rng.chance(4) {
            // a && b, or a || b, without a marker.
            let (join, right) = (self.b.create_block(), self.b.create_block());
            let and = self.rng.chance(2);
            let a = self.cond(0);
            let from = self.b.current();
            if and {
                self.b.cond_branch(a, right, join)
            } else {
                self.b.cond_branch(a, join, right)
            }
            self.b.switch_to(right);
            let b = self.cond(0);
            let other = self.b.current();
            self.b.branch(join);
            self.b.switch_to(join);
            let known = self.b.bool(!and);
            return self.b.phi(self.t.bool_, &[(from, known), (other, b)]);
        }
        let ops = [BinaryOp::Lt, BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Ge];
        let op = ops[self.rng.below(4) as usize];
        let (a, b) = (self.expr(depth.min(1)), self.expr(0));
        self.b.binary(op, a, b)
    }

    fn block(&mut self, depth: u32, jumps: Jumps) {
        for _ in 0..1 + self.rng.below(4) {
            if self.budget == 0 || !self.b.is_open() {
                return;
            }
            self.budget -= 1;
            self.statement(depth, jumps);
        }
    }

    fn statement(&mut self, depth: u32, jumps: Jumps) {
        match self.rng.below(if depth == 0 { 6 } else { 12 }) {
            0 | 1 => {
                let (var, value) = (self.scalar(), self.expr(2));
                self.b.store(var, value);
            }
            2 => {
                let (index, value) = (self.rng.below(3), self.expr(1));
                let index = self.b.u32(index);
                let at = if self.rng.chance(2) {
                    self.b.access(self.vector, &[index])
                } else {
                    let one = self.b.u32(1);
                    self.b.access(self.record, &[one, index])
                };
                self.b.store(at, value);
            }
            3 => {
                let (at, value) = (self.element(1), self.expr(1));
                self.b.store(at, value);
            }
            4 => {
                // Whole aggregates, and variables of the file.
                let (x, y) = (self.expr(1), self.expr(0));
                let whole = self.b.construct(self.t.vec, &[x, y, x]);
                let record = self.b.construct(self.t.record, &[y, whole]);
                self.b.store(self.record, record);
                let which = if self.rng.chance(2) { self.g.counter } else { self.g.shared };
                let var = self.b.global(which);
                let old = self.b.load(var);
                let new = self.b.binary(BinaryOp::Add, old, x);
                self.b.store(var, new);
            }
            5 if !self.callees.is_empty() => {
                let callee = self.callees[self.rng.below(self.callees.len() as u32) as usize];
                let (arg, var) = (self.expr(1), self.scalar());
                // The caller copies in and out.
                let name = self.b.module.names.intern("copy");
                let copy = self.b.local(name, self.t.u32_);
                let old = self.b.load(var);
                self.b.store(copy, old);
                let result = self.b.call(callee, &[arg, copy]);
                let new = self.b.load(copy);
                self.b.store(var, new);
                let (target, result) = (self.scalar(), result.unwrap_or(new));
                self.b.store(target, result);
            }
            5 => {}
            6..8 => self.branch(depth, jumps),
            8 | 9 => self.repeat(depth),
            10 => self.choose(depth, jumps),
            _ => self.leave(jumps),
        }
    }

    fn branch(&mut self, depth: u32, jumps: Jumps) {
        let cond = self.cond(1);
        let (then, merge) = (self.b.create_block(), self.b.create_block());
        let els = if self.rng.chance(2) { merge } else { self.b.create_block() };
        let hint = [Hint::None, Hint::Flatten, Hint::Branch][self.rng.below(3) as usize];
        self.b.set_merge(Merge::Selection(merge), hint);
        self.b.cond_branch(cond, then, els);
        for arm in [then, els] {
            if arm == merge {
                continue;
            }
            self.b.switch_to(arm);
            self.block(depth - 1, jumps);
            if self.b.is_open() {
                self.b.branch(merge);
            }
        }
        self.b.switch_to(merge);
    }

    /// `if (c) break;` and its kin.
    fn leave(&mut self, jumps: Jumps) {
        let cond = self.cond(1);
        let (go, merge) = (self.b.create_block(), self.b.create_block());
        self.b.set_merge(Merge::Selection(merge), Hint::None);
        self.b.cond_branch(cond, go, merge);
        self.b.switch_to(go);
        match (self.rng.below(3), jumps.breaks, jumps.continues) {
            (0, Some(to), _) | (1, _, Some(to)) => self.b.branch(to),
            _ if !self.is_entry => {
                let value = self.expr(1);
                self.b.ret(Some(value));
            }
            _ => self.b.branch(merge),
        }
        self.b.switch_to(merge);
    }

    fn repeat(&mut self, depth: u32) {
        let name = self.b.module.names.intern("i");
        let counter = self.b.local(name, self.t.u32_);
        let start = self.b.u32(0);
        self.b.store(counter, start);
        let (header, body) = (self.b.create_block(), self.b.create_block());
        let (cont, merge) = (self.b.create_block(), self.b.create_block());
        self.b.branch(header);
        self.b.switch_to(header);
        let hint = if self.rng.chance(2) { Hint::Unroll(0) } else { Hint::None };
        self.b.set_merge(Merge::Loop { merge, cont }, hint);
        let (i, most) = (self.b.load(counter), 1 + self.rng.below(4));
        let most = self.b.u32(most);
        let cond = self.b.binary(BinaryOp::Lt, i, most);
        self.b.cond_branch(cond, body, merge);
        self.b.switch_to(body);
        self.scalars.push(counter);
        let plain = self.rng.chance(2);
        let jumps = if plain {
            Jumps { breaks: None, continues: None }
        } else {
            Jumps { breaks: Some(merge), continues: Some(cont) }
        };
        // The counter may be read inside, and sometimes written, so that loops do not all count.
        if !self.rng.chance(6) {
            self.scalars.pop();
        }
        self.block(depth - 1, jumps);
        self.scalars.retain(|&v| v != counter);
        if self.b.is_open() {
            self.b.branch(cont);
        }
        self.b.switch_to(cont);
        let (i, one) = (self.b.load(counter), self.b.u32(1));
        let next = self.b.binary(BinaryOp::Add, i, one);
        self.b.store(counter, next);
        self.b.branch(header);
        self.b.switch_to(merge);
    }

    fn choose(&mut self, depth: u32, jumps: Jumps) {
        let (selector, three) = (self.expr(1), self.b.u32(3));
        let selector = if self.rng.chance(5) { three } else { self.b.binary(BinaryOp::And, selector, three) };
        let merge = self.b.create_block();
        let count = 1 + self.rng.below(3);
        let blocks: Vec<Block> = (0..=count).map(|_| self.b.create_block()).collect();
        let cases =
            (0..count).map(|i| SwitchCase { value: u64::from(i), target: blocks[i as usize] }).collect::<Vec<_>>();
        self.b.set_merge(Merge::Selection(merge), Hint::None);
        self.b.switch(selector, blocks[count as usize], cases);
        let inner = Jumps { breaks: Some(merge), ..jumps };
        for (i, &block) in blocks.iter().enumerate() {
            self.b.switch_to(block);
            self.block(depth - 1, inner);
            if self.b.is_open() {
                let falls = i + 1 < blocks.len() && self.rng.chance(3);
                self.b.branch(if falls { blocks[i + 1] } else { merge });
            }
        }
        self.b.switch_to(merge);
    }
}
