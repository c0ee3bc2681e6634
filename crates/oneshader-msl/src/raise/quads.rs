//! The quads of a compute shader (DirectX-Specs, HLSL_SM_6_6_Derivatives): whether it needs them, and which threads are
//! one.
//!
//! A quad-group of Metal is four lanes in a row of its own choice, so that which thread of HLSL a lane plays is ours to
//! say. Where HLSL's quads are blocks of two by two threads, the positions of a thread follow from its quad-group.

use oneshader_ir::{EntryPoint, Func, Intrinsic, IrModule, Op, Stage, TextureOp, TextureOperands};

/// Which threads are a quad.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    /// Four in a row.
    Linear,
    /// Two by two.
    Square,
}

/// The quads of an entry point; `None` outside of compute shaders and where HLSL has none for this size of threadgroups.
pub(crate) fn layout(entry: &EntryPoint) -> Option<Layout> {
    match entry.threads {
        _ if entry.stage != Stage::Compute => None,
        [x, 1, 1] if x % 4 == 0 => Some(Layout::Linear),
        [x, y, _] if x % 2 == 0 && y % 2 == 0 => Some(Layout::Square),
        _ => None,
    }
}

/// Whether the positions of threads must follow the quad-groups. Rows of two threads are quads as they are.
pub(crate) fn moves_threads(module: &IrModule, entry: &EntryPoint, order: &[Func]) -> bool {
    layout(entry) == Some(Layout::Square)
        && entry.threads[0] > 2
        && order.iter().any(|&f| module.functions[f].live_insts().any(|(_, _, data)| uses_quad(data.op)))
}

/// Whether an instruction looks at the other threads of its quad.
fn uses_quad(op: Op) -> bool {
    use Intrinsic as I;
    match op {
        Op::Intrinsic(which) => matches!(
            which,
            I::Ddx
                | I::Ddy
                | I::DdxCoarse
                | I::DdyCoarse
                | I::DdxFine
                | I::DdyFine
                | I::Fwidth
                | I::QuadReadAcrossX
                | I::QuadReadAcrossY
                | I::QuadReadAcrossDiagonal
                | I::QuadReadLaneAt
                | I::QuadAny
                | I::QuadAll
        ),
        Op::Texture(TextureOp::Sample, operands) => {
            !operands.intersects(TextureOperands::LEVEL | TextureOperands::GRAD)
        }
        Op::Texture(op, _) => matches!(op, TextureOp::Lod | TextureOp::LodUnclamped),
        _ => false,
    }
}
