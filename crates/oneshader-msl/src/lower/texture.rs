//! Texture operations. The array layer is split from the coordinate; what a kind of texture lacks is an error or, where it
//! can mean nothing (levels of one-dimensional textures), left out.

use super::body::Body;
use super::effects;
use super::quads::gradient_option;
use crate::ast::{Expr, ExprKind, Infix, Stmt};
use crate::raise::usage::{Class, TextureAccess, Uses};
use crate::runtime::Helper;
use oneshader_diag::codes;
use oneshader_ir::{
    Inst, InstData, Op, ResourceType, Scalar, Stage, TextureDim, TextureOp, TextureOperands, TextureType, TypeKind,
    Value,
};

/// A texture instruction taken apart.
pub(super) struct Access<'i> {
    pub data: &'i InstData,
    operands: TextureOperands,
    pub texture: TextureType,
    class: Class,
    pub object: Expr,
}

impl Access<'_> {
    fn arg(&self, which: TextureOperands) -> Option<Value> {
        self.operands.contains(which).then(|| self.data.args[self.operands.position(which)])
    }
}

impl Body<'_, '_> {
    pub(super) fn texture(&mut self, inst: Inst, data: &InstData, op: TextureOp, operands: TextureOperands) {
        let unused = data.result.is_none_or(|r| self.use_count(r) == 0);
        if unused && op != TextureOp::Store {
            return;
        }
        let Some((ResourceType::Texture(texture), _)) = self.resource(data.args[0]) else {
            return self.error(codes::MSL_UNSUPPORTED_RESOURCE, data.span, "the Metal backend has no subpass inputs");
        };
        let compares = if operands.contains(TextureOperands::COMPARE) { Uses::COMPARE } else { Uses::empty() };
        let class = self.texture_class(data.args[0], compares).unwrap_or(Class {
            depth: false,
            access: TextureAccess::Sample,
            coherent: false,
        });
        let object = self.handle_as(data.args[0], Some(class));
        let access = Access { data, operands, texture, class, object };
        if class.depth && matches!(texture.dim, TextureDim::D1 | TextureDim::D3 | TextureDim::Buffer) {
            return self.error(
                codes::MSL_TEXTURE_COMPARE,
                data.span,
                "Metal has no comparison sampling of one- and three-dimensional textures",
            );
        }
        let has_offset = operands.intersects(TextureOperands::OFFSET | TextureOperands::OFFSETS);
        if has_offset && matches!(texture.dim, TextureDim::Cube | TextureDim::D1) && op != TextureOp::Load {
            return self.error(
                codes::MSL_TEXTURE_OFFSET,
                data.span,
                "Metal has no texel offsets for cube and one-dimensional textures",
            );
        }
        match op {
            TextureOp::Sample => self.sample(inst, &access),
            TextureOp::Gather { component } => self.gather_texels(inst, &access, component),
            TextureOp::Load => self.read_texel(inst, &access),
            TextureOp::Store => self.write_texel(&access),
            TextureOp::Size | TextureOp::Levels | TextureOp::Samples => self.query(inst, &access, op),
            TextureOp::Lod | TextureOp::LodUnclamped => self.query_lod(inst, &access, op),
        }
    }

    /// The coordinate without layer, and the layer.
    fn split(&mut self, access: &Access) -> (Expr, Option<Expr>) {
        let Some(coordinate) = access.arg(TextureOperands::COORD) else { return (self.text("0"), None) };
        let ty = self.function.ty(coordinate);
        let dims = access.texture.dim.coords() as u8;
        let value = self.value(coordinate);
        if !access.texture.arrayed {
            return (value, None);
        }
        let at = usize::from(dims);
        let (position, layer) = match self.components.get(&value).cloned() {
            Some(parts) if parts.len() == at + 1 => {
                let position = match at {
                    1 => parts[0],
                    _ => {
                        let ty = self.position_type(access.texture);
                        self.vector(ty, &parts[..at], &[1; 3][..at])
                    }
                };
                (position, parts[at])
            }
            _ => {
                let value = self.temporary("coordinate", ty, value);
                let lanes: Vec<u8> = (0..dims).collect();
                (self.swizzle(value, &lanes), self.swizzle(value, &[dims]))
            }
        };
        let layer = self.layer(coordinate, layer);
        (position, Some(layer))
    }

    /// The number of the layer that is `layer`, the last component of `coordinate`.
    fn layer(&mut self, coordinate: Value, layer: Expr) -> Expr {
        if let Some(whole) = self.whole_layer(coordinate, layer) {
            return whole;
        }
        // To the nearest layer (D3D11.3 functional specification 7.18.9); below the first one there is none.
        let zero = self.text("0.0f");
        let layer = self.call("rint", &[layer]);
        let layer = self.call("fmax", &[layer, zero]);
        self.call("uint", &[layer])
    }

