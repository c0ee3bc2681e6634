//! What functions do with resources, found once for each function, callees first.

use super::needs::Feature;
use oneshader_ir::{
    AddressSpace, BuiltIn, Const, ConstData, Function, Global, GlobalKind, InstData, Intrinsic, IrModule, Op,
    ResourceType, Scalar, SpecId, TextureDim, TextureOp, TextureOperands, Type, TypeKind, Value, ValueDef,
};
use std::collections::{BTreeMap, BTreeSet};

/// What is done with a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Use {
    pub reads: bool,
    pub writes: bool,
    pub atomics: bool,
    pub counter: bool,
    pub length: bool,
}

impl Use {
    fn merge(&mut self, other: Self) {
        self.reads |= other.reads;
        self.writes |= other.writes;
        self.atomics |= other.atomics;
        self.counter |= other.counter;
        self.length |= other.length;
    }
}

/// What a function and all that it calls do.
#[derive(Clone, Debug, Default)]
pub(super) struct FunctionUse {
    pub globals: BTreeMap<Global, Use>,
    pub params: Vec<Use>,
    pub features: BTreeSet<Feature>,
    /// What derivatives need, explicit ones or those of samples: in a kernel they are taken by quad functions.
    pub by_quads: BTreeSet<Feature>,
    pub specs: BTreeSet<SpecId>,
}

/// Where a handle or an address comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    Global(Global),
    Param(u32),
}

/// The use of every function of the module.
pub(super) fn of_module(module: &IrModule) -> Vec<FunctionUse> {
    let specs = specs_of_consts(module);
    let mut all: Vec<FunctionUse> = Vec::with_capacity(module.functions.len());
    for func in module.functions.values() {
        let used = of_function(module, func, &all, &specs);
        all.push(used);
    }
    all
}

/// The specialization constants in each constant.
fn specs_of_consts(module: &IrModule) -> BTreeMap<Const, BTreeSet<SpecId>> {
    let mut out: BTreeMap<Const, BTreeSet<SpecId>> = BTreeMap::new();
    for (c, _, data) in module.consts.iter() {
        let specs: BTreeSet<SpecId> = match data {
            ConstData::Spec(id) => [*id].into(),
            ConstData::Composite(parts) => parts.iter().filter_map(|p| out.get(p)).flatten().copied().collect(),
            _ => continue,
        };
        if !specs.is_empty() {
            out.insert(c, specs);
        }
    }
    out
}

