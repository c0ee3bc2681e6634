//! What numbers a value can be, as far as a short look at how it is computed tells. Used to leave guards away.

use super::lift::{Item, Lifted};
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use oneshader_ir::{
    BinaryOp, Block, BuiltIn, ConstData, Func, Function, GlobalKind, Inst, InstData, Intrinsic, IrModule, Local, Merge,
    Op, ResourceType, Scalar, TerminatorKind, TextureDim, TextureOp, TextureType, Type, TypeKind, UnaryOp, Value,
    ValueDef,
};

/// Values looked at for one question.
const FUEL: u32 = 48;
/// The same for each value that may come together in one.
const HULL_FUEL: u32 = 12;
/// Texels along a side of a texture: more than any device of Apple's has.
const MAX_TEXELS: f64 = 32768.0;
/// Elements of a texture buffer.
const MAX_BUFFER_TEXELS: f64 = 268_435_456.0;

/// Numbers from `low` to `high`; for vectors the hull of all components.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Range {
    pub low: f64,
    pub high: f64,
    /// Whether it may also be NaN.
    pub nan: bool,
}

/// What lanes and their number are, with waves of up to 128.
const LANE_INDEX: Range = Range::new(0.0, 127.0);
const LANE_COUNT: Range = Range::new(1.0, 128.0);

/// Integers of the types of up to 32 bits are exact in an `f64`; wider ones are never bounded here.
impl Range {
    const ALL: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true };

    const fn new(low: f64, high: f64) -> Self {
        Self { low, high, nan: false }
    }

    fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high), nan: self.nan || other.nan }
    }

    fn within(self, other: Self) -> bool {
        !self.nan && self.low >= other.low && self.high <= other.high
    }

    fn is_finite(self) -> bool {
        !self.nan && self.low.is_finite() && self.high.is_finite()
    }
}

/// All numbers of a type.
fn of_scalar(scalar: Scalar) -> Range {
    match scalar {
        Scalar::Bool => Range::new(0.0, 1.0),
        Scalar::Int { bits: 64, .. } | Scalar::Float { .. } => Range::ALL,
        Scalar::Int { bits, signed: true } => {
            let half = f64::from(2u32.pow(u32::from(bits) - 1));
            Range::new(-half, half - 1.0)
        }
        Scalar::Int { bits, signed: false } => Range::new(0.0, 2f64.powi(i32::from(bits)) - 1.0),
    }
}

/// Where the instructions of a function stand and what its locals are stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    home: SecondaryMap<Inst, PackedOption<Block>>,
    /// Place in the order of the blocks.
    order: SecondaryMap<Block, u32>,
    /// The stores to each local; none when its address goes elsewhere.
    stores: SecondaryMap<Local, Stores>,
    /// The header of the loop whose continue block it is.
    continues: SecondaryMap<Block, PackedOption<Block>>,
}

#[derive(Clone, Debug, Default)]
struct Stores {
    list: Vec<Inst>,
    escapes: bool,
}

impl Places {
    pub(crate) fn new(function: &Function) -> Self {
        let mut this = Self::default();
        for (i, &block) in function.order.iter().enumerate() {
            this.order[block] = i as u32;
            if let Merge::Loop { cont, .. } = function.blocks[block].merge
                && this.continues[cont].is_none()
            {
                this.continues[cont] = block.into();
            }
            for &inst in &function.blocks[block].insts {
                this.home[inst] = block.into();
                let data = &function.insts[inst];
                for (position, &arg) in data.args.iter().enumerate() {
                    let ValueDef::Local(local) = function.values[arg].def else { continue };
                    match (data.op, position) {
                        (Op::Load, _) => {}
                        (Op::Store, 0) => this.stores[local].list.push(inst),
                        _ => this.stores[local].escapes = true,
                    }
                }
            }
        }
        this
    }
}

/// Answers for one function.
pub(crate) struct Ranges<'a> {
    pub module: &'a IrModule,
    pub function: &'a Function,
    pub places: &'a Places,
    /// The numbers that parameters are given, the first ones at least.
    pub params: &'a [Range],
    /// The parameters that stand for what the lanes are, once there are some.
    pub lifted: Option<(&'a Lifted, Func)>,
}

