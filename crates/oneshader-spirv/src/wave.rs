//! Operations across lanes: a table for those that SPIR-V has, loops for those that it lacks.
//!
//! `WaveMatch` and the multi-prefix operations exist in `SPV_NV_shader_subgroup_partitioned` only, which few devices
//! have; they are emitted as functions that use ballots and shuffles.

use crate::cx::Cx;
use crate::func::Fx;
use crate::module::Words;
use crate::options::TargetEnv;
use oneshader_diag::codes;
use oneshader_ir::{InstData, Intrinsic, Scalar, Stage};
use spirv::{BuiltIn, Decoration, FunctionControl, GroupOperation, LoopControl, MemoryAccess, Op, Scope, StorageClass};

/// A group operation by the operand's type, over all lanes or those before.
struct Row {
    intrinsic: Intrinsic,
    float: Op,
    signed: Op,
    unsigned: Op,
    group: GroupOperation,
}

const fn row(intrinsic: Intrinsic, float: Op, signed: Op, unsigned: Op, group: GroupOperation) -> Row {
    Row { intrinsic, float, signed, unsigned, group }
}

const fn bitwise(intrinsic: Intrinsic, op: Op) -> Row {
    row(intrinsic, Op::Nop, op, op, GroupOperation::Reduce)
}

static ARITHMETIC: &[Row] = &[
    row(
        Intrinsic::WaveSum,
        Op::GroupNonUniformFAdd,
        Op::GroupNonUniformIAdd,
        Op::GroupNonUniformIAdd,
        GroupOperation::Reduce,
    ),
    row(
        Intrinsic::WaveProduct,
        Op::GroupNonUniformFMul,
        Op::GroupNonUniformIMul,
        Op::GroupNonUniformIMul,
        GroupOperation::Reduce,
    ),
    row(
        Intrinsic::WaveMin,
        Op::GroupNonUniformFMin,
        Op::GroupNonUniformSMin,
        Op::GroupNonUniformUMin,
        GroupOperation::Reduce,
    ),
    row(
        Intrinsic::WaveMax,
        Op::GroupNonUniformFMax,
        Op::GroupNonUniformSMax,
        Op::GroupNonUniformUMax,
        GroupOperation::Reduce,
    ),
    row(
        Intrinsic::WavePrefixSum,
        Op::GroupNonUniformFAdd,
        Op::GroupNonUniformIAdd,
        Op::GroupNonUniformIAdd,
        GroupOperation::ExclusiveScan,
    ),
    row(
        Intrinsic::WavePrefixProduct,
        Op::GroupNonUniformFMul,
        Op::GroupNonUniformIMul,
        Op::GroupNonUniformIMul,
        GroupOperation::ExclusiveScan,
    ),
    bitwise(Intrinsic::WaveBitAnd, Op::GroupNonUniformBitwiseAnd),
    bitwise(Intrinsic::WaveBitOr, Op::GroupNonUniformBitwiseOr),
    bitwise(Intrinsic::WaveBitXor, Op::GroupNonUniformBitwiseXor),
];

/// A function of our own making.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Helper {
    /// `(x) -> uint4`.
    Match(Scalar, u8),
    /// `(x, mask, lane, lanes) -> x`.
    MultiPrefix(Intrinsic, Scalar, u8),
}

/// The operation of a multi-prefix intrinsic: for floats, for integers, and its identity.
fn multi_prefix(intrinsic: Intrinsic) -> Option<(Op, Op, i64)> {
    Some(match intrinsic {
        Intrinsic::WaveMultiPrefixSum | Intrinsic::WaveMultiPrefixCountBits => (Op::FAdd, Op::IAdd, 0),
        Intrinsic::WaveMultiPrefixProduct => (Op::FMul, Op::IMul, 1),
        Intrinsic::WaveMultiPrefixBitAnd => (Op::Nop, Op::BitwiseAnd, -1),
        Intrinsic::WaveMultiPrefixBitOr => (Op::Nop, Op::BitwiseOr, 0),
        Intrinsic::WaveMultiPrefixBitXor => (Op::Nop, Op::BitwiseXor, 0),
        _ => return None,
    })
}

