//! Flags that have no meaning beside others, so that a command line that asks for two things at once is refused.

use super::flags::{Flag, Given};
use crate::options::{CompileTarget, Options};

/// Flags that concern containers of DXIL or its source language alone. DXC refuses them beside `-spirv`; a line that was
/// written for DXIL and makes Metal instead keeps them, with a warning.
const NOT_WITH_SPIRV: &[Flag] = &[Flag::DebugFile, Flag::BackCompatible, Flag::StripReflection];

/// The passes and switches that `-Oconfig` may list: the flags of spirv-opt.
const SPIRV_OPT_FLAGS: &[&str] = &[
    "-O",
    "-Os",
    "--amd-ext-to-khr",
    "--before-hlsl-legalization",
    "--ccp",
    "--cfg-cleanup",
    "--combine-access-chains",
    "--compact-ids",
    "--convert-local-access-chains",
    "--convert-relaxed-to-half",
    "--convert-to-sampled-image",
    "--copy-propagate-arrays",
    "--descriptor-scalar-replacement",
    "--eliminate-dead-branches",
    "--eliminate-dead-code-aggressive",
    "--eliminate-dead-const",
    "--eliminate-dead-functions",
    "--eliminate-dead-input-components",
    "--eliminate-dead-inserts",
    "--eliminate-dead-variables",
    "--eliminate-insert-extract",
    "--eliminate-local-multi-store",
    "--eliminate-local-single-block",
    "--eliminate-local-single-store",
    "--fix-func-call-param",
    "--flatten-decorations",
    "--fold-spec-const-op-composite",
    "--freeze-spec-const",
    "--graphics-robust-access",
    "--if-conversion",
    "--inline-entry-points-exhaustive",
    "--inline-entry-points-opaque",
    "--inst-bindless-check",
    "--interpolate-fixup",
    "--legalize-hlsl",
    "--local-redundancy-elimination",
    "--loop-fission",
    "--loop-fusion",
    "--loop-invariant-code-motion",
    "--loop-peeling",
    "--loop-peeling-threshold",
    "--loop-unroll",
    "--loop-unroll-partial",
    "--loop-unswitch",
    "--merge-blocks",
    "--merge-return",
    "--private-to-local",
    "--reduce-load-size",
    "--redundancy-elimination",
    "--relax-float-ops",
    "--remove-dont-inline",
    "--remove-duplicates",
    "--remove-unused-interface-variables",
    "--replace-desc-array-access-using-var-index",
    "--replace-invalid-opcode",
    "--scalar-replacement",
    "--set-spec-const-default-value",
    "--simplify-instructions",
    "--split-combined-image-sampler",
    "--spread-volatile-semantics",
    "--ssa-rewrite",
    "--strength-reduction",
    "--strip-debug",
    "--strip-nonsemantic",
    "--strip-reflect",
    "--switch-descriptorset",
    "--trim-capabilities",
    "--unify-const",
    "--upgrade-memory-model",
    "--vector-dce",
    "--workaround-1209",
    "--wrap-opkill",
];

/// Checks the flags of a line together.
pub(super) fn check(flags: &[Given], options: &Options) -> Result<(), String> {
    let given = |flag| flags.iter().filter(move |g| g.flag == flag);
    if options.target == CompileTarget::Spirv
        && let Some(g) = flags.iter().find(|g| NOT_WITH_SPIRV.contains(&g.flag))
    {
        return Err(format!("{} has no meaning with -spirv; leave it out", g.spelling));
    }
    if options.hlsl_version > 2016
        && let Some(g) = given(Flag::BackCompatible).next()
    {
        let year = options.hlsl_version;
        return Err(format!("{} is for -HV 2016 and before, not {year}; leave it out", g.spelling));
    }
    // DXC compiles and then fails for want of anything to write.
    let debug = |g: &Given| g.flag == Flag::Lines || matches!(g.spelling.trim_start_matches(['-', '/']), "Zs");
    if let Some(g) = given(Flag::DebugFile).next()
        && !flags.iter().any(debug)
    {
        return Err(format!("{} says where debug information goes, but none is asked for; add -Zi", g.spelling));
    }
    let mut configs = given(Flag::OptConfig);
    let Some(config) = configs.next() else { return Ok(()) };
    if configs.next().is_some() {
        return Err("-Oconfig is given twice; join the lists with commas".into());
    }
    if let Some(level) = flags.iter().find(|g| matches!(g.flag, Flag::O0 | Flag::O1 | Flag::O2 | Flag::O3)) {
        return Err(format!("-Oconfig and {} both say how to optimize; keep one of them", level.spelling));
    }
    config.values.iter().flat_map(|list| list.split(',')).filter(|pass| !pass.is_empty()).try_for_each(known_pass)
}

fn known_pass(pass: &str) -> Result<(), String> {
    let name = pass.split('=').next().unwrap_or(pass);
    if SPIRV_OPT_FLAGS.contains(&name) {
        return Ok(());
    }
    match oneshader_diag::closest(name, SPIRV_OPT_FLAGS.iter().copied()) {
        Some(near) => Err(format!("-Oconfig: spirv-opt has no {name}; did you mean {near}?")),
        None => Err(format!("-Oconfig: spirv-opt has no {name}")),
    }
}

#[cfg(test)]
mod tests {
    use crate::args::Invocation;

    #[track_caller]
    fn error(line: &str) -> String {
        Invocation::parse(line.split(' ').map(String::from)).err().unwrap_or_default()
    }

    #[test]
    fn flags_that_contradict_each_other_are_refused_with_the_way_out() {
        for (line, want) in [
            ("-Fd a.pdb -spirv x.hlsl", "-Fd has no meaning with -spirv"),
            ("-Qstrip_reflect -spirv x.hlsl", "leave it out"),
            ("-Gec -HV 2016 -spirv x.hlsl", "-spirv"),
            ("-Gec x.hlsl", "2021"),
            ("-Fd a.pdb x.hlsl", "add -Zi"),
            ("-Oconfig=--ccp -Oconfig=--ccp x.hlsl", "twice"),
            ("-O1 -Oconfig=--ccp x.hlsl", "-O1"),
            ("-Oconfig=--cpp x.hlsl", "did you mean --ccp"),
            ("-fspv-extension=SPV_KHR_multivew x.hlsl", "did you mean SPV_KHR_multiview"),
            ("-fspv-extension=Mine x.hlsl", "known are"),
        ] {
            let error = error(line);
            assert!(error.contains(want), "{line}: {error}");
        }
    }

    #[test]
    fn what_contradicts_nothing_stays() {
        for line in [
            "-Zi -Fd a.pdb -Qstrip_reflect -msl x.hlsl",
            "-Gec -HV 2016 x.hlsl",
            "-Fre a.json -spirv x.hlsl",
            "-Oconfig=-O,--loop-peeling-threshold=3 -spirv x.hlsl",
            "-O3 -fspv-extension=KHR -spirv x.hlsl",
        ] {
            assert_eq!(error(line), "", "{line}");
        }
    }
}
