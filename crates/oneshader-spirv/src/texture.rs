//! Textures and typed buffers.

use crate::func::{Fx, Handle};
use crate::memory::{Mem, Pointer};
use crate::resource::Which;
use crate::types::sampled_scalar;
use oneshader_ir::{
    Access, ConstData, InstData, ResourceType, Scalar, TextureDim, TextureOp, TextureOperands, TextureType, Type,
    TypeKind, Value,
};
use spirv::{ImageOperands, Op, Scope, StorageClass};

/// Image operands being gathered: the mask, then the ids in the order of the mask's bits.
struct Operands {
    mask: ImageOperands,
    ids: Vec<(u32, Vec<u32>)>,
}

impl Operands {
    fn new() -> Self {
        Self { mask: ImageOperands::NONE, ids: Vec::new() }
    }

    fn add(&mut self, bit: ImageOperands, ids: &[u32]) {
        self.mask |= bit;
        self.ids.push((bit.bits(), ids.to_vec()));
    }

    /// Appends them to an instruction's operands.
    fn append(mut self, operands: &mut Vec<u32>) {
        if self.mask.is_empty() {
            return;
        }
        operands.push(self.mask.bits());
        self.ids.sort_by_key(|&(bit, _)| bit);
        operands.extend(self.ids.into_iter().flat_map(|(_, ids)| ids));
    }
}

impl Fx<'_, '_> {
    /// The handle of a resource, an image or sampler loaded. The sampler of a combined image sampler is not loaded before
    /// another image needs it: with its own image it comes from the image's variable.
    pub fn handle_of(&mut self, which: Which, index: Option<u32>, nonuniform: bool) -> Option<Handle> {
        if self.cx.is_combined_sampler(which) {
            return Some(Handle { which, index, nonuniform, ptr: 0, image: None, whole: None });
        }
        self.load_handle(which, index, nonuniform)
    }

    fn load_handle(&mut self, which: Which, index: Option<u32>, nonuniform: bool) -> Option<Handle> {
        let mut handle = self.make_handle(which, index, nonuniform)?;
        let slot = self.cx.resource(which)?;
        if slot.class == StorageClass::UniformConstant {
            let id = self.op(Op::Load, slot.pointee, &[handle.ptr]);
            if nonuniform {
                self.nonuniform(id);
            }
            match slot.combined {
                Some(_) => handle.whole = Some(id),
                None => handle.image = Some(id),
            }
        }
        Some(handle)
    }

    /// The texture of an instruction: its type, image, image type, whether nonuniform.
    fn image(&mut self, value: Value) -> Option<(TextureType, u32, u32, bool)> {
        let handle = self.handle(value)?;
        let slot = self.cx.resource(handle.which)?;
        let texture = match slot.ty {
            ResourceType::Texture(texture) => texture,
            ResourceType::SubpassInput { multisampled, texel } => TextureType {
                dim: TextureDim::D2,
                arrayed: false,
                multisampled,
                access: Access::Read,
                texel,
                components: 4,
            },
            _ => return None,
        };
        let image_ty = slot.combined.unwrap_or(slot.pointee);
        let image = match (handle.image, handle.whole) {
            (Some(image), _) => image,
            (None, whole) => {
                let id = self.op(Op::Image, image_ty, &[whole?]);
                if handle.nonuniform {
                    self.nonuniform(id);
                }
                id
            }
        };
        Some((texture, image, image_ty, handle.nonuniform))
    }

    /// The image and sampler of an instruction as one.
    fn sampled_image(&mut self, data: &InstData, operands: TextureOperands) -> Option<(TextureType, u32)> {
        let mut sampler = self.handle(data.args[operands.position(TextureOperands::SAMPLER)])?;
        let own = self.handle(data.args[0])?;
        if let Some(whole) = own.whole
            && own.index == sampler.index
            && self.cx.is_pair(own.which, sampler.which)
        {
            let ResourceType::Texture(texture) = self.cx.resource(own.which)?.ty else { return None };
            return Some((texture, whole));
        }
        let (texture, image, image_ty, mut nonuniform) = self.image(data.args[0])?;
        if sampler.image.is_none() {
            sampler = self.load_handle(sampler.which, sampler.index, sampler.nonuniform)?;
        }
        nonuniform |= sampler.nonuniform;
        let ty = self.cx.unique_type(Op::TypeSampledImage, &[image_ty]);
        let id = self.op(Op::SampledImage, ty, &[image, sampler.image?]);
        if nonuniform {
            self.nonuniform(id);
        }
        Some((texture, id))
    }

