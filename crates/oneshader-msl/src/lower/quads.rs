//! What a fragment function takes from its quad of pixels, for the quads of a kernel's threads: Metal has derivatives, and
//! levels of detail made of them, in fragment functions only.

use super::body::Body;
use super::texture::Access;
use crate::ast::{Expr, Infix, Stmt, VarKind};
use crate::raise::quads::layout;
use crate::runtime::Helper;
use oneshader_diag::{Span, codes};
use oneshader_ir::{BuiltIn, Global, Inst, InstData, Intrinsic, Scalar, Stage, TextureDim, TextureOp, Type};

impl Body<'_, '_> {
    /// Whether derivatives are ours to compute.
    pub(super) fn has_thread_quads(&self) -> bool {
        self.cx.raised.entry.stage == Stage::Compute
    }

    /// Reports derivatives where there are no quads.
    pub(super) fn needs_quads(&mut self, span: Span) -> bool {
        let message = match self.cx.raised.entry.stage {
            Stage::Compute if layout(&self.cx.raised.entry).is_some() => return true,
            Stage::Compute => {
                "derivatives need quads of threads: numthreads with even sizes in x and y, or a multiple of 4 in x alone"
            }
            _ => "Metal has derivatives in fragment functions and kernels only",
        };
        self.error(codes::MSL_STAGE_FUNCTION, span, message);
        false
    }

    /// A derivative in a kernel.
    pub(super) fn quad_derivative(&mut self, inst: Inst, data: &InstData, which: Intrinsic) {
        if !self.needs_quads(data.span) {
            return;
        }
        let helper = match which {
            Intrinsic::Ddx | Intrinsic::DdxCoarse => Helper::QuadDdx,
            Intrinsic::Ddy | Intrinsic::DdyCoarse => Helper::QuadDdy,
            Intrinsic::DdxFine => Helper::QuadDdxFine,
            Intrinsic::DdyFine => Helper::QuadDdyFine,
            _ => Helper::QuadFwidth,
        };
        let name = self.cx.need(helper);
        let args = self.values(&data.args);
        let call = self.call(name, &args);
        let call = self.convergent(call);
        self.define(inst, call);
    }

    /// The derivatives of a coordinate across and down the quad.
    fn gradients(&mut self, coordinate: Expr) -> [Expr; 2] {
        let by_threads = self.has_thread_quads();
        [(Helper::QuadDdx, "dfdx"), (Helper::QuadDdy, "dfdy")].map(|(helper, of_pixels)| {
            let name = if by_threads { self.cx.need(helper) } else { of_pixels };
            let call = self.call(name, &[coordinate]);
            self.convergent(call)
        })
    }

    /// The option that makes a kernel's sample take the level that a fragment's would: gradients, which a bias scales.
    pub(super) fn quad_gradient(&mut self, access: &Access, coordinate: Expr, bias: Option<Expr>) -> Option<Expr> {
        if !self.needs_quads(access.data.span) {
            return None;
        }
        let mut gradients = self.gradients(coordinate);
        if let Some(bias) = bias {
            let float = self.cx.types.scalar(Scalar::F32);
            let scale = self.call("exp2", &[bias]);
            let scale = self.temporary("scale", float, scale);
            gradients = gradients.map(|g| self.infix(Infix::Mul, g, scale));
        }
        Some(self.call(gradient_option(access.texture.dim), &gradients))
    }

    /// The level of detail that a coordinate has before a sampler is asked.
    pub(super) fn quad_level(&mut self, inst: Inst, access: &Access, op: TextureOp, position: Expr, ty: Type) {
        let span = access.data.span;
        if op == TextureOp::Lod {
            return self.error(
                codes::MSL_STAGE_FUNCTION,
                span,
                "Metal tells a kernel nothing of a sampler's limits for the level of detail",
            );
        }
        if !self.needs_quads(span) {
            return;
        }
        let position = self.temporary("coordinate", ty, position);
        let [dx, dy] = self.gradients(position);
        let width = self.method(access.object, "get_width", &[]);
        let call = if access.texture.dim == TextureDim::Cube {
            let name = self.cx.need(Helper::CubeLevelOfDetail);
            let size = self.call("float", &[width]);
            self.call(name, &[position, dx, dy, size])
        } else {
            let mut sizes = vec![width];
            let more = ["get_height", "get_depth"];
            for name in &more[..usize::from(access.texture.dim.coords() as u8).saturating_sub(1).min(2)] {
                let size = self.method(access.object, name, &[]);
                sizes.push(size);
            }
            let size = self.construct(ty, &sizes);
            let name = self.cx.need(Helper::LevelOfDetail);
            self.call(name, &[dx, dy, size])
        };
        let call = self.convergent(call);
        self.define(inst, call);
    }