impl Fx<'_, '_> {
    fn subgroup(&mut self) -> u32 {
        self.cx.u32(Scope::Subgroup as u32)
    }

    /// The value of a built-in input of type `scalar`.
    fn builtin_value(&mut self, builtin: BuiltIn, scalar: Scalar, name: &str, access: MemoryAccess) -> u32 {
        let ty = self.cx.scalar(scalar);
        let known = self.cx.builtins.contains_key(&(builtin as u32, false));
        let var = self.cx.builtin_variable(builtin, ty, StorageClass::Input, name);
        if !known && self.cx.entry.stage == Stage::Pixel && scalar.is_int() {
            self.cx.m.decorate(var, Decoration::Flat, &[]);
        }
        if access.is_empty() { self.op(Op::Load, ty, &[var]) } else { self.op(Op::Load, ty, &[var, access.bits()]) }
    }

    fn lane_index(&mut self) -> u32 {
        self.builtin_value(
            BuiltIn::SubgroupLocalInvocationId,
            Scalar::U32,
            "gl_SubgroupInvocationID",
            MemoryAccess::NONE,
        )
    }

    fn lane_count(&mut self) -> u32 {
        self.builtin_value(BuiltIn::SubgroupSize, Scalar::U32, "gl_SubgroupSize", MemoryAccess::NONE)
    }

