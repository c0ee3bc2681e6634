//! The state after a run as text, in the shape that tests of the format match with FileCheck patterns.
//!
//! The layout is that of LLVM's YAML writer: keys padded to 16 columns, flow lists broken after column 70.

use super::pipeline::ResourceKind;
use super::{Buffer, Program, values};
use std::fmt::Write;

const WRAP_COLUMN: usize = 70;

/// Shaders, buffers with their data, and descriptor sets.
pub fn program(p: &Program) -> String {
    let mut out = String::from("---\nShaders:\n");
    for s in &p.pipeline.shaders {
        key(&mut out, "  - ", "Stage", &format!("{:?}", s.stage));
        key(&mut out, "    ", "Entry", &s.entry);
    }
    out.push_str("Buffers:\n");
    for b in &p.buffers {
        buffer(&mut out, "  - ", "    ", b);
    }
    out.push_str("DescriptorSets:\n");
    for set in &p.pipeline.descriptor_sets {
        out.push_str("  - Resources:\n");
        for r in &set.resources {
            key(&mut out, "      - ", "Name", &r.name);
            key(&mut out, "        ", "Kind", kind_name(r.kind));
            if r.has_counter {
                key(&mut out, "        ", "HasCounter", "true");
            }
            if let Some(d) = r.register {
                out.push_str("        DirectXBinding:\n");
                key(&mut out, "          ", "Register", &d.register.to_string());
                key(&mut out, "          ", "Space", &d.space.to_string());
            }
            if let Some(v) = r.vulkan_binding {
                out.push_str("        VulkanBinding:\n");
                key(&mut out, "          ", "Binding", &v.binding.to_string());
                if let Some(c) = v.counter_binding {
                    key(&mut out, "          ", "CounterBinding", &c.to_string());
                }
            }
        }
    }
    out.push_str("...\n");
    out
}

/// One buffer as a document of its own.
pub fn document(b: &Buffer) -> String {
    let mut out = String::from("---\n");
    buffer(&mut out, "", "", b);
    out.push_str("...\n");
    out
}

fn buffer(out: &mut String, first: &str, rest: &str, b: &Buffer) {
    key(out, first, "Name", &b.name);
    key(out, rest, "Format", b.format.name());
    if b.channels != 1 {
        key(out, rest, "Channels", &b.channels.to_string());
    }
    if b.stride != 0 {
        key(out, rest, "Stride", &b.stride.to_string());
    }
    if b.data.len() != 1 {
        key(out, rest, "ArraySize", &b.data.len().to_string());
    }
    match b.counters.as_slice() {
        [] => {}
        [one] => key(out, rest, "Counter", &one.to_string()),
        many => flow(out, &format!("{rest}Counters:        "), many.iter().map(u32::to_string)),
    }
    if let [one] = b.data.as_slice() {
        flow(out, &format!("{rest}Data:            "), values::decode(b.format, one).into_iter());
    } else {
        let _ = writeln!(out, "{rest}Data:");
        for block in &b.data {
            flow(out, &format!("{rest}  - "), values::decode(b.format, block).into_iter());
        }
    }
    let _ = writeln!(out, "{rest}OutputProps:");
    for (name, v) in [("Height", b.output.height), ("Width", b.output.width), ("Depth", b.output.depth)] {
        key(out, &format!("{rest}  "), name, &v.to_string());
    }
    if b.output.mip_levels != 1 {
        key(out, &format!("{rest}  "), "MipLevels", &b.output.mip_levels.to_string());
    }
}

fn key(out: &mut String, indent: &str, name: &str, value: &str) {
    let _ = writeln!(out, "{indent}{:<17}{value}", format!("{name}:"));
}

/// A list in brackets; a line that passes the wrap column goes on below the bracket.
fn flow(out: &mut String, lead: &str, items: impl Iterator<Item = String>) {
    let start = lead.len();
    out.push_str(lead);
    out.push_str("[ ");
    let mut column = start + 2;
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.push_str(", ");
            column += 2;
        }
        if column > WRAP_COLUMN {
            let _ = write!(out, "\n{:start$}  ", "");
            column = start + 2;
        }
        out.push_str(&item);
        column += item.len();
    }
    out.push_str(" ]\n");
}

fn kind_name(kind: ResourceKind) -> &'static str {
    use ResourceKind as K;
    match kind {
        K::Buffer => "Buffer",
        K::StructuredBuffer => "StructuredBuffer",
        K::ByteAddressBuffer => "ByteAddressBuffer",
        K::Texture2D => "Texture2D",
        K::RWBuffer => "RWBuffer",
        K::RWStructuredBuffer => "RWStructuredBuffer",
        K::RWByteAddressBuffer => "RWByteAddressBuffer",
        K::RWTexture2D => "RWTexture2D",
        K::ConstantBuffer => "ConstantBuffer",
        K::Sampler => "Sampler",
        K::SampledTexture2D => "SampledTexture2D",
        K::AccelerationStructure => "AccelerationStructure",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::pipeline::{DataFormat, OutputProps};

    #[test]
    fn lists_wrap_after_column_70() {
        let b = Buffer {
            name: "Out".into(),
            format: DataFormat::UInt32,
            channels: 1,
            stride: 4,
            data: vec![(0..40u32).flat_map(u32::to_le_bytes).collect()],
            counters: vec![3],
            output: OutputProps::default(),
        };
        let text = document(&b);
        assert!(
            text.contains("Name:            Out\nFormat:          UInt32\nStride:          4\nCounter:         3\n")
        );
        let data: Vec<_> = text.lines().skip_while(|l| !l.starts_with("Data:")).take(3).collect();
        assert!(data[0].starts_with("Data:            [ 0, 1, 2"));
        assert!(data[1].starts_with("                   1"), "{data:?}");
        assert!(data.iter().all(|l| l.len() < 80));
    }
}
