//! Clang: where it is, how it is called, and its precompiled headers.
use crate::process::{self, Failure};
use crate::version::LanguageVersion;
use crate::{Error, headers};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Programs tried in turn, after the environment variable `METAL_CHECK_CLANG`.
const PROGRAMS: [&str; 5] = ["clang-19", "clang-20", "clang-21", "clang", "clang-18"];
/// The oldest major version whose C++ for OpenCL does what the headers need.
const OLDEST: u32 = 18;
/// Building a precompiled header takes seconds; more than this is a clang that hangs.
const HEADER_LIMIT: Duration = Duration::from_secs(300);

/// How Metal source is compiled. See `include/msl/prelude.h` for the choice of mode.
const MODE: [&str; 16] = [
    "-x",
    "clcpp",
    "-cl-std=clc++2021",
    "-cl-no-stdinc",
    "-cl-single-precision-constant",
    "-fdeclspec",
    // MSL 2.1: half, no double.
    "-Xclang",
    "-cl-ext=+cl_khr_fp16,-cl_khr_fp64,-__opencl_c_fp64",
    "-ferror-limit=50",
    "-ftemplate-depth=256",
    "-fconstexpr-steps=1048576",
    "-fno-caret-diagnostics",
    "-fno-color-diagnostics",
    "-fno-diagnostics-show-option",
    "-Wno-everything",
    "-Wno-unused-command-line-argument",
];

/// Warnings of clang that are errors here, because Apple's compiler refuses the text or the result is garbage.
const ERRORS: [&str; 6] = [
    "-Werror=return-type",
    "-Werror=int-conversion",
    "-Werror=uninitialized-const-reference",
    "-Werror=incompatible-pointer-types",
    "-Werror=global-constructors",
    "-Werror=zero-length-array",
];

/// A usable clang with the headers of one language version in the cache.
#[derive(Debug, Clone)]
pub(crate) struct Clang {
    program: PathBuf,
    version: LanguageVersion,
    /// Directory of this content: `include/`, precompiled headers, objects.
    pub cache: PathBuf,
    identity: String,
}

/// What a compilation is for: code needs other options than a check, and they enter the precompiled header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Check,
    /// Code for the executor: one definition of arithmetic, and every access to memory reported.
    Execute,
}

impl Purpose {
    /// Options beyond those of every compilation.
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Check => &[],
            Self::Execute => &[
                "-D__MSL_EXECUTE__=1",
                "-O1",
                "-fPIC",
                "-ffp-contract=off",
                "-fwrapv",
                "-fno-strict-aliasing",
                "-fno-finite-loops",
                "-fno-unroll-loops",
                "-ftrivial-auto-var-init=pattern",
                "-fsanitize=kernel-address",
                "-mllvm",
                "-asan-instrumentation-with-call-threshold=0",
                "-mllvm",
                "-asan-stack=0",
                "-mllvm",
                "-asan-globals=1",
                "-mllvm",
                "-asan-kernel-mem-intrinsic-prefix=1",
            ],
        }
    }
}

impl Clang {
    /// Finds clang and writes the headers of this build into the cache.
    pub fn new(program: Option<&Path>, cache: Option<&Path>, version: LanguageVersion) -> Result<Self, Error> {
        let (program, identity) = find(program)?;
        let headers = headers::all();
        let mut hash = Fnv::default();
        let stubs = headers::stubs();
        for (path, text) in headers.iter().chain(&stubs) {
            hash.add(path);
            hash.add(text);
        }
        hash.add(crate::run::RUNTIME);
        hash.add(&identity);
        for flag in MODE.iter().chain(&ERRORS).chain(Purpose::Execute.flags()) {
            hash.add(flag);
        }
        let root = cache.map_or_else(default_cache, Path::to_owned);
        let cache = root.join(format!("{:032x}", hash.0));
        let clang = Self { program, version, cache, identity };
        clang.write_headers(&root, &headers, &stubs)?;
        Ok(clang)
    }