    fn texture_arg(&self, data: &InstData, operands: TextureOperands, which: TextureOperands) -> Option<Value> {
        operands.contains(which).then(|| data.args.get(operands.position(which)).copied()).flatten()
    }

    /// Four components of the image's sampled type, brought to the type of the result.
    fn texel_result(&mut self, (code, raw): (Option<u32>, u32), texture: TextureType, data: &InstData) -> Option<u32> {
        let (to, lanes) = self.shape(self.texel_ty(data))?;
        let from = sampled_scalar(texture.texel);
        let mut value = raw;
        if lanes < 4 {
            let parts: Vec<u32> = (0..lanes).map(|i| self.lane(raw, from, 4, i)).collect();
            value = self.vector_of(&parts, from);
        }
        let value = self.convert_texel(value, from, to, lanes)?;
        Some(self.with_status(data, code, value))
    }

    /// The type of what an operation gives, without the status beside it.
    fn texel_ty(&self, data: &InstData) -> Type {
        match self.cx.ir.types.kind(data.ty) {
            TypeKind::Struct(id) => self.cx.ir.types.structs[id].members.get(1).map_or(data.ty, |m| m.ty),
            _ => data.ty,
        }
    }

    /// Emits an image operation that gives `ty`; its sparse form, whose code comes first, when the status is asked for.
    fn image_op(&mut self, op: Op, ty: u32, words: &[u32], operands: TextureOperands) -> (Option<u32>, u32) {
        if !operands.contains(TextureOperands::STATUS) {
            return (None, self.op(op, ty, words));
        }
        let sparse = match op {
            Op::ImageSampleImplicitLod => Op::ImageSparseSampleImplicitLod,
            Op::ImageSampleExplicitLod => Op::ImageSparseSampleExplicitLod,
            Op::ImageSampleDrefImplicitLod => Op::ImageSparseSampleDrefImplicitLod,
            Op::ImageSampleDrefExplicitLod => Op::ImageSparseSampleDrefExplicitLod,
            Op::ImageGather => Op::ImageSparseGather,
            Op::ImageDrefGather => Op::ImageSparseDrefGather,
            Op::ImageRead => Op::ImageSparseRead,
            _ => Op::ImageSparseFetch,
        };
        let uint = self.cx.scalar(Scalar::U32);
        let both = self.cx.unique_type(Op::TypeStruct, &[uint, ty]);
        let id = self.op(sparse, both, words);
        let code = self.op(Op::CompositeExtract, uint, &[id, 0]);
        (Some(code), self.op(Op::CompositeExtract, ty, &[id, 1]))
    }

    /// The result of an operation: with the status in front when it was asked for.
    fn with_status(&mut self, data: &InstData, code: Option<u32>, value: u32) -> u32 {
        let Some(code) = code else { return value };
        let ty = self.cx.ty(data.ty);
        self.op(Op::CompositeConstruct, ty, &[code, value])
    }

    /// Between the sampled type and the element's: narrow numbers are widened, others are the same.
    fn convert_texel(&mut self, value: u32, from: Scalar, to: Scalar, lanes: u8) -> Option<u32> {
        if from.is_float() && to.is_int() || from.is_int() && to.is_float() {
            return None;
        }
        self.convert_shape(value, from, to, lanes)
    }

    /// Lowers a texture instruction.
    pub fn texture(&mut self, data: &InstData, op: TextureOp, operands: TextureOperands) -> Option<u32> {
        match op {
            TextureOp::Sample => self.sample(data, operands),
            TextureOp::Gather { component } => self.gather(data, operands, component),
            TextureOp::Load => self.fetch(data, operands),
            TextureOp::Store => {
                self.image_store(data, operands);
                None
            }
            TextureOp::Size | TextureOp::Levels | TextureOp::Samples => self.query(data, op, operands),
            TextureOp::Lod | TextureOp::LodUnclamped => self.query_lod(data, op, operands),
        }
    }

