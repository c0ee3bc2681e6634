//! Vulkan descriptors, by DXC's rules (DXC `docs/SPIR-V.rst`, "HLSL register and Vulkan binding";
//! `DeclResultIdMapper::decorateResourceBindings`).
//!
//! In this order: what the binding map dictates; `[[vk::binding]]` and `[[vk::counter_binding]]`; registers, shifted; all
//! else takes the first free binding of its set, in the order of declaration, the counter of an append or consume buffer
//! directly after it, other counters after everything. The sampler of a `vk::SampledTexture2D` and the like is in its
//! texture's descriptor; a sampler with `[[vk::combinedImageSampler]]` is numbered as a texture, so that the pair meets.

use super::{Resource, SlotError, SlotOptions, SlotOwner, Slots, SpirvSlot, SpirvSlotOptions};
use crate::module::RegisterClass;
use crate::types::CounterKind;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Bindings in use.
#[derive(Default)]
struct Sets {
    used: FxHashMap<u32, Set>,
}

#[derive(Default)]
struct Set {
    used: BTreeSet<u32>,
    /// All bindings below are in use.
    full_below: u32,
}

impl Sets {
    /// Marks `count` bindings as used. What the source states may overlap: the same descriptor may be declared twice.
    fn take(&mut self, slot: SpirvSlot, count: u32) {
        let set = self.used.entry(slot.set).or_default();
        // An array flattened has an entry for each element; a hostile size must not cost memory.
        for i in 0..count.min(MAX_FLATTENED) {
            set.used.insert(slot.binding.saturating_add(i));
        }
    }

    /// Takes the first `count` bindings free from `from` on.
    fn next(&mut self, set: u32, count: u32, from: u32) -> Option<SpirvSlot> {
        let state = self.used.entry(set).or_default();
        let start = from.max(state.full_below);
        let mut at = u64::from(start);
        for &used in state.used.range(start..) {
            if u64::from(used) - at >= u64::from(count) {
                break;
            }
            at = u64::from(used) + 1;
        }
        let binding = u32::try_from(at).ok()?;
        u32::try_from(at + u64::from(count)).ok()?;
        if from <= state.full_below && count == 1 {
            state.full_below = binding + 1;
        }
        let slot = SpirvSlot { set, binding };
        self.take(slot, count);
        Some(slot)
    }
}

/// More elements of a flattened array than this are not tracked.
const MAX_FLATTENED: u32 = 1 << 16;

/// The set of a resource's descriptors that are chosen: its own, or its register's space.
fn home_set(resource: &Resource, options: &SpirvSlotOptions) -> u32 {
    match (resource.var.vk_binding, resource.var.register) {
        (Some((_, set)), _) => set,
        (None, Some(register)) => register.space,
        (None, None) => options.default_space,
    }
}

pub(super) fn assign(resources: &[Resource], options: &SlotOptions, slots: &mut Slots, errors: &mut Vec<SlotError>) {
    let mut sets = Sets::default();
    let bound: Vec<&Resource> =
        resources.iter().filter(|r| !r.var.push_constant && r.var.sampler_of.is_none()).collect();
    dictated(&bound, options, slots, &mut sets, errors);
    choose(&bound, &options.spirv, slots, sets, errors);
    combine(resources, slots, errors);
}

/// Gives samplers the descriptors of the textures they are combined with, and reports a half without its other half.
fn combine(resources: &[Resource], slots: &mut Slots, errors: &mut Vec<SlotError>) {
    let mut halves: BTreeMap<SpirvSlot, [bool; 2]> = BTreeMap::new();
    for r in resources.iter().filter(|r| r.var.combined) {
        if let Some(texture) = r.var.sampler_of {
            slots.globals[r.global].spirv = slots.globals[texture].spirv;
        }
        if let Some(slot) = slots.globals[r.global].spirv {
            halves.entry(slot).or_default()[usize::from(r.class() == RegisterClass::S)] = true;
        }
    }
    for r in resources.iter().filter(|r| r.var.combined) {
        if let Some(slot) = slots.globals[r.global].spirv
            && halves.get(&slot) != Some(&[true, true])
        {
            errors.push(SlotError::Unpaired(r.global, slot));
        }
    }
}

