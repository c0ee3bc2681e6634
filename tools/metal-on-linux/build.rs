//! Compiles the Objective-C classes with GCC.

use std::path::{Path, PathBuf};
use std::process::Command;

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(status.success(), "{command:?} failed");
}

fn main() {
    println!("cargo:rerun-if-changed=objc");
    let out = PathBuf::from(std::env::var("OUT_DIR").unwrap());
    let mut objects = Vec::new();
    for name in ["runtime", "device", "queue", "encoder"] {
        let object = out.join(name).with_extension("o");
        // The flags of `gnustep-config --objc-flags` that matter here.
        run(Command::new("gcc")
            .args(["-Wall", "-Wextra", "-Werror", "-O1", "-g", "-fPIC", "-pthread", "-fno-strict-aliasing"])
            .args(["-fexceptions", "-fobjc-exceptions", "-D_NATIVE_OBJC_EXCEPTIONS", "-DGNU_RUNTIME=1"])
            .args(["-DGNUSTEP", "-DGNUSTEP_BASE_LIBRARY=1", "-fconstant-string-class=NSConstantString"])
            .args(["-isystem", "/usr/include/GNUstep", "-c"])
            .arg(Path::new("objc").join(name).with_extension("m"))
            .arg("-o")
            .arg(&object));
        objects.push(object);
    }
    let archive = out.join("libmol.a");
    let _ = std::fs::remove_file(&archive);
    run(Command::new("ar").arg("crs").arg(&archive).args(&objects));
    println!("cargo:rustc-link-search=native={}", out.display());
    // Classes are found by name, so none may be left out for want of a reference.
    println!("cargo:rustc-link-lib=static:+whole-archive=mol");
    println!("cargo:rustc-link-lib=dylib=gnustep-base");
    println!("cargo:rustc-link-lib=dylib=objc");
}
