//! Device memory: host words that kernels, C code and the host may touch at the same time.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Alignment of a buffer's first byte, in bytes: at least that of any argument structure.
const ALIGN: usize = 256;

/// A buffer's bytes. Accesses are relaxed atomics, so a race gives some bytes and no undefined behaviour.
pub(crate) struct Memory {
    words: Box<[AtomicU64]>,
    /// The word at which the buffer starts, so that it is aligned.
    first: usize,
    bytes: u64,
}

impl Memory {
    /// Zeroed memory of `bytes` bytes, at least one; `None` if the host has none.
    pub fn new(bytes: u64) -> Option<Self> {
        let count = usize::try_from(bytes.max(1).div_ceil(8)).ok()?.checked_add(ALIGN / 8)?;
        let mut words = Vec::new();
        words.try_reserve_exact(count).ok()?;
        words.resize_with(count, || AtomicU64::new(0));
        let words = words.into_boxed_slice();
        let misaligned = words.as_ptr().addr() % ALIGN;
        let first = (ALIGN - misaligned) % ALIGN / 8;
        Some(Self { words, first, bytes: bytes.max(1) })
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The first byte, for C.
    pub fn host(&self) -> *mut c_void {
        self.words[self.first..].as_ptr().cast_mut().cast()
    }

    /// The device address of the first byte: its host address.
    pub fn address(&self) -> u64 {
        self.host().addr() as u64
    }

    /// Whether `len` bytes at `offset` lie inside.
    pub fn holds(&self, offset: u64, len: usize) -> bool {
        offset.checked_add(len as u64).is_some_and(|end| end <= self.bytes)
    }

    /// Copies out; `false` if the range lies outside.
    pub fn read(&self, offset: u64, out: &mut [u8]) -> bool {
        if !self.holds(offset, out.len()) {
            return false;
        }
        let (mut word, mut skip, mut rest) = self.start(offset, out);
        while !rest.is_empty() {
            let n = rest.len().min(8 - skip);
            let (now, later) = rest.split_at_mut(n);
            now.copy_from_slice(&self.words[word].load(Relaxed).to_ne_bytes()[skip..skip + n]);
            (word, skip, rest) = (word + 1, 0, later);
        }
        true
    }

    /// Copies in; `false`, with nothing changed, if the range lies outside.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> bool {
        if !self.holds(offset, bytes.len()) {
            return false;
        }
        let (mut word, mut skip, mut rest) = self.start(offset, bytes);
        while !rest.is_empty() {
            let n = rest.len().min(8 - skip);
            let (now, later) = rest.split_at(n);
            let put = |old: u64| {
                let mut new = old.to_ne_bytes();
                new[skip..skip + n].copy_from_slice(now);
                u64::from_ne_bytes(new)
            };
            if n == 8 {
                self.words[word].store(put(0), Relaxed);
            } else {
                // Neighbours in the word may be written at the same time.
                let _ = self.words[word].fetch_update(Relaxed, Relaxed, |old| Some(put(old)));
            }
            (word, skip, rest) = (word + 1, 0, later);
        }
        true
    }

    fn start<T>(&self, offset: u64, rest: T) -> (usize, usize, T) {
        (self.first + (offset / 8) as usize, (offset % 8) as usize, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_at_any_offset_and_length() {
        let m = Memory::new(41).unwrap();
        assert_eq!(m.address() % ALIGN as u64, 0);
        let mut model = vec![0u8; 41];
        for (i, (offset, len)) in [(0, 41), (3, 9), (7, 1), (8, 8), (15, 18), (40, 1), (41, 0)].iter().enumerate() {
            let new: Vec<u8> = (0..*len).map(|b| (b * 7 + i * 31 + 1) as u8).collect();
            assert!(m.write(*offset as u64, &new));
            model[*offset..offset + len].copy_from_slice(&new);
            let mut all = vec![0u8; 41];
            assert!(m.read(0, &mut all));
            assert_eq!(all, model);
        }
        assert!(!m.write(40, &[0; 2]) && !m.read(42, &mut []) && !m.read(u64::MAX, &mut [0]));
    }
}
