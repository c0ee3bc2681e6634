//! Builds reflection from a module and its tables.

use super::format::{scalar, vertex_format};
use super::needs::Feature;
use super::usage::{self, FunctionUse};
use super::{
    AttributeInfo, BlockInfo, DescriptorHeap, EntryKind, EntryPointInfo, HiddenInfo, IoInfo, MemberInfo, MslSlotInfo,
    Needs, Reflection, RegisterInfo, ResourceInfo, ResourceKind, SCHEMA, SpecInfo, SpecValue, StageKind, StructInfo,
    TableInfo, TextureInfo, TypeInfo, UseInfo, VertexBufferInfo,
};
use oneshader_ir::layout::{LayoutId, LayoutKind, LayoutRule, Layouts};
use oneshader_ir::slots::Slots;
use oneshader_ir::text::{builtin_name, interpolation_name, register_class_name, sampling_name, texture_dim_name};
use oneshader_ir::{
    Access, AddressSpace, CounterKind, EntryPoint, Global, GlobalKind, GlobalVar, IrModule, MatrixOrder, Name,
    ResourceType, ResourceVar, Scalar, Stage, TextureDim, Type, TypeKind,
};
use std::collections::BTreeMap;

/// Bytes of an entry of a table: those of `MTLResourceID`, and of a device address.
const ENTRY_SIZE: u32 = 8;
/// Metal buffer index of vertex attributes.
const VERTEX_BUFFER_INDEX: u32 = 30;

impl Reflection {
    /// What the module declares and its entry points use. The tables must be of this module.
    pub fn new(module: &IrModule, layouts: &Layouts, slots: &Slots) -> Self {
        let mut builder = Builder { module, layouts, slots, structs: Vec::new(), index: BTreeMap::new() };
        let mut numbers = BTreeMap::new();
        let mut resources = Vec::new();
        for (id, var) in module.globals.iter() {
            if let Some(info) = builder.resource(id, var) {
                numbers.insert(id, resources.len());
                resources.push(info);
            }
        }
        let uses = usage::of_module(module);
        let none = FunctionUse::default();
        let entry_points = module
            .entry_points
            .iter()
            .map(|e| builder.entry_point(e, uses.get(e.func.as_u32() as usize).unwrap_or(&none), &numbers))
            .collect();
        let specialization_constants = module
            .specs
            .values()
            .map(|spec| SpecInfo { name: builder.name(spec.name), id: spec.id, default: spec_value(module, spec) })
            .collect();
        Self { schema: SCHEMA, entry_points, resources, specialization_constants, structs: builder.structs }
    }
}

fn spec_value(module: &IrModule, spec: &oneshader_ir::SpecConst) -> SpecValue {
    let bits = module.consts.bits(spec.default).unwrap_or(0) as u32;
    match module.types.scalar_of(spec.ty) {
        Some(Scalar::Bool) => SpecValue::Bool(bits != 0),
        Some(Scalar::Float { .. }) => SpecValue::Float(f32::from_bits(bits)),
        Some(Scalar::Int { signed: true, .. }) => SpecValue::Int(bits as i32),
        _ => SpecValue::Uint(bits),
    }
}

struct Builder<'m> {
    module: &'m IrModule,
    layouts: &'m Layouts,
    slots: &'m Slots,
    structs: Vec<StructInfo>,
    index: BTreeMap<LayoutId, usize>,
}