    /// A constant offset, as `ConstOffset` takes it.
    fn const_offset(&mut self, value: Value) -> Option<u32> {
        self.func.as_const(value)?;
        Some(self.use_id(value))
    }

    fn is_zero(&self, value: Value) -> bool {
        self.func.as_const(value).is_some_and(|c| match self.cx.ir.consts.data(c) {
            ConstData::Composite(parts) => parts.iter().all(|&p| self.cx.ir.consts.is_zero(p)),
            _ => self.cx.ir.consts.is_zero(c),
        })
    }

    fn sample(&mut self, data: &InstData, operands: TextureOperands) -> Option<u32> {
        use TextureOperands as T;
        let coord = self.texture_arg(data, operands, T::COORD).map(|v| self.use_id(v))?;
        let compare = self.texture_arg(data, operands, T::COMPARE).map(|v| self.use_id(v));
        let mut image = Operands::new();
        if let Some(bias) = self.texture_arg(data, operands, T::BIAS) {
            let id = self.use_id(bias);
            image.add(ImageOperands::BIAS, &[id]);
        }
        let mut explicit = false;
        if let Some(level) = self.texture_arg(data, operands, T::LEVEL) {
            let id = self.use_id(level);
            image.add(ImageOperands::LOD, &[id]);
            explicit = true;
        }
        if operands.contains(T::GRAD) {
            let at = operands.position(T::GRAD);
            let (x, y) = (self.use_id(*data.args.get(at)?), self.use_id(*data.args.get(at + 1)?));
            image.add(ImageOperands::GRAD, &[x, y]);
            explicit = true;
        }
        if let Some(offset) = self.texture_arg(data, operands, T::OFFSET)
            && !self.is_zero(offset)
        {
            match self.const_offset(offset) {
                Some(id) => image.add(ImageOperands::CONST_OFFSET, &[id]),
                None => {
                    // VUID-StandaloneSpirv-Offset-04663.
                    self.cx.unsupported(data.span, "the offset of a sample must be a constant for Vulkan");
                    return None;
                }
            }
        }
        if let Some(min) = self.texture_arg(data, operands, T::MIN_LOD) {
            let id = self.use_id(min);
            image.add(ImageOperands::MIN_LOD, &[id]);
        }
        let (texture, sampled) = self.sampled_image(data, operands)?;
        let scalar = sampled_scalar(texture.texel);
        let mut words = vec![sampled, coord];
        words.extend(compare);
        image.append(&mut words);
        let opcode = match (compare.is_some(), explicit) {
            (false, false) => Op::ImageSampleImplicitLod,
            (false, true) => Op::ImageSampleExplicitLod,
            (true, false) => Op::ImageSampleDrefImplicitLod,
            (true, true) => Op::ImageSampleDrefExplicitLod,
        };
        if compare.is_some() {
            let ty = self.cx.scalar(scalar);
            let (code, value) = self.image_op(opcode, ty, &words, operands);
            let (to, lanes) = self.shape(self.texel_ty(data))?;
            let value = self.convert_texel(value, scalar, to, 1)?;
            let value = self.splat(value, to, lanes);
            return Some(self.with_status(data, code, value));
        }
        let ty = self.cx.num(scalar, 4);
        let value = self.image_op(opcode, ty, &words, operands);
        self.texel_result(value, texture, data)
    }

