//! The sections of a module in the order of its logical layout (SPIR-V specification 2.4).

use spirv::{AddressingModel, Capability, MemoryModel, Op};
use std::collections::BTreeSet;

/// A run of instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words(pub Vec<u32>);

impl Words {
    /// Appends an instruction.
    pub fn inst(&mut self, op: Op, operands: &[u32]) {
        self.0.push(((operands.len() as u32 + 1) << 16) | op as u32);
        self.0.extend_from_slice(operands);
    }

    /// Appends an instruction with a literal string between operands.
    pub fn inst_str(&mut self, op: Op, before: &[u32], text: &str, after: &[u32]) {
        let mut operands = before.to_vec();
        push_str(&mut operands, text);
        operands.extend_from_slice(after);
        // An instruction has at most 65535 words; longer names are cut by `push_str`.
        self.inst(op, &operands);
    }

    /// The instructions: opcode and operands.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u32])> {
        let mut rest = self.0.as_slice();
        std::iter::from_fn(move || {
            let first = *rest.first()?;
            let len = ((first >> 16) as usize).clamp(1, rest.len());
            let (inst, tail) = rest.split_at(len);
            rest = tail;
            Some((first & 0xffff, &inst[1..]))
        })
    }
}

/// The most operands of an instruction of a varying number of them: an instruction has at most 65535 words.
pub(crate) const MAX_OPERANDS: usize = 65_000;

/// The longest literal string, in bytes; it leaves an instruction below its limit of 65535 words.
const MAX_STRING: usize = 60_000;

/// Appends a literal string: UTF-8, little-endian words, a terminating zero (SPIR-V specification 2.2.1).
pub(crate) fn push_str(words: &mut Vec<u32>, text: &str) {
    let mut end = text.len().min(MAX_STRING);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // A zero byte would end the string early.
    let bytes: Vec<u8> = text[..end].bytes().take_while(|&b| b != 0).collect();
    let (chunks, rest) = bytes.as_chunks::<4>();
    words.extend(chunks.iter().map(|&c| u32::from_le_bytes(c)));
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    words.push(u32::from_le_bytes(last));
}

/// The module under construction.
#[derive(Debug)]
pub(crate) struct Module {
    next: u32,
    /// `OpExtInstImport`.
    pub imports: Words,
    /// `OpEntryPoint`.
    pub entry_points: Words,
    /// `OpExecutionMode`.
    pub modes: Words,
    /// `OpString`, `OpSource`.
    pub sources: Words,
    /// `OpName`, `OpMemberName`.
    pub names: Words,
    /// Decorations.
    pub annotations: Words,
    /// Types, constants, module-scope variables.
    pub globals: Words,
    /// Functions.
    pub functions: Words,
}

impl Module {
    pub fn new() -> Self {
        Self {
            next: 1,
            imports: Words::default(),
            entry_points: Words::default(),
            modes: Words::default(),
            sources: Words::default(),
            names: Words::default(),
            annotations: Words::default(),
            globals: Words::default(),
            functions: Words::default(),
        }
    }

    /// A fresh result id.
    pub fn id(&mut self) -> u32 {
        let id = self.next;
        self.next += 1;
        id
    }

    /// `OpDecorate`.
    pub fn decorate(&mut self, target: u32, decoration: spirv::Decoration, operands: &[u32]) {
        let mut all = vec![target, decoration as u32];
        all.extend_from_slice(operands);
        self.annotations.inst(Op::Decorate, &all);
    }

    /// `OpMemberDecorate`.
    pub fn decorate_member(&mut self, target: u32, member: u32, decoration: spirv::Decoration, operands: &[u32]) {
        let mut all = vec![target, member, decoration as u32];
        all.extend_from_slice(operands);
        self.annotations.inst(Op::MemberDecorate, &all);
    }

    /// All sections, in the order in which they stand.
    pub fn sections(&self) -> [&Words; 8] {
        [
            &self.imports,
            &self.entry_points,
            &self.modes,
            &self.sources,
            &self.names,
            &self.annotations,
            &self.globals,
            &self.functions,
        ]
    }

    /// The words of the module with `capabilities` and `extensions` before everything else.
    pub fn finish(self, version: (u8, u8), capabilities: &BTreeSet<u32>, extensions: &BTreeSet<String>) -> Vec<u32> {
        let mut head = Words::default();
        for &capability in capabilities {
            head.inst(Op::Capability, &[capability]);
        }
        for extension in extensions {
            head.inst_str(Op::Extension, &[], extension, &[]);
        }
        head.0.extend_from_slice(&self.imports.0);
        let has = |capability: Capability| capabilities.contains(&(capability as u32));
        let addressing = match has(Capability::PhysicalStorageBufferAddresses) {
            true => AddressingModel::PhysicalStorageBuffer64,
            false => AddressingModel::Logical,
        };
        let memory = if has(Capability::VulkanMemoryModel) { MemoryModel::Vulkan } else { MemoryModel::GLSL450 };
        head.inst(Op::MemoryModel, &[addressing as u32, memory as u32]);
        let version = (u32::from(version.0) << 16) | (u32::from(version.1) << 8);
        // The generator's number is 0: none is registered (SPIR-V specification 3.1).
        let mut words = vec![spirv::MAGIC_NUMBER, version, 0, self.next, 0];
        words.append(&mut head.0);
        for section in &self.sections()[1..] {
            words.extend_from_slice(&section.0);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_string_ends_with_a_zero_byte_even_when_it_fills_its_words() {
        let mut words = Vec::new();
        push_str(&mut words, "main");
        assert_eq!(words, [u32::from_le_bytes(*b"main"), 0]);
        words.clear();
        push_str(&mut words, "abcde\0f");
        assert_eq!(words, [u32::from_le_bytes(*b"abcd"), u32::from_le_bytes(*b"e\0\0\0")]);
    }

    #[test]
    fn instructions_are_read_back_as_they_were_written() {
        let mut words = Words::default();
        words.inst(Op::TypeVoid, &[1]);
        words.inst_str(Op::EntryPoint, &[5, 2], "m", &[7]);
        let read: Vec<(u32, Vec<u32>)> = words.iter().map(|(op, args)| (op, args.to_vec())).collect();
        assert_eq!(read, [(Op::TypeVoid as u32, vec![1]), (Op::EntryPoint as u32, vec![5, 2, u32::from(b'm'), 7])]);
    }
}
