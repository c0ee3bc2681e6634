//! The front end as a whole: what it lowers to, and what it refuses where.

mod control;
mod expressions;
mod functions;
mod limits;
mod ray_query;
mod resources;
mod signatures;
mod templates;
mod types;
mod vulkan;

use oneshader_diag::{DiagnosticBag, Severity, SourceMap};
use oneshader_hlsl::options::{EntryRequest, FrontOptions, LanguageVersion};
use oneshader_hlsl::pp::NoIncludes;
use oneshader_hlsl::{SourceInput, compile_to_ir};
use oneshader_ir::{IrModule, Stage, text, verify};

/// A compile that is to be looked at.
pub struct Compile {
    options: FrontOptions,
    text: String,
}

/// A compute shader's source.
pub fn cs(text: &str) -> Compile {
    Compile::new(text, Stage::Compute)
}

/// A pixel shader's source.
pub fn ps(text: &str) -> Compile {
    Compile::new(text, Stage::Pixel)
}

/// A vertex shader's source.
pub fn vs(text: &str) -> Compile {
    Compile::new(text, Stage::Vertex)
}

/// The body of a compute shader over a few buffers.
pub fn body(text: &str) -> Compile {
    cs(&format!(
        "RWStructuredBuffer<float4> F; RWStructuredBuffer<uint4> U; RWStructuredBuffer<int4> I;\n\
         [numthreads(8, 1, 1)] void main(uint3 id : SV_DispatchThreadID) {{\n{text}\n}}"
    ))
}

impl Compile {
    fn new(text: &str, stage: Stage) -> Self {
        let mut options = FrontOptions::default();
        options.lower.entries.push(EntryRequest { name: "main".into(), stage: Some(stage) });
        Compile { options, text: text.into() }
    }

    /// Under HLSL 2018.
    pub fn hlsl2018(mut self) -> Self {
        self.options.lower.version = LanguageVersion::V2018;
        self.options.preprocessor.hlsl_version = 2018;
        self
    }

    /// With 16-bit types.
    pub fn native16(mut self) -> Self {
        self.options.lower.native_16bit = true;
        self.options.preprocessor.native_16bit = true;
        self
    }

    /// Without a stated entry point.
    pub fn library(mut self) -> Self {
        self.options.lower.entries.clear();
        self
    }

    fn run(&self) -> (Option<IrModule>, Vec<String>, Vec<String>) {
        let mut map = SourceMap::new();
        let mut bag = DiagnosticBag::new();
        let source = SourceInput { name: "t.hlsl".into(), text: self.text.as_str().into() };
        let out = compile_to_ir(&source, &self.options, &NoIncludes, &mut map, &mut bag);
        let show = |severity: Severity| {
            bag.iter()
                .filter(|d| d.severity == severity)
                .map(|d| {
                    let line = map.locate(d.primary).map_or(0, |(_, at)| at.line);
                    format!("{} at {line}: {}", d.code, d.message)
                })
                .collect::<Vec<_>>()
        };
        let (errors, warnings) = (show(Severity::Error), show(Severity::Warning));
        (out.module, errors, warnings)
    }

    /// The module, which must be legal.
    pub fn module(&self) -> IrModule {
        let (module, errors, _) = self.run();
        let Some(module) = module else { panic!("{}\n{}", errors.join("\n"), self.text) };
        if let Err(report) = verify::verify(&module, "lowering") {
            panic!("{report}\n{}", text::print(&module));
        }
        module
    }

    /// The module's text; every fragment is to be in it, in this order.
    pub fn has(&self, fragments: &[&str]) {
        let printed = text::print(&self.module());
        let mut rest = printed.as_str();
        for fragment in fragments {
            match rest.find(fragment) {
                Some(at) => rest = &rest[at + fragment.len()..],
                None => panic!("`{fragment}` is missing (in this order) in\n{printed}"),
            }
        }
    }

    /// None of the fragments is in the module's text.
    pub fn has_not(&self, fragments: &[&str]) {
        let printed = text::print(&self.module());
        for fragment in fragments {
            assert!(!printed.contains(fragment), "`{fragment}` should not be in\n{printed}");
        }
    }

    /// It compiles.
    pub fn compiles(&self) {
        self.module();
    }

    /// It is refused with exactly these errors, each `OSH2010 at 3`: code and line.
    pub fn refused(&self, want: &[&str]) {
        let (_, errors, _) = self.run();
        let got: Vec<&str> = errors.iter().map(|e| e.split(':').next().unwrap_or("")).collect();
        assert_eq!(got, want, "{}\n{}", errors.join("\n"), self.text);
    }

    /// It compiles with exactly these warnings.
    pub fn warned(&self, want: &[&str]) {
        self.module();
        let (_, _, warnings) = self.run();
        let got: Vec<&str> = warnings.iter().map(|e| e.split(':').next().unwrap_or("")).collect();
        assert_eq!(got, want, "{}\n{}", warnings.join("\n"), self.text);
    }
}

/// Constant expressions that hold: types, conversions and folding without a machine.
pub fn holds(declarations: &str, conditions: &[&str]) {
    let asserts: Vec<String> = conditions.iter().map(|c| format!("_Static_assert({c}, \"no\");")).collect();
    cs(&format!("{declarations}\n{}\n[numthreads(1, 1, 1)] void main() {{}}", asserts.join("\n"))).compiles();
}