    /// Lowers an intrinsic across lanes.
    pub fn wave(&mut self, data: &InstData, intrinsic: Intrinsic) -> Option<u32> {
        use Intrinsic as I;
        if self.cx.opts.target < TargetEnv::Vulkan1_1 && intrinsic != I::IsHelperLane {
            let message = "operations across lanes need Vulkan 1.1; compile with -fspv-target-env=vulkan1.1 or newer";
            self.cx.error(codes::SPIRV_ENVIRONMENT, data.span, message);
            return None;
        }
        let ty = self.cx.ty(data.ty);
        let scope = self.subgroup();
        if let Some(row) = ARITHMETIC.iter().find(|r| r.intrinsic == intrinsic) {
            let (scalar, _, value, ty) = self.operand(data, 0)?;
            let op = match scalar {
                Scalar::Float { .. } => row.float,
                Scalar::Int { signed: true, .. } => row.signed,
                _ => row.unsigned,
            };
            return (op != Op::Nop).then(|| self.op(op, ty, &[scope, row.group as u32, value]));
        }
        match intrinsic {
            I::WaveIsFirstLane => Some(self.op(Op::GroupNonUniformElect, ty, &[scope])),
            I::WaveLaneIndex => Some(self.lane_index()),
            I::WaveLaneCount => Some(self.lane_count()),
            I::GroupWaveIndex => {
                let none = MemoryAccess::NONE;
                Some(self.builtin_value(BuiltIn::SubgroupId, Scalar::U32, "gl_SubgroupID", none))
            }
            I::GroupWaveCount => {
                let none = MemoryAccess::NONE;
                Some(self.builtin_value(BuiltIn::NumSubgroups, Scalar::U32, "gl_NumSubgroups", none))
            }
            I::WaveAny | I::WaveAll => {
                let value = self.use_id(data.args[0]);
                let op = if intrinsic == I::WaveAny { Op::GroupNonUniformAny } else { Op::GroupNonUniformAll };
                Some(self.op(op, ty, &[scope, value]))
            }
            I::WaveAllEqual => {
                let (scalar, lanes, value, _) = self.operand(data, 0)?;
                let bool_ty = self.cx.scalar(Scalar::Bool);
                let parts: Vec<u32> = (0..lanes)
                    .map(|i| {
                        let lane = self.lane(value, scalar, lanes, i);
                        self.op(Op::GroupNonUniformAllEqual, bool_ty, &[scope, lane])
                    })
                    .collect();
                Some(self.vector_of(&parts, Scalar::Bool))
            }
            I::WaveBallot => {
                let value = self.use_id(data.args[0]);
                Some(self.op(Op::GroupNonUniformBallot, ty, &[scope, value]))
            }
            I::WaveCountBits | I::WavePrefixCountBits => {
                let value = self.use_id(data.args[0]);
                let uint4 = self.cx.num(Scalar::U32, 4);
                let ballot = self.op(Op::GroupNonUniformBallot, uint4, &[scope, value]);
                let group =
                    if intrinsic == I::WaveCountBits { GroupOperation::Reduce } else { GroupOperation::ExclusiveScan };
                Some(self.op(Op::GroupNonUniformBallotBitCount, ty, &[scope, group as u32, ballot]))
            }
            I::WaveReadLaneAt => {
                let (value, lane) = (self.use_id(data.args[0]), self.use_id(data.args[1]));
                let op = if self.func.as_const(data.args[1]).is_some() {
                    Op::GroupNonUniformBroadcast
                } else {
                    Op::GroupNonUniformShuffle
                };
                Some(self.op(op, ty, &[scope, value, lane]))
            }
            I::WaveReadLaneFirst => {
                let value = self.use_id(data.args[0]);
                Some(self.op(Op::GroupNonUniformBroadcastFirst, ty, &[scope, value]))
            }
            I::WaveMatch => {
                let (scalar, lanes, value, _) = self.operand(data, 0)?;
                let helper = self.cx.helper(Helper::Match(scalar, lanes));
                Some(self.op(Op::FunctionCall, ty, &[helper, value]))
            }
            I::WaveMultiPrefixSum
            | I::WaveMultiPrefixProduct
            | I::WaveMultiPrefixBitAnd
            | I::WaveMultiPrefixBitOr
            | I::WaveMultiPrefixBitXor
            | I::WaveMultiPrefixCountBits => {
                let (mut scalar, lanes, mut value, _) = self.operand(data, 0)?;
                if scalar == Scalar::Bool {
                    value = self.convert_shape(value, scalar, Scalar::U32, lanes)?;
                    scalar = Scalar::U32;
                }
                let mask = self.use_id(data.args[1]);
                let (lane, count) = (self.lane_index(), self.lane_count());
                let helper = self.cx.helper(Helper::MultiPrefix(intrinsic, scalar, lanes));
                Some(self.op(Op::FunctionCall, ty, &[helper, value, mask, lane, count]))
            }
            I::QuadReadAcrossX | I::QuadReadAcrossY | I::QuadReadAcrossDiagonal => {
                let value = self.use_id(data.args[0]);
                let way = match intrinsic {
                    I::QuadReadAcrossX => 0,
                    I::QuadReadAcrossY => 1,
                    _ => 2,
                };
                Some(self.quad_swap(ty, value, way))
            }
            I::QuadReadLaneAt => {
                let (value, lane) = (self.use_id(data.args[0]), self.use_id(data.args[1]));
                if self.func.as_const(data.args[1]).is_some() {
                    return Some(self.op(Op::GroupNonUniformQuadBroadcast, ty, &[scope, value, lane]));
                }
                // The index may differ between the lanes of a quad, which OpGroupNonUniformQuadBroadcast forbids.
                let uint = self.cx.scalar(Scalar::U32);
                let (own, mask) = (self.lane_index(), self.cx.u32(!3));
                let first = self.op(Op::BitwiseAnd, uint, &[own, mask]);
                let lane = self.op(Op::BitwiseOr, uint, &[first, lane]);
                Some(self.op(Op::GroupNonUniformShuffle, ty, &[scope, value, lane]))
            }
            I::QuadAny | I::QuadAll => {
                let mut value = self.use_id(data.args[0]);
                let op = if intrinsic == I::QuadAny { Op::LogicalOr } else { Op::LogicalAnd };
                for way in [0, 1] {
                    let other = self.quad_swap(ty, value, way);
                    value = self.op(op, ty, &[value, other]);
                }
                Some(value)
            }
            I::IsHelperLane => {
                if self.cx.opts.target.at_least(6) {
                    // A lane may become a helper on the way (SPIR-V specification, HelperInvocation).
                    let volatile = MemoryAccess::VOLATILE;
                    return Some(self.builtin_value(
                        BuiltIn::HelperInvocation,
                        Scalar::Bool,
                        "gl_HelperInvocation",
                        volatile,
                    ));
                }
                if self.cx.opts.demote {
                    return Some(self.op(Op::IsHelperInvocationEXT, ty, &[]));
                }
                let access = MemoryAccess::NONE;
                Some(self.builtin_value(BuiltIn::HelperInvocation, Scalar::Bool, "gl_HelperInvocation", access))
            }
            _ => None,
        }
    }