/// The numbers that the parameters of every function are given by the calls that `entry` reaches, which are all there are.
/// `order`: callees before callers.
pub(crate) fn of_params(module: &IrModule, entry: Func, order: &[Func]) -> SecondaryMap<Func, Vec<Range>> {
    let mut out: SecondaryMap<Func, Vec<Range>> = SecondaryMap::new();
    let is_number = |ty| module.types.scalar_of(ty).is_some_and(|s| s.is_int() && s.bits() < 64);
    for &func in order.iter().rev() {
        let function = &module.functions[func];
        // Nobody calls the entry point.
        let params = if func == entry { Vec::new() } else { out[func].clone() };
        let mut places = None;
        for (_, _, data) in function.live_insts() {
            let Op::Call(callee) = data.op else { continue };
            let known = std::mem::take(&mut out[callee]);
            if !module.functions[callee].params.iter().any(|p| is_number(p.ty)) {
                continue;
            }
            let places = places.get_or_insert_with(|| Places::new(function));
            let ranges = Ranges { module, function, places, params: &params, lifted: None };
            let given = data.args.iter().enumerate().map(|(i, &arg)| {
                let range = if is_number(function.ty(arg)) { ranges.of(arg) } else { Range::ALL };
                known.get(i).map_or(range, |k| k.hull(range))
            });
            out[callee] = given.collect();
        }
    }
    out
}