    fn gather(&mut self, data: &InstData, operands: TextureOperands, component: u8) -> Option<u32> {
        use TextureOperands as T;
        let coord = self.texture_arg(data, operands, T::COORD).map(|v| self.use_id(v))?;
        let compare = self.texture_arg(data, operands, T::COMPARE).map(|v| self.use_id(v));
        let offsets: Vec<Value> = if operands.contains(T::OFFSETS) {
            let at = operands.position(T::OFFSETS);
            data.args.get(at..at + 4)?.to_vec()
        } else {
            Vec::new()
        };
        let mut image = Operands::new();
        if let Some(offset) = self.texture_arg(data, operands, T::OFFSET)
            && !self.is_zero(offset)
        {
            let constant = self.const_offset(offset);
            let id = self.use_id(offset);
            image.add(if constant.is_some() { ImageOperands::CONST_OFFSET } else { ImageOperands::OFFSET }, &[id]);
        }
        let which = self.cx.i32(i32::from(component));
        let (texture, sampled) = self.sampled_image(data, operands)?;
        let scalar = sampled_scalar(texture.texel);
        let ty = self.cx.num(scalar, 4);
        let opcode = if compare.is_some() { Op::ImageDrefGather } else { Op::ImageGather };
        let words = vec![sampled, coord, compare.unwrap_or(which)];
        if offsets.is_empty() {
            let mut words = words;
            image.append(&mut words);
            let value = self.image_op(opcode, ty, &words, operands);
            return self.texel_result(value, texture, data);
        }
        if let Some(all) = self.corner_offsets(&offsets) {
            image.add(ImageOperands::CONST_OFFSETS, &[all]);
            let mut words = words;
            image.append(&mut words);
            let value = self.image_op(opcode, ty, &words, operands);
            return self.texel_result(value, texture, data);
        }
        // Four gathers, of each the texel of its component.
        let mut parts = Vec::new();
        let mut codes = Vec::new();
        for (lane, offset) in (0..).zip(offsets) {
            let id = self.use_id(offset);
            let constant = self.func.as_const(offset).is_some();
            let mut image = Operands::new();
            image.add(if constant { ImageOperands::CONST_OFFSET } else { ImageOperands::OFFSET }, &[id]);
            let mut words = words.clone();
            image.append(&mut words);
            let (code, value) = self.image_op(opcode, ty, &words, operands);
            codes.extend(code);
            parts.push(self.lane(value, scalar, 4, lane));
        }
        let value = self.vector_of(&parts, scalar);
        let code = self.meet_codes(&codes);
        self.texel_result((code, value), texture, data)
    }

    /// One residency code for several: that of the first access that was not fully resident, else the last.
    fn meet_codes(&mut self, codes: &[u32]) -> Option<u32> {
        let (&last, others) = codes.split_last()?;
        let (uint, boolean) = (self.cx.scalar(Scalar::U32), self.cx.scalar(Scalar::Bool));
        Some(others.iter().rev().fold(last, |rest, &code| {
            let resident = self.op(Op::ImageSparseTexelsResident, boolean, &[code]);
            self.op(Op::Select, uint, &[resident, rest, code])
        }))
    }

    /// The array of `ConstOffsets` for four offsets, if they are constants in range.
    ///
    /// Offset i of Direct3D belongs to component i of a gather: the texels below, below right, right and at the coordinate.
    /// `ConstOffsets` count all from the texel at the coordinate (SPIR-V, image operands), so the corners are added.
    fn corner_offsets(&mut self, offsets: &[Value]) -> Option<u32> {
        const CORNERS: [[i64; 2]; 4] = [[0, 1], [1, 1], [1, 0], [0, 0]];
        let consts = &self.cx.ir.consts;
        let mut all = [[0; 2]; 4];
        for (at, (&offset, corner)) in all.iter_mut().zip(offsets.iter().zip(CORNERS)) {
            let of = self.func.as_const(offset)?;
            for (i, number) in at.iter_mut().enumerate() {
                let part = match consts.data(of) {
                    ConstData::Composite(parts) => *parts.get(i)?,
                    ConstData::Zero => of,
                    _ => return None,
                };
                let bits = if consts.is_zero(part) { 0 } else { consts.bits(part)? };
                *number = i64::from(bits as i32) + corner[i];
            }
        }
        if !all.iter().flatten().all(|number| (-8..=7).contains(number)) {
            return None;
        }
        let pair = self.cx.num(Scalar::I32, 2);
        let ids = all.map(|numbers| {
            let numbers = numbers.map(|n| self.cx.i32(n as i32));
            self.cx.unique_const(Op::ConstantComposite, pair, &numbers)
        });
        let array = self.cx.array(pair, 4, None);
        Some(self.cx.unique_const(Op::ConstantComposite, array, &ids))
    }

