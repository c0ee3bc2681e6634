//! DXC's command line, as a library: build scripts and tools that have lists of DXC arguments use them unchanged.
//!
//! [`Invocation::parse`] reads words into [`Options`] and the outputs asked for; it touches no file but the `@file`s of
//! arguments and the binding map, and compiles nothing.

mod contradictions;
mod flags;

use std::path::PathBuf;
use std::sync::Arc;

use oneshader_diag::Warnings;
use oneshader_hlsl::pp::{Define, DirLoader};
use oneshader_ir::layout::LayoutOptions;
use oneshader_ir::slots::{BindRegister, BindingMap, Shift, SpirvSlot};
use oneshader_ir::{MatrixOrder, RegisterClass};
use oneshader_msl::{BufferArrays, MslBinding, MslPlatform, MslSemantics, MslVersion};
use oneshader_spirv::{Extension, TargetEnv};

use crate::options::{CompileTarget, OptLevel, Options};
pub use flags::help;
use flags::{Flag, Given, Group, find_spec};

/// How diagnostics are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// As rustc does.
    #[default]
    Text,
    /// A JSON object a line.
    Json,
    /// One SARIF log.
    Sarif,
}

/// When diagnostics are coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Color {
    /// When they go to a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What a depfile is made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Depend {
    /// None is made.
    #[default]
    None,
    /// To be read at once (`-M`): it goes to standard output unless `-MF` names a file, and code is made only if `-Fo`
    /// says where it goes.
    Print,
    /// It is made beside the output (`-MD`, `-MF`).
    Beside,
}

/// What the user wants to be told instead of a compile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ask {
    /// `-help`.
    Help,
    /// `--version`.
    Version,
}

/// A command line, understood.
#[derive(Clone)]
pub struct Invocation {
    /// What to compile and how; the include loader reads the directories of `-I`.
    pub options: Options,
    /// Input files; `-` is standard input.
    pub inputs: Vec<PathBuf>,
    /// Where the code goes (`-Fo`); `-` is standard output.
    pub object: Option<PathBuf>,
    /// Where the text of the IR goes (`-Fc`).
    pub assembly: Option<PathBuf>,
    /// Where reflection goes (`-Fre`).
    pub reflection: Option<PathBuf>,
    /// Where the table of layouts goes (`-Flayout`).
    pub layout: Option<PathBuf>,
    /// Preprocess only (`-P`).
    pub preprocess: bool,
    /// Where `-P` writes (`-Fi`).
    pub preprocessed: Option<PathBuf>,
    /// What a depfile is made for.
    pub depend: Depend,
    /// Where the depfile goes (`-MF`).
    pub depfile: Option<PathBuf>,
    /// How diagnostics are written.
    pub format: Format,
    /// When they are coloured.
    pub color: Color,
    /// Whether `-help` or `--version` was given.
    pub ask: Option<Ask>,
    /// DXC's flags that make no difference here, as spelled.
    pub ignored: Vec<String>,
}

