//! `docs/diagnostics.md` is in step with the table of codes.

use std::path::Path;

#[test]
fn the_page_of_codes_is_in_step() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diagnostics.md");
    let want = oneshader_diag::docs::markdown();
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &want).unwrap();
    }
    let have = std::fs::read_to_string(&path).unwrap_or_default().replace('\r', "");
    assert!(have == want, "docs/diagnostics.md is stale: run `BLESS=1 cargo test -p oneshader-diag --test docs`");
}