    /// The integer coordinate of a load, plus its offset.
    fn texel_coord(&mut self, data: &InstData, operands: TextureOperands, texture: TextureType) -> Option<u32> {
        use TextureOperands as T;
        let value = self.texture_arg(data, operands, T::COORD)?;
        let coord = self.use_id(value);
        let Some(offset) = self.texture_arg(data, operands, T::OFFSET).filter(|&o| !self.is_zero(o)) else {
            return Some(coord);
        };
        let (scalar, lanes) = self.shape(self.func.ty(value))?;
        let (offset_scalar, offset_lanes) = self.shape(self.func.ty(offset))?;
        let mut id = self.use_id(offset);
        id = self.convert_shape(id, offset_scalar, scalar, offset_lanes)?;
        if texture.arrayed {
            let ty = self.cx.num(scalar, lanes);
            let zero = self.cx.number(scalar, 1, 0);
            id = self.op(Op::CompositeConstruct, ty, &[id, zero]);
        }
        let ty = self.cx.num(scalar, lanes);
        Some(self.op(Op::IAdd, ty, &[coord, id]))
    }

    fn fetch(&mut self, data: &InstData, operands: TextureOperands) -> Option<u32> {
        use TextureOperands as T;
        let handle = self.handle(data.args[0])?;
        let slot = self.cx.resource(handle.which)?;
        let subpass = matches!(slot.ty, ResourceType::SubpassInput { .. });
        let (texture, id, _, nonuniform) = self.image(data.args[0])?;
        let coord = if subpass {
            // The place of a subpass input is relative to the pixel.
            self.cx.number(Scalar::I32, 2, 0)
        } else {
            self.texel_coord(data, operands, texture)?
        };
        let mut image = Operands::new();
        let storage = subpass || texture.access == Access::ReadWrite;
        if !storage && !texture.multisampled && texture.dim != TextureDim::Buffer {
            let level = match self.texture_arg(data, operands, T::LEVEL) {
                Some(level) => self.use_id(level),
                None => self.cx.i32(0),
            };
            image.add(ImageOperands::LOD, &[level]);
        }
        if texture.multisampled {
            let sample = match self.texture_arg(data, operands, T::SAMPLE_INDEX) {
                Some(sample) => self.use_id(sample),
                None => self.cx.i32(0),
            };
            image.add(ImageOperands::SAMPLE, &[sample]);
        }
        if storage && !subpass {
            self.shared_texel(&mut image, ImageOperands::MAKE_TEXEL_VISIBLE);
        }
        let ty = self.cx.num(sampled_scalar(texture.texel), 4);
        let mut words = vec![id, coord];
        image.append(&mut words);
        let value = self.image_op(if storage { Op::ImageRead } else { Op::ImageFetch }, ty, &words, operands);
        if nonuniform {
            self.nonuniform(value.1);
        }
        self.texel_result(value, texture, data)
    }

    /// In the Vulkan memory model: other invocations see the access; with `coherent` as soon as it is made.
    fn shared_texel(&mut self, image: &mut Operands, coherent: ImageOperands) {
        if self.cx.vulkan_memory {
            image.add(ImageOperands::NON_PRIVATE_TEXEL, &[]);
        }
        if self.cx.coherent {
            let scope = self.cx.u32(Scope::QueueFamily as u32);
            image.add(coherent, &[scope]);
        }
    }