impl Invocation {
    /// Reads the words after the program's name.
    ///
    /// # Errors
    /// A sentence for the user: an unknown flag, a missing or impossible value, a file of arguments that cannot be read.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let line = flags::parse(words)?;
        let target = line.flags.iter().rev().find_map(|g| match g.flag {
            Flag::Spirv => Some(CompileTarget::Spirv),
            Flag::Msl => Some(CompileTarget::Msl),
            _ => None,
        });
        let target = target.unwrap_or(CompileTarget::Msl);
        let mut this = Self {
            options: Options::new(target),
            inputs: line.inputs,
            object: None,
            assembly: None,
            reflection: None,
            layout: None,
            preprocess: false,
            preprocessed: None,
            depend: Depend::None,
            depfile: None,
            format: Format::Text,
            color: Color::Auto,
            ask: None,
            ignored: Vec::new(),
        };
        let mut dirs = DirLoader::default();
        for given in &line.flags {
            if given.flag == Flag::Include {
                dirs.dirs.extend(given.values.iter().map(PathBuf::from));
            } else {
                this.apply(given)?;
            }
        }
        if this.depfile.is_some() && this.depend == Depend::None {
            this.depend = Depend::Beside;
        }
        this.options.loader = Arc::new(dirs);
        contradictions::check(&line.flags, &this.options)?;
        Ok(this)
    }

    fn apply(&mut self, given: &Given) -> Result<(), String> {
        if find_spec(given.flag).group == Group::Ignored {
            self.ignored.push(given.spelling.clone());
            return Ok(());
        }
        let value = || given.values.first().cloned().unwrap_or_default();
        let path = || Some(PathBuf::from(value()));
        let options = &mut self.options;
        match given.flag {
            Flag::Profile => options.profile = value().parse().map_err(|e: crate::ProfileError| e.to_string())?,
            Flag::Entry => options.entries = vec![value()],
            Flag::HlslVersion => options.hlsl_version = hlsl_version(&value())?,
            Flag::RowMajor => options.matrix_order = MatrixOrder::RowMajor,
            Flag::ColumnMajor => options.matrix_order = MatrixOrder::ColumnMajor,
            Flag::Native16 => options.native_16bit = true,
            Flag::O0 => options.opt_level = OptLevel::O0,
            Flag::O1 => options.opt_level = OptLevel::O1,
            Flag::O2 | Flag::O3 => options.opt_level = OptLevel::O3,
            Flag::LegacyMacros => options.legacy_macros = true,
            Flag::IeeeStrict => options.ieee_strict = true,
            Flag::Object => self.object = path(),
            Flag::Assembly => self.assembly = path(),
            Flag::Reflection => self.reflection = path(),
            Flag::Layout => self.layout = path(),
            Flag::Depend => self.depend = Depend::Print,
            Flag::DependToo => self.depend = Depend::Beside,
            Flag::DependFile => self.depfile = path(),
            Flag::Define => options.defines.push(Define::parse(&value())),
            Flag::Undefine => options.defines.push(Define::Undef(value())),
            Flag::Preprocess => self.preprocess = true,
            Flag::PreprocessFile => self.preprocessed = path(),
            Flag::MslVersion => {
                options.msl.version = MslVersion::parse(&value())
                    .ok_or_else(|| format!("{}: expected 2.4, 3.0, 3.1 or 3.2", given.spelling))?;
            }
            Flag::MslPlatform => {
                options.msl.platform = choose(given, &[("macos", MslPlatform::MacOs), ("ios", MslPlatform::Ios)])?;
            }
            Flag::MslBinding => {
                let models = [("direct", MslBinding::Direct), ("argument-struct", MslBinding::ArgumentStruct)];
                options.msl.binding = choose(given, &models)?;
            }
            Flag::MslSemantics => {
                options.msl.semantics = choose(given, &[("hlsl", MslSemantics::Hlsl), ("metal", MslSemantics::Metal)])?;
            }
            Flag::MslBufferArrays => {
                let forms = [("array", BufferArrays::Array), ("arguments", BufferArrays::Arguments)];
                options.msl.buffer_arrays = choose(given, &forms)?;
            }
            Flag::MslBufferSizes => options.msl.buffer_sizes = true,
            Flag::MslInt64 => options.msl.emulate_int64 = true,
            Flag::MslWaveMatch => options.msl.emulate_wave_match = true,
            Flag::MslLines => options.msl_lines = true,
            Flag::BindingMap => {
                let text = std::fs::read_to_string(value()).map_err(|e| format!("cannot read {}: {e}", value()))?;
                let map: BindingMap = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", value()))?;
                options.slots.map = map;
            }
            Flag::TargetEnv => {
                options.spirv.target = TargetEnv::parse(&value()).ok_or_else(|| {
                    format!("{}: expected {}", given.spelling, names(TargetEnv::ALL.iter().map(|e| e.1)))
                })?;
            }
            Flag::ShiftB => shift(&mut options.slots.spirv.b_shift, given)?,
            Flag::ShiftT => shift(&mut options.slots.spirv.t_shift, given)?,
            Flag::ShiftS => shift(&mut options.slots.spirv.s_shift, given)?,
            Flag::ShiftU => shift(&mut options.slots.spirv.u_shift, given)?,
            Flag::AutoShift => options.slots.spirv.auto_shift = true,
            Flag::FlattenArrays => {
                options.slots.spirv.flatten_arrays = true;
                options.spirv.flatten_arrays = true;
            }
            Flag::BindRegister => options.slots.spirv.bind_register.push(bind_register(given)?),
            Flag::BindGlobals => {
                let [binding, set] = numbers(given)?;
                options.slots.spirv.bind_globals = Some(SpirvSlot { set, binding });
            }
            Flag::CounterHeap => {
                let [binding, set] = numbers(given)?;
                options.slots.spirv.counter_heap = Some(SpirvSlot { set, binding });
                options.slots.spirv.reserved.push(SpirvSlot { set, binding });
            }
            Flag::ResourceHeap | Flag::SamplerHeap => {
                let [binding, set] = numbers(given)?;
                options.slots.spirv.reserved.push(SpirvSlot { set, binding });
                options.heap_bindings[usize::from(given.flag == Flag::SamplerHeap)] = Some((binding, set));
            }
            Flag::BindingSpace => {
                let [space] = numbers(given)?;
                options.slots.spirv.default_space = space;
            }
            Flag::DxLayout => options.layout = LayoutOptions::DX,
            Flag::GlLayout => options.layout = LayoutOptions::GL,
            Flag::ScalarLayout => options.layout = LayoutOptions::SCALAR,
            Flag::InvertY => options.spirv.invert_y = true,
            Flag::PositionW => options.spirv.dx_position_w = true,
            Flag::BaseVertex => options.spirv.zero_base_vertex = true,
            Flag::BaseInstance => options.spirv.zero_base_instance = true,
            Flag::Lines => options.spirv.lines = true,
            Flag::Debug => options.spirv.lines |= choose(given, DEBUG_LEVELS)?,
            Flag::StripNames => options.spirv.names = false,
            Flag::SpirvReflect => options.spirv.reflect = true,
            Flag::UnknownFormats => options.spirv.unknown_image_formats = true,
            Flag::SpirvExtension => {
                let extension = Extension::parse(&value()).ok_or_else(|| unknown_extension(&value()))?;
                options.spirv.demote |= extension.name() == "SPV_EXT_demote_to_helper_invocation";
                options.spirv.extensions.push(extension);
            }
            Flag::LegacyMatrixOrder => options.raw_row_major = true,
            Flag::EntryName => options.spirv.entry_name = Some(value()),
            Flag::WarningsAsErrors => options.warnings = Warnings::Deny,
            Flag::NoWarnings => options.warnings = Warnings::Hide,
            Flag::Format => {
                let formats = [("text", Format::Text), ("json", Format::Json), ("sarif", Format::Sarif)];
                self.format = choose(given, &formats)?;
            }
            Flag::Color => {
                let choices = [("auto", Color::Auto), ("always", Color::Always), ("never", Color::Never)];
                self.color = choose(given, &choices)?;
            }
            Flag::Help => self.ask = Some(Ask::Help),
            Flag::Version => self.ask = Some(Ask::Version),
            // The target was found before; includes are collected by the caller; the rest were ignored above.
            Flag::Msl | Flag::Spirv | Flag::Include | Flag::NoEffect | Flag::NoEffectValue | Flag::NoEffectRest => {}
            Flag::BackCompatible | Flag::StripReflection | Flag::DebugFile | Flag::OptConfig => {}
        }
        Ok(())
    }
}

