//! The C header compiles without warnings as C and C++, and agrees with the Rust types.

use rig_metal_abi::{CIcb, CRecord, Dispatch, FillFn, HEADER, SplitFn};
use std::mem::{align_of, offset_of, size_of};
use std::process::Command;

const PROBE: &str = r#"
#include "rig_metal_abi.h"
#include <stdio.h>

static int fill(void *queue, void *arg, uint64_t v) { (void)arg; (void)v; return queue == NULL; }
static int split(void *queue, uint64_t *start, uint64_t *end) { (void)start; (void)end; return queue == NULL; }

#define P(t, f) printf(#t "." #f " %zu\n", offsetof(t, f))
#define S(t) printf(#t " %zu %zu\n", sizeof(t), __alignof__(t))

int main(void) {
  rig_metal_fill *a = fill;
  rig_metal_split *b = split;
  rig_metal_record r;
  r.align = 1;
  r.split = b;
  S(rig_metal_dispatch); P(rig_metal_dispatch, pipeline); P(rig_metal_dispatch, offset);
  P(rig_metal_dispatch, groups); P(rig_metal_dispatch, threads);
  S(rig_metal_icb); P(rig_metal_icb, handle); P(rig_metal_icb, commands); P(rig_metal_icb, count);
  S(rig_metal_record); P(rig_metal_record, align); P(rig_metal_record, split);
  printf("functions %zu %zu\n", sizeof(a), sizeof(b));
  return a(&r, NULL, 1) | r.split(&r, NULL, NULL);
}
"#;

fn expected() -> String {
    let mut out = String::new();
    let mut line = |s: String| {
        out.push_str(&s);
        out.push('\n');
    };
    line(format!("rig_metal_dispatch {} {}", size_of::<Dispatch>(), align_of::<Dispatch>()));
    line(format!("rig_metal_dispatch.pipeline {}", offset_of!(Dispatch, pipeline)));
    line(format!("rig_metal_dispatch.offset {}", offset_of!(Dispatch, offset)));
    line(format!("rig_metal_dispatch.groups {}", offset_of!(Dispatch, groups)));
    line(format!("rig_metal_dispatch.threads {}", offset_of!(Dispatch, threads)));
    line(format!("rig_metal_icb {} {}", size_of::<CIcb>(), align_of::<CIcb>()));
    line(format!("rig_metal_icb.handle {}", offset_of!(CIcb, handle)));
    line(format!("rig_metal_icb.commands {}", offset_of!(CIcb, commands)));
    line(format!("rig_metal_icb.count {}", offset_of!(CIcb, count)));
    line(format!("rig_metal_record {} {}", size_of::<CRecord>(), align_of::<CRecord>()));
    line(format!("rig_metal_record.align {}", offset_of!(CRecord, align)));
    line(format!("rig_metal_record.split {}", offset_of!(CRecord, split)));
    line(format!("functions {} {}", size_of::<FillFn>(), size_of::<SplitFn>()));
    out
}

/// Whether the C compiler is one for C++ too: Debian's `gcc` without `g++` is not.
fn compiles_cxx(cc: &str, dir: &std::path::Path) -> bool {
    let empty = dir.join("empty.cc");
    std::fs::write(&empty, "").unwrap();
    let done = Command::new(cc).arg("-fsyntax-only").arg(&empty).output();
    done.is_ok_and(|d| d.status.success())
}

#[test]
fn the_header_compiles_and_agrees_with_rust() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("rig_metal_abi.h"), HEADER).unwrap();
    let source = dir.path().join("probe.c");
    std::fs::write(&source, PROBE).unwrap();
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut languages = vec!["-xc"];
    if compiles_cxx(&cc, dir.path()) {
        languages.push("-xc++");
    } else {
        eprintln!("left out: C++, which `{cc}` does not compile");
    }
    for language in languages {
        let exe = dir.path().join("probe");
        let built = Command::new(&cc)
            .args(["-Wall", "-Wextra", "-Werror", language])
            .arg(&source)
            .arg("-o")
            .arg(&exe)
            .output()
            .expect("a C compiler");
        assert!(built.status.success(), "{language}: {}", String::from_utf8_lossy(&built.stderr));
        let ran = Command::new(&exe).output().unwrap();
        assert!(ran.status.success(), "{language}");
        assert_eq!(String::from_utf8_lossy(&ran.stdout), expected(), "{language}");
    }
}
