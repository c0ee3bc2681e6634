//! Where the resources of a case go: to arguments, to the tables of arrays without size, to the descriptor heaps.

use super::{MetalInterface, MetalResource, texels};
use crate::case::pipeline::{ResourceDecl, ResourceKind};
use crate::case::{self, Program};
use crate::engines::EngineError;
use metal_check::run::{Address, Binding, Dispatch, Outcome, Sampler, Texture, texture_handle};
use std::collections::BTreeMap;

/// The first texture that no argument can take.
const FREE_TEXTURE: u32 = 128;
/// Bytes of an entry of a table.
const ENTRY: usize = 8;

/// Where a resource is bound.
#[derive(Clone, Copy)]
enum Place {
    /// Argument `index` of its kind.
    Argument(u32),
    /// Entry `entry` of the table that is buffer `index`.
    Entry { index: u32, entry: u32 },
}

impl Place {
    /// Element `by` of an array that begins here.
    fn plus(self, by: usize) -> Self {
        match self {
            Self::Argument(index) => Self::Argument(index + by as u32),
            Self::Entry { index, entry } => Self::Entry { index, entry: entry + by as u32 },
        }
    }
}

/// What the kernel can have written, and where it is in the program.
enum Written {
    Memory { buffer: usize, block: usize, resource: usize },
    Counter { buffer: usize, block: usize, resource: usize },
    Texels { buffer: usize, block: usize, texture: usize },
}

/// The resources of a program, bound to a dispatch.
pub(super) struct Bound {
    written: Vec<Written>,
    /// By buffer index: the resource that is the table.
    tables: BTreeMap<u32, u32>,
    next_texture: u32,
}

/// Binds what the program has to what the kernel takes.
pub(super) fn bind(
    program: &Program,
    interface: &MetalInterface,
    dispatch: &mut Dispatch,
) -> Result<Bound, EngineError> {
    let mut bound = Bound { written: Vec::new(), tables: BTreeMap::new(), next_texture: FREE_TEXTURE };
    for (set, list) in program.pipeline.descriptor_sets.iter().enumerate() {
        for r in &list.resources {
            // A resource that the file does not declare is bound to nothing, as in Vulkan.
            if let Some((place, slot)) = place(interface, r, set as u32)? {
                bound.resource(program, interface, r, place, slot, dispatch)?;
            }
        }
    }
    if let Some(index) = interface.push_constants {
        let bytes = case::push_constants(program).map_err(EngineError::Invalid)?;
        if !bytes.is_empty() {
            memory(dispatch, Some(index), bytes);
        }
    }
    if let Some(index) = interface.sizes {
        let mut table: Vec<u8> = Vec::new();
        for b in &dispatch.buffers {
            let size = dispatch.resources[b.resource as usize].len() as u32;
            let at = b.index as usize * 4;
            table.resize(table.len().max(at + 4), 0);
            table[at..at + 4].copy_from_slice(&size.to_le_bytes());
        }
        memory(dispatch, Some(index), table);
    }
    Ok(bound)
}