impl Ranges<'_> {
    /// The numbers `value` can be.
    pub(crate) fn of(&self, value: Value) -> Range {
        let mut fuel = FUEL;
        self.look(value, &mut fuel)
    }

    fn scalar(&self, value: Value) -> Option<Scalar> {
        self.module.types.scalar_of(self.function.ty(value))
    }

    fn look(&self, value: Value, fuel: &mut u32) -> Range {
        let Some(scalar) = self.scalar(value) else { return Range::ALL };
        let all = of_scalar(scalar);
        if *fuel == 0 || scalar.bits() == 64 {
            return all;
        }
        *fuel -= 1;
        let found = match self.function.values[value].def {
            ValueDef::Const(c) => self.constant(c),
            ValueDef::Inst(inst) => self.inst(inst, fuel),
            ValueDef::Param(index) => self.param(index as usize),
            _ => None,
        };
        let found = found.unwrap_or(all);
        // An integer that may have wrapped can be anything.
        if scalar.is_float() || found.within(all) { found } else { all }
    }

    fn param(&self, index: usize) -> Option<Range> {
        match self.lifted.and_then(|(lifted, func)| lifted.item(func, index)) {
            Some(Item::LaneIndex) => Some(LANE_INDEX),
            Some(Item::LaneCount) => Some(LANE_COUNT),
            Some(Item::Global(_) | Item::WaveIndex | Item::WaveCount) => None,
            None => self.params.get(index).copied(),
        }
    }

    /// The hull of values of which any may be meant.
    fn hull(&self, values: impl IntoIterator<Item = Value>, fuel: &mut u32) -> Option<Range> {
        let mut hull: Option<Range> = None;
        for value in values {
            let mut some = HULL_FUEL.min(*fuel);
            *fuel -= some;
            let range = self.look(value, &mut some);
            *fuel += some;
            hull = Some(hull.map_or(range, |h| h.hull(range)));
        }
        hull
    }

    fn constant(&self, c: oneshader_ir::Const) -> Option<Range> {
        let consts = &self.module.consts;
        let scalar = self.module.types.scalar_of(consts.ty(c))?;
        let number = |bits: u64| match scalar {
            Scalar::Bool => bits as f64,
            Scalar::Int { bits: 16, signed: true } => f64::from(bits as i16),
            Scalar::Int { signed: true, .. } => f64::from(bits as i32),
            Scalar::Int { .. } => f64::from(bits as u32),
            Scalar::Float { bits: 16 } => half::f16::from_bits(bits as u16).to_f64(),
            Scalar::Float { bits: 64 } => f64::from_bits(bits),
            Scalar::Float { .. } => f64::from(f32::from_bits(bits as u32)),
        };
        match consts.data(c) {
            ConstData::Zero => Some(Range::new(0.0, 0.0)),
            ConstData::Composite(parts) => {
                let mut parts = parts.iter().map(|&p| self.constant(p));
                let first = parts.next()??;
                parts.try_fold(first, |r, p| Some(r.hull(p?)))
            }
            _ => {
                let n = number(consts.bits(c)?);
                Some(Range { low: n, high: n, nan: n.is_nan() })
            }
        }
    }

    fn inst(&self, inst: Inst, fuel: &mut u32) -> Option<Range> {
        let data = &self.function.insts[inst];
        let mut arg = |i: usize| self.look(data.args[i], fuel);
        match data.op {
            Op::Copy | Op::Splat | Op::Extract { .. } | Op::Swizzle(_) | Op::ExtractDynamic => {
                let from = self.scalar(data.args[0])?;
                let component = match data.op {
                    Op::Extract { index } => Some(index),
                    _ => None,
                };
                if let Some(found) = self.builtin(data.args[0], component) {
                    return Some(found);
                }
                (Some(from) == self.module.types.scalar_of(data.ty)).then(|| arg(0))
            }
            Op::Load => match self.function.values[data.args[0]].def {
                ValueDef::Local(local) => match self.local_counter(local, fuel) {
                    Some((range, _)) => Some(range),
                    None => self.local(local, fuel),
                },
                _ => self.builtin(data.result?, None),
            },
            Op::Construct => {
                let first = arg(0);
                Some((1..data.args.len()).fold(first, |r, i| r.hull(arg(i))))
            }
            Op::Select => Some(arg(1).hull(arg(2))),
            Op::Convert => {
                let (from, to) = (arg(0), self.module.types.scalar_of(data.ty)?);
                match to.is_int() {
                    // Truncated; NaN gives 0.
                    true => Some(Range::new(from.low.trunc().min(0.0).min(from.low), from.high.trunc()))
                        .filter(|_| !from.nan),
                    false => Some(from),
                }
            }
            Op::Bitcast => {
                let (from, to) = (self.scalar(data.args[0])?, self.module.types.scalar_of(data.ty)?);
                (from.is_int() && to.is_int() && from.bits() == to.bits()).then(|| arg(0))
            }
            Op::Unary(UnaryOp::Neg) => {
                let a = arg(0);
                Some(Range { low: -a.high, high: -a.low, nan: a.nan })
            }
            Op::Binary(op) => self.binary(op, data.args[0], data.args[1], fuel),
            Op::Intrinsic(which) => self.intrinsic(which, &data.args, fuel),
            Op::Phi => {
                let home = self.places.home[inst].expand()?;
                match self.function.blocks[home].merge {
                    Merge::Loop { .. } => self.counter(inst, fuel),
                    _ => self.hull(data.args.iter().copied(), fuel),
                }
            }
            Op::Texture(op, _) => match op {
                TextureOp::Size => match self.module.types.kind(self.function.ty(data.args[0])) {
                    TypeKind::Resource(ResourceType::Texture(TextureType { dim: TextureDim::Buffer, .. })) => {
                        Some(Range::new(0.0, MAX_BUFFER_TEXELS))
                    }
                    _ => Some(Range::new(0.0, MAX_TEXELS)),
                },
                TextureOp::Levels => Some(Range::new(0.0, 16.0)),
                TextureOp::Samples => Some(Range::new(0.0, 64.0)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Places in a threadgroup are below its size, which a component has of its own.
    fn builtin(&self, value: Value, component: Option<u32>) -> Option<Range> {
        let (_, mut data) = self.function.def_inst(value)?;
        if data.op == Op::Bitcast {
            (_, data) = self.function.def_inst(data.args[0])?;
        }
        let ValueDef::Global(global) = (match data.op {
            Op::Load => self.function.values[data.args[0]].def,
            _ => return None,
        }) else {
            return None;
        };
        let GlobalKind::Io(io) = &self.module.globals[global].kind else { return None };
        let entry = self.module.entry_points.iter().find(|e| e.inputs.contains(&global))?;
        match io.builtin? {
            BuiltIn::GroupThreadId => {
                let size = match component.and_then(|c| entry.threads.get(c as usize)) {
                    Some(&size) => size,
                    None => entry.threads.iter().copied().max()?,
                };
                Some(Range::new(0.0, f64::from(size) - 1.0))
            }
            BuiltIn::GroupIndex => {
                Some(Range::new(0.0, entry.threads.iter().map(|&t| f64::from(t)).product::<f64>() - 1.0))
            }
            BuiltIn::SampleIndex => Some(Range::new(0.0, 63.0)),
            _ => None,
        }
    }

    fn binary(&self, op: BinaryOp, a: Value, b: Value, fuel: &mut u32) -> Option<Range> {
        let (x, y) = (self.look(a, fuel), self.look(b, fuel));
        let scalar = self.scalar(a)?;
        let nan = !(x.is_finite() && y.is_finite());
        let bits = f64::from(scalar.bits());
        match op {
            BinaryOp::Add => Some(Range { low: x.low + y.low, high: x.high + y.high, nan }),
            BinaryOp::Sub => Some(Range { low: x.low - y.high, high: x.high - y.low, nan }),
            BinaryOp::Mul if !nan => {
                let all = [x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high];
                Some(Range::new(
                    all.iter().copied().fold(f64::INFINITY, f64::min),
                    all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                ))
            }
            BinaryOp::Div if scalar.is_int() && y.low >= 1.0 => {
                // The divisor that leaves most of each end.
                let low = x.low / if x.low >= 0.0 { y.high } else { y.low };
                let high = x.high / if x.high >= 0.0 { y.low } else { y.high };
                Some(Range::new(low.trunc(), high.trunc()))
            }
            BinaryOp::Rem if scalar.is_int() && y.low >= 1.0 => {
                let most = y.high - 1.0;
                Some(Range::new(
                    if x.low >= 0.0 { 0.0 } else { -most },
                    if x.high > 0.0 { most.min(x.high) } else { 0.0 },
                ))
            }
            BinaryOp::And if scalar.is_int() && (x.low >= 0.0 || y.low >= 0.0) => {
                let x = if x.low >= 0.0 { x.high } else { f64::INFINITY };
                let y = if y.low >= 0.0 { y.high } else { f64::INFINITY };
                Some(Range::new(0.0, x.min(y)))
            }
            BinaryOp::Or | BinaryOp::Xor if scalar.is_int() && x.low >= 0.0 && y.low >= 0.0 => {
                let bits = (x.high.max(y.high) as u64 + 1).next_power_of_two();
                Some(Range::new(0.0, bits as f64 - 1.0))
            }
            BinaryOp::Shr if y.low == y.high && y.low >= 0.0 && y.high < bits => {
                let by = 2f64.powi(y.low as i32);
                Some(Range::new((x.low / by).floor(), (x.high / by).floor()))
            }
            // By any amount, of which the low bits count: towards 0 or -1.
            BinaryOp::Shr => Some(Range::new(x.low.min(0.0), x.high.max(-1.0))),
            BinaryOp::Shl if x.low >= 0.0 && y.low >= 0.0 && y.high < bits => {
                Some(Range::new(x.low * 2f64.powi(y.low as i32), x.high * 2f64.powi(y.high as i32)))
            }
            _ => None,
        }
    }

    fn intrinsic(&self, which: Intrinsic, args: &[Value], fuel: &mut u32) -> Option<Range> {
        let mut arg = |i: usize| self.look(args[i], fuel);
        Some(match which {
            Intrinsic::Saturate => Range::new(0.0, 1.0),
            Intrinsic::Clamp => {
                let (low, high) = (arg(1), arg(2));
                if low.nan || high.nan {
                    return None;
                }
                Range::new(low.low.min(high.low), high.high)
            }
            Intrinsic::Min => {
                let (a, b) = (arg(0), arg(1));
                // Of a NaN and a number the number.
                let high = match (a.nan, b.nan) {
                    (false, false) => a.high.min(b.high),
                    (true, false) => b.high,
                    (false, true) => a.high,
                    (true, true) => return None,
                };
                Range { low: a.low.min(b.low), high, nan: false }
            }
            Intrinsic::Max => {
                let (a, b) = (arg(0), arg(1));
                let low = match (a.nan, b.nan) {
                    (false, false) => a.low.max(b.low),
                    (true, false) => b.low,
                    (false, true) => a.low,
                    (true, true) => return None,
                };
                Range { low, high: a.high.max(b.high), nan: false }
            }
            Intrinsic::Floor | Intrinsic::Ceil | Intrinsic::Trunc | Intrinsic::RoundEven => {
                let a = arg(0);
                Range { low: a.low.floor(), high: a.high.ceil(), nan: a.nan }
            }
            Intrinsic::Abs => {
                let a = arg(0);
                let low = if a.low <= 0.0 && a.high >= 0.0 { 0.0 } else { a.low.abs().min(a.high.abs()) };
                Range { low, high: a.low.abs().max(a.high.abs()), nan: a.nan }
            }
            Intrinsic::Sqrt => {
                let a = arg(0);
                if a.nan || a.low < 0.0 {
                    return None;
                }
                Range::new(0.0, a.high.sqrt() + 1.0)
            }
            Intrinsic::Step => Range::new(0.0, 1.0),
            Intrinsic::Sign => Range::new(-1.0, 1.0),
            Intrinsic::CountBits => Range::new(0.0, 32.0),
            Intrinsic::WaveLaneIndex => Range::new(0.0, 127.0),
            Intrinsic::GroupWaveIndex => Range::new(0.0, 1023.0),
            Intrinsic::GroupWaveCount => Range::new(1.0, 1024.0),
            Intrinsic::WaveLaneCount => Range::new(1.0, 128.0),
            _ => return None,
        })
    }

    /// A phi that counts from a number in equal steps while it is on one side of a bound.
    fn counter(&self, phi: Inst, fuel: &mut u32) -> Option<Range> {
        let data = &self.function.insts[phi];
        let result = data.result?;
        if data.args.len() != 2 {
            return None;
        }
        let (at, step) = (0..2).find_map(|i| Some((i, self.step_of(data.args[i], result)?)))?;
        let start = self.look(data.args[1 - at], fuel);
        let last = self.bound_of(result, step, fuel)? + step;
        start.is_finite().then(|| start.hull(Range::new(last, last)))
    }

    /// The constant that `value` adds to `counter`, not 0.
    fn step_of(&self, value: Value, counter: Value) -> Option<f64> {
        // After the guards the sum may be one of unsigned numbers.
        let (_, data) = self.function.def_inst(value)?;
        let by = self.step(data)?;
        (data.args[0] == counter).then_some(by)
    }

    /// The constant, not 0, that a sum or difference adds to its first operand.
    fn step(&self, data: &InstData) -> Option<f64> {
        let sign = match data.op {
            Op::Binary(BinaryOp::Add) => 1.0,
            Op::Binary(BinaryOp::Sub) => -1.0,
            _ => return None,
        };
        let c = self.constant(self.function.as_const(data.args[1])?)?;
        (c.low == c.high && c.low != 0.0).then_some(sign * c.low)
    }

    /// The greatest value that a loop's phi has in the body when it counts up, the least when it counts down, by the
    /// condition at the loop's head.
    fn bound_of(&self, counter: Value, step: f64, fuel: &mut u32) -> Option<f64> {
        let (phi, _) = self.function.def_inst(counter)?;
        let header = self.places.home[phi].expand()?;
        self.bound_at(header, step, &|value| value == counter, fuel)
    }

    /// The same for what `is` holds for in the loop of `header`.
    fn bound_at(&self, header: Block, step: f64, is: &dyn Fn(Value) -> bool, fuel: &mut u32) -> Option<f64> {
        let Merge::Loop { merge, .. } = self.function.blocks[header].merge else { return None };
        let TerminatorKind::CondBranch { cond, then, els } = self.function.blocks[header].term.kind else {
            return None;
        };
        if els != merge || then == merge {
            return None;
        }
        let (_, data) = self.function.def_inst(cond)?;
        let Op::Binary(op) = data.op else { return None };
        // As if the counter stood on the left.
        let (op, bound) = match op {
            _ if is(data.args[0]) => (op, data.args[1]),
            _ if !is(data.args[1]) => return None,
            BinaryOp::Gt => (BinaryOp::Lt, data.args[0]),
            BinaryOp::Ge => (BinaryOp::Le, data.args[0]),
            BinaryOp::Lt => (BinaryOp::Gt, data.args[0]),
            BinaryOp::Le => (BinaryOp::Ge, data.args[0]),
            _ => return None,
        };
        let range = self.look(bound, fuel);
        if range.nan {
            return None;
        }
        match op {
            BinaryOp::Lt if step > 0.0 => Some(range.high - 1.0),
            BinaryOp::Le if step > 0.0 => Some(range.high),
            BinaryOp::Gt if step < 0.0 => Some(range.low + 1.0),
            BinaryOp::Ge if step < 0.0 => Some(range.low),
            _ => None,
        }
    }

    /// What is stored to a local: it holds nothing else once it is set.
    fn local(&self, local: Local, fuel: &mut u32) -> Option<Range> {
        let stores = &self.places.stores[local];
        if stores.escapes || stores.list.len() > 4 {
            return None;
        }
        self.hull(stores.list.iter().map(|&inst| self.function.insts[inst].args[1]), fuel)
    }

    /// The local that `value` is loaded from.
    fn loaded(&self, value: Value) -> Option<Local> {
        let (_, data) = self.function.def_inst(value)?;
        match (data.op, self.function.values[*data.args.first()?].def) {
            (Op::Load, ValueDef::Local(local)) => Some(local),
            _ => None,
        }
    }

    /// A local that counts in one loop: set before it, stepped by a constant in its continue block and nowhere else, while it
    /// is on one side of a bound. Gives the numbers it holds, and the last one after a step.
    fn local_counter(&self, local: Local, fuel: &mut u32) -> Option<(Range, f64)> {
        let stores = &self.places.stores[local];
        if stores.escapes || stores.list.len() < 2 || *fuel == 0 {
            return None;
        }
        *fuel -= 1;
        let stored = |inst: Inst| self.function.insts[inst].args[1];
        let (mut step, mut header) = (None, None);
        for &inst in &stores.list {
            let Some((_, sum)) = self.function.def_inst(stored(inst)) else { continue };
            if matches!(sum.op, Op::Binary(BinaryOp::Add | BinaryOp::Sub)) && self.loaded(sum.args[0]) == Some(local) {
                let by = self.step(sum)?;
                if step.is_some() {
                    return None;
                }
                step = Some((inst, by));
                let cont = self.places.home[inst].expand()?;
                header = self.places.continues[cont].expand();
            }
        }
        let ((step_inst, by), header) = (step?, header?);
        let mut start: Option<Range> = None;
        for &inst in stores.list.iter().filter(|&&i| i != step_inst) {
            let block = self.places.home[inst].expand()?;
            // Blocks of a loop stand after its header.
            if self.places.order[block] >= self.places.order[header] {
                return None;
            }
            let range = self.look(stored(inst), fuel);
            start = Some(start.map_or(range, |s| s.hull(range)));
        }
        let start = start?;
        let last = self.bound_at(header, by, &|value| self.loaded(value) == Some(local), fuel)? + by;
        (!start.nan).then(|| (start.hull(Range::new(last, last)), last))
    }

    /// Whether a sum, difference or product of signed numbers stays in its type.
    pub(crate) fn stays(&self, inst: Inst) -> bool {
        let data = &self.function.insts[inst];
        let Some(scalar) = self.module.types.scalar_of(data.ty) else { return false };
        if scalar.bits() == 64 {
            return false;
        }
        let mut fuel = FUEL;
        let range = match data.op {
            Op::Binary(op) => self.binary(op, data.args[0], data.args[1], &mut fuel),
            Op::Unary(UnaryOp::Neg) => self.inst(inst, &mut fuel),
            _ => None,
        };
        if range.is_some_and(|r| r.within(of_scalar(scalar))) {
            return true;
        }
        let (Some(step), Some(result)) = (self.step(data), data.result) else { return false };
        // `i + 1` of a loop that goes on while `i` is below something.
        let last = match self.loaded(data.args[0]) {
            Some(local) => {
                let own = |&i: &Inst| self.function.insts[i].args.get(1) == Some(&result);
                let stored = self.places.stores[local].list.iter().any(own);
                stored.then(|| self.local_counter(local, &mut fuel)).flatten().map(|(_, last)| last)
            }
            None => self.bound_of(data.args[0], step, &mut fuel).map(|bound| bound + step),
        };
        last.is_some_and(|last| Range::new(last, last).within(of_scalar(scalar)))
    }
}

impl Ranges<'_> {
    /// Whether a float is known to lie in the range of the integer type it is converted to.
    pub(crate) fn fits(&self, value: Value, to: Type) -> bool {
        let range = self.of(value);
        let Some(to) = self.module.types.scalar_of(to) else { return false };
        let all = match to {
            Scalar::Int { bits: 64, signed } => Range::new(if signed { -9e18 } else { -0.99 }, 9e18),
            _ => {
                let all = of_scalar(to);
                // What is cut off does not count.
                Range::new(all.low - 0.99, all.high)
            }
        };
        range.within(all)
    }

    /// Whether an integer is known not to be negative.
    pub(crate) fn is_natural(&self, value: Value) -> bool {
        self.of(value).low >= 0.0
    }

    /// Whether the bounds of a clamp are known to be in order.
    pub(crate) fn ordered(&self, low: Value, high: Value) -> bool {
        let (low, high) = (self.of(low), self.of(high));
        !low.nan && !high.nan && low.high <= high.low
    }

    /// Whether a divisor is known to be neither 0 nor, of signed numbers, -1.
    pub(crate) fn divides(&self, value: Value) -> bool {
        let range = self.of(value);
        let signed = self.module.types.scalar_of(self.function.ty(value)).is_some_and(Scalar::is_signed);
        range.low >= 1.0 || range.high <= if signed { -2.0 } else { -1.0 }
    }
}