impl Builder<'_> {
    fn name(&self, name: Name) -> String {
        self.module.names.get(name).to_string()
    }

    fn resource(&mut self, id: Global, var: &GlobalVar) -> Option<ResourceInfo> {
        let GlobalKind::Resource(resource) = &var.kind else { return None };
        let kind = oneshader_ir::layout::resource_type(&self.module.types, var.ty)?;
        let slots = self.slots.of(id);
        let msl = slots.msl.map(|s| MslSlotInfo { table: s.table, index: s.index, count: s.count });
        let register = resource.register.map(|r| RegisterInfo {
            class: register_class_name(r.class).into(),
            index: r.index,
            space: r.space,
        });
        Some(ResourceInfo {
            name: self.name(var.name),
            kind: resource_kind(kind, resource),
            writable: matches!(
                kind,
                ResourceType::StructuredBuffer { access: Access::ReadWrite, .. }
                    | ResourceType::ByteAddressBuffer { access: Access::ReadWrite }
            ) || matches!(kind, ResourceType::Texture(t) if t.access == Access::ReadWrite),
            array: array_size(self.module, var.ty),
            register,
            spirv: slots.spirv,
            spirv_counter: slots.spirv_counter,
            msl,
            msl_table: slots.msl.filter(|_| array_size(self.module, var.ty) == Some(0)).map(|_| table(kind)),
            msl_counter: slots.msl_counter.map(|s| s.index),
            block: self.block(kind, resource.push_constant),
            texture: match kind {
                ResourceType::Texture(t) => Some(TextureInfo {
                    dimension: texture_dim_name(t.dim).into(),
                    arrayed: t.arrayed,
                    multisampled: t.multisampled,
                    scalar: scalar(t.texel),
                    components: t.components,
                    format: resource.vk_image_format.map(|n| self.name(n)),
                }),
                _ => None,
            },
            comparison: kind == ResourceType::Sampler { comparison: true } && resource.sampler_of.is_none(),
        })
    }

    fn block(&mut self, kind: ResourceType, push_constant: bool) -> Option<BlockInfo> {
        let (ty, rule, order) = self.layouts.options().rule_for(kind, push_constant)?;
        let id = self.layouts.find(&self.module.types, ty, rule, order)?;
        let layout = self.layouts.get(id);
        let (size, stride) = (layout.size, layout.stride());
        Some(BlockInfo { rule: rule.name().into(), size, stride, ty: self.type_info(id) })
    }

    fn type_info(&mut self, id: LayoutId) -> TypeInfo {
        let layouts = self.layouts;
        let layout = layouts.get(id);
        let types = &self.module.types;
        let component = types.scalar_of(layout.ty).map_or(super::ScalarKind::Uint, scalar);
        match (&layout.kind, types.kind(layout.ty)) {
            (LayoutKind::Matrix { order, stride, .. }, TypeKind::Matrix { rows, cols, .. }) => TypeInfo::Matrix {
                scalar: component,
                rows,
                columns: cols,
                row_major: *order == MatrixOrder::RowMajor,
                line_stride: *stride,
            },
            (LayoutKind::Array { elem, len, stride }, _) => {
                TypeInfo::Array { element: Box::new(self.type_info(*elem)), count: *len, stride: *stride }
            }
            (LayoutKind::Struct(members), TypeKind::Struct(sid)) => {
                if let Some(&index) = self.index.get(&id) {
                    return TypeInfo::Struct { index };
                }
                let data = &self.module.types.structs[sid];
                let infos: Vec<MemberInfo> = members
                    .iter()
                    .zip(&data.members)
                    .map(|(at, member)| MemberInfo {
                        name: self.module.names.get(member.name).to_string(),
                        offset: at.offset,
                        size: at.size,
                        ty: self.type_info(at.layout),
                    })
                    .collect();
                let index = self.structs.len();
                self.structs.push(StructInfo {
                    name: self.name(data.name),
                    size: layout.size,
                    align: layout.align,
                    members: infos,
                });
                self.index.insert(id, index);
                TypeInfo::Struct { index }
            }
            _ => match types.lanes(layout.ty) {
                0 | 1 => TypeInfo::Scalar { scalar: component },
                components => TypeInfo::Vector { scalar: component, components },
            },
        }
    }

    fn entry_point(&self, entry: &EntryPoint, used: &FunctionUse, numbers: &BTreeMap<Global, usize>) -> EntryPointInfo {
        let module = self.module;
        let mut features: Vec<_> = used.features.iter().copied().collect();
        if entry.stage == Stage::Compute {
            features.retain(|&f| f != Feature::LodQuery);
            features.extend(&used.by_quads);
        }
        let (mut resources, mut hidden, mut sizes) = (Vec::new(), Vec::new(), false);
        let mut heaps = BTreeMap::new();
        for (&global, &with) in &used.globals {
            let var = &module.globals[global];
            features.extend(usage::of_io(module, global));
            let Some(&number) = numbers.get(&global) else { continue };
            if let Some(kind) = oneshader_ir::layout::resource_type(&module.types, var.ty) {
                features.extend(usage::of_resource(kind, array_size(module, var.ty), with));
            }
            if let (Some(heap), Some(slot)) = (DescriptorHeap::of(module, global), self.slots.of(global).msl) {
                heaps.insert(heap, slot.index);
            }
            resources.push(UseInfo {
                resource: number,
                name: self.name(var.name),
                reads: with.reads,
                writes: with.writes,
                atomics: with.atomics,
            });
            sizes |= with.length;
            if let (true, Some(slot)) = (with.counter, self.slots.of(global).msl_counter) {
                hidden.push(HiddenInfo::Counter { resource: number, msl: slot.index });
            }
        }
        if sizes {
            hidden.push(HiddenInfo::BufferSizes { msl: self.slots.msl_sizes() });
        }
        let heap = |(heap, msl)| HiddenInfo::DescriptorHeap { heap, msl, entry_size: ENTRY_SIZE };
        hidden.extend(heaps.into_iter().map(heap));
        let inputs: Vec<IoInfo> = entry.inputs.iter().filter_map(|&g| self.io(g)).collect();
        EntryPointInfo {
            name: self.name(entry.name),
            msl_function: None,
            spirv_function: None,
            stage: match entry.stage {
                Stage::Vertex => StageKind::Vertex,
                Stage::Pixel => StageKind::Pixel,
                Stage::Compute => StageKind::Compute,
            },
            threads: entry.threads,
            wave_size: entry.wave_size.map(|(min, max, preferred)| [min, max, preferred]),
            vertex_buffer: if entry.stage == Stage::Vertex { self.vertex_buffer(entry) } else { None },
            inputs,
            outputs: entry.outputs.iter().filter_map(|&g| self.io(g)).collect(),
            resources,
            specialization_constants: used.specs.iter().map(|s| s.as_u32() as usize).collect(),
            hidden,
            arguments: Vec::new(),
            threadgroup_memory: self.threadgroup_memory(used),
            needs: Needs::of(&features),
        }
    }

    /// Bytes of groupshared variables, each in the natural layout of its type.
    fn threadgroup_memory(&self, used: &FunctionUse) -> u32 {
        let mut own = Layouts::new();
        let mut total = 0u32;
        for &global in used.globals.keys() {
            let var = &self.module.globals[global];
            if var.space != AddressSpace::Workgroup {
                continue;
            }
            if let Ok(id) = own.compute(&self.module.types, var.ty, LayoutRule::Std430, MatrixOrder::ColumnMajor) {
                total = total.saturating_add(own.get(id).stride());
            }
        }
        total
    }

    fn io(&self, global: Global) -> Option<IoInfo> {
        let var = &self.module.globals[global];
        let GlobalKind::Io(io) = &var.kind else { return None };
        let (component, components, locations) = io_shape(self.module, var.ty);
        Some(IoInfo {
            name: self.name(var.name),
            semantic: self.name(io.semantic),
            semantic_index: io.index,
            system_value: io.builtin.map(|b| builtin_name(b).to_string()),
            location: io.location,
            locations,
            scalar: scalar(component),
            components,
            interpolation: interpolation_name(io.interpolation).into(),
            sampling: sampling_name(io.sampling).into(),
        })
    }

    /// Attributes in order of location, each at the next multiple of four bytes.
    fn vertex_buffer(&self, entry: &EntryPoint) -> Option<VertexBufferInfo> {
        let mut inputs: Vec<(u32, Global)> = entry
            .inputs
            .iter()
            .filter_map(|&g| match &self.module.globals[g].kind {
                GlobalKind::Io(io) => io.location.map(|l| (l, g)),
                _ => None,
            })
            .collect();
        inputs.sort_by_key(|&(location, _)| location);
        let mut offset = 0u32;
        let mut attributes = Vec::new();
        for (first, global) in inputs {
            let var = &self.module.globals[global];
            let (component, components, locations) = io_shape(self.module, var.ty);
            let (metal_format, vulkan_format, size) = vertex_format(component, components);
            for location in first..first.saturating_add(locations) {
                attributes.push(AttributeInfo {
                    name: self.name(var.name),
                    location,
                    offset,
                    metal_format: metal_format.clone(),
                    vulkan_format: vulkan_format.clone(),
                });
                offset = (offset + size).next_multiple_of(4);
            }
        }
        (!attributes.is_empty()).then_some(VertexBufferInfo {
            msl_buffer: VERTEX_BUFFER_INDEX,
            stride: offset,
            attributes,
        })
    }
}