/// Where a resource of the case goes: to the register that it names, which may be within an array; where the
/// source names no register, to the resource of its name, or else with its Vulkan descriptor, or else that gets the register.
fn place<'i>(
    interface: &'i MetalInterface,
    r: &ResourceDecl,
    set: u32,
) -> Result<Option<(Place, Option<&'i MetalResource>)>, EngineError> {
    if let Some(entry) = r.heap_index {
        let heap = interface.heaps[usize::from(r.kind == ResourceKind::Sampler)];
        return Ok(heap.map(|index| (Place::Entry { index, entry }, None)));
    }
    let register = r.register.map(|d| (case::register_class(r.kind), d.register, d.space));
    let by_register = interface.resources.iter().find(|s| s.register.is_some() && s.register == register);
    let by_name = || interface.resources.iter().find(|s| s.name == r.name);
    let descriptor = r.vulkan_binding.map(|b| (set, b.binding));
    let unnumbered = || interface.resources.iter().filter(|s| s.register.is_none());
    let by_descriptor = || unnumbered().find(|s| s.descriptor.is_some() && s.descriptor == descriptor);
    let by_implicit = || unnumbered().find(|s| s.implicit.is_some() && s.implicit == register);
    let arrays = interface.resources.iter().filter_map(|s| {
        let entry = entry(s.register.or(s.implicit)?, register?)?;
        (s.is_table || entry < s.count).then_some((s, entry))
    });
    let within = arrays.min_by_key(|(_, entry)| *entry);
    let (slot, entry) = match by_register.or_else(by_name).or_else(by_descriptor).or_else(by_implicit) {
        Some(slot) => (slot, 0),
        None => match within {
            Some(found) => found,
            None => return Ok(None),
        },
    };
    let index = slot.index.ok_or_else(|| EngineError::Invalid(format!("'{}' has no index in Metal", r.name)))?;
    let place = if slot.is_table { Place::Entry { index, entry } } else { Place::Argument(index + entry) };
    Ok(Some((place, Some(slot))))
}

/// The element that `register` is of an array that begins at `first`.
fn entry(first: (char, u32, u32), register: (char, u32, u32)) -> Option<u32> {
    ((first.0, first.2) == (register.0, register.2)).then(|| register.1.checked_sub(first.1)).flatten()
}

impl Bound {
    fn resource(
        &mut self,
        program: &Program,
        interface: &MetalInterface,
        r: &ResourceDecl,
        place: Place,
        slot: Option<&MetalResource>,
        dispatch: &mut Dispatch,
    ) -> Result<(), EngineError> {
        if r.is_reserved || r.tiles_mapped.is_some() {
            return Err(EngineError::Unsupported("tiled resources".to_owned()));
        }
        if r.kind == ResourceKind::AccelerationStructure {
            return Err(EngineError::Unsupported(format!("{:?} resources", r.kind)));
        }
        if matches!(r.kind, ResourceKind::Sampler | ResourceKind::SampledTexture2D) {
            let decl = program.pipeline.samplers.iter().find(|s| s.name == r.name);
            let decl = decl.ok_or_else(|| EngineError::Invalid(format!("no sampler '{}'", r.name)))?;
            let sampler = texels::sampler(decl)?;
            if r.kind == ResourceKind::Sampler {
                self.sampler(place, sampler, dispatch);
                return Ok(());
            }
            // The other half of a combined image sampler.
            let name = slot.map(|s| format!("{}.sampler", s.name)).unwrap_or_default();
            let half = interface.resources.iter().find(|s| s.name == name);
            if let Some(MetalResource { index: Some(index), is_table, .. }) = half {
                let index = *index;
                let place = if *is_table { Place::Entry { index, entry: 0 } } else { Place::Argument(index) };
                self.sampler(place, sampler, dispatch);
            }
        }
        let buffer = program.buffers.iter().position(|b| b.name == r.name);
        let buffer = buffer.ok_or_else(|| EngineError::Invalid(format!("no buffer '{}'", r.name)))?;
        let writes = case::is_read_write(r.kind);
        for (block, bytes) in program.buffers[buffer].data.iter().enumerate() {
            let at = place.plus(block);
            if !case::is_raw(r.kind) {
                let texture = texels::texture(&program.buffers[buffer], bytes, case::is_texture(r.kind))?;
                let texture = self.texture(at, texture, dispatch);
                if writes {
                    self.written.push(Written::Texels { buffer, block, texture });
                }
                continue;
            }
            let mut bytes = bytes.clone();
            if r.kind == ResourceKind::ConstantBuffer {
                // A constant buffer ends with a whole row of 16 bytes, whatever the case spells out.
                bytes.resize(bytes.len().next_multiple_of(16), 0);
            }
            let resource = self.memory(at, bytes, dispatch);
            if writes {
                self.written.push(Written::Memory { buffer, block, resource });
            }
            if r.has_counter {
                let first = slot
                    .and_then(|s| s.counter)
                    .ok_or_else(|| EngineError::Invalid(format!("reflection names no counter of '{}'", r.name)))?;
                let resource = memory(dispatch, Some(first + block as u32), vec![0; 4]);
                self.written.push(Written::Counter { buffer, block, resource });
            }
        }
        Ok(())
    }

