//! Indirect command buffers: the checks, and what the driver keeps of them.

use crate::metal::Shared;
use crate::{Api, Recorded};
use rig_edge::sync::{self, Mutex};
use rig_metal_abi::{Dispatch, Icb, IcbError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The pipelines of live indirect command buffers, by handle.
pub(crate) struct Live<A: Api>(Mutex<Entries<A>>);

struct Entries<A: Api> {
    /// Counts those made.
    generation: u64,
    live: BTreeMap<usize, (u64, Vec<A::Pipeline>)>,
}

impl<A: Api> Live<A> {
    pub fn new() -> Self {
        Self(Mutex::new(Entries { generation: 0, live: BTreeMap::new() }))
    }

    /// Whether `handle` names a live one.
    pub fn contains(&self, handle: usize) -> bool {
        sync::lock(&self.0).live.contains_key(&handle)
    }

    /// Calls `touch` with the pipelines of those made after `generation`; returns the last generation.
    pub fn touch(&self, generation: u64, mut touch: impl FnMut(&A::Pipeline)) -> u64 {
        let entries = sync::lock(&self.0);
        if entries.generation > generation {
            let new = entries.live.values().filter(|(made, _)| *made > generation);
            new.flat_map(|(_, pipelines)| pipelines).for_each(&mut touch);
        }
        entries.generation
    }

    fn insert(&self, handle: usize, pipelines: Vec<A::Pipeline>) {
        let mut entries = sync::lock(&self.0);
        entries.generation += 1;
        let made = entries.generation;
        entries.live.insert(handle, (made, pipelines));
    }

    fn remove(&self, handle: usize) -> Option<Vec<A::Pipeline>> {
        sync::lock(&self.0).live.remove(&handle).map(|(_, pipelines)| pipelines)
    }
}

/// A call in flight, which `stop` waits for.
struct Call<'a, A: Api>(&'a Shared<A>);

impl<A: Api> Drop for Call<'_, A> {
    fn drop(&mut self) {
        self.0.leave_icb();
    }
}

/// A checked dispatch with its own reference to the pipeline.
struct Checked<A: Api> {
    pipeline: A::Pipeline,
    handle: usize,
    offset: u64,
    groups: [u64; 3],
    threads: [u64; 3],
}

/// `icb` of the agreement.
pub(crate) fn make<A: Api>(shared: &Arc<Shared<A>>, buffer: usize, ds: &[Dispatch]) -> Result<Icb, IcbError> {
    if rig_edge::inside() {
        return Err(IcbError::Invalid("a call from a callback inside a lock"));
    }
    if !shared.is_here() {
        return Err(IcbError::Refused("the device belongs to the parent process".into()));
    }
    if !shared.enter_icb() {
        return Err(IcbError::Refused("the device is being stopped".into()));
    }
    let call = Call(shared);
    let (arguments, checked) = check(shared, buffer, ds)?;
    let recorded: Vec<_> = checked
        .iter()
        .map(|c| Recorded { pipeline: &c.pipeline, offset: c.offset, groups: c.groups, threads: c.threads })
        .collect();
    let native = shared.api.icb(&arguments, &recorded).map_err(IcbError::Refused)?;
    drop(recorded);
    let mut pipelines: BTreeMap<usize, A::Pipeline> = BTreeMap::new();
    for c in checked {
        pipelines.entry(c.handle).or_insert(c.pipeline);
    }
    let handle = shared.api.icb_handle(&native);
    let commands = shared.api.icb_commands(&native);
    shared.icbs.insert(handle, pipelines.into_values().collect());
    drop(call);
    let owner = Arc::clone(shared);
    Ok(Icb::new(
        handle,
        commands,
        Box::new(move || {
            let pipelines = owner.icbs.remove(handle);
            drop((native, pipelines));
        }),
    ))
}

/// Checks a call and takes references to what it names.
fn check<A: Api>(shared: &Shared<A>, buffer: usize, ds: &[Dispatch]) -> Result<(A::Buffer, Vec<Checked<A>>), IcbError> {
    let objects = sync::lock(&shared.objects);
    let (arguments, bytes) =
        objects.region(buffer).ok_or(IcbError::Invalid("a buffer that is no live region of the device"))?;
    let mut too_many = None;
    let mut checked = Vec::with_capacity(ds.len());
    for (i, d) in ds.iter().enumerate() {
        let loaded =
            objects.pipeline(d.pipeline).ok_or(IcbError::Invalid("a pipeline of no image loaded on the device"))?;
        let offset = u64::try_from(d.offset).map_err(|_| IcbError::Invalid("a negative offset"))?;
        if offset >= bytes {
            return Err(IcbError::Invalid("an offset outside the buffer"));
        }
        if offset % shared.traits.align as u64 != 0 {
            return Err(IcbError::Invalid("an offset that is not a multiple of align"));
        }
        let sizes = |sizes: [i64; 3]| -> Result<[u64; 3], IcbError> {
            if sizes.iter().any(|&s| s < 1) {
                return Err(IcbError::Invalid("a size less than 1"));
            }
            Ok(sizes.map(|s| s as u64))
        };
        let (groups, threads) = (sizes(d.groups)?, sizes(d.threads)?);
        let per_group = threads.iter().fold(1u64, |n, &t| n.saturating_mul(t));
        if per_group > u64::from(loaded.max_threads) {
            too_many.get_or_insert_with(|| {
                format!(
                    "dispatch {i} asks for {per_group} threads per threadgroup, its pipeline allows {}",
                    loaded.max_threads
                )
            });
        }
        if shared.traits.quirks.short_offsets && offset > u64::from(u32::MAX) {
            too_many.get_or_insert_with(|| format!("dispatch {i} has an offset above 32 bits (icb-offset-32)"));
        }
        checked.push(Checked { pipeline: loaded.pipeline.clone(), handle: d.pipeline, offset, groups, threads });
    }
    // A contract broken anywhere is told before a device's refusal.
    match too_many {
        Some(reason) => Err(IcbError::Refused(reason)),
        None => Ok((arguments.clone(), checked)),
    }
}
