//! Runs the files of `filetests/`.

#[test]
fn filetests() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests");
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    match oneshader_filetests::run(&root, bless) {
        Ok(count) => println!("{count} files"),
        Err(failures) => panic!("{failures}"),
    }
}