    /// The `uint` that a layer was converted from: the layer itself.
    fn whole_layer(&self, coordinate: Value, layer: Expr) -> Option<Expr> {
        let (_, whole) = self.function.def_inst(coordinate)?;
        let (_, last) = self.function.def_inst(*whole.args.last()?)?;
        let from = self.cx.types.kind(self.function.ty(*last.args.first()?));
        let is_uint = whole.op == Op::Construct && last.op == Op::Convert && from == TypeKind::Scalar(Scalar::U32);
        match self.arena[layer].kind {
            ExprKind::Call(_, args) if is_uint => self.arena.args(args).first().copied(),
            _ => None,
        }
    }

    fn sampler(&mut self, access: &Access) -> Expr {
        match access.arg(TextureOperands::SAMPLER) {
            Some(sampler) => self.handle(sampler),
            None => self.text("0"),
        }
    }

    fn sample(&mut self, inst: Inst, access: &Access) {
        let sampler = self.sampler(access);
        let (mut position, layer) = self.split(access);
        let explicit = access.operands.intersects(TextureOperands::LEVEL | TextureOperands::GRAD);
        let by_quad = !explicit && access.texture.dim != TextureDim::D1 && self.has_thread_quads();
        if by_quad {
            let ty = self.position_type(access.texture);
            position = self.temporary("coordinate", ty, position);
        }
        let mut args = vec![sampler, position];
        args.extend(layer);
        let reference = access.arg(TextureOperands::COMPARE);
        if let Some(reference) = reference {
            let reference = self.value(reference);
            args.push(reference);
        }
        self.level_options(access, by_quad.then_some(position), &mut args);
        if let Some(offset) = access.arg(TextureOperands::OFFSET) {
            let offset = self.int_vector(offset);
            args.push(offset);
        }
        let name = if reference.is_some() { "sample_compare" } else { "sample" };
        if access.operands.contains(TextureOperands::STATUS) {
            let call = self.with_status(access, name, &args, reference.is_none());
            return self.define(inst, call);
        }
        let call = self.method(access.object, name, &args);
        let call = if explicit { call } else { self.convergent(call) };
        let value = match (reference.is_some(), access.class.depth) {
            (true, _) => call,
            (false, depth) => self.four_components(call, depth, access),
        };
        self.define(inst, value);
    }

    /// The structure of a status (1 where every texel was mapped) and texels, from the sparse form of a function. Of a
    /// depth texture that gives one component, which `texels` says to spread as HLSL sees it.
    fn with_status(&mut self, access: &Access, name: &str, args: &[Expr], texels: bool) -> Expr {
        let name = format!("sparse_{name}");
        let call = self.method(access.object, &name, args);
        let helper = self.cx.need(if access.class.depth && texels { Helper::SparseDepth } else { Helper::Sparse });
        let ty = self.cx.value_type(access.data.ty);
        let ty = self.cx.names.get(ty).to_owned();
        let call = self.call(&format!("{helper}<{ty}>"), &[call]);
        self.convergent(call)
    }

    /// Four components, as HLSL sees them: those a depth texture lacks are 0, 0 and 1.
    fn four_components(&mut self, call: Expr, depth: bool, access: &Access) -> Expr {
        if !depth {
            return call;
        }
        let (zero, one) = match access.texture.texel {
            Scalar::Float { bits: 16 } => ("0.0h", "1.0h"),
            _ => ("0.0f", "1.0f"),
        };
        let (zero, one) = (self.text(zero), self.text(one));
        let parts = vec![call, zero, zero, one];
        let expr = self.construct(access.data.ty, &parts);
        self.components.insert(expr, parts);
        expr
    }

    /// The type of a coordinate without layer.
    fn position_type(&mut self, texture: TextureType) -> oneshader_ir::Type {
        match texture.dim.coords() as u8 {
            1 => self.cx.types.scalar(Scalar::F32),
            n => self.cx.types.vector(Scalar::F32, n),
        }
    }

