//! Shaders of real engines: rows of a tab-separated manifest over a folder of checkouts.
//!
//! Columns: repo, path, profile, entry, defines (`;`), includes (`;`, relative to the repository), hv, flags. A
//! repository `OWNER/NAME` lies in `ROOT/OWNER+NAME`.

use super::{Expect, Row};
use std::collections::BTreeMap;
use std::path::Path;

/// Reads a manifest.
pub fn rows(manifest: &str, root: &Path) -> Result<Vec<Row>, String> {
    let mut lines = manifest.lines();
    let head: Vec<&str> = lines.next().ok_or("the manifest is empty")?.split('\t').collect();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut out = Vec::new();
    for (n, line) in lines.enumerate().filter(|(_, l)| !l.is_empty()) {
        let cells: BTreeMap<&str, &str> = head.iter().copied().zip(line.split('\t')).collect();
        let get = |name: &str| cells.get(name).copied().ok_or_else(|| format!("line {}: no column '{name}'", n + 2));
        let (repo, path) = (get("repo")?, get("path")?);
        let base = root.join(repo.replace('/', "+"));
        let list = |text: &str| text.split(';').filter(|s| !s.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        let mut args = vec!["-T".to_owned(), get("profile")?.to_owned(), "-E".to_owned(), get("entry")?.to_owned()];
        if !get("hv")?.is_empty() {
            args.extend(["-HV".to_owned(), get("hv")?.to_owned()]);
        }
        for d in list(get("defines")?) {
            args.extend(["-D".to_owned(), d]);
        }
        for i in list(get("includes")?) {
            args.extend(["-I".to_owned(), base.join(i).to_string_lossy().into_owned()]);
        }
        args.extend(get("flags")?.split_whitespace().map(str::to_owned));
        args.push(base.join(path).to_string_lossy().into_owned());
        let name = repo.rsplit('/').next().unwrap_or(repo);
        // One file is compiled several times with other macros; the count tells them apart.
        let stem = format!("{name}/{path}:{}", get("entry")?);
        let count = seen.entry(stem.clone()).or_default();
        *count += 1;
        let id = if *count == 1 { stem } else { format!("{stem}#{count}") };
        out.push(Row { id, group: name.to_owned(), args, expect: Expect::Success });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_command_line() {
        let text = "repo\tpath\tprofile\tentry\tdefines\tincludes\thv\tflags\no/n\ta.hlsl\tps_6_0\tPS\tA=1;B\tinc\t2021\t-Zpr -WX\no/n\ta.hlsl\tps_6_0\tPS\t\t\t\t\n";
        let rows = rows(text, Path::new("/r")).unwrap();
        assert_eq!(rows[0].args.join(" "), "-T ps_6_0 -E PS -HV 2021 -D A=1 -D B -I /r/o+n/inc -Zpr -WX /r/o+n/a.hlsl");
        assert_eq!(rows[1].id, "n/a.hlsl:PS#2");
        assert!(super::rows("repo\tpath\nx\ty", Path::new("/")).is_err());
    }
}
