//! Acceleration structures of a program: made with their buffers, built before the work.

use super::bind;
use super::gpu::failed;
use super::session::{HostBuffer, Session};
use crate::case::Program;
use crate::case::acceleration::{Boxes, Geometries, IndexFormat, Instance, InstanceFlag, Triangles, VertexFormat};
use crate::engines::EngineError;
use ash::vk;
use std::collections::BTreeMap;

/// The structures that shaders bind, by name, and how all of them are built.
#[derive(Default)]
pub struct Structures {
    scenes: BTreeMap<String, Vec<vk::AccelerationStructureKHR>>,
    /// In order: each geometry before the scenes that have it.
    builds: Vec<Build>,
}

/// One structure to build. The geometries hold device addresses alone.
struct Build {
    ty: vk::AccelerationStructureTypeKHR,
    geometries: Vec<vk::AccelerationStructureGeometryKHR<'static>>,
    ranges: Vec<vk::AccelerationStructureBuildRangeInfoKHR>,
    structure: vk::AccelerationStructureKHR,
    scratch: vk::DeviceAddress,
}

/// What the buffers that a build reads are for.
const INPUT: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

/// Bytes of an instance (`VkAccelerationStructureInstanceKHR`).
const INSTANCE_SIZE: usize = 64;

impl Structures {
    /// Makes the structures of a program, with the memory they are built from.
    pub fn new(s: &mut Session<'_>, program: &Program) -> Result<Self, EngineError> {
        let text = &program.pipeline.acceleration_structures;
        if text.scenes.is_empty() {
            return Ok(Self::default());
        }
        let mut out = Self::default();
        let mut addresses: BTreeMap<&str, vk::DeviceAddress> = BTreeMap::new();
        for geometries in &text.geometries {
            let (list, ranges) = geometry(s, program, geometries)?;
            let ty = vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL;
            let structure = out.add(s, ty, list, ranges)?;
            addresses.insert(&geometries.name, s.structure_address(structure)?);
        }
        for scene in &text.scenes {
            let mut elements = Vec::new();
            for instances in &scene.elements {
                let mut bytes = Vec::with_capacity(instances.len() * INSTANCE_SIZE);
                for instance in instances {
                    let at = addresses.get(instance.geometries.as_str()).copied().unwrap_or_default();
                    bytes.extend(instance_bytes(instance, at));
                }
                let buffer = s.buffer(&bytes, INPUT)?;
                let data = vk::AccelerationStructureGeometryInstancesDataKHR::default()
                    .data(vk::DeviceOrHostAddressConstKHR { device_address: s.address(buffer) });
                let geometry = vk::AccelerationStructureGeometryKHR::default()
                    .geometry_type(vk::GeometryTypeKHR::INSTANCES)
                    .geometry(vk::AccelerationStructureGeometryDataKHR { instances: data });
                let range = range(instances.len() as u32);
                let ty = vk::AccelerationStructureTypeKHR::TOP_LEVEL;
                elements.push(out.add(s, ty, vec![geometry], vec![range])?);
            }
            out.scenes.insert(scene.name.clone(), elements);
        }
        Ok(out)
    }

    /// The elements of the scene of that name.
    pub fn scene(&self, name: &str) -> Option<&[vk::AccelerationStructureKHR]> {
        self.scenes.get(name).map(Vec::as_slice)
    }

    fn add(
        &mut self,
        s: &mut Session<'_>,
        ty: vk::AccelerationStructureTypeKHR,
        geometries: Vec<vk::AccelerationStructureGeometryKHR<'static>>,
        ranges: Vec<vk::AccelerationStructureBuildRangeInfoKHR>,
    ) -> Result<vk::AccelerationStructureKHR, EngineError> {
        let counts: Vec<u32> = ranges.iter().map(|r| r.primitive_count).collect();
        let (structure, scratch) = s.acceleration_structure(ty, &build_info(ty, &geometries), &counts)?;
        self.builds.push(Build { ty, geometries, ranges, structure, scratch });
        Ok(structure)
    }

    /// Records what builds them, one after the other.
    pub fn build(&self, s: &ash::khr::acceleration_structure::Device, d: &ash::Device, cb: vk::CommandBuffer) {
        for build in &self.builds {
            let info = build_info(build.ty, &build.geometries)
                .dst_acceleration_structure(build.structure)
                .scratch_data(vk::DeviceOrHostAddressKHR { device_address: build.scratch });
            // SAFETY: `cb` is being recorded; structures, scratch and input memory belong to the session and have the
            // sizes that the device asked for; one range for each geometry, within its buffers (checked at parse).
            unsafe { s.cmd_build_acceleration_structures(cb, &[info], &[&build.ranges]) }
            bind::barrier(d, cb);
        }
    }
}