    fn image_store(&mut self, data: &InstData, operands: TextureOperands) -> Option<()> {
        use TextureOperands as T;
        let (texture, id, _, _) = self.image(data.args[0])?;
        let coord = self.texel_coord(data, operands, texture)?;
        let value = self.texture_arg(data, operands, T::VALUE)?;
        let (from, lanes) = self.shape(self.func.ty(value))?;
        let texel = self.use_id(value);
        let texel = self.convert_texel(texel, from, sampled_scalar(texture.texel), lanes)?;
        let mut image = Operands::new();
        if let Some(sample) = self.texture_arg(data, operands, T::SAMPLE_INDEX) {
            let sample = self.use_id(sample);
            image.add(ImageOperands::SAMPLE, &[sample]);
        }
        self.shared_texel(&mut image, ImageOperands::MAKE_TEXEL_AVAILABLE);
        let mut words = vec![id, coord, texel];
        image.append(&mut words);
        self.effect(Op::ImageWrite, &words);
        Some(())
    }

    fn query(&mut self, data: &InstData, op: TextureOp, operands: TextureOperands) -> Option<u32> {
        let (texture, id, _, nonuniform) = self.image(data.args[0])?;
        let (to, lanes) = self.shape(data.ty)?;
        let uint = self.cx.num(Scalar::U32, lanes);
        let plain = texture.access == Access::ReadWrite || texture.multisampled || texture.dim == TextureDim::Buffer;
        let value = match op {
            TextureOp::Size if plain => self.op(Op::ImageQuerySize, uint, &[id]),
            TextureOp::Size => {
                let level = match self.texture_arg(data, operands, TextureOperands::LEVEL) {
                    Some(level) => self.use_id(level),
                    None => self.cx.i32(0),
                };
                self.op(Op::ImageQuerySizeLod, uint, &[id, level])
            }
            // A view of one level.
            TextureOp::Levels if plain => self.cx.u32(1),
            TextureOp::Levels => self.op(Op::ImageQueryLevels, uint, &[id]),
            _ if !texture.multisampled => self.cx.u32(1),
            _ => self.op(Op::ImageQuerySamples, uint, &[id]),
        };
        if nonuniform && !(plain && op == TextureOp::Levels) {
            self.nonuniform(value);
        }
        self.convert_shape(value, Scalar::U32, to, lanes)
    }

    fn query_lod(&mut self, data: &InstData, op: TextureOp, operands: TextureOperands) -> Option<u32> {
        let coord = self.texture_arg(data, operands, TextureOperands::COORD)?;
        let (scalar, have) = self.shape(self.func.ty(coord))?;
        let mut id = self.use_id(coord);
        let (texture, sampled) = self.sampled_image(data, operands)?;
        // The layer has no part in it (SPIR-V specification, OpImageQueryLod).
        let lanes = texture.dim.coords() as u8;
        if have > lanes {
            let parts: Vec<u32> = (0..lanes).map(|i| self.lane(id, scalar, have, i)).collect();
            id = self.vector_of(&parts, scalar);
        }
        let pair = self.cx.num(Scalar::F32, 2);
        let float = self.cx.scalar(Scalar::F32);
        let both = self.op(Op::ImageQueryLod, pair, &[sampled, id]);
        Some(self.op(Op::CompositeExtract, float, &[both, u32::from(op == TextureOp::LodUnclamped)]))
    }

    /// `TexelPtr`.
    pub fn texel_ptr(&mut self, data: &InstData) -> Option<Pointer> {
        let handle = self.handle(data.args[0])?;
        let slot = self.cx.resource(handle.which)?;
        let ResourceType::Texture(texture) = slot.ty else { return None };
        let (_, ty) = self.cx.ir.types.pointee(data.ty)?;
        let coord = self.use_id(data.args[1]);
        let sample = match data.args.get(2) {
            Some(&sample) => self.use_id(sample),
            None => self.cx.u32(0),
        };
        let texel = sampled_scalar(texture.texel);
        let pointee = self.cx.scalar(texel);
        let ptr_ty = self.cx.pointer(StorageClass::Image, pointee);
        let id = self.op(Op::ImageTexelPointer, ptr_ty, &[handle.ptr, coord, sample]);
        if handle.nonuniform {
            self.nonuniform(id);
        }
        Some(Pointer {
            id,
            ty,
            mem: Mem::Plain,
            class: StorageClass::Image,
            nonuniform: handle.nonuniform,
            as_uint: false,
            block: false,
            align: 0,
        })
    }
}