    /// The level of detail of a one-dimensional texture, for which Metal has no query.
    pub(super) fn line_level(&mut self, access: &Access, position: Expr) -> Expr {
        let float = self.cx.types.scalar(Scalar::F32);
        let position = self.temporary("coordinate", float, position);
        let steps = self.gradients(position).map(|g| self.call("abs", &[g]));
        let step = self.call("max", &steps);
        let width = self.method(access.object, "get_width", &[]);
        let width = self.call("float", &[width]);
        let texels = self.infix(Infix::Mul, step, width);
        let level = self.call("log2", &[texels]);
        self.convergent(level)
    }

    /// A position of a thread that follows from its quad-group: a local variable of the entry point.
    pub(super) fn thread_position(&mut self, global: Global, builtin: BuiltIn) -> Expr {
        let Some(places) = self.io.as_ref().and_then(|io| io.quads.clone()) else { return self.uint(0) };
        let sizes = self.cx.raised.entry.threads;
        let thread = match self.thread {
            Some(thread) => thread,
            None => {
                let uint3 = self.cx.types.vector(Scalar::U32, 3);
                let name = self.cx.need(Helper::PlaceInQuads);
                let quads = format!("uint2({}u, {}u)", sizes[0] / 2, sizes[1] / 2);
                let args = [&places.quad, &places.lane, &quads].map(|text| self.text(text));
                let call = self.call(name, &args);
                self.temporary("place", uint3, call)
            }
        };
        self.thread = Some(thread);
        let var = &self.cx.raised.module.globals[global];
        let (ty, name) = (var.ty, self.cx.raised.module.names.get(var.name).replace('.', "_"));
        let lanes = self.cx.types.lanes(ty);
        let cut = |body: &mut Self, value: Expr| match lanes {
            3.. => value,
            _ => {
                let lanes: Vec<u8> = (0..lanes).collect();
                body.swizzle(value, &lanes)
            }
        };
        let value = match builtin {
            BuiltIn::GroupIndex => self.index_of_thread(thread, sizes),
            BuiltIn::DispatchThreadId => {
                let group = self.text(&places.group);
                let [group, thread] = [group, thread].map(|v| cut(self, v));
                let size = match lanes {
                    1 => format!("{}u", sizes[0]),
                    2 => format!("uint2({}u, {}u)", sizes[0], sizes[1]),
                    _ => format!("uint3({}u, {}u, {}u)", sizes[0], sizes[1], sizes[2]),
                };
                let size = self.text(&size);
                let first = self.infix(Infix::Mul, group, size);
                self.infix(Infix::Add, first, thread)
            }
            _ => cut(self, thread),
        };
        let own = self.cx.types.scalar_of(ty).unwrap_or(Scalar::U32);
        let value = if own == Scalar::U32 { value } else { self.construct(ty, &[value]) };
        if self.is_simple(value) {
            return value;
        }
        let spelled = self.cx.value_type(ty);
        let variable = self.var(&name, spelled, VarKind::Value);
        self.out.push(Stmt::Declare(variable, Some(value)));
        self.var_expr(variable)
    }

    /// `SV_GroupIndex` of a thread, by its position.
    fn index_of_thread(&mut self, thread: Expr, [x, y, z]: [u32; 3]) -> Expr {
        let [at_x, at_y, at_z] = [0, 1, 2].map(|i| self.swizzle(thread, &[i]));
        let (x, y) = (self.uint(x), self.uint(y));
        let row = if z > 1 {
            let rows = self.infix(Infix::Mul, at_z, y);
            self.infix(Infix::Add, rows, at_y)
        } else {
            at_y
        };
        let first = self.infix(Infix::Mul, row, x);
        self.infix(Infix::Add, first, at_x)
    }
}

/// The name of the option that states gradients.
pub(super) fn gradient_option(dim: TextureDim) -> &'static str {
    match dim {
        TextureDim::D3 => "gradient3d",
        TextureDim::Cube => "gradientcube",
        _ => "gradient2d",
    }
}