/// What `func` and its `callees` do.
fn of_function(
    module: &IrModule,
    func: &Function,
    callees: &[FunctionUse],
    specs: &BTreeMap<Const, BTreeSet<SpecId>>,
) -> FunctionUse {
    let mut out = FunctionUse { params: vec![Use::default(); func.params.len()], ..Default::default() };
    let terms = func.order.iter().filter_map(|&b| func.blocks[b].term.arg());
    for value in func.live_insts().flat_map(|(_, _, d)| d.args.iter().copied()).chain(terms) {
        match func.values[value].def {
            ValueDef::Const(c) if !specs.is_empty() => out.specs.extend(specs.get(&c).into_iter().flatten()),
            ValueDef::Global(g) => {
                out.globals.entry(g).or_default();
                if let Some(init) = module.globals[g].init {
                    out.specs.extend(specs.get(&init).into_iter().flatten());
                }
            }
            _ => {}
        }
    }
    let mark = |value: Value, with: Use, out: &mut FunctionUse| {
        each_root(func, value, |root| match root {
            Root::Global(g) => out.globals.entry(g).or_default().merge(with),
            Root::Param(i) => out.params[i as usize].merge(with),
        });
    };
    let reads = Use { reads: true, ..Use::default() };
    let writes = Use { writes: true, ..Use::default() };
    for (_, _, data) in func.live_insts() {
        wide(module, data.ty, &mut out.features);
        let first = data.args.first().copied();
        match (data.op, first) {
            // The load of a handle reads no memory behind it.
            (Op::Load, Some(at)) if matches!(module.types.kind(data.ty), TypeKind::Resource(_)) => {
                mark(at, Use::default(), &mut out);
            }
            (Op::Load | Op::RawLoad, Some(at)) => mark(at, reads, &mut out),
            (Op::Store | Op::RawStore, Some(at)) => mark(at, writes, &mut out),
            (Op::Atomic(_) | Op::AtomicCompareExchange, Some(at)) => {
                mark(at, Use { atomics: true, reads: true, writes: true, ..Use::default() }, &mut out);
                if let Some((space, pointee)) = module.types.pointee(func.ty(at)) {
                    if space == AddressSpace::Texel {
                        out.features.insert(Feature::TextureAtomics);
                    }
                    if module.types.scalar_of(pointee).is_some_and(|s| s.bits() == 64) {
                        out.features.insert(Feature::Atomic64);
                    }
                }
            }
            (Op::Counter { .. }, Some(at)) => mark(at, Use { counter: true, ..Use::default() }, &mut out),
            (Op::BufferLength, Some(at)) => mark(at, Use { length: true, ..Use::default() }, &mut out),
            (Op::Texture(op, operands), Some(at)) => {
                mark(at, if op == TextureOp::Store { writes } else { reads }, &mut out);
                if matches!(op, TextureOp::Lod | TextureOp::LodUnclamped) {
                    out.features.insert(Feature::LodQuery);
                    out.by_quads.insert(Feature::QuadPermute);
                }
                if op == TextureOp::Sample {
                    of_sample(module, func, data, operands, &mut out);
                }
                for &arg in &data.args[1..] {
                    if matches!(module.types.kind(func.ty(arg)), TypeKind::Resource(ResourceType::Sampler { .. })) {
                        mark(arg, reads, &mut out);
                    }
                }
            }
            (Op::Intrinsic(Intrinsic::RayTrace), _) => {
                out.features.insert(Feature::RayTracing);
                mark(data.args[1], reads, &mut out);
            }
            (Op::Intrinsic(which), _) => {
                out.features.extend(of_intrinsic(which));
                out.by_quads.extend(is_derivative(which).then_some(Feature::QuadPermute));
            }
            (Op::Call(callee), _) => {
                let Some(used) = callees.get(callee.as_u32() as usize) else { continue };
                for (&global, &with) in &used.globals {
                    out.globals.entry(global).or_default().merge(with);
                }
                for (&arg, &with) in data.args.iter().zip(&used.params) {
                    mark(arg, with, &mut out);
                }
                out.features.extend(&used.features);
                out.by_quads.extend(&used.by_quads);
                out.specs.extend(&used.specs);
            }
            _ => {}
        }
    }
    out
}

/// What a sample needs besides its resources.
fn of_sample(module: &IrModule, func: &Function, data: &InstData, operands: TextureOperands, out: &mut FunctionUse) {
    use TextureOperands as With;
    let level = operands.contains(With::LEVEL).then(|| data.args[operands.position(With::LEVEL)]);
    let is_zero = |v| func.as_const(v).is_some_and(|c| module.consts.is_zero(c));
    let compares = operands.contains(With::COMPARE);
    if compares && (operands.intersects(With::BIAS | With::GRAD) || level.is_some_and(|l| !is_zero(l))) {
        out.features.insert(Feature::CompareLevels);
    }
    if !operands.intersects(With::LEVEL | With::GRAD) {
        out.by_quads.insert(Feature::QuadPermute);
        out.by_quads.extend(compares.then_some(Feature::CompareLevels));
    }
}

/// Calls `f` with each place that `value`, a handle or an address, may come from.
fn each_root(func: &Function, value: Value, mut f: impl FnMut(Root)) {
    // Mostly there is one way.
    let mut value = value;
    loop {
        let data = match func.values[value].def {
            ValueDef::Global(g) => return f(Root::Global(g)),
            ValueDef::Param(i) => return f(Root::Param(i)),
            ValueDef::Local(_) | ValueDef::Const(_) => return,
            ValueDef::Inst(inst) => &func.insts[inst],
        };
        match data.op {
            Op::Phi | Op::Select => break,
            op if is_step(op) => match data.args.first() {
                Some(&from) => value = from,
                None => return,
            },
            _ => return,
        }
    }
    let mut stack = vec![value];
    let mut seen = BTreeSet::new();
    while let Some(value) = stack.pop() {
        if !seen.insert(value) {
            continue;
        }
        match func.values[value].def {
            ValueDef::Global(g) => f(Root::Global(g)),
            ValueDef::Param(i) => f(Root::Param(i)),
            ValueDef::Local(_) | ValueDef::Const(_) => {}
            ValueDef::Inst(inst) => {
                let data = &func.insts[inst];
                match data.op {
                    Op::Phi => stack.extend(&data.args),
                    Op::Select => stack.extend(&data.args[1..]),
                    op if is_step(op) => stack.extend(data.args.first()),
                    _ => {}
                }
            }
        }
    }
}