    fn quad_swap(&mut self, ty: u32, value: u32, way: u32) -> u32 {
        let scope = self.subgroup();
        let way = self.cx.u32(way);
        self.op(Op::GroupNonUniformQuadSwap, ty, &[scope, value, way])
    }
}

/// A function written instruction by instruction.
struct Raw<'c, 'a> {
    cx: &'c mut Cx<'a>,
    body: Words,
}

impl Raw<'_, '_> {
    fn op(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = self.cx.m.id();
        let mut words = vec![ty, id];
        words.extend_from_slice(operands);
        self.body.inst(op, &words);
        id
    }

    fn effect(&mut self, op: Op, operands: &[u32]) {
        self.body.inst(op, operands);
    }
}

impl Cx<'_> {
    /// The id of a function of our own making.
    pub fn helper(&mut self, helper: Helper) -> u32 {
        if let Some(&id) = self.helpers.get(&helper) {
            return id;
        }
        let mut raw = Raw { cx: self, body: Words::default() };
        let id = match helper {
            Helper::Match(scalar, lanes) => raw.wave_match(scalar, lanes),
            Helper::MultiPrefix(intrinsic, scalar, lanes) => raw.multi_prefix(intrinsic, scalar, lanes),
        };
        let body = raw.body;
        self.m.functions.0.extend_from_slice(&body.0);
        self.helpers.insert(helper, id);
        id
    }
}

impl Raw<'_, '_> {
    fn begin(&mut self, name: &str, ret: u32, params: &[u32]) -> (u32, Vec<u32>) {
        let ty = self.cx.function(ret, params);
        let id = self.op(Op::Function, ret, &[FunctionControl::NONE.bits(), ty]);
        self.cx.name(id, name);
        let params = params.iter().map(|&p| self.op(Op::FunctionParameter, p, &[])).collect();
        (id, params)
    }

    /// Lanes leave the loop by groups: all that hold what the first remaining lane holds leave together, with the ballot
    /// of their group. Floats are compared by their bits, so that a NaN is equal to itself and the loop ends.
    fn wave_match(&mut self, scalar: Scalar, lanes: u8) -> u32 {
        let ty = self.cx.num(scalar, lanes);
        let uint4 = self.cx.num(Scalar::U32, 4);
        let bool_ty = self.cx.scalar(Scalar::Bool);
        let bools = self.cx.num(Scalar::Bool, lanes);
        let scope = self.cx.u32(Scope::Subgroup as u32);
        let (id, params) = self.begin("wave_match", uint4, &[ty]);
        let [entry, header, body, cont, merge] = std::array::from_fn(|_| self.cx.m.id());
        self.effect(Op::Label, &[entry]);
        let mut x = params[0];
        let (mut bits_ty, mut equal) = (ty, Op::IEqual);
        match scalar {
            Scalar::Float { bits } => {
                bits_ty = self.cx.num(Scalar::Int { bits, signed: false }, lanes);
                x = self.op(Op::Bitcast, bits_ty, &[x]);
            }
            Scalar::Bool => equal = Op::LogicalEqual,
            Scalar::Int { .. } => {}
        }
        self.effect(Op::Branch, &[header]);
        self.effect(Op::Label, &[header]);
        self.effect(Op::LoopMerge, &[merge, cont, LoopControl::NONE.bits()]);
        self.effect(Op::Branch, &[body]);
        self.effect(Op::Label, &[body]);
        let first = self.op(Op::GroupNonUniformBroadcastFirst, bits_ty, &[scope, x]);
        let mut same = self.op(equal, bools, &[x, first]);
        if lanes > 1 {
            same = self.op(Op::All, bool_ty, &[same]);
        }
        let ballot = self.op(Op::GroupNonUniformBallot, uint4, &[scope, same]);
        self.effect(Op::BranchConditional, &[same, merge, cont]);
        self.effect(Op::Label, &[cont]);
        self.effect(Op::Branch, &[header]);
        self.effect(Op::Label, &[merge]);
        self.effect(Op::ReturnValue, &[ballot]);
        self.effect(Op::FunctionEnd, &[]);
        id
    }