/// Component type, components and number of locations of a stage variable.
fn io_shape(module: &IrModule, mut ty: Type) -> (Scalar, u8, u32) {
    let mut locations = 1u32;
    while let TypeKind::Array { elem, len } = module.types.kind(ty) {
        locations = locations.saturating_mul(len);
        ty = elem;
    }
    match module.types.kind(ty) {
        TypeKind::Matrix { elem, rows, cols } => (elem, cols, locations.saturating_mul(u32::from(rows))),
        TypeKind::Vector { elem, len } => (elem, len, locations),
        TypeKind::Scalar(s) => (s, 1, locations),
        _ => (Scalar::U32, 1, locations),
    }
}

/// Elements of an array of resources; 0 for one without size.
fn array_size(module: &IrModule, mut ty: Type) -> Option<u32> {
    let mut size = None;
    loop {
        match module.types.kind(ty) {
            TypeKind::Array { elem, len } => {
                size = Some(size.unwrap_or(1u32).saturating_mul(len));
                ty = elem;
            }
            TypeKind::RuntimeArray { elem } => {
                size = Some(0);
                ty = elem;
            }
            _ => return size,
        }
    }
}

/// What an array without size holds.
fn table(kind: ResourceType) -> TableInfo {
    let entry = match kind {
        ResourceType::ConstantBuffer { .. }
        | ResourceType::TextureBuffer { .. }
        | ResourceType::StructuredBuffer { .. }
        | ResourceType::ByteAddressBuffer { .. } => EntryKind::GpuAddress,
        ResourceType::Texture(_)
        | ResourceType::Sampler { .. }
        | ResourceType::SubpassInput { .. }
        | ResourceType::AccelerationStructure => EntryKind::ResourceId,
    };
    TableInfo { entry_size: ENTRY_SIZE, entry }
}

fn resource_kind(kind: ResourceType, var: &ResourceVar) -> ResourceKind {
    match kind {
        ResourceType::ConstantBuffer { .. } if var.push_constant => ResourceKind::PushConstant,
        ResourceType::ConstantBuffer { .. } => ResourceKind::ConstantBuffer,
        ResourceType::TextureBuffer { .. } => ResourceKind::TextureBuffer,
        ResourceType::StructuredBuffer { counter: CounterKind::Append, .. } => ResourceKind::AppendBuffer,
        ResourceType::StructuredBuffer { counter: CounterKind::Consume, .. } => ResourceKind::ConsumeBuffer,
        ResourceType::StructuredBuffer { .. } => ResourceKind::StructuredBuffer,
        ResourceType::ByteAddressBuffer { .. } => ResourceKind::ByteAddressBuffer,
        ResourceType::Texture(t) if t.dim == TextureDim::Buffer => ResourceKind::TypedBuffer,
        ResourceType::Texture(_) => ResourceKind::Texture,
        ResourceType::Sampler { .. } => ResourceKind::Sampler,
        ResourceType::SubpassInput { .. } => ResourceKind::SubpassInput,
        ResourceType::AccelerationStructure => ResourceKind::AccelerationStructure,
    }
}
