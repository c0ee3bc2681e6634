//! One test file holds several: LLVM's `split-file` layout.
//!
//! A part starts after a line `#--- NAME`, `//--- NAME` or `;--- NAME` and goes to the next such line. What stands
//! before the first marker belongs to no part. Directives (RUN, XFAIL, ...) are read from the whole file.

use indexmap::IndexMap;

/// The parts by name, in file order. A name used twice is an error.
pub fn split_file(text: &str) -> Result<IndexMap<String, String>, String> {
    let mut parts: IndexMap<String, String> = IndexMap::new();
    let mut current: Option<String> = None;
    for line in text.split_inclusive('\n') {
        if let Some(name) = marker(line) {
            if parts.insert(name.to_owned(), String::new()).is_some() {
                return Err(format!("part '{name}' stands twice"));
            }
            current = Some(name.to_owned());
        } else if let Some(part) = current.as_ref().and_then(|n| parts.get_mut(n)) {
            part.push_str(line);
        }
    }
    if parts.is_empty() {
        return Err("the file has no '#--- NAME' part".to_owned());
    }
    Ok(parts)
}

fn marker(line: &str) -> Option<&str> {
    let rest = ["#--- ", "//--- ", ";--- "].iter().find_map(|m| line.strip_prefix(m))?;
    let name = rest.trim();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_in_order_without_markers() {
        let parts = split_file("junk\n#--- a.hlsl\nx\ny\n//--- b.yaml\nz\n#--- end\n# RUN: q\n").unwrap();
        let names: Vec<_> = parts.keys().map(String::as_str).collect();
        assert_eq!(names, ["a.hlsl", "b.yaml", "end"]);
        assert_eq!(parts["a.hlsl"], "x\ny\n");
        assert_eq!(parts["b.yaml"], "z\n");
    }

    #[test]
    fn refuses_doubles_and_emptiness() {
        assert!(split_file("#--- a\n#--- a\n").is_err());
        assert!(split_file("no parts").is_err());
    }
}