    /// The table that is buffer `index`, with room for `entry`; gives the resource and the place of the entry in it.
    fn entry(&mut self, index: u32, entry: u32, dispatch: &mut Dispatch) -> (u32, usize) {
        let table = *self.tables.entry(index).or_insert_with(|| memory(dispatch, Some(index), Vec::new()) as u32);
        let at = entry as usize * ENTRY;
        let bytes = &mut dispatch.resources[table as usize];
        bytes.resize(bytes.len().max(at + ENTRY), 0);
        (table, at)
    }

    fn handle(&mut self, index: u32, entry: u32, handle: u64, dispatch: &mut Dispatch) {
        let (table, at) = self.entry(index, entry, dispatch);
        dispatch.resources[table as usize][at..at + ENTRY].copy_from_slice(&handle.to_le_bytes());
    }

    fn memory(&mut self, place: Place, bytes: Vec<u8>, dispatch: &mut Dispatch) -> usize {
        match place {
            Place::Argument(index) => memory(dispatch, Some(index), bytes),
            Place::Entry { index, entry } => {
                let target = memory(dispatch, None, bytes);
                let (table, at) = self.entry(index, entry, dispatch);
                dispatch.addresses.push(Address { resource: table, at: at as u64, target: target as u32, offset: 0 });
                target
            }
        }
    }

    fn texture(&mut self, place: Place, texture: Texture, dispatch: &mut Dispatch) -> usize {
        let number = match place {
            Place::Argument(index) => index,
            Place::Entry { index, entry } => {
                let number = self.next_texture;
                self.next_texture += 1;
                self.handle(index, entry, texture_handle(number), dispatch);
                number
            }
        };
        dispatch.textures.push((number, texture));
        dispatch.textures.len() - 1
    }

    fn sampler(&mut self, place: Place, sampler: Sampler, dispatch: &mut Dispatch) {
        match place {
            Place::Argument(index) => dispatch.samplers.push((index, sampler)),
            Place::Entry { index, entry } => self.handle(index, entry, sampler.handle(), dispatch),
        }
    }

    /// Copies what the kernel wrote into the program's buffers.
    pub(super) fn read_back(&self, program: &mut Program, done: &Outcome) {
        let memory = |resource: usize| done.resources.get(resource);
        for w in &self.written {
            match *w {
                Written::Memory { buffer, block, resource } => {
                    let Some(bytes) = memory(resource) else { continue };
                    let block = &mut program.buffers[buffer].data[block];
                    let size = block.len();
                    block.copy_from_slice(&bytes[..size]);
                }
                Written::Counter { buffer, block, resource } => {
                    let Some(bytes) = memory(resource) else { continue };
                    let value = bytes[..4].iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b));
                    let counters = &mut program.buffers[buffer].counters;
                    counters.resize(counters.len().max(block + 1), 0);
                    counters[block] = value;
                }
                Written::Texels { buffer, block, texture } => {
                    let Some(texture) = done.textures.get(texture) else { continue };
                    let bytes = texels::block(&program.buffers[buffer], texture);
                    program.buffers[buffer].data[block] = bytes;
                }
            }
        }
    }
}

/// Adds memory, bound as buffer `index` if there is one; gives its number among the resources.
fn memory(dispatch: &mut Dispatch, index: Option<u32>, bytes: Vec<u8>) -> usize {
    let resource = dispatch.resources.len();
    dispatch.resources.push(bytes);
    dispatch.buffers.extend(index.map(|index| Binding { index, resource: resource as u32, offset: 0 }));
    resource
}