fn build_info<'g>(
    ty: vk::AccelerationStructureTypeKHR,
    geometries: &'g [vk::AccelerationStructureGeometryKHR<'static>],
) -> vk::AccelerationStructureBuildGeometryInfoKHR<'g> {
    vk::AccelerationStructureBuildGeometryInfoKHR::default()
        .ty(ty)
        .flags(vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_TRACE)
        .mode(vk::BuildAccelerationStructureModeKHR::BUILD)
        .geometries(geometries)
}

fn range(primitives: u32) -> vk::AccelerationStructureBuildRangeInfoKHR {
    vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(primitives)
}

type GeometryList =
    (Vec<vk::AccelerationStructureGeometryKHR<'static>>, Vec<vk::AccelerationStructureBuildRangeInfoKHR>);

fn geometry(s: &mut Session<'_>, program: &Program, g: &Geometries) -> Result<GeometryList, EngineError> {
    let (mut list, mut ranges) = (Vec::new(), Vec::new());
    for t in &g.triangles {
        list.push(triangles(s, program, t)?);
        let corners = if t.index_buffer.is_empty() { t.vertex_count } else { t.index_count };
        ranges.push(range(corners / 3));
    }
    for b in &g.boxes {
        list.push(boxes(s, program, b)?);
        ranges.push(range(b.count));
    }
    Ok((list, ranges))
}

fn flags(opaque: bool) -> vk::GeometryFlagsKHR {
    if opaque { vk::GeometryFlagsKHR::OPAQUE } else { vk::GeometryFlagsKHR::empty() }
}

/// The memory of a buffer of the program, to be read by a build.
fn input(s: &mut Session<'_>, program: &Program, name: &str) -> Result<vk::DeviceOrHostAddressConstKHR, EngineError> {
    let bytes = program.buffer(name).and_then(|b| b.data.first()).map_or(&[][..], Vec::as_slice);
    let buffer = s.buffer(bytes, INPUT)?;
    Ok(vk::DeviceOrHostAddressConstKHR { device_address: s.address(buffer) })
}

fn triangles(
    s: &mut Session<'_>,
    program: &Program,
    t: &Triangles,
) -> Result<vk::AccelerationStructureGeometryKHR<'static>, EngineError> {
    let format = match t.vertex_format {
        VertexFormat::RG32Float => vk::Format::R32G32_SFLOAT,
        VertexFormat::RGB32Float => vk::Format::R32G32B32_SFLOAT,
        VertexFormat::RGBA32Float => vk::Format::R32G32B32A32_SFLOAT,
    };
    let mut data = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
        .vertex_format(format)
        .vertex_data(input(s, program, &t.vertex_buffer)?)
        .vertex_stride(u64::from(t.vertex_stride))
        .max_vertex(t.vertex_count.saturating_sub(1))
        .index_type(vk::IndexType::NONE_KHR);
    if !t.index_buffer.is_empty() {
        let index = match t.index_format {
            IndexFormat::Uint16 => vk::IndexType::UINT16,
            IndexFormat::Uint32 => vk::IndexType::UINT32,
        };
        data = data.index_type(index).index_data(input(s, program, &t.index_buffer)?);
    }
    if let Some(rows) = t.transform {
        let bytes: Vec<u8> = rows.iter().flat_map(|x| x.to_le_bytes()).collect();
        let buffer = s.buffer(&bytes, INPUT)?;
        data = data.transform_data(vk::DeviceOrHostAddressConstKHR { device_address: s.address(buffer) });
    }
    Ok(vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::TRIANGLES)
        .flags(flags(t.opaque))
        .geometry(vk::AccelerationStructureGeometryDataKHR { triangles: data }))
}

fn boxes(
    s: &mut Session<'_>,
    program: &Program,
    b: &Boxes,
) -> Result<vk::AccelerationStructureGeometryKHR<'static>, EngineError> {
    let data = vk::AccelerationStructureGeometryAabbsDataKHR::default()
        .data(input(s, program, &b.buffer)?)
        .stride(u64::from(b.stride));
    Ok(vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::AABBS)
        .flags(flags(b.opaque))
        .geometry(vk::AccelerationStructureGeometryDataKHR { aabbs: data }))
}