    /// The options that choose a level; `by_quad` is the coordinate whose derivatives must be computed for it.
    fn level_options(&mut self, access: &Access, by_quad: Option<Expr>, args: &mut Vec<Expr>) {
        let is_1d = access.texture.dim == TextureDim::D1;
        // One-dimensional textures have one level in Metal.
        if is_1d {
            return;
        }
        let bias = access.arg(TextureOperands::BIAS).map(|bias| self.value(bias));
        if let Some(coordinate) = by_quad {
            args.extend(self.quad_gradient(access, coordinate, bias));
        } else if let Some(bias) = bias {
            let option = self.call("bias", &[bias]);
            args.push(option);
        }
        if let Some(level) = access.arg(TextureOperands::LEVEL) {
            let level = self.value(level);
            let option = self.call("level", &[level]);
            args.push(option);
        }
        if access.operands.contains(TextureOperands::GRAD) {
            let at = access.operands.position(TextureOperands::GRAD);
            let gradients = self.values(&access.data.args[at..at + 2]);
            let option = self.call(gradient_option(access.texture.dim), &gradients);
            args.push(option);
        }
        if let Some(least) = access.arg(TextureOperands::MIN_LOD) {
            let least = self.value(least);
            let option = self.call("min_lod_clamp", &[least]);
            args.push(option);
        }
    }

    /// An offset: `int2` or `int3`, whatever integers it is made of.
    fn int_vector(&mut self, value: Value) -> Expr {
        let ty = self.function.ty(value);
        let expr = self.value(value);
        match self.cx.types.scalar_of(ty) {
            Some(Scalar::I32) | None => expr,
            Some(_) => {
                let ints = self.cx.types.with_scalar(ty, Scalar::I32);
                self.construct(ints, &[expr])
            }
        }
    }

    fn gather_texels(&mut self, inst: Inst, access: &Access, component: u8) {
        let sampler = self.sampler(access);
        let (position, layer) = self.split(access);
        let mut args = vec![sampler, position];
        args.extend(layer);
        let compare = access.arg(TextureOperands::COMPARE);
        if let Some(reference) = compare {
            let reference = self.value(reference);
            args.push(reference);
        }
        let is_cube = access.texture.dim == TextureDim::Cube;
        let one = |body: &mut Self, offset: Option<Value>| {
            let mut args = args.clone();
            let offset = offset.map(|o| body.int_vector(o));
            let picks = component != 0 && compare.is_none() && !access.class.depth;
            match (offset, is_cube) {
                (Some(offset), false) => args.push(offset),
                // The component comes after the offset.
                (None, false) if picks => {
                    let zero = body.text("int2(0)");
                    args.push(zero);
                }
                _ => {}
            }
            if picks {
                let which = ['x', 'y', 'z', 'w'][usize::from(component & 3)];
                let which = body.text(&format!("component::{which}"));
                args.push(which);
            }
            let name = if compare.is_some() { "gather_compare" } else { "gather" };
            if access.operands.contains(TextureOperands::STATUS) {
                return body.with_status(access, name, &args, false);
            }
            body.method(access.object, name, &args)
        };
        if access.operands.contains(TextureOperands::STATUS)
            && (access.operands.contains(TextureOperands::OFFSETS) || component != 0 && access.class.depth)
        {
            return self.no_status(access);
        }
        let value = if access.operands.contains(TextureOperands::OFFSETS) {
            let at = access.operands.position(TextureOperands::OFFSETS);
            let offsets: Vec<Value> = access.data.args[at..at + 4].to_vec();
            let parts: Vec<Expr> = offsets
                .iter()
                .enumerate()
                .map(|(i, &offset)| {
                    let call = one(self, Some(offset));
                    self.swizzle(call, &[i as u8])
                })
                .collect();
            self.construct(access.data.ty, &parts)
        } else if component != 0 && access.class.depth && compare.is_none() {
            // A depth texture has one component; the others are as for any texture of one component.
            let text = match (component, access.texture.texel) {
                (3, Scalar::Float { bits: 16 }) => "1.0h",
                (_, Scalar::Float { bits: 16 }) => "0.0h",
                (3, _) => "1.0f",
                _ => "0.0f",
            };
            let part = self.text(text);
            self.construct(access.data.ty, &[part])
        } else {
            let offset = access.arg(TextureOperands::OFFSET);
            one(self, offset)
        };
        self.define(inst, value);
    }

    /// The arguments of `read` and `write` for an integer coordinate: position, then layer.
    pub(super) fn texel_coordinate(&mut self, texture: Value, coordinate: Value) -> Vec<Expr> {
        let Some((ResourceType::Texture(kind), _)) = self.resource(texture) else { return Vec::new() };
        self.position(kind, coordinate, None)
    }