/// The levels of `-fspv-debug`, and whether lines are part of them.
const DEBUG_LEVELS: &[(&str, bool)] = &[
    ("file", false),
    ("source", false),
    ("tool", false),
    ("line", true),
    ("rich", true),
    ("rich-with-source", true),
    ("vulkan", true),
    ("vulkan-with-source", true),
];

/// Words of a list in a sentence: `a, b or c`.
fn names<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    match words.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => words.concat(),
    }
}

fn unknown_extension(name: &str) -> String {
    match oneshader_diag::closest(name, Extension::names()) {
        Some(near) => format!("-fspv-extension: unknown extension {name}; did you mean {near}?"),
        None => {
            let known: Vec<&str> = Extension::names().collect();
            format!("-fspv-extension: unknown extension {name}; known are {}", known.join(", "))
        }
    }
}

/// The value of a flag that takes one of a few words.
fn choose<T: Copy>(given: &Given, choices: &[(&str, T)]) -> Result<T, String> {
    let value = given.values.first().map_or("", String::as_str);
    choices
        .iter()
        .find(|(name, _)| *name == value)
        .map(|(_, choice)| *choice)
        .ok_or_else(|| format!("{}: expected {}", given.spelling, names(choices.iter().map(|(name, _)| *name))))
}

/// The values of a flag that takes numbers.
fn numbers<const N: usize>(given: &Given) -> Result<[u32; N], String> {
    let mut out = [0; N];
    for (slot, value) in out.iter_mut().zip(&given.values) {
        *slot = value.parse().map_err(|_| format!("{}: `{value}` is no number", given.spelling))?;
    }
    Ok(out)
}

