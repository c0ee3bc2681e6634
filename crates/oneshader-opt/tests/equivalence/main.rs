//! Optimized programs do what the unoptimized ones do: random structured programs are run by an interpreter of the IR before
//! and after every pass and pipeline, and what they write is compared.

mod generate;
mod interpret;

use oneshader_diag::DiagnosticBag;
use oneshader_ir::text::print;
use oneshader_ir::{IrModule, verify};
use oneshader_opt::{Config, Cx, PASSES, Pipeline};

/// Programs each test runs; the environment can ask for more.
fn programs() -> u64 {
    std::env::var("ONESHADER_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(20)
}

const INPUTS: [u32; 6] = [0, 1, 2, 7, 0x55, 0xffff_fff3];

/// Instructions of one run; a pass may add some before others take them away.
const STEPS: u32 = 4_000;

/// What the program writes for each input; `None` where it takes too long or depends on undefined values.
fn results(module: &IrModule, steps: u32) -> Vec<Option<Vec<u32>>> {
    INPUTS.iter().map(|&input| interpret::run(module, input, steps)).collect()
}

/// Compares where the original is defined.
fn compare(seed: u64, what: &str, before: &IrModule, expected: &[Option<Vec<u32>>], after: &IrModule) {
    for ((input, expected), found) in INPUTS.iter().zip(expected).zip(results(after, STEPS * 8)) {
        let Some(expected) = expected else { continue };
        assert!(
            found.as_ref() == Some(expected),
            "seed {seed}, input {input}, {what}: expected {expected:?}, found {found:?}\n{}\n=== after ===\n{}",
            print(before),
            print(after)
        );
    }
}

#[test]
fn programs_are_defined_and_legal() {
    let mut defined = 0;
    for seed in 1..=programs() {
        let module = generate::program(seed);
        verify(&module, "the generator").unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", print(&module)));
        defined += results(&module, STEPS).iter().filter(|r| r.is_some()).count();
    }
    assert!(defined as u64 > programs() * INPUTS.len() as u64 * 8 / 10, "only {defined} runs mean anything");
}

#[test]
fn pipelines_keep_the_meaning() {
    for seed in 1..=programs() {
        let before = generate::program(seed);
        let expected = results(&before, STEPS);
        for (name, pipeline) in Pipeline::ALL {
            let mut after = before.clone();
            let mut bag = DiagnosticBag::new();
            let config = Config { verify: true, ..Config::default() };
            oneshader_opt::run(&mut after, *pipeline, config, &mut bag)
                .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", print(&before)));
            assert!(!bag.has_errors());
            compare(seed, name, &before, &expected, &after);
        }
    }
}

#[test]
fn passes_keep_the_meaning_one_by_one() {
    // Each pass alone, and again after promotion, which is what most of them see.
    for seed in 1..=programs() {
        let program = generate::program(seed);
        let mut promoted = program.clone();
        for name in ["resolve-handles", "sroa", "mem2reg"] {
            apply(seed, name, &program, &mut promoted);
        }
        for before in [program, promoted] {
            let expected = results(&before, STEPS);
            for pass in PASSES {
                let mut after = before.clone();
                apply(seed, pass.name, &before, &mut after);
                compare(seed, pass.name, &before, &expected, &after);
            }
        }
    }
}

fn apply(seed: u64, name: &str, before: &IrModule, module: &mut IrModule) {
    let pass = oneshader_opt::find(name).unwrap();
    let mut bag = DiagnosticBag::new();
    let mut cx = Cx::new(Config { verify: true, ..Config::default() }, &mut bag);
    oneshader_opt::run_pass(module, pass, &mut cx)
        .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}\n=== after ===\n{}", print(before), print(module)));
}