    /// First line of `clang --version`.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// A command with the options of every compilation for `purpose`, without the precompiled header.
    fn base(&self, purpose: Purpose) -> Command {
        let mut command = Command::new(&self.program);
        command.args(MODE).args(ERRORS).args(purpose.flags());
        command.arg(format!("-D__METAL_VERSION__={}", self.version.number()));
        command.args([OsString::from("-D__METAL_MACOS__=1"), "-I".into(), self.cache.join("include").into()]);
        command
    }

    /// A command ready to compile a text, the standard library already read.
    pub fn command(&self, purpose: Purpose) -> Result<Command, Error> {
        let header = self.precompiled(purpose)?;
        let mut command = self.base(purpose);
        command.arg("-include-pch").arg(header);
        Ok(command)
    }

    /// A command that preprocesses with stubs in place of the standard library.
    pub fn preprocessor(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args([
            "-E",
            "-x",
            "c++",
            "-std=c++14",
            "-undef",
            "-nostdinc",
            "-fno-color-diagnostics",
            "-fno-caret-diagnostics",
            "-w",
        ]);
        // What Metal's compiler predefines, and nothing of the host's language.
        command.args([
            "-D__cplusplus=201402L",
            "-D__clang__=1",
            "-D__METAL__=1",
            "-D__METAL_MACOS__=1",
            "-D__HAVE_BFLOAT__=1",
        ]);
        command.arg(format!("-D__METAL_VERSION__={}", self.version.number()));
        if self.version < LanguageVersion::V3_1 {
            command.arg("-U__HAVE_BFLOAT__");
        }
        command.arg("-I").arg(self.cache.join("stubs"));
        command
    }

    /// A command without options: to compile C and to link.
    pub fn plain(&self) -> Command {
        Command::new(&self.program)
    }

    /// Path of the executor's runtime as an object, which is compiled if the cache lacks it.
    pub fn runtime(&self) -> Result<PathBuf, Error> {
        let path = self.cache.join("runtime.o");
        if path.exists() {
            return Ok(path);
        }
        let unique = self.cache.join(unique_name("runtime"));
        let mut command = self.plain();
        command.args(["-x", "c", "-std=c11", "-O2", "-fPIC", "-ffp-contract=off", "-c", "-o"]).arg(&unique).arg("-");
        let done = run(&mut command, crate::run::RUNTIME.as_bytes(), HEADER_LIMIT)?;
        if !done.status.success() {
            return Err(Error::Headers(done.stderr));
        }
        fs::rename(&unique, &path).map_err(|e| Error::io(&path, e))?;
        Ok(path)
    }

    /// Path of the precompiled header for `purpose`, which is built if the cache lacks it.
    pub fn precompiled(&self, purpose: Purpose) -> Result<PathBuf, Error> {
        let name = match purpose {
            Purpose::Check => "check",
            Purpose::Execute => "execute",
        };
        let path = self.cache.join(format!("{name}-{}.pch", self.version.number()));
        if path.exists() {
            return Ok(path);
        }
        let unique = self.cache.join(unique_name("pch"));
        let mut command = self.base(purpose);
        let mut text = "#include \"msl/prelude.h\"\n#include <metal_stdlib>\n#include <simd/simd.h>\n".to_owned();
        if purpose == Purpose::Execute {
            text.push_str("#include \"msl/execute.h\"\n");
        }
        command.args([
            "-fsyntax-only",
            "-Xclang",
            "-emit-pch",
            "-Xclang",
            "-fpch-instantiate-templates",
            "-Xclang",
            "-fno-pch-timestamp",
        ]);
        command.arg("-Xclang").arg("-o").arg("-Xclang").arg(&unique).arg("-");
        let done = run(&mut command, text.as_bytes(), HEADER_LIMIT)?;
        if !done.status.success() {
            return Err(Error::Headers(done.stderr));
        }
        fs::rename(&unique, &path).map_err(|e| Error::io(&path, e))?;
        Ok(path)
    }