    fn position(&mut self, texture: TextureType, coordinate: Value, offset: Option<Value>) -> Vec<Expr> {
        let ty = self.function.ty(coordinate);
        let scalar = self.cx.types.scalar_of(ty).unwrap_or(Scalar::U32);
        let dims = texture.dim.coords().min(if texture.dim == TextureDim::Cube { 2 } else { 3 }) as u8;
        let mut value = self.value(coordinate);
        let mut out = Vec::new();
        let position_ty = self.cx.types.vector(scalar, dims);
        let layer = if texture.arrayed || texture.dim == TextureDim::Cube {
            value = self.temporary("coordinate", ty, value);
            let layer = self.swizzle(value, &[dims]);
            value = self.first(value, position_ty, dims);
            Some(layer)
        } else if self.cx.types.lanes(ty) > dims {
            value = self.first(value, position_ty, dims);
            None
        } else {
            None
        };
        if let Some(offset) = offset {
            let offset_ty = self.function.ty(offset);
            let mut offset = self.value(offset);
            if offset_ty != position_ty {
                offset = self.construct(position_ty, &[offset]);
            }
            value = self.infix(Infix::Add, value, offset);
        }
        out.push(self.unsigned(value, position_ty));
        if let Some(layer) = layer {
            let layer_ty = self.cx.types.scalar(scalar);
            out.push(self.unsigned(layer, layer_ty));
        }
        out
    }

    /// The first components of a vector.
    fn first(&mut self, value: Expr, ty: oneshader_ir::Type, count: u8) -> Expr {
        match self.components.get(&value) {
            Some(parts) if parts.len() >= usize::from(count) => {
                let parts = parts[..usize::from(count)].to_vec();
                self.vector(ty, &parts, &[1, 1, 1, 1][..parts.len()])
            }
            _ => {
                let lanes: Vec<u8> = (0..count).collect();
                self.swizzle(value, &lanes)
            }
        }
    }

    fn unsigned(&mut self, value: Expr, ty: oneshader_ir::Type) -> Expr {
        if self.cx.types.scalar_of(ty) == Some(Scalar::U32) {
            return value;
        }
        let uints = self.cx.types.with_scalar(ty, Scalar::U32);
        // `uint2(int2(x))` of a `uint2` says nothing.
        if let ExprKind::Call(name, args) = self.arena[value].kind
            && self.cx.value_type(ty) == name
            && let [inner] = *self.arena.args(args)
            && self.has_type(inner, uints)
        {
            return inner;
        }
        self.construct(uints, &[value])
    }

    /// Whether an expression is a conversion to `ty`.
    fn has_type(&mut self, expr: Expr, ty: oneshader_ir::Type) -> bool {
        match self.arena[expr].kind {
            ExprKind::Call(name, _) | ExprKind::Convert(name, _) => self.cx.value_type(ty) == name,
            _ => false,
        }
    }

    fn read_texel(&mut self, inst: Inst, access: &Access) {
        let Some(coordinate) = access.arg(TextureOperands::COORD) else { return };
        let offset = access.arg(TextureOperands::OFFSET);
        let mut args = self.position(access.texture, coordinate, offset);
        if let Some(sample) = access.arg(TextureOperands::SAMPLE_INDEX) {
            let sample = self.unsigned_value(sample);
            args.push(sample);
        } else if let Some(level) = access.arg(TextureOperands::LEVEL) {
            let is_zero = self.function.as_const(level).is_some_and(|c| self.cx.raised.module.consts.is_zero(c));
            if !is_zero && !matches!(access.texture.dim, TextureDim::D1 | TextureDim::Buffer) {
                let level = self.unsigned_value(level);
                args.push(level);
            }
        }
        if access.operands.contains(TextureOperands::STATUS) {
            let written = access.class.access != TextureAccess::Sample;
            if written || access.texture.multisampled || access.texture.dim == TextureDim::Buffer {
                return self.no_status(access);
            }
            let call = self.with_status(access, "read", &args, true);
            return self.define(inst, call);
        }
        let call = self.method(access.object, "read", &args);
        let value = self.four_components(call, access.class.depth, access);
        let written = access.class.access == TextureAccess::ReadWrite;
        let value = if written { self.reading(value, effects::TEXTURE) } else { value };
        self.define(inst, value);
    }

    fn no_status(&mut self, access: &Access) {
        self.error(
            codes::MSL_TEXTURE_QUERY,
            access.data.span,
            "Metal does not tell the residency of this kind of texture or operation",
        );
    }

    fn unsigned_value(&mut self, value: Value) -> Expr {
        let ty = self.function.ty(value);
        if let Some(bits) = self.function.as_const(value).and_then(|c| self.cx.raised.module.consts.bits(c)) {
            return self.number(i64::from(bits as u32));
        }
        let expr = self.value(value);
        self.unsigned(expr, ty)
    }