/// The bytes of an instance: its matrix, number and mask, offset and flags, geometry.
fn instance_bytes(instance: &Instance, geometry: vk::DeviceAddress) -> [u8; INSTANCE_SIZE] {
    use vk::GeometryInstanceFlagsKHR as F;
    let flags = instance.flags.iter().fold(F::empty(), |all, flag| {
        all | match flag {
            InstanceFlag::TriangleCullDisable => F::TRIANGLE_FACING_CULL_DISABLE,
            InstanceFlag::TriangleFrontCounterclockwise => F::TRIANGLE_FRONT_COUNTERCLOCKWISE,
            InstanceFlag::ForceOpaque => F::FORCE_OPAQUE,
            InstanceFlag::ForceNonOpaque => F::FORCE_NO_OPAQUE,
        }
    });
    let low = |value: u32| value & 0x00ff_ffff;
    let words = [low(instance.id) | instance.mask << 24, low(instance.contribution) | flags.as_raw() << 24];
    let mut out = [0; INSTANCE_SIZE];
    let bytes = instance.transform.iter().flat_map(|x| x.to_le_bytes());
    let bytes = bytes.chain(words.iter().flat_map(|w| w.to_le_bytes())).chain(geometry.to_le_bytes());
    out.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    out
}

impl Session<'_> {
    /// The extension's functions, or that the device has none.
    pub fn structures(&self) -> Result<ash::khr::acceleration_structure::Device, EngineError> {
        let missing = || EngineError::Unsupported("acceleration structures".to_owned());
        self.gpu.acceleration.clone().ok_or_else(missing)
    }

    /// A structure, and the address of memory to build it in.
    fn acceleration_structure(
        &mut self,
        ty: vk::AccelerationStructureTypeKHR,
        info: &vk::AccelerationStructureBuildGeometryInfoKHR<'_>,
        counts: &[u32],
    ) -> Result<(vk::AccelerationStructureKHR, vk::DeviceAddress), EngineError> {
        let functions = self.structures()?;
        let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
        let device = vk::AccelerationStructureBuildTypeKHR::DEVICE;
        // SAFETY: `info` is whole and has as many geometries as there are counts.
        unsafe { functions.get_acceleration_structure_build_sizes(device, info, counts, &mut sizes) }
        let usage = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR;
        let memory = self.zeroed(sizes.acceleration_structure_size, usage)?;
        let create = vk::AccelerationStructureCreateInfoKHR::default()
            .buffer(memory.handle)
            .size(sizes.acceleration_structure_size)
            .ty(ty);
        // SAFETY: the buffer is alive, of that size and made for structures.
        let structure = unsafe { functions.create_acceleration_structure(&create, None) }
            .map_err(failed("cannot make an acceleration structure"))?;
        // SAFETY: the session is dropped after the device is idle.
        self.own(move |_| unsafe { functions.destroy_acceleration_structure(structure, None) });
        let align = u64::from(self.gpu.scratch_alignment.max(1));
        let scratch = self.zeroed(sizes.build_scratch_size + align, vk::BufferUsageFlags::STORAGE_BUFFER)?;
        Ok((structure, self.address(scratch).next_multiple_of(align)))
    }

    fn zeroed(&mut self, size: u64, usage: vk::BufferUsageFlags) -> Result<HostBuffer, EngineError> {
        let size = usize::try_from(size).map_err(|e| EngineError::Device(e.to_string()))?;
        self.buffer(&vec![0; size], usage | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS)
    }

    fn structure_address(&self, structure: vk::AccelerationStructureKHR) -> Result<vk::DeviceAddress, EngineError> {
        let functions = self.structures()?;
        let info = vk::AccelerationStructureDeviceAddressInfoKHR::default().acceleration_structure(structure);
        // SAFETY: the structure is alive.
        Ok(unsafe { functions.get_acceleration_structure_device_address(&info) })
    }

    /// The address of a buffer made with `SHADER_DEVICE_ADDRESS`.
    fn address(&self, buffer: HostBuffer) -> vk::DeviceAddress {
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer.handle);
        // SAFETY: the buffer is alive and was made with that usage.
        unsafe { self.gpu.device.get_buffer_device_address(&info) }
    }
}
