//! Metal indices: buffers, textures and samplers each count from 0 in the order of declaration over the whole file, an
//! array takes as many as it has elements; hidden arguments come after all declared buffers. An array without size is one
//! buffer of entries, whatever its elements are, and arrays without size over one range are views of one such buffer.

use super::{DescriptorHeap, MslSlot, MslTable, Resource, SlotError, SlotOptions, SlotOwner, Slots};
use crate::module::RegisterClass;
use crate::types::{CounterKind, ResourceType};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The table a resource is bound in; none for what Metal cannot bind.
fn table(resource: &Resource) -> Option<MslTable> {
    match resource.kind {
        ResourceType::SubpassInput { .. } => None,
        _ if resource.unbounded => Some(MslTable::Buffer),
        ResourceType::ConstantBuffer { .. }
        | ResourceType::TextureBuffer { .. }
        | ResourceType::StructuredBuffer { .. }
        | ResourceType::ByteAddressBuffer { .. }
        | ResourceType::AccelerationStructure => Some(MslTable::Buffer),
        ResourceType::Texture(_) => Some(MslTable::Texture),
        ResourceType::Sampler { .. } => Some(MslTable::Sampler),
    }
}

/// The range that an array without size begins at: what those that share it are views of. `[[vk::binding]]` goes before
/// the register; a register without number is a range of its own. Samplers are apart from all else: a combined image
/// sampler is a texture and a sampler at one binding, of which each needs entries.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Range {
    Vulkan { set: u32, binding: u32, sampler: bool },
    Register { class: RegisterClass, space: u32, index: u32, sampler: bool },
    Heap(DescriptorHeap),
}

impl Range {
    fn of(resource: &Resource) -> Option<Self> {
        if !resource.unbounded {
            return None;
        }
        if let Some(heap) = resource.heap {
            return Some(Self::Heap(heap));
        }
        let sampler = matches!(resource.kind, ResourceType::Sampler { .. });
        if let Some((binding, set)) = resource.var.vk_binding {
            return Some(Self::Vulkan { set, binding, sampler });
        }
        let register = resource.var.register?;
        Some(Self::Register { class: register.class, space: register.space, index: register.index?, sampler })
    }
}

/// Whether a resource has a hidden counter that takes a slot.
fn has_counter(resource: &Resource) -> bool {
    resource.counter() != CounterKind::None && !resource.unbounded
}

/// What the map has taken of one table: first index to (one past the last, owner).
type Taken = BTreeMap<u32, (u64, SlotOwner)>;

struct Tables {
    taken: [Taken; 3],
    next: [u64; 3],
}

impl Tables {
    /// Takes the dictated `slot`, unless something else has it.
    fn dictate(&mut self, slot: MslSlot, owner: SlotOwner, errors: &mut Vec<SlotError>) {
        let taken = &mut self.taken[slot.table as usize];
        let (from, to) = (slot.index, u64::from(slot.index) + u64::from(slot.count));
        let before = taken.range(..=from).next_back().filter(|(_, (end, _))| *end > u64::from(from));
        let after = taken.range(from..).next().filter(|(start, _)| u64::from(**start) < to);
        if let Some((&start, &(_, first))) = before.or(after) {
            let slot = format!("[[{}({})]]", slot.table.name(), start.max(from));
            errors.push(SlotError::Overlap { first, second: owner, slot });
            return;
        }
        taken.insert(from, (to, owner));
    }

    /// The next `count` indices in order that the map leaves free.
    fn next(&mut self, table: MslTable, count: u32) -> Option<MslSlot> {
        let next = &mut self.next[table as usize];
        let mut at = *next;
        loop {
            let end = at + u64::from(count);
            let low = u32::try_from(at).ok()?;
            let taken = &self.taken[table as usize];
            let before = taken.range(..=low).next_back().map(|(_, (to, _))| *to).filter(|to| *to > at);
            let after = taken.range(low..).next().filter(|(from, _)| u64::from(**from) < end).map(|(_, (to, _))| *to);
            match before.or(after) {
                Some(to) => at = to,
                None => {
                    *next = end;
                    return u32::try_from(end).is_ok().then_some(MslSlot { table, index: low, count });
                }
            }
        }
    }
}

pub(super) fn assign(resources: &[Resource], options: &SlotOptions, slots: &mut Slots, errors: &mut Vec<SlotError>) {
    let mut tables = Tables { taken: Default::default(), next: [0; 3] };
    let mut views: FxHashMap<Range, MslSlot> = FxHashMap::default();
    // What the map dictates, first. A view that it places is the place of those that it does not.
    for resource in resources {
        let Some(entry) = options.map.resources.get(resource.name) else { continue };
        let (global, count) = (resource.global, resource.count);
        if let (Some(index), Some(table)) = (entry.msl, table(resource)) {
            let slot = MslSlot { table, index, count: if resource.unbounded { 1 } else { count } };
            let range = Range::of(resource);
            if range.is_none_or(|range| views.get(&range) != Some(&slot)) {
                tables.dictate(slot, SlotOwner::Resource(global), errors);
            }
            if let Some(range) = range {
                views.entry(range).or_insert(slot);
            }
            slots.globals[global].msl = Some(slot);
        }
        if let (Some(index), true) = (entry.msl_counter, has_counter(resource)) {
            let slot = MslSlot { table: MslTable::Buffer, index, count };
            tables.dictate(slot, SlotOwner::Counter(global), errors);
            slots.globals[global].msl_counter = Some(slot);
        }
    }
    if let Some(index) = options.map.msl_sizes {
        tables.dictate(MslSlot { table: MslTable::Buffer, index, count: 1 }, SlotOwner::Sizes, errors);
    }
    // The declared ones, then the hidden ones.
    for resource in resources.iter().filter(|r| r.heap.is_none()) {
        let slot = &mut slots.globals[resource.global];
        let Some(table) = table(resource).filter(|_| slot.msl.is_none()) else { continue };
        let range = Range::of(resource);
        let shared = range.and_then(|range| views.get(&range).copied());
        let count = if resource.unbounded { 1 } else { resource.count };
        slot.msl = shared.or_else(|| tables.next(table, count));
        match (slot.msl, range) {
            (None, _) => errors.push(SlotError::OutOfRange(resource.global)),
            (Some(taken), Some(range)) => {
                views.insert(range, taken);
            }
            (Some(_), None) => {}
        }
    }
    for resource in resources {
        let slot = &mut slots.globals[resource.global];
        if !has_counter(resource) || slot.msl_counter.is_some() {
            continue;
        }
        match tables.next(MslTable::Buffer, resource.count) {
            Some(counter) => slot.msl_counter = Some(counter),
            None => errors.push(SlotError::OutOfRange(resource.global)),
        }
    }
    slots.msl_sizes = match options.map.msl_sizes {
        Some(index) => index,
        None => tables.next(MslTable::Buffer, 1).map_or(u32::MAX, |slot| slot.index),
    };
    // Both heaps take a slot whether the file reads them or not, so that reading one moves nothing.
    for heap in DescriptorHeap::ALL {
        let slot = views.get(&Range::Heap(heap)).copied().or_else(|| tables.next(MslTable::Buffer, 1));
        for resource in resources.iter().filter(|r| r.heap == Some(heap)) {
            let own = &mut slots.globals[resource.global].msl;
            *own = own.or(slot);
            if own.is_none() {
                errors.push(SlotError::OutOfRange(resource.global));
            }
        }
    }
}