    /// Every active lane goes through all lanes and takes those before it that its mask names and that are active.
    fn multi_prefix(&mut self, intrinsic: Intrinsic, scalar: Scalar, lanes: u8) -> u32 {
        let (float, int, identity) = multi_prefix(intrinsic).unwrap_or((Op::FAdd, Op::IAdd, 0));
        let combine = if scalar.is_float() { float } else { int };
        let ty = self.cx.num(scalar, lanes);
        let (uint, bool_ty) = (self.cx.scalar(Scalar::U32), self.cx.scalar(Scalar::Bool));
        let uint4 = self.cx.num(Scalar::U32, 4);
        let bools = self.cx.num(Scalar::Bool, lanes);
        let scope = self.cx.u32(Scope::Subgroup as u32);
        let identity = self.cx.number(scalar, lanes, identity);
        let (zero, one, five) = (self.cx.u32(0), self.cx.u32(1), self.cx.u32(5));
        let low = self.cx.u32(31);
        let always = self.cx.scalar_const(Scalar::Bool, 1);
        let (id, params) = self.begin("wave_multi_prefix", ty, &[ty, uint4, uint, uint]);
        let [x, mask, lane, count] = [params[0], params[1], params[2], params[3]];
        let [entry, header, body, cont, merge, i_next, acc_next] = std::array::from_fn(|_| self.cx.m.id());
        self.effect(Op::Label, &[entry]);
        let active = self.op(Op::GroupNonUniformBallot, uint4, &[scope, always]);
        let mask = self.op(Op::BitwiseAnd, uint4, &[mask, active]);
        self.effect(Op::Branch, &[header]);
        self.effect(Op::Label, &[header]);
        let i = self.op(Op::Phi, uint, &[zero, entry, i_next, cont]);
        let acc = self.op(Op::Phi, ty, &[identity, entry, acc_next, cont]);
        let more = self.op(Op::ULessThan, bool_ty, &[i, count]);
        self.effect(Op::LoopMerge, &[merge, cont, LoopControl::NONE.bits()]);
        self.effect(Op::BranchConditional, &[more, body, merge]);
        self.effect(Op::Label, &[body]);
        let other = self.op(Op::GroupNonUniformShuffle, ty, &[scope, x, i]);
        let word = self.op(Op::ShiftRightLogical, uint, &[i, five]);
        let word = self.op(Op::VectorExtractDynamic, uint, &[mask, word]);
        let bit = self.op(Op::BitwiseAnd, uint, &[i, low]);
        let bit = self.op(Op::ShiftRightLogical, uint, &[word, bit]);
        let bit = self.op(Op::BitwiseAnd, uint, &[bit, one]);
        let named = self.op(Op::INotEqual, bool_ty, &[bit, zero]);
        let before = self.op(Op::ULessThan, bool_ty, &[i, lane]);
        let mut taken = self.op(Op::LogicalAnd, bool_ty, &[named, before]);
        if lanes > 1 {
            taken = self.op(Op::CompositeConstruct, bools, &vec![taken; usize::from(lanes)]);
        }
        let sum = self.op(combine, ty, &[acc, other]);
        self.body.inst(Op::Select, &[ty, acc_next, taken, sum, acc]);
        self.effect(Op::Branch, &[cont]);
        self.effect(Op::Label, &[cont]);
        self.body.inst(Op::IAdd, &[uint, i_next, i, one]);
        self.effect(Op::Branch, &[header]);
        self.effect(Op::Label, &[merge]);
        self.effect(Op::ReturnValue, &[acc]);
        self.effect(Op::FunctionEnd, &[]);
        id
    }
}