fn choose(
    bound: &[&Resource],
    options: &SpirvSlotOptions,
    slots: &mut Slots,
    mut sets: Sets,
    errors: &mut Vec<SlotError>,
) {
    let count = |r: &Resource| if options.flatten_arrays { r.count } else { 1 };
    options.reserved.iter().for_each(|&slot| sets.take(slot, 1));
    for r in bound.iter().filter(|r| r.heap.is_some()) {
        let slot = &mut slots.globals[r.global];
        slot.spirv = slot.spirv.or(r.var.vk_binding.map(|(binding, set)| SpirvSlot { set, binding }));
        if r.counter() != CounterKind::None {
            slot.spirv_counter = slot.spirv_counter.or(options.counter_heap);
        }
    }
    if !options.bind_register.is_empty() {
        return bind_registers(bound, options, slots, errors);
    }
    for r in bound {
        let slot = &mut slots.globals[r.global];
        if let (None, Some((binding, set))) = (slot.spirv, r.var.vk_binding) {
            slot.spirv = Some(SpirvSlot { set, binding });
            sets.take(SpirvSlot { set, binding }, count(r));
        }
        if let (None, Some(binding)) = (slot.spirv_counter, r.var.vk_counter_binding)
            && r.counter() != CounterKind::None
        {
            let counter = SpirvSlot { set: home_set(r, options), binding };
            slot.spirv_counter = Some(counter);
            sets.take(counter, count(r));
        }
    }
    for r in bound {
        let slot = &mut slots.globals[r.global];
        let Some(register) = r.var.register.filter(|_| slot.spirv.is_none()) else { continue };
        let Some(index) = register.index else { continue };
        let shifted = i64::from(index) + i64::from(options.shift(r.shifted_as(register.class)).of(register.space));
        match u32::try_from(shifted) {
            Ok(binding) => {
                slot.spirv = Some(SpirvSlot { set: register.space, binding });
                sets.take(SpirvSlot { set: register.space, binding }, count(r));
            }
            Err(_) => errors.push(SlotError::OutOfRange(r.global)),
        }
    }
    let from = |class: Option<RegisterClass>, set: u32| match class.filter(|_| options.auto_shift) {
        Some(class) => u32::try_from(options.shift(class).of(set)).unwrap_or(0),
        None => 0,
    };
    for r in bound {
        let has_number = r.var.register.is_some_and(|register| register.index.is_some());
        if slots.globals[r.global].spirv.is_none() && !has_number {
            let chosen = match options.bind_globals.filter(|_| r.var.implicit) {
                Some(slot) => Some(SpirvSlot {
                    binding: slot.binding.saturating_add(from(Some(r.shifted_as(r.class())), slot.set)),
                    ..slot
                }),
                None => {
                    let set = home_set(r, options);
                    sets.next(set, count(r), from(Some(r.shifted_as(r.class())), set))
                }
            };
            if chosen.is_none() {
                errors.push(SlotError::OutOfRange(r.global));
            }
            slots.globals[r.global].spirv = chosen;
        }
        if matches!(r.counter(), CounterKind::Append | CounterKind::Consume) {
            choose_counter(r, options, count(r), slots, &mut sets, errors);
        }
    }
    for r in bound.iter().filter(|r| r.counter() == CounterKind::Counter) {
        choose_counter(r, options, count(r), slots, &mut sets, errors);
    }
}

fn choose_counter(
    r: &Resource,
    options: &SpirvSlotOptions,
    count: u32,
    slots: &mut Slots,
    sets: &mut Sets,
    errors: &mut Vec<SlotError>,
) {
    let slot = &mut slots.globals[r.global];
    if slot.spirv_counter.is_some() {
        return;
    }
    slot.spirv_counter = sets.next(home_set(r, options), count, 0);
    if slot.spirv_counter.is_none() {
        errors.push(SlotError::OutOfRange(r.global));
    }
}

fn dictated(
    resources: &[&Resource],
    options: &SlotOptions,
    slots: &mut Slots,
    sets: &mut Sets,
    errors: &mut Vec<SlotError>,
) {
    let mut owners: BTreeMap<SpirvSlot, SlotOwner> = BTreeMap::new();
    let mut dictate = |slot: SpirvSlot, owner: SlotOwner| {
        if let Some(&first) = owners.get(&slot) {
            let slot = format!("set {}, binding {}", slot.set, slot.binding);
            errors.push(SlotError::Overlap { first, second: owner, slot });
        }
        owners.insert(slot, owner);
    };
    for r in resources {
        let Some(entry) = options.map.resources.get(r.name) else { continue };
        let count = if options.spirv.flatten_arrays { r.count } else { 1 };
        if let Some(slot) = entry.spirv {
            dictate(slot, SlotOwner::Resource(r.global));
            slots.globals[r.global].spirv = Some(slot);
            sets.take(slot, count);
        }
        if let (Some(slot), true) = (entry.spirv_counter, r.counter() != CounterKind::None) {
            dictate(slot, SlotOwner::Counter(r.global));
            slots.globals[r.global].spirv_counter = Some(slot);
            sets.take(slot, count);
        }
    }
    // A descriptor that the source states must not fall on a dictated one either.
    for r in resources.iter().filter(|r| slots.globals[r.global].spirv.is_none()) {
        if let Some((binding, set)) = r.var.vk_binding
            && let Some(&first) = owners.get(&SpirvSlot { set, binding })
        {
            let slot = format!("set {set}, binding {binding}");
            errors.push(SlotError::Overlap { first, second: SlotOwner::Resource(r.global), slot });
        }
    }
}

fn bind_registers(resources: &[&Resource], options: &SpirvSlotOptions, slots: &mut Slots, errors: &mut Vec<SlotError>) {
    for r in resources.iter().filter(|r| slots.globals[r.global].spirv.is_none()).collect::<Vec<_>>() {
        let found = match r.var.register {
            None if r.var.implicit => {
                if options.bind_globals.is_none() {
                    errors.push(SlotError::NoBindGlobals(r.global));
                    continue;
                }
                options.bind_globals
            }
            None => None,
            Some(register) => options
                .bind_register
                .iter()
                .rev()
                .find(|b| b.class == register.class && Some(b.index) == register.index && b.space == register.space)
                .map(|b| b.slot),
        };
        match found {
            Some(slot) => slots.globals[r.global].spirv = Some(slot),
            None => errors.push(SlotError::NoBindRegister(r.global)),
        }
        // DXC has no way to name a counter here.
        if r.counter() != CounterKind::None && slots.globals[r.global].spirv_counter.is_none() {
            errors.push(SlotError::NoBindRegister(r.global));
        }
    }
}