    fn write_texel(&mut self, access: &Access) {
        let (Some(coordinate), Some(value)) = (access.arg(TextureOperands::COORD), access.arg(TextureOperands::VALUE))
        else {
            return;
        };
        let value = self.value(value);
        let mut args = vec![value];
        let position = self.position(access.texture, coordinate, None);
        args.extend(position);
        let call = self.method(access.object, "write", &args);
        self.mark_line(access.data.span);
        self.flush(effects::TEXTURE, false);
        self.out.push(Stmt::Do(call));
        if access.class.access == TextureAccess::ReadWrite && access.texture.dim != TextureDim::Buffer {
            // An invocation sees its own writes after a fence only (MSL specification 6.12.12). In Metal's library it is a
            // function of textures that may change: elements of arrays and tables are copied first.
            let fence = match self.arena[access.object].kind {
                ExprKind::Text(_) => self.method(access.object, "fence", &[]),
                _ => {
                    let name = self.cx.need(Helper::TextureFence);
                    self.call(name, &[access.object])
                }
            };
            self.out.push(Stmt::Do(fence));
        }
    }

    fn query(&mut self, inst: Inst, access: &Access, op: TextureOp) {
        let expr = match op {
            TextureOp::Levels => match access.texture.dim {
                TextureDim::D1 | TextureDim::Buffer => self.uint(1),
                _ => self.method(access.object, "get_num_mip_levels", &[]),
            },
            TextureOp::Samples => self.method(access.object, "get_num_samples", &[]),
            _ => {
                let size = self.size(access);
                if let Some(result) = access.data.result
                    && self.components.contains_key(&size)
                    && self.is_taken_apart(result)
                {
                    return self.bind(result, size);
                }
                size
            }
        };
        self.define(inst, expr);
    }

    fn size(&mut self, access: &Access) -> Expr {
        let has_levels =
            !matches!(access.texture.dim, TextureDim::D1 | TextureDim::Buffer) && !access.texture.multisampled;
        let level: Vec<Expr> = match access.arg(TextureOperands::LEVEL) {
            Some(level) if has_levels => {
                let is_zero = self.function.as_const(level).is_some_and(|c| self.cx.raised.module.consts.is_zero(c));
                if is_zero { Vec::new() } else { vec![self.unsigned_value(level)] }
            }
            _ => Vec::new(),
        };
        // A level is asked for in each dimension: it must not be computed several times.
        let level: Vec<Expr> = level
            .into_iter()
            .map(|l| {
                let uint = self.cx.types.scalar(Scalar::U32);
                self.temporary("lod", uint, l)
            })
            .collect();
        let mut names = vec!["get_width"];
        match access.texture.dim {
            TextureDim::D2 | TextureDim::Cube => names.push("get_height"),
            TextureDim::D3 => names.extend(["get_height", "get_depth"]),
            _ => {}
        }
        let mut parts: Vec<Expr> = names.iter().map(|n| self.method(access.object, n, &level)).collect();
        if access.texture.arrayed {
            parts.push(self.method(access.object, "get_array_size", &[]));
        }
        match self.cx.types.kind(access.data.ty) {
            TypeKind::Scalar(_) => parts[0],
            _ => {
                let expr = self.construct(access.data.ty, &parts);
                self.components.insert(expr, parts);
                expr
            }
        }
    }

    fn query_lod(&mut self, inst: Inst, access: &Access, op: TextureOp) {
        let sampler = self.sampler(access);
        let Some(coordinate) = access.arg(TextureOperands::COORD) else { return };
        let mut position = self.value(coordinate);
        let dims = access.texture.dim.coords() as u8;
        if self.cx.types.lanes(self.function.ty(coordinate)) > dims {
            let lanes: Vec<u8> = (0..dims).collect();
            position = self.swizzle(position, &lanes);
        }
        if access.texture.dim == TextureDim::D1 {
            // One level in Metal: the clamped one is 0.
            let level = match op {
                TextureOp::Lod => self.text("0.0f"),
                _ if self.has_thread_quads() && !self.needs_quads(access.data.span) => return,
                _ => self.line_level(access, position),
            };
            return self.define(inst, level);
        }
        if self.cx.raised.entry.stage != Stage::Pixel {
            let ty = self.position_type(access.texture);
            return self.quad_level(inst, access, op, position, ty);
        }
        let name = match op {
            TextureOp::Lod => "calculate_clamped_lod",
            _ => "calculate_unclamped_lod",
        };
        let call = self.method(access.object, name, &[sampler, position]);
        let call = self.convergent(call);
        self.define(inst, call);
    }
}