fn hlsl_version(text: &str) -> Result<u16, String> {
    match text {
        "2016" | "2017" | "2018" | "2021" => Ok(text.parse().unwrap_or(2021)),
        "202x" => Ok(2022),
        _ => Err(format!("-HV {text}: expected 2016, 2017, 2018, 2021 or 202x")),
    }
}

/// `-fvk-b-shift N SPACE`; the space may be `all`.
fn shift(shift: &mut Shift, given: &Given) -> Result<(), String> {
    let [amount, space] = &given.values[..] else { return Err(format!("{}: expected N SPACE", given.spelling)) };
    let amount: i32 = amount.parse().map_err(|_| format!("{}: `{amount}` is no number", given.spelling))?;
    if space == "all" {
        shift.all = amount;
        return Ok(());
    }
    let space = space.parse().map_err(|_| format!("{}: `{space}` is neither a number nor all", given.spelling))?;
    shift.spaces.push((space, amount));
    Ok(())
}

/// `-fvk-bind-register b0 SPACE BINDING SET`.
fn bind_register(given: &Given) -> Result<BindRegister, String> {
    let wrong = || format!("{}: expected a register such as b0, a space, a binding and a set", given.spelling);
    let [register, space, binding, set] = &given.values[..] else { return Err(wrong()) };
    let class = match register.chars().next() {
        Some('b') => RegisterClass::B,
        Some('t') => RegisterClass::T,
        Some('u') => RegisterClass::U,
        Some('s') => RegisterClass::S,
        _ => return Err(wrong()),
    };
    let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
    Ok(BindRegister {
        class,
        index: number(&register[1..])?,
        space: number(space)?,
        slot: SpirvSlot { set: number(set)?, binding: number(binding)? },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Invocation, String> {
        Invocation::parse(line.split(' ').map(String::from))
    }

    #[test]
    fn a_dxc_command_line_is_understood() {
        let it = parse(
            "-T ps_6_2 -E PSMain -HV 2018 -Zpr -enable-16bit-types -DA=1 -spirv -fspv-target-env=vulkan1.2 \
             -fvk-t-shift 16 all -fvk-b-shift 2 1 -fvk-bind-register s3 1 5 2 -fvk-use-dx-layout -O2 -Fo a.spv x.hlsl",
        )
        .unwrap();
        let o = &it.options;
        assert_eq!(o.target, CompileTarget::Spirv);
        assert_eq!(o.profile.to_string(), "ps_6_2");
        assert_eq!(o.entries, ["PSMain"]);
        assert_eq!((o.hlsl_version, o.matrix_order, o.native_16bit), (2018, MatrixOrder::RowMajor, true));
        assert_eq!(o.spirv.target, TargetEnv::Vulkan1_2);
        assert_eq!(o.slots.spirv.t_shift.all, 16);
        assert_eq!(o.slots.spirv.b_shift.spaces, [(1, 2)]);
        let bind = o.slots.spirv.bind_register[0];
        assert_eq!((bind.class, bind.index, bind.space), (RegisterClass::S, 3, 1));
        assert_eq!(bind.slot, SpirvSlot { set: 2, binding: 5 });
        assert_eq!(o.layout, LayoutOptions::DX);
        assert_eq!(it.object, Some("a.spv".into()));
        assert_eq!(it.inputs, [PathBuf::from("x.hlsl")]);
    }

    #[test]
    fn flags_without_effect_are_told() {
        let it = parse("-T ps_6_0 -Qembed_debug -Wno-conversion x.hlsl").unwrap();
        assert_eq!(it.ignored, ["-Qembed_debug", "-Wno-conversion"]);
    }

    #[test]
    fn wrong_values_say_what_is_right() {
        for (line, want) in [
            ("-HV 2019 x", "2021"),
            ("-T gs_5_0 x", "geometry"),
            ("-msl-version=9 x", "2.4"),
            ("-msl-binding=x x", "argument-struct"),
            ("-fvk-b-shift 1 x y", "all"),
            ("-diagnostics-format=xml x", "sarif"),
        ] {
            let error = parse(line).err().unwrap_or_default();
            assert!(error.contains(want), "{line}: {error}");
        }
    }
}