    /// Removes what other builds left in the cache and has not been written to for a month.
    fn prune(root: &Path) {
        const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);
        for entry in fs::read_dir(root).into_iter().flatten().flatten() {
            let ours =
                entry.file_name().to_str().is_some_and(|n| n.len() == 32 && n.bytes().all(|b| b.is_ascii_hexdigit()));
            let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
            if ours && age.is_some_and(|a| a > MONTH) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Writes the headers once, whole: another process sees all of them or none.
    fn write_headers(&self, root: &Path, headers: &[headers::Header], stubs: &[headers::Header]) -> Result<(), Error> {
        if self.cache.join("include").is_dir() {
            return Ok(());
        }
        Self::prune(root);
        let staging = root.join(unique_name("headers"));
        let below = |dir: &'static str| move |(path, text): &headers::Header| (Path::new(dir).join(path), text.clone());
        for (path, text) in headers.iter().map(below("include")).chain(stubs.iter().map(below("stubs"))) {
            let path = staging.join(path);
            if let Some(dir) = path.parent() {
                fs::create_dir_all(dir).map_err(|e| Error::io(dir, e))?;
            }
            fs::write(&path, text).map_err(|e| Error::io(&path, e))?;
        }
        match fs::rename(&staging, &self.cache) {
            Ok(()) => Ok(()),
            Err(_) if self.cache.join("include").is_dir() => {
                let _ = fs::remove_dir_all(&staging);
                Ok(())
            }
            Err(e) => Err(Error::io(&self.cache, e)),
        }
    }
}

/// Runs a clang command.
pub(crate) fn run(command: &mut Command, input: &[u8], limit: Duration) -> Result<process::Finished, Error> {
    process::run(command, input, limit).map_err(|failure| match failure {
        Failure::Start(e) => Error::ClangStart(e),
        Failure::Timeout => Error::Timeout(limit),
    })
}

fn find(program: Option<&Path>) -> Result<(PathBuf, String), Error> {
    let named = program.map(Path::to_owned).or_else(|| std::env::var_os("METAL_CHECK_CLANG").map(PathBuf::from));
    let tried: Vec<PathBuf> = match named {
        Some(path) => vec![path],
        None => PROGRAMS.iter().map(PathBuf::from).collect(),
    };
    for path in &tried {
        let mut command = Command::new(path);
        command.arg("--version");
        if let Ok(done) = process::run(&mut command, &[], Duration::from_secs(20)) {
            let text = String::from_utf8_lossy(&done.stdout);
            let line = text.lines().next().unwrap_or_default();
            if major(line).is_some_and(|m| m >= OLDEST) {
                return Ok((path.clone(), line.to_owned()));
            }
        }
    }
    Err(Error::ClangMissing { tried })
}

/// The major version in `Debian clang version 19.1.7 (...)`.
fn major(line: &str) -> Option<u32> {
    let rest = line.split("version ").nth(1)?;
    rest.split('.').next()?.parse().ok()
}

fn default_cache() -> PathBuf {
    let from = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    from("METAL_CHECK_CACHE")
        .or_else(|| from("XDG_CACHE_HOME").map(|d| d.join("metal-check")))
        .or_else(|| from("HOME").map(|d| d.join(".cache/metal-check")))
        .unwrap_or_else(|| std::env::temp_dir().join("metal-check"))
}

/// A name no other thread or process uses at this time.
pub(crate) fn unique_name(prefix: &str) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{prefix}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// FNV-1a of 128 bits: names cache entries, the same on every machine.
struct Fnv(u128);

impl Default for Fnv {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv {
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn reads_versions_of_clang() {
        assert_eq!(major("Debian clang version 19.1.7 (3~deb12u1)"), Some(19));
        assert_eq!(major("Apple clang version 17.0.0 (clang-1700.0.13.5)"), Some(17));
        assert_eq!(major("gcc (GCC) 13"), None);
    }

    #[test]
    fn prunes_only_old_entries_of_its_own() {
        let root = std::env::temp_dir().join(unique_name("metal-check-prune"));
        let (old, new, other) = (root.join("0".repeat(32)), root.join("f".repeat(32)), root.join("somebody's"));
        for dir in [&old, &new, &other] {
            fs::create_dir_all(dir).expect("a directory");
        }
        for dir in [&old, &other] {
            let time = SystemTime::now() - Duration::from_secs(60 * 24 * 3600);
            fs::File::open(dir).and_then(|f| f.set_modified(time)).expect("a time");
        }
        Clang::prune(&root);
        assert!(!old.exists() && new.exists() && other.exists());
        fs::remove_dir_all(&root).expect("removed");
    }
}