/// Whether an operation leads on from its first operand to the same memory.
fn is_step(op: Op) -> bool {
    matches!(op, Op::Load | Op::Access | Op::Copy | Op::BlockPtr | Op::ElementPtr | Op::RawPtr | Op::TexelPtr)
}

fn wide(module: &IrModule, ty: Type, features: &mut BTreeSet<Feature>) {
    if matches!(module.types.scalar_of(ty), Some(Scalar::Int { bits: 64, .. })) {
        features.insert(Feature::Int64);
    }
}

fn is_derivative(which: Intrinsic) -> bool {
    use Intrinsic as I;
    matches!(which, I::Ddx | I::Ddy | I::DdxCoarse | I::DdyCoarse | I::DdxFine | I::DdyFine | I::Fwidth)
}

fn of_intrinsic(which: Intrinsic) -> Option<Feature> {
    use Intrinsic as I;
    match which {
        I::QuadReadAcrossX
        | I::QuadReadAcrossY
        | I::QuadReadAcrossDiagonal
        | I::QuadReadLaneAt
        | I::QuadAny
        | I::QuadAll => Some(Feature::QuadPermute),
        I::WaveIsFirstLane
        | I::WaveLaneIndex
        | I::WaveLaneCount
        | I::GroupWaveIndex
        | I::GroupWaveCount
        | I::WaveAny
        | I::WaveAll
        | I::WaveAllEqual
        | I::WaveBallot
        | I::WaveReadLaneAt
        | I::WaveReadLaneFirst
        | I::WaveMatch
        | I::WaveMultiPrefixSum
        | I::WaveMultiPrefixProduct
        | I::WaveMultiPrefixBitAnd
        | I::WaveMultiPrefixBitOr
        | I::WaveMultiPrefixBitXor
        | I::WaveMultiPrefixCountBits => Some(Feature::SimdPermute),
        I::WaveSum
        | I::WaveProduct
        | I::WaveBitAnd
        | I::WaveBitOr
        | I::WaveBitXor
        | I::WaveMin
        | I::WaveMax
        | I::WaveCountBits
        | I::WavePrefixSum
        | I::WavePrefixProduct
        | I::WavePrefixCountBits => Some(Feature::SimdReduce),
        _ => None,
    }
}

/// What using a resource of this kind needs, or an array of `array` such resources, 0 without size.
pub(super) fn of_resource(kind: ResourceType, array: Option<u32>, with: Use) -> Vec<Feature> {
    let mut out = Vec::new();
    match array {
        Some(0) => out.push(Feature::ResourceTables),
        Some(_) => out.push(Feature::ResourceArrays),
        None => {}
    }
    match kind {
        ResourceType::Texture(t) => {
            if t.dim == TextureDim::Cube && t.arrayed {
                out.push(Feature::CubeArrays);
            }
            if with.reads && with.writes {
                out.push(Feature::ReadWriteTextures);
            }
            if with.writes && array.is_some_and(|n| n > 0) {
                out.push(Feature::WritableTextureArrays);
            }
        }
        ResourceType::AccelerationStructure => out.push(Feature::RayTracing),
        _ => {}
    }
    out
}

/// What reading or writing a stage variable needs.
pub(super) fn of_io(module: &IrModule, global: Global) -> Option<Feature> {
    let GlobalKind::Io(io) = &module.globals[global].kind else { return None };
    match io.builtin? {
        BuiltIn::Barycentrics => Some(Feature::Barycentrics),
        BuiltIn::PrimitiveId => Some(Feature::PrimitiveId),
        BuiltIn::Layer | BuiltIn::ViewportIndex => Some(Feature::LayeredRendering),
        _ => None,
    }
}
