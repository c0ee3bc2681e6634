//! What goes to the program that runs a kernel, and what comes back; runtime.c is the other end.
use super::{Dispatch, Fault, FaultKind, Slot, Texture};

/// The dispatch as bytes, little end first.
pub(super) fn encode(d: &Dispatch) -> Vec<u8> {
    let mut out = Vec::new();
    let word = |out: &mut Vec<u8>, v: u32| out.extend(v.to_le_bytes());
    let long = |out: &mut Vec<u8>, v: u64| out.extend(v.to_le_bytes());
    word(&mut out, d.simd_width);
    word(&mut out, u32::from(d.flush_denormals));
    for v in d.groups.into_iter().chain(d.threads).chain(d.grid_size()) {
        word(&mut out, v);
    }
    word(&mut out, d.resources.len() as u32);
    for bytes in &d.resources {
        long(&mut out, bytes.len() as u64);
        out.extend(bytes);
    }
    word(&mut out, d.buffers.len() as u32);
    for b in &d.buffers {
        word(&mut out, b.index);
        word(&mut out, b.resource);
        long(&mut out, b.offset);
    }
    word(&mut out, d.threadgroup_memory.len() as u32);
    for &(index, size) in &d.threadgroup_memory {
        word(&mut out, index);
        word(&mut out, size);
    }
    word(&mut out, d.addresses.len() as u32);
    for a in &d.addresses {
        word(&mut out, a.resource);
        long(&mut out, a.at);
        word(&mut out, a.target);
        long(&mut out, a.offset);
    }
    word(&mut out, d.textures.len() as u32);
    for (index, t) in &d.textures {
        for v in [*index, t.width, t.height, t.depth, t.layers, t.levels, t.samples, t.element as u32] {
            word(&mut out, v);
        }
        t.texels.iter().flatten().for_each(|v| word(&mut out, *v));
    }
    word(&mut out, d.samplers.len() as u32);
    for (index, s) in &d.samplers {
        word(&mut out, *index);
        long(&mut out, s.handle());
    }
    out
}

/// What the program answered: bytes of the resources and notes, or a fault.
pub(super) enum Answer {
    Done { resources: Vec<Vec<u8>>, textures: Vec<Texture>, notes: Vec<String> },
    Fault(Fault),
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, n: usize) -> Option<Vec<u8>> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head.to_vec())
    }

    fn word(&mut self) -> Option<u32> {
        self.take(4).and_then(|b| Some(u32::from_le_bytes(b.try_into().ok()?)))
    }

    fn long(&mut self) -> Option<i64> {
        self.take(8).and_then(|b| Some(i64::from_le_bytes(b.try_into().ok()?)))
    }

    /// `t` with other texels.
    fn texture(&mut self, t: &Texture) -> Option<Texture> {
        let bytes = self.take(16 * t.texels.len())?;
        let word = |c: &[u8]| u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
        let texels = bytes.chunks_exact(16).map(|c| [word(&c[..4]), word(&c[4..8]), word(&c[8..12]), word(&c[12..])]);
        Some(Texture { texels: texels.collect(), ..t.clone() })
    }

    fn text(&mut self) -> Option<String> {
        let length = self.word()? as usize;
        Some(String::from_utf8_lossy(&self.take(length)?).into_owned())
    }
}

/// Reads the answer to `d`; `None` if it is cut short.
pub(super) fn decode(d: &Dispatch, bytes: &[u8]) -> Option<Answer> {
    let mut r = Reader(bytes);
    if r.word()? == 0 {
        let resources = d.resources.iter().map(|b| r.take(b.len())).collect::<Option<Vec<_>>>()?;
        let textures = d.textures.iter().map(|(_, t)| r.texture(t)).collect::<Option<Vec<_>>>()?;
        let notes = r.text()?.lines().map(str::to_owned).collect();
        return Some(Answer::Done { resources, textures, notes });
    }
    let (kind, region, offset) = (r.word()?, r.word()?, r.long()?);
    let (size, write) = (r.word()?, r.word()? != 0);
    let position = [r.word()?, r.word()?, r.word()?];
    let name = r.text()?;
    let kind = match kind {
        1 => bounds(d, region, offset, size, write),
        2 => FaultKind::OutsideVariable { name, offset, size, write, length: u64::from(region) },
        3 if name == "texture" => FaultKind::NoTexture,
        3 => FaultKind::Nowhere { address: offset as u64 },
        4 => FaultKind::DivisionByZero,
        5 => FaultKind::StackOverflow,
        6 => FaultKind::Trap { signal: offset as i32 },
        _ => FaultKind::BadDispatch(name),
    };
    Some(Answer::Fault(Fault { kind, position }))
}

/// An access outside region `region`: which argument that is, and where from its start.
fn bounds(d: &Dispatch, region: u32, offset: i64, size: u32, write: bool) -> FaultKind {
    let count = d.resources.len() as u32;
    if let Some(&(index, length)) = region.checked_sub(count).and_then(|n| d.threadgroup_memory.get(n as usize)) {
        return FaultKind::OutOfBounds {
            slot: Slot::Threadgroup(index),
            offset,
            size,
            write,
            length: u64::from(length),
        };
    }
    let length = d.resources.get(region as usize).map_or(0, |b| b.len() as u64);
    match d.buffers.iter().find(|b| b.resource == region) {
        Some(b) => FaultKind::OutOfBounds {
            slot: Slot::Buffer(b.index),
            offset: offset - b.offset as i64,
            size,
            write,
            length: length.saturating_sub(b.offset),
        },
        None => FaultKind::OutOfBounds { slot: Slot::Resource(region), offset, size, write, length },
    }
}
