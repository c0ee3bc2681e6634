//! The entry function through which the executor calls a kernel: what each argument is made of.
use super::{Argument, ArgumentKind, Error, Value};
use crate::lex::TokenStream;
use crate::syntax::{Entry, Parameter, Stage, entries, parameter};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How a built-in input is made from the thread's context, an array of `uint` that runtime.c fills.
enum Input {
    /// Up to three components from this place on.
    Position(u32),
    Zero,
    Scalar(&'static str),
}

const INPUTS: [(&str, Input); 20] = [
    ("dispatch_quadgroups_per_threadgroup", Input::Scalar("(c[19] * c[20] * c[21] + 3) / 4")),
    ("dispatch_simdgroups_per_threadgroup", Input::Scalar("(c[19] * c[20] * c[21] + c[22] - 1) / c[22]")),
    ("dispatch_threads_per_threadgroup", Input::Position(19)),
    ("grid_origin", Input::Zero),
    ("grid_size", Input::Position(16)),
    ("quadgroup_index_in_threadgroup", Input::Scalar("c[15] / 4")),
    ("quadgroups_per_threadgroup", Input::Scalar("(c[9] * c[10] * c[11] + 3) / 4")),
    ("simdgroup_index_in_threadgroup", Input::Scalar("c[15] / c[22]")),
    ("simdgroups_per_threadgroup", Input::Scalar("(c[9] * c[10] * c[11] + c[22] - 1) / c[22]")),
    ("thread_execution_width", Input::Scalar("c[22]")),
    ("thread_index_in_quadgroup", Input::Scalar("c[15] % 4")),
    ("thread_index_in_simdgroup", Input::Scalar("c[15] % c[22]")),
    ("thread_index_in_threadgroup", Input::Scalar("c[15]")),
    ("thread_position_in_grid", Input::Position(0)),
    ("thread_position_in_threadgroup", Input::Position(3)),
    ("threadgroup_position_in_grid", Input::Position(6)),
    ("threadgroups_per_grid", Input::Position(12)),
    ("threads_per_grid", Input::Position(16)),
    ("threads_per_simdgroup", Input::Scalar("c[22]")),
    ("threads_per_threadgroup", Input::Position(9)),
];

/// A kernel ready to be called: the text to append, and its arguments.
pub(super) struct Glue {
    pub name: String,
    pub text: String,
    pub arguments: Vec<Argument>,
}

/// Writes the entry function for the kernel `wanted`, or for the only one.
pub(super) fn glue(text: &str, wanted: Option<&str>) -> Result<Glue, Error> {
    let s = TokenStream::code(text);
    let kernels: Vec<Entry> =
        entries(&s).into_iter().filter(|e| e.stage == Stage::Kernel && s.str(e.close + 1) == "{").collect();
    let entry = match wanted {
        Some(name) => kernels.iter().find(|e| s.str(e.name) == name),
        None if kernels.len() == 1 => kernels.first(),
        None => None,
    };
    let Some(entry) = entry else {
        let available = kernels.iter().map(|e| s.str(e.name).to_owned()).collect();
        return Err(Error::NoKernel { wanted: wanted.map(str::to_owned), available });
    };
    let name = s.str(entry.name);
    let ranges = s.split_commas(entry.open + 1, entry.close);
    let parameters: Vec<Parameter<'_>> = ranges.iter().map(|&(from, to)| parameter(&s, from, to)).collect();
    let parameters: Vec<Parameter<'_>> = parameters.into_iter().filter(|p| p.text != "void").collect();
    let mut arguments = Vec::new();
    let mut calls = Vec::new();
    for (i, p) in parameters.iter().enumerate() {
        calls.push(argument(&s, &parameters, i, p, &mut arguments)?);
    }
    // The parameter list as written: its types, after macros and templates, are what the arguments must have.
    let list = &s.text[s.tokens[entry.open].end..s.tokens[entry.close].start];
    let types = if calls.is_empty() { "" } else { "typedef parameters<decltype(__msl_signature)> S; " };
    let text = format!(
        "\nvoid __msl_signature({list});\nextern \"C\" __constant char __msl_entry_name[] = \"{name}\";\n\
         extern \"C\" void __msl_entry(const ulong __private* b, const ulong __private* t, const metal::sampler __private* s, const uint __private* c) \
         {{ using namespace metal::__msl; uint zero[3] = {{0, 0, 0}}; (void)zero; {types}::{name}({}); }}\n",
        calls.join(", ")
    );
    Ok(Glue { name: name.to_owned(), text, arguments })
}

/// The expression that makes argument `i`.
fn argument(
    s: &TokenStream<'_>,
    all: &[Parameter<'_>],
    i: usize,
    p: &Parameter<'_>,
    arguments: &mut Vec<Argument>,
) -> Result<String, Error> {
    let name =
        p.text.rsplit(' ').find(|w| w.starts_with(|c: char| c.is_alphabetic() || c == '_')).unwrap_or("").to_owned();
    let ty = format!("S::type<{i}>");
    for a in &p.attributes {
        if let Some((_, input)) = INPUTS.iter().find(|(n, _)| *n == a.name) {
            return Ok(match input {
                Input::Position(place) => format!("position_argument<{ty}>::make(c + {place})"),
                Input::Zero => format!("position_argument<{ty}>::make(zero)"),
                Input::Scalar(expression) => format!("{ty}({expression})"),
            });
        }
    }
    if p.is_table() {
        return Err(Error::Unsupported(format!("'{}': ray tracing is checked and not executed", p.text)));
    }
    let explicit =
        |p: &Parameter<'_>| p.attributes.iter().find(|a| RESOURCES.contains(&a.name)).and_then(|a| a.index(s));
    if !p.is_resource() && explicit(p).is_none() {
        return Err(Error::Unsupported(format!("parameter '{}'", p.text)));
    }
    let index = match explicit(p) {
        Some(index) => index,
        // Metal gives the lowest index that is free, in the order of parameters.
        None => {
            let alike = |q: &&Parameter<'_>| kind(q) == kind(p);
            let taken: Vec<u64> = all.iter().filter(alike).filter_map(explicit).collect();
            let earlier = all[..i].iter().filter(alike).filter(|q| q.is_resource() && explicit(q).is_none()).count();
            (0..u64::MAX).filter(|n| !taken.contains(n)).nth(earlier).unwrap_or(0)
        }
    };
    let index = u32::try_from(index).unwrap_or(u32::MAX);
    arguments.push(Argument { name, kind: kind(p), index, count: p.count as u32 });
    Ok(match kind(p) {
        ArgumentKind::Buffer => format!("memory_argument<{ty}>::make(b + {index})"),
        ArgumentKind::Threadgroup => format!("memory_argument<{ty}>::make(t + {index})"),
        ArgumentKind::Texture => format!("texture_argument<{ty}>::make({index})"),
        ArgumentKind::Sampler => format!("sampler_argument<{ty}>::make(s + {index})"),
    })
}

const RESOURCES: [&str; 4] = ["buffer", "threadgroup", "texture", "sampler"];

fn kind(p: &Parameter<'_>) -> ArgumentKind {
    if p.is_texture() {
        ArgumentKind::Texture
    } else if p.is_sampler() {
        ArgumentKind::Sampler
    } else if p.has_word("threadgroup") {
        ArgumentKind::Threadgroup
    } else {
        ArgumentKind::Buffer
    }
}

/// A header that gives function constants their values.
pub(super) fn constants(values: &BTreeMap<u32, Value>) -> String {
    let mut out = String::new();
    for (index, value) in values {
        let (ty, value) = match *value {
            Value::Bool(v) => ("bool", v.to_string()),
            Value::Int(v) => ("int", format!("int({}u)", v as u32)),
            Value::Uint(v) => ("uint", format!("{v}u")),
            Value::Float(v) => ("float", format!("__builtin_bit_cast(float, {}u)", v.to_bits())),
        };
        let _ = writeln!(
            out,
            "namespace metal {{ namespace __msl {{ template<> struct fcv<{index}> {{ static constexpr bool defined = true; static constexpr {ty} v = {value}; }}; }} }}"
        );
    }
    out
}
