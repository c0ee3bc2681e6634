//! Metal indices: buffers, textures and samplers each count from 0 in the order of declaration over the whole file, an
//! array takes as many as it has elements; hidden arguments come after all declared buffers.

use super::{MslSlot, MslTable, Resource, SlotError, SlotOptions, SlotOwner, Slots};
use crate::types::{CounterKind, ResourceType};
use std::collections::BTreeMap;

/// The table a resource is bound in; none for what Metal cannot bind.
fn table(kind: ResourceType) -> Option<MslTable> {
    match kind {
        ResourceType::ConstantBuffer { .. }
        | ResourceType::TextureBuffer { .. }
        | ResourceType::StructuredBuffer { .. }
        | ResourceType::ByteAddressBuffer { .. }
        | ResourceType::AccelerationStructure => Some(MslTable::Buffer),
        ResourceType::Texture(_) => Some(MslTable::Texture),
        ResourceType::Sampler { .. } => Some(MslTable::Sampler),
        ResourceType::SubpassInput { .. } => None,
    }
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
    // What the map dictates, first.
    for resource in resources {
        let Some(entry) = options.map.resources.get(resource.name) else { continue };
        let (global, count) = (resource.global, resource.count);
        if let (Some(index), Some(table)) = (entry.msl, table(resource.kind)) {
            let slot = MslSlot { table, index, count };
            tables.dictate(slot, SlotOwner::Resource(global), errors);
            slots.globals[global].msl = Some(slot);
        }
        if let (Some(index), true) = (entry.msl_counter, resource.counter() != CounterKind::None) {
            let slot = MslSlot { table: MslTable::Buffer, index, count };
            tables.dictate(slot, SlotOwner::Counter(global), errors);
            slots.globals[global].msl_counter = Some(slot);
        }
    }
    if let Some(index) = options.map.msl_sizes {
        tables.dictate(MslSlot { table: MslTable::Buffer, index, count: 1 }, SlotOwner::Sizes, errors);
    }
    // The declared ones, then the hidden ones.
    for resource in resources.iter().filter(|r| slots.globals[r.global].msl.is_none()).collect::<Vec<_>>() {
        let Some(table) = table(resource.kind) else { continue };
        match tables.next(table, resource.count) {
            Some(slot) => slots.globals[resource.global].msl = Some(slot),
            None => errors.push(SlotError::OutOfRange(resource.global)),
        }
    }
    for resource in resources {
        let slot = &mut slots.globals[resource.global];
        if resource.counter() == CounterKind::None || slot.msl_counter.is_some() {
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
}
