//! Our reflection as what the Metal engine needs.

use crate::engines::metal::{MetalInterface, MetalResource};
use oneshader::Reflection;
use oneshader::reflect::{DescriptorHeap, EntryPointInfo, HiddenInfo, ResourceInfo, ResourceKind};

/// The interface of an entry point; none when reflection has no such entry or no Metal function for it.
pub fn of_entry(reflection: &Reflection, entry: &str) -> Option<MetalInterface> {
    let info = reflection.entry_points.iter().find(|e| e.name == entry)?;
    let push = reflection.resources.iter().find(|r| r.kind == ResourceKind::PushConstant);
    let (mut sizes, mut heaps) = (None, [None; 2]);
    for hidden in &info.hidden {
        match *hidden {
            HiddenInfo::BufferSizes { msl } => sizes = Some(msl),
            HiddenInfo::DescriptorHeap { heap: DescriptorHeap::Resources, msl, .. } => heaps[0] = Some(msl),
            HiddenInfo::DescriptorHeap { heap: DescriptorHeap::Samplers, msl, .. } => heaps[1] = Some(msl),
            HiddenInfo::Counter { .. } => {}
        }
    }
    Some(MetalInterface {
        function: info.msl_function.clone()?,
        threads: info.threads,
        resources: resources(reflection, info),
        push_constants: push.and_then(|r| r.msl).map(|slot| slot.index),
        sizes,
        heaps,
        version: None,
    })
}

/// The resources that an entry point uses; those whose registers the source does not name get the lowest free ones, in
/// order, as in Direct3D.
fn resources(reflection: &Reflection, entry: &EntryPointInfo) -> Vec<MetalResource> {
    let used = |i: &usize| entry.resources.iter().any(|u| u.resource == *i);
    let infos = reflection.resources.iter().enumerate().filter(|(i, _)| used(i)).map(|(_, info)| info);
    let mut out: Vec<(&ResourceInfo, MetalResource)> = infos.map(|info| (info, resource(info))).collect();
    // By class, as (first, number), of space 0.
    let explicit = |(info, r): &(&ResourceInfo, MetalResource)| match r.register {
        Some((class, first, 0)) => Some((class, u64::from(first), count(info))),
        _ => None,
    };
    let mut taken: Vec<(char, u64, u64)> = out.iter().filter_map(explicit).collect();
    for (info, resource) in out.iter_mut().filter(|(_, r)| r.register.is_none()) {
        let (class, count) = (class(info), count(info));
        let mut first = 0;
        while let Some(&(_, at, n)) = taken.iter().find(|t| t.0 == class && t.1 < first + count && first < t.1 + t.2) {
            first = at + n;
        }
        taken.push((class, first, count));
        resource.implicit = u32::try_from(first).ok().map(|first| (class, first, 0));
    }
    out.into_iter().map(|(_, resource)| resource).collect()
}

/// Registers that a resource takes.
fn count(r: &ResourceInfo) -> u64 {
    match r.array {
        Some(0) => 1 << 32,
        Some(n) => u64::from(n),
        None => 1,
    }
}

fn class(r: &ResourceInfo) -> char {
    match r.kind {
        ResourceKind::ConstantBuffer | ResourceKind::PushConstant => 'b',
        ResourceKind::Sampler => 's',
        ResourceKind::AppendBuffer | ResourceKind::ConsumeBuffer => 'u',
        _ if r.writable => 'u',
        _ => 't',
    }
}

fn resource(r: &ResourceInfo) -> MetalResource {
    let register = r.register.as_ref().and_then(|g| Some((g.class.chars().next()?, g.index?, g.space)));
    MetalResource {
        name: r.name.clone(),
        register,
        implicit: None,
        descriptor: r.spirv.map(|slot| (slot.set, slot.binding)),
        index: r.msl.map(|slot| slot.index),
        count: r.array.unwrap_or(1),
        is_table: r.msl_table.is_some(),
        counter: r.msl_counter,
    }
}
