//! The soft device's objects by handle. A handle is never used twice, so one that outlives its object is found.

use super::kernel::Kernel;
use super::memory::Memory;
use std::sync::Arc;

/// An object.
pub(crate) enum Native {
    Buffer(Arc<Memory>),
    Pipeline(Arc<dyn Kernel>),
    Icb(IcbObject),
    Command { icb: usize, index: usize },
}

/// An indirect command buffer.
pub(crate) struct IcbObject {
    pub commands: Vec<IcbCommand>,
    /// Runs encoded and not completed.
    pub running: u32,
}

/// One command of it.
#[derive(Clone)]
pub(crate) struct IcbCommand {
    pub pipeline: Arc<dyn Kernel>,
    pub pipeline_handle: usize,
    /// The argument buffer.
    pub arguments: usize,
    pub offset: u64,
    pub groups: [u64; 3],
    pub threads: [u64; 3],
}

struct Slot {
    generation: u32,
    object: Option<Native>,
}

/// Handles are `generation << 32 | (slot + 1) << 4`: never 0, aligned as pointers are.
#[derive(Default)]
pub(crate) struct Table {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Table {
    pub fn insert(&mut self, object: Native) -> usize {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, object: None });
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.object = Some(object);
        (slot.generation as usize) << 32 | (index as usize + 1) << 4
    }

    fn slot(&self, handle: usize) -> Option<usize> {
        let index = ((handle & 0xffff_ffff) >> 4).checked_sub(1)?;
        let slot = self.slots.get(index)?;
        (handle & 0xf == 0 && slot.generation as usize == handle >> 32 && slot.object.is_some()).then_some(index)
    }

    pub fn get(&self, handle: usize) -> Option<&Native> {
        self.slots[self.slot(handle)?].object.as_ref()
    }

    pub fn remove(&mut self, handle: usize) -> Option<Native> {
        let index = self.slot(handle)?;
        let slot = &mut self.slots[index];
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index as u32);
        slot.object.take()
    }

    fn icb(&mut self, handle: usize) -> Option<&mut IcbObject> {
        let index = self.slot(handle)?;
        match &mut self.slots[index].object {
            Some(Native::Icb(icb)) => Some(icb),
            _ => None,
        }
    }

    pub fn run_began(&mut self, icb: usize) {
        if let Some(icb) = self.icb(icb) {
            icb.running += 1;
        }
    }

    pub fn run_ended(&mut self, icb: usize) {
        if let Some(icb) = self.icb(icb) {
            icb.running -= 1;
        }
    }

    pub fn set_command(&mut self, command: usize, groups: [u64; 3], threads: [u64; 3]) -> Result<(), &'static str> {
        let Some(&Native::Command { icb, index }) = self.get(command) else {
            return Err("a change of an indirect command that is released");
        };
        let icb = self.icb(icb).ok_or("a change of an indirect command buffer that is released")?;
        if icb.running > 0 {
            return Err("a change of an indirect command while its buffer is in flight");
        }
        let command = &mut icb.commands[index];
        (command.groups, command.threads) = (groups, threads);
        Ok(())
    }

    /// Command `index` of a live indirect command buffer.
    pub fn command(&mut self, icb: usize, index: u64) -> Result<IcbCommand, &'static str> {
        let icb = self.icb(icb).ok_or("a run of an indirect command buffer that is released")?;
        let command = usize::try_from(index).ok().and_then(|i| icb.commands.get(i));
        command.cloned().ok_or("a run of a command outside its indirect command buffer")
    }

    /// Live objects: buffers, pipelines, indirect command buffers.
    pub fn count(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for object in self.slots.iter().filter_map(|s| s.object.as_ref()) {
            match object {
                Native::Buffer(_) => counts[0] += 1,
                Native::Pipeline(_) => counts[1] += 1,
                Native::Icb(_) => counts[2] += 1,
                Native::Command { .. } => {}
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_never_used_twice() {
        let mut table = Table::default();
        let command = || Native::Command { icb: 0, index: 0 };
        let a = table.insert(command());
        assert!(table.get(a).is_some() && table.get(0).is_none() && table.get(a | 1).is_none());
        assert!(table.remove(a).is_some());
        let b = table.insert(command());
        assert_ne!(a, b);
        assert!(table.get(a).is_none() && table.remove(a).is_none() && table.get(b).is_some());
    }
}
