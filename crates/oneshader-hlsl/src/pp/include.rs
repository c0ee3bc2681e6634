//! Where included files come from.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// One `#include`.
#[derive(Clone, Copy, Debug)]
pub struct IncludeRequest<'a> {
    /// The path as written, backslashes turned into slashes.
    pub path: &'a str,
    /// `<...>` rather than `"..."`.
    pub angled: bool,
    /// Names of the files being read, the one with the `#include` first.
    pub includers: &'a [&'a str],
}

/// A file found.
#[derive(Clone, Debug)]
pub struct Included {
    /// What diagnostics and depfiles call it, and what later includes relative to it see as includer.
    pub name: Arc<str>,
    /// Equal for two names of the same file: `#pragma once` goes by it. Mostly the name.
    pub key: Arc<str>,
    /// The text.
    pub text: Arc<str>,
}

/// Finds included files. A loader is asked once per path and includer.
pub trait IncludeLoader: Send + Sync {
    /// Finds a file; `Ok(None)` if there is none.
    ///
    /// # Errors
    /// The file is there and cannot be read or is no UTF-8 text: the reason.
    fn load(&self, request: &IncludeRequest<'_>) -> Result<Option<Included>, String>;
}

/// Finds nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoIncludes;

impl IncludeLoader for NoIncludes {
    fn load(&self, _: &IncludeRequest<'_>) -> Result<Option<Included>, String> {
        Ok(None)
    }
}

/// Where a request may lie, best first: beside the includers if it is quoted, then in the directories.
fn candidates(request: &IncludeRequest<'_>, dirs: &[PathBuf]) -> Vec<PathBuf> {
    let path = Path::new(request.path);
    if path.is_absolute() {
        return vec![path.into()];
    }
    let mut list: Vec<PathBuf> = Vec::new();
    if !request.angled {
        list.extend(request.includers.iter().map(|name| Path::new(name).parent().unwrap_or(Path::new("")).join(path)));
    }
    list.extend(dirs.iter().map(|dir| dir.join(path)));
    list.iter_mut().for_each(|path| *path = normal(path));
    let mut seen = 0;
    while seen < list.len() {
        let (before, rest) = list.split_at(seen);
        if before.contains(&rest[0]) {
            list.remove(seen);
        } else {
            seen += 1;
        }
    }
    list
}

/// Resolves `.` and `x/..` in the text of a path.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

fn display(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// Finds files in memory, by their normalised paths.
#[derive(Clone, Debug, Default)]
pub struct MemoryLoader {
    files: BTreeMap<String, Arc<str>>,
    dirs: Vec<PathBuf>,
}

impl MemoryLoader {
    /// A loader of these files.
    pub fn new<N: Into<String>, T: Into<Arc<str>>>(files: impl IntoIterator<Item = (N, T)>) -> Self {
        MemoryLoader { files: files.into_iter().map(|(n, t)| (n.into(), t.into())).collect(), dirs: vec!["".into()] }
    }

    /// Adds an include directory.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dirs.push(dir.into());
        self
    }
}

impl IncludeLoader for MemoryLoader {
    fn load(&self, request: &IncludeRequest<'_>) -> Result<Option<Included>, String> {
        Ok(candidates(request, &self.dirs).iter().find_map(|path| {
            let name = display(path);
            let text = self.files.get(&name)?.clone();
            let name: Arc<str> = name.into();
            Some(Included { key: name.clone(), name, text })
        }))
    }
}

/// Finds files on disk.
#[derive(Clone, Debug, Default)]
pub struct DirLoader {
    /// `-I`, in order.
    pub dirs: Vec<PathBuf>,
}

impl IncludeLoader for DirLoader {
    fn load(&self, request: &IncludeRequest<'_>) -> Result<Option<Included>, String> {
        for path in candidates(request, &self.dirs) {
            if !path.is_file() {
                continue;
            }
            let name: Arc<str> = display(&path).into();
            let bytes = std::fs::read(&path).map_err(|e| format!("cannot read `{name}`: {e}"))?;
            let text = decode(bytes).map_err(|e| format!("`{name}` {e}"))?;
            let key = path.canonicalize().map_or_else(|_| name.clone(), |path| display(&path).into());
            return Ok(Some(Included { name, key, text: text.into() }));
        }
        Ok(None)
    }
}

/// Text of a source file: UTF-8, or UTF-16 with a byte order mark. Bytes that are no UTF-8, mostly comments in an old
/// code page, become U+FFFD, which is refused outside comments and strings.
///
/// # Errors
/// The file is larger than 2 GiB; the text continues "`name` ...".
pub fn decode(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.len() > i32::MAX as usize {
        return Err("is larger than 2 GiB".into());
    }
    let utf16 = |pair: fn([u8; 2]) -> u16| {
        let units = bytes[2..].chunks_exact(2).map(|b| pair([b[0], b[1]]));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes.as_slice() {
        [0xff, 0xfe, ..] => Ok(utf16(u16::from_le_bytes)),
        [0xfe, 0xff, ..] => Ok(utf16(u16::from_be_bytes)),
        _ => Ok(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_requests_try_every_includer() {
        let request = IncludeRequest { path: "../c.h", angled: false, includers: &["a/b/x.h", "a/y.hlsl", "z.hlsl"] };
        let list = candidates(&request, &["inc".into(), "a".into()]);
        let list: Vec<String> = list.iter().map(|p| display(p)).collect();
        assert_eq!(list, ["a/c.h", "c.h", "../c.h"]);
        let request = IncludeRequest { angled: true, ..request };
        assert_eq!(candidates(&request, &["inc/d".into()]), [PathBuf::from("inc/c.h")]);
    }

    #[test]
    fn decodes_what_windows_writes() {
        assert_eq!(decode(b"\xff\xfea\0b\0".to_vec()).unwrap(), "ab");
        assert_eq!(decode(b"\xfe\xff\0a".to_vec()).unwrap(), "a");
        assert_eq!(decode(b"x\xe9".to_vec()).unwrap(), "x\u{fffd}");
    }
}
