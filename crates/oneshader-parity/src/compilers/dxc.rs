//! DXC as a library: the reference.
//!
//! The library is loaded from a path; nothing of ours links it.

use super::{CompileError, Compiler, Files, Request, Target, spirv_words};
use crate::engines::Code;
use hassle_rs::{Dxc, DxcCompiler, DxcIncludeHandler, DxcLibrary};
use std::mem::ManuallyDrop;
use std::path::Path;

/// The environment variable that names the library.
pub const ENV: &str = "ONESHADER_DXC";

/// A loaded DXC. It stays loaded for the life of the process: unloading runs its global destructors, which are not
/// safe once other threads have used it.
pub struct DxcReference {
    library: ManuallyDrop<DxcLibrary>,
    compiler: ManuallyDrop<DxcCompiler>,
    lenient: bool,
    _dxc: ManuallyDrop<Dxc>,
}

impl DxcReference {
    /// Loads `libdxcompiler.so` (or `.dylib`) from a path. A lenient one gives code that its own validator refuses.
    pub fn load(path: &Path, lenient: bool) -> Result<Self, String> {
        let dxc = Dxc::new(Some(path.to_path_buf())).map_err(|e| format!("{}: {e}", path.display()))?;
        let dxc = ManuallyDrop::new(dxc);
        let library = ManuallyDrop::new(dxc.create_library().map_err(|e| e.to_string())?);
        let compiler = ManuallyDrop::new(dxc.create_compiler().map_err(|e| e.to_string())?);
        Ok(Self { library, compiler, lenient, _dxc: dxc })
    }
}

struct Includes<'a> {
    files: &'a dyn Files,
}

impl DxcIncludeHandler for Includes<'_> {
    fn load_source(&mut self, name: String) -> Option<String> {
        let name = name.replace('\\', "/");
        // DXC asks for every place it would look at, joined to the folder of the including file or of an -I.
        let name = name.strip_prefix("./").unwrap_or(&name);
        self.files.read(name)
    }
}

impl Compiler for DxcReference {
    fn name(&self) -> &'static str {
        "DXC"
    }

    fn compile(&mut self, request: &Request<'_>) -> Result<Code, CompileError> {
        if request.target != Target::Spirv {
            return Err(CompileError::text("DXC makes SPIR-V only"));
        }
        let line = request.line;
        let source = request
            .files
            .read(&line.input)
            .ok_or_else(|| CompileError::text(format!("{}: no such file", line.input)))?;
        let blob =
            self.library.create_blob_with_encoding_from_str(&source).map_err(|e| CompileError::text(e.to_string()))?;
        let mut args = vec!["-spirv"];
        if !line.rest.iter().any(|a| a.starts_with("-fspv-target-env")) {
            args.push("-fspv-target-env=vulkan1.3");
        }
        // DXC refuses -Gis with -spirv. Its arithmetic there is what -Gis asks for, as far as SPIR-V can say it.
        args.extend(line.rest.iter().map(String::as_str).filter(|a| *a != "-Gis"));
        for dir in &line.includes {
            args.extend(["-I", dir]);
        }
        let defines: Vec<_> = line
            .defines
            .iter()
            .map(|d| d.split_once('=').map_or((d.as_str(), Some("1")), |(n, v)| (n, Some(v))))
            .collect();
        let run = |args: &[&str]| {
            let mut includes = Includes { files: request.files };
            let includes = Some(&mut includes as &mut dyn DxcIncludeHandler);
            let done = self.compiler.compile(&blob, &line.input, line.entry(), &line.profile, args, includes, &defines);
            match done {
                Ok(r) => {
                    let bytes = r.get_result().map_err(|e| e.to_string())?.to_vec::<u8>();
                    spirv_words(&bytes).map(Code::Spirv)
                }
                Err((r, code)) => Err(r
                    .get_error_buffer()
                    .and_then(|b| self.library.get_blob_as_string(&b.into()))
                    .unwrap_or_else(|_| format!("failed: {code}"))
                    .trim_end_matches(['\0', '\n'])
                    .to_owned()),
            }
        };
        let mut result = run(&args);
        // Its validator is stricter than devices are (bit counts of 16-bit integers, for one). The reference is what
        // the device makes of its code.
        if self.lenient && result.as_ref().is_err_and(|e| e.contains("generated SPIR-V is invalid")) {
            args.push("-Vd");
            result = run(&args);
        }
        result.map_err(CompileError::text)
    }
}
