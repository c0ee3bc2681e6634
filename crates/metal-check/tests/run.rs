//! The executor: kernels run on the CPU give what Metal gives.
//!
//! Expected values come from the language's rules, worked out in the tests.
use metal_check::run::{
    Address, AddressMode, Binding, Dispatch, Element, Error, Executor, Fault, FaultKind, Filter, Kernel, MipFilter,
    Sampler, Slot, Texture, Value, texture_handle,
};
use metal_check::{LanguageVersion, Options};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

static EXECUTOR: LazyLock<Executor> = LazyLock::new(|| {
    Executor::new(Options { version: LanguageVersion::V3_1, ..Options::default() })
        .expect("clang is needed: install clang-19")
});

/// Compiles `kernel void k(...)` of a body with the standard library included.
fn compile(text: &str) -> Kernel {
    compile_with(text, &[])
}

fn compile_with(text: &str, constants: &[(u32, Value)]) -> Kernel {
    let text = format!("#include <metal_stdlib>\nusing namespace metal;\n{text}");
    let constants: BTreeMap<u32, Value> = constants.iter().copied().collect();
    EXECUTOR.compile("test.metal", &text, None, &constants).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn read_words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

fn read_floats(bytes: &[u8]) -> Vec<f32> {
    read_words(bytes).into_iter().map(f32::from_bits).collect()
}

/// Runs `threads` threads with buffer 0 of `count` zero words; the words after.
fn run(kernel: &Kernel, groups: u32, threads: u32, count: usize) -> Vec<u32> {
    let dispatch = Dispatch::new([groups, 1, 1], [threads, 1, 1]).with_buffer(0, vec![0; 4 * count]);
    let done = kernel.dispatch(&dispatch).unwrap_or_else(|e| panic!("{e}"));
    read_words(done.buffer(0).expect("buffer 0"))
}

fn fault(kernel: &Kernel, dispatch: &Dispatch) -> Fault {
    match kernel.dispatch(dispatch) {
        Err(Error::Fault(fault)) => fault,
        other => panic!("expected a fault, not {other:?}"),
    }
}

#[test]
fn positions_and_sizes() {
    let kernel = compile(
        "kernel void k(device uint* o [[buffer(0)]], uint3 g [[thread_position_in_grid]], ushort3 l [[thread_position_in_threadgroup]],
           uint3 w [[threadgroup_position_in_grid]], uint3 n [[threads_per_grid]], uint i [[thread_index_in_threadgroup]],
           uint s [[simdgroup_index_in_threadgroup]], uint c [[simdgroups_per_threadgroup]], uint2 t [[threads_per_threadgroup]]) {
           device uint* p = o + 8 * (g.x + n.x * (g.y + n.y * g.z));
           p[0] = l.x; p[1] = l.y; p[2] = l.z; p[3] = w.x + 10 * w.y + 100 * w.z; p[4] = i; p[5] = s; p[6] = c; p[7] = t.x * t.y; }",
    );
    let done = kernel.dispatch(&Dispatch::new([2, 1, 2], [4, 3, 2]).with_buffer(0, vec![0; 8 * 4 * 96])).expect("runs");
    let o = read_words(done.buffer(0).expect("buffer 0"));
    for z in 0..4u32 {
        for y in 0..3u32 {
            for x in 0..8u32 {
                let at = 8 * (x + 8 * (y + 3 * z)) as usize;
                let (lx, lz) = (x % 4, z % 2);
                assert_eq!(o[at..at + 8], [lx, y, lz, x / 4 + 100 * (z / 2), lx + 4 * (y + 3 * lz), 0, 1, 12]);
            }
        }
    }
}

#[test]
fn grids_that_threadgroups_do_not_fill() {
    let kernel = compile(
        "kernel void k(device uint* o [[buffer(0)]], uint g [[thread_position_in_grid]], uint n [[threads_per_threadgroup]], uint d [[dispatch_threads_per_threadgroup]]) { o[g] = n * 100 + d; }",
    );
    let mut dispatch = Dispatch::new([3, 1, 1], [4, 1, 1]).with_buffer(0, vec![0; 4 * 10]);
    dispatch.grid = Some([10, 1, 1]);
    let done = kernel.dispatch(&dispatch).expect("runs");
    assert_eq!(read_words(&done.resources[0]), [404, 404, 404, 404, 404, 404, 404, 404, 204, 204]);
}

#[test]
fn threadgroups_share_memory_at_barriers() {
    let kernel = compile(
        "kernel void k(device uint* o [[buffer(0)]], threadgroup uint* t [[threadgroup(0)]], uint l [[thread_index_in_threadgroup]], uint g [[thread_position_in_grid]]) {
           threadgroup uint s[64]; s[l] = g; t[l] = g * 2;
           threadgroup_barrier(mem_flags::mem_threadgroup);
           uint sum = 0; for (uint i = 0; i < 64; ++i) sum += s[i];
           o[g] = sum + t[63 - l]; }",
    );
    let mut dispatch = Dispatch::new([2, 1, 1], [64, 1, 1]).with_buffer(0, vec![0; 4 * 128]);
    dispatch.threadgroup_memory.push((0, 256));
    let done = kernel.dispatch(&dispatch).expect("runs");
    let expected: Vec<u32> = (0..128)
        .map(|g| {
            let base = g / 64 * 64;
            (base..base + 64).sum::<u32>() + 2 * (base + 63 - g % 64)
        })
        .collect();
    assert_eq!(read_words(&done.resources[0]), expected);
    assert!(done.notes.is_empty(), "{:?}", done.notes);
}

#[test]
fn barriers_that_not_all_threads_reach_are_noted() {
    let kernel = compile(
        "kernel void k(device uint* o [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
           if (l < 3) { threadgroup_barrier(mem_flags::mem_none); } o[l] = l; }",
    );
    let done = kernel.dispatch(&Dispatch::new([1, 1, 1], [4, 1, 1]).with_buffer(0, vec![0; 16])).expect("runs");
    assert_eq!(done.notes, ["a barrier (line 4) is not reached by every thread of a threadgroup"]);
}

#[test]
fn denormals_are_flushed_when_asked() {
    let kernel = compile(
        "kernel void k(device float* o [[buffer(0)]], constant float& small [[buffer(1)]]) {
           o[0] = small * 2.0f; o[1] = log2(small); o[2] = sinh(-small); o[3] = float(half(small * 0x1p110f) * 0.5h); o[4] = fabs(small); }",
    );
    let run = |flush: bool| {
        let small = f32::from_bits(0x0008_0000);
        let mut dispatch = Dispatch::new([1, 1, 1], [1, 1, 1]).with_buffer(0, vec![0; 20]);
        dispatch = dispatch.with_buffer(1, small.to_le_bytes());
        dispatch.flush_denormals = flush;
        let done = kernel.dispatch(&dispatch).expect("runs");
        read_words(&done.resources[0]).into_iter().map(f32::from_bits).collect::<Vec<_>>()
    };
    let tiny = f32::from_bits(0x0008_0000);
    assert_eq!(run(false), [tiny * 2.0, -130.0, -tiny, 2f32.powi(-21), tiny]);
    let flushed = run(true);
    assert_eq!(flushed, [0.0, f32::NEG_INFINITY, -0.0, 0.0, 0.0]);
    assert!(flushed[2].is_sign_negative());
}

#[test]
fn halves_keep_their_denormals() {
    let kernel = compile("kernel void k(device half* o [[buffer(0)]]) { o[1] = o[0] * 0.5h; }");
    let mut dispatch = Dispatch::new([1, 1, 1], [1, 1, 1]).with_buffer(0, 0x0000_0010u32.to_le_bytes());
    dispatch.flush_denormals = true;
    assert_eq!(read_words(&kernel.dispatch(&dispatch).expect("runs").resources[0]), [0x0008_0010]);
}

#[test]
fn simd_reductions_and_scans() {
    let kernel = compile(
        "kernel void k(device uint* o [[buffer(0)]], uint l [[thread_index_in_simdgroup]], uint w [[threads_per_simdgroup]]) {
           device uint* p = o + 8 * l; uint x = l + 1;
           p[0] = simd_sum(x); p[1] = simd_prefix_exclusive_sum(x); p[2] = simd_prefix_inclusive_sum(x); p[3] = simd_max(x);
           p[4] = uint(ulong(simd_ballot(l % 3 == 0))); p[5] = simd_xor(x); p[6] = simd_all(x > 0) + 2 * simd_any(x == w) + 4 * simd_is_first();
           p[7] = simd_prefix_inclusive_product(1 + (l < 4)); }",
    );
    for width in [4u32, 8, 32] {
        let mut dispatch = Dispatch::new([1, 1, 1], [width, 1, 1]).with_buffer(0, vec![0; 32 * width as usize]);
        dispatch.simd_width = width;
        let done = kernel.dispatch(&dispatch).expect("runs");
        let o = read_words(&done.resources[0]);
        for l in 0..width {
            let ballot = (0..width).filter(|i| i % 3 == 0).fold(0, |m, i| m | 1 << i);
            let xor = (1..=width).fold(0, |a, b| a ^ b);
            let expected = [
                width * (width + 1) / 2,
                l * (l + 1) / 2,
                (l + 1) * (l + 2) / 2,
                width,
                ballot,
                xor,
                3 + if l == 0 { 4 } else { 0 },
                2u32.pow((l + 1).min(4)),
            ];
            assert_eq!(o[8 * l as usize..8 * l as usize + 8], expected, "lane {l} of {width}");
        }
    }
}

#[test]
fn shuffles_and_quads() {
    let kernel = compile(
        "kernel void k(device uint* o [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
           device uint* p = o + 8 * l;
           p[0] = simd_shuffle(l, 31 - l); p[1] = simd_shuffle_xor(l, 5); p[2] = simd_shuffle_up(l, 2); p[3] = simd_shuffle_down(l, 2);
           p[4] = simd_broadcast(l, 7); p[5] = quad_shuffle_xor(l, 1); p[6] = quad_sum(l); p[7] = quad_broadcast(l, 2); }",
    );
    let o = run(&kernel, 1, 32, 256);
    for l in 0..32u32 {
        let quad = l / 4 * 4;
        let expected = [
            31 - l,
            l ^ 5,
            if l < 2 { l } else { l - 2 },
            if l > 29 { l } else { l + 2 },
            7,
            l ^ 1,
            4 * quad + 6,
            quad + 2,
        ];
        assert_eq!(o[8 * l as usize..8 * l as usize + 8], expected, "lane {l}");
    }
}

#[test]
fn lanes_rejoin_after_branches() {
    // Whichever half diverges, its collective comes before the common one.
    for condition in ["l < 16", "l >= 16", "l % 2 == 1"] {
        let kernel = compile(&format!(
            "kernel void k(device uint* o [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {{
               uint a = 0;
               if ({condition}) {{ a = simd_sum(1u); }} else {{ a = 100 + simd_sum(1u); }}
               o[2 * l] = a; o[2 * l + 1] = simd_sum(1u); }}"
        ));
        let o = run(&kernel, 1, 32, 64);
        for l in 0..32usize {
            let taken = match condition {
                "l < 16" => l < 16,
                "l >= 16" => l >= 16,
                _ => l % 2 == 1,
            };
            assert_eq!(o[2 * l..2 * l + 2], [if taken { 16 } else { 116 }, 32], "{condition}, lane {l}");
        }
    }
}

#[test]
fn lanes_rejoin_in_loops() {
    // `continue` rejoins at the next turn, so each turn's collective sees every lane still in the loop.
    let kernel = compile(
        "kernel void k(device uint* o [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
           uint seen = 0;
           for (uint i = 0; i < 4; ++i) {
             if (l > 8 * i + 7) { seen += 1000 * simd_sum(1u); continue; }
             seen += simd_sum(1u);
           }
           o[l] = seen; }",
    );
    let o = run(&kernel, 1, 32, 32);
    for l in 0..32u32 {
        let expected: u32 = (0..4).map(|i| if l > 8 * i + 7 { 1000 * (32 - 8 * i - 8) } else { 8 * i + 8 }).sum();
        assert_eq!(o[l as usize], expected, "lane {l}");
    }
}

#[test]
fn lanes_rejoin_after_loops_of_different_lengths() {
    let kernel = compile(
        "kernel void k(device uint* o [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
           uint n = 0, i = 0;
           while (i < l % 4) { n += simd_sum(1u); ++i; }
           do { n += 100 * simd_sum(1u); } while (simd_any(i++ < 2));
           o[l] = n * 1000 + simd_sum(1u); }",
    );
    let o = run(&kernel, 1, 32, 32);
    for l in 0..32u32 {
        let turns: u32 = (0..l % 4).map(|i| 8 * (3 - i)).sum();
        // After the first loop i is l % 4; the second goes on while any lane has i < 2: three turns for all.
        assert_eq!(o[l as usize], (turns + 3 * 3200) * 1000 + 32, "lane {l}");
    }
}

#[test]
fn lanes_meet_in_one_call_of_a_function() {
    // Two calls of one function are two places, also when they are on one line.
    let kernel = compile(
        "uint count(uint x) { if (x == 3) return 0; return simd_sum(1u); }
         uint outer(uint x) { return count(x) + 100 * count(x + 1); }
         kernel void k(device uint* o [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
           uint a = l % 2 ? outer(l % 4) : outer(l % 4); o[l] = a * 100 + simd_sum(1u); }",
    );
    let o = run(&kernel, 1, 32, 32);
    for l in 0..32u32 {
        let a = match l % 4 {
            0 => 16 + 1600, // both even residues, x + 1 is 1 or 3: the lanes with 2 leave
            1 => 8 + 1600,  // odd residues: 3 leaves the first call
            2 => 16,
            _ => 100 * 16,
        };
        let a = if l % 4 == 0 { 16 + 100 * 8 } else { a };
        assert_eq!(o[l as usize], a * 100 + 32, "lane {l}");
    }
}

#[test]
fn lanes_meet_in_templates_and_declared_functions() {
    let kernel = compile(
        "uint later(uint x);
         template<typename T> inline T total(T x) { return simd_sum(x); }
         template<> inline bool total(bool x) { return simd_any(x); }
         inline uint total(uint x, uint y) { return simd_sum(x * y); }
         kernel void k(device uint* o [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
           o[l] = total(1u) + 100 * uint(total(l == 3)) + 1000 * total(1u, 2u) + later(l); }
         uint later(uint x) { return 100000 * simd_max(x); }",
    );
    assert_eq!(run(&kernel, 1, 32, 32), [32 + 100 + 64_000 + 3_100_000; 32]);
}

#[test]
fn lanes_that_have_returned_are_not_waited_for() {
    let kernel = compile(
        "kernel void k(device uint* o [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
           if (l >= 20) return;
           switch (l % 3) { case 0: o[l] = simd_sum(1u); case 1: o[l] += 100 * simd_sum(1u); break; default: o[l] = 7; }
           o[l] += 10000 * simd_sum(1u); }",
    );
    let o = run(&kernel, 1, 32, 32);
    for l in 0..32u32 {
        let expected = match l {
            20.. => 0,
            _ if l % 3 == 0 => 7 + 1400 + 200_000,
            _ if l % 3 == 1 => 1400 + 200_000,
            _ => 7 + 200_000,
        };
        assert_eq!(o[l as usize], expected, "lane {l}");
    }
}

#[test]
fn atomics() {
    let kernel = compile(
        "kernel void k(device atomic_uint* o [[buffer(0)]], uint g [[thread_position_in_grid]]) {
           threadgroup atomic_int t; if (g % 64 == 0) atomic_store_explicit(&t, 5, memory_order_relaxed);
           threadgroup_barrier(mem_flags::mem_threadgroup);
           atomic_fetch_add_explicit(&t, -1, memory_order_relaxed); atomic_fetch_max_explicit(&o[1], g, memory_order_relaxed);
           atomic_fetch_or_explicit(&o[2], 1u << (g % 32), memory_order_relaxed);
           threadgroup_barrier(mem_flags::mem_threadgroup);
           uint expected = 1; if (g == 5) { while (!atomic_compare_exchange_weak_explicit(&o[3], &expected, 42u, memory_order_relaxed, memory_order_relaxed)) {} }
           if (g % 64 == 0) atomic_fetch_add_explicit(&o[0], uint(atomic_load_explicit(&t, memory_order_relaxed)), memory_order_relaxed); }",
    );
    assert_eq!(run(&kernel, 2, 64, 4), [(2i32 * (5 - 64)) as u32, 127, u32::MAX, 42]);
}

#[test]
fn function_constants() {
    let text = "constant uint n [[function_constant(3)]]; constant float f [[function_constant(4)]]; constant bool b [[function_constant(0)]];
        constant uint m = is_function_constant_defined(n) ? n : 7u; constant float h = is_function_constant_defined(f) ? f : 0.25f;
        kernel void k(device uint* o [[buffer(0)]]) { o[0] = m; o[1] = as_type<uint>(h); o[2] = is_function_constant_defined(b) && b; }";
    assert_eq!(run(&compile_with(text, &[]), 1, 1, 3), [7, 0.25f32.to_bits(), 0]);
    let set = [(3, Value::Uint(4_000_000_000)), (4, Value::Float(-0.1)), (0, Value::Bool(true))];
    assert_eq!(run(&compile_with(text, &set), 1, 1, 3), [4_000_000_000, (-0.1f32).to_bits(), 1]);
}

#[test]
fn accesses_outside_a_buffer_are_faults() {
    let kernel = compile(
        "struct S { packed_float3 v; uint n; };
         kernel void k(device const S* a [[buffer(3)]], device uint* o [[buffer(0)]], constant int& i [[buffer(1)]], uint g [[thread_position_in_grid]]) {
           if (g == 2) o[i] = a[0].n; else o[0] = as_type<uint>(a[g].v.z); }",
    );
    let dispatch = |i: i32, a: usize| {
        Dispatch::new([1, 1, 1], [3, 1, 1])
            .with_buffer(3, vec![0; a])
            .with_buffer(0, vec![0; 20])
            .with_buffer(1, i.to_le_bytes())
    };
    assert!(kernel.dispatch(&dispatch(4, 32)).is_ok());
    let bounds = |slot, offset, write, length| FaultKind::OutOfBounds { slot, offset, size: 4, write, length };
    for i in [5i32, -1, 1 << 29, -(1 << 29)] {
        let expected = Fault { kind: bounds(Slot::Buffer(0), i64::from(i) * 4, true, 20), position: [2, 0, 0] };
        assert_eq!(fault(&kernel, &dispatch(i, 32)), expected);
    }
    // One byte short: the last member that is read ends outside.
    let expected = Fault { kind: bounds(Slot::Buffer(3), 24, false, 27), position: [1, 0, 0] };
    assert_eq!(fault(&kernel, &dispatch(0, 27)), expected);
    assert_eq!(expected.to_string(), "buffer 3: read of 4 bytes at offset 24, outside its 27 bytes (thread 1, 0, 0)");
}

#[test]
fn accesses_outside_other_memory_are_faults() {
    let kernel = compile(
        "constant uint c[4] = {1, 2, 3, 4};
         kernel void k(device uint* o [[buffer(0)]], device uint* p [[buffer(1)]], threadgroup uint* t [[threadgroup(0)]]) {
           threadgroup uint s[8];
           uint n = o[1];
           if (o[0] == 0) s[n] = 1; else if (o[0] == 1) t[n] = 1; else if (o[0] == 2) o[2] = p[n]; else if (o[0] == 3) o[2] = o[0] / n; else o[2] = c[n]; o[3] = s[o[1]]; }",
    );
    let run = |what: u32, n: u32| {
        let mut d = Dispatch::new([1, 1, 1], [1, 1, 1]).with_buffer(0, words(&[what, n, 0, 0]));
        d.threadgroup_memory.push((0, 16));
        fault(&kernel, &d).kind
    };
    let variable = |name: &str, offset, write, length| FaultKind::OutsideVariable {
        name: name.to_owned(),
        offset,
        size: 4,
        write,
        length,
    };
    assert_eq!(run(0, 8), variable("s", 32, true, 32));
    assert_eq!(
        run(1, 4),
        FaultKind::OutOfBounds { slot: Slot::Threadgroup(0), offset: 16, size: 4, write: true, length: 16 }
    );
    assert_eq!(run(2, 3), FaultKind::Nowhere { address: 12 });
    assert_eq!(run(3, 0), FaultKind::DivisionByZero);
    assert_eq!(run(4, 6), variable("c", 24, false, 16));
}

#[test]
fn endless_loops_end() {
    let kernel = compile("kernel void k(device uint* o [[buffer(0)]]) { while (o[0] == 0) {} }");
    let mut dispatch = Dispatch::new([1, 1, 1], [1, 1, 1]).with_buffer(0, words(&[0]));
    dispatch.timeout = Duration::from_millis(300);
    assert!(matches!(kernel.dispatch(&dispatch), Err(Error::Timeout(_))));
}

#[test]
fn argument_structures_hold_device_pointers() {
    let kernel = compile(
        "struct Args { device float* out; constant float* in; uint n; array<device uint*, 2> more; };
         kernel void k(constant Args& a [[buffer(0)]], uint g [[thread_position_in_grid]]) { a.out[g] = a.in[g] * a.n; a.more[g % 2][g] = g; }",
    );
    let mut args = vec![0; 40];
    args[16..20].copy_from_slice(&3u32.to_le_bytes());
    let mut dispatch = Dispatch::new([1, 1, 1], [2, 1, 1]).with_buffer(0, args);
    dispatch.resources.extend([vec![0; 12], floats(&[1.5, 2.5]), vec![0; 8], vec![0; 8]]);
    dispatch.addresses = vec![
        Address { resource: 0, at: 0, target: 1, offset: 4 },
        Address { resource: 0, at: 8, target: 2, offset: 0 },
        Address { resource: 0, at: 24, target: 3, offset: 0 },
        Address { resource: 0, at: 32, target: 4, offset: 0 },
    ];
    let done = kernel.dispatch(&dispatch).expect("runs");
    assert_eq!(read_floats(&done.resources[1]), [0.0, 4.5, 7.5]);
    assert_eq!(read_words(&done.resources[4]), [0, 1]);
    dispatch.resources[2].truncate(4);
    let expected = FaultKind::OutOfBounds { slot: Slot::Resource(2), offset: 4, size: 4, write: false, length: 4 };
    assert_eq!(fault(&kernel, &dispatch).kind, expected);
}

#[test]
fn bindings_with_offsets_and_arrays_of_buffers() {
    let kernel = compile(
        "kernel void k(array<device uint*, 2> a [[buffer(1)]], device uint* o [[buffer(0)]], uint g [[thread_position_in_grid]]) { o[g] = a[g][0]; }",
    );
    assert_eq!(kernel.arguments()[0].count, 2);
    let mut dispatch = Dispatch::new([1, 1, 1], [2, 1, 1]).with_buffer(0, vec![0; 8]);
    dispatch.resources.push(words(&[5, 6, 7]));
    dispatch
        .buffers
        .extend([Binding { index: 1, resource: 1, offset: 4 }, Binding { index: 2, resource: 1, offset: 8 }]);
    assert_eq!(read_words(&kernel.dispatch(&dispatch).expect("runs").resources[0]), [6, 7]);
}

#[test]
fn arithmetic_is_ieee_without_contraction() {
    let kernel = compile(
        "kernel void k(device float* o [[buffer(0)]]) {
           float a = o[0], b = o[1], nan = o[2];
           o[3] = a * a - b; o[4] = fma(a, a, -b); o[5] = max(nan, 2.0f); o[6] = min(nan, 2.0f); o[7] = clamp(nan, 1.0f, 3.0f);
           o[8] = rint(2.5f) + 10 * round(2.5f); o[9] = float(half(a) * half(a)); o[10] = saturate(nan); o[11] = sign(nan); o[12] = fract(-1e-9f);
           o[13] = float(fract(half(-1e-7h))); o[14] = sinpi(1.0f); o[15] = exp10(2.0f); }",
    );
    let a = 1.0f32 + f32::EPSILON * 3.0;
    let b = 1.0f32 + f32::EPSILON * 6.0;
    let input = floats(&[[a, b, f32::NAN].as_slice(), &[0.0; 13]].concat());
    let done = kernel.dispatch(&Dispatch::new([1, 1, 1], [1, 1, 1]).with_buffer(0, input)).expect("runs");
    let o = read_floats(&done.resources[0]);
    let exact = (f64::from(a) * f64::from(a) - f64::from(b)) as f32;
    let below_one = f32::from_bits(0x3f7f_ffff);
    let half_below_one = 1.0 - 1.0 / 2048.0;
    assert_eq!(o[3..16], [a * a - b, exact, 2.0, 2.0, 1.0, 32.0, 1.0, 0.0, 0.0, below_one, half_below_one, 0.0, 100.0]);
    assert_ne!(o[3], o[4]);
}

#[test]
fn integer_functions() {
    let kernel = compile(
        "kernel void k(device uint* o [[buffer(0)]]) {
           uint x = o[0]; int s = int(x);
           o[1] = clz(x); o[2] = ctz(x); o[3] = popcount(x); o[4] = reverse_bits(x); o[5] = mulhi(x, x); o[6] = uint(mulhi(s, 3));
           o[7] = addsat(x, x); o[8] = uint(subsat(s, 2147483647)); o[9] = rotate(x, 8u); o[10] = extract_bits(x, 4, 8); o[11] = uint(extract_bits(s, 24, 8));
           o[12] = insert_bits(x, 0xffu, 4, 8); o[13] = absdiff(s, 5); o[14] = hadd(x, 3u); o[15] = clz(0u) + uint(clz(ushort(1))); o[16] = uint(s + 2147483647); }",
    );
    let x = 0xf000_0010u32;
    let s = x as i32;
    let mut input = words(&[x]);
    input.resize(4 * 17, 0);
    let done = kernel.dispatch(&Dispatch::new([1, 1, 1], [1, 1, 1]).with_buffer(0, input)).expect("runs");
    let expected = [
        x,
        x.leading_zeros(),
        x.trailing_zeros(),
        x.count_ones(),
        x.reverse_bits(),
        ((u64::from(x) * u64::from(x)) >> 32) as u32,
        ((i64::from(s) * 3) >> 32) as u32,
        x.saturating_add(x),
        s.saturating_sub(i32::MAX) as u32,
        x.rotate_left(8),
        (x >> 4) & 0xff,
        (s >> 24) as u32,
        (x & !0xff0) | 0xff0,
        s.abs_diff(5),
        ((u64::from(x) + 3) >> 1) as u32,
        32 + 15,
        s.wrapping_add(i32::MAX) as u32,
    ];
    assert_eq!(read_words(&done.resources[0]), expected);
}

#[test]
fn vectors_matrices_and_packed_types() {
    let kernel = compile(
        "struct P { packed_float3 a; float b; float3 c; };
         kernel void k(device float* o [[buffer(0)]], device P* p [[buffer(1)]]) {
           float3x2 m = float3x2(1, 2, 3, 4, 5, 6); float2 v = m * float3(1, 10, 100); float3 w = float2(1, 10) * m;
           o[0] = v.x; o[1] = v.y; o[2] = w.x; o[3] = w.y; o[4] = w.z; o[5] = transpose(m)[1][2]; o[6] = determinant(float2x2(1, 2, 3, 4));
           p->a = float3(p->a).zyx; p->a.y *= 2; p->c.xz = p->c.zx; o[7] = sizeof(P); o[8] = dot(p->c, float3(p->a)); }",
    );
    let d = Dispatch::new([1, 1, 1], [1, 1, 1])
        .with_buffer(0, vec![0; 36])
        .with_buffer(1, floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]));
    let done = kernel.dispatch(&d).expect("runs");
    // Columns are (1,2), (3,4), (5,6).
    assert_eq!(read_floats(&done.resources[0]), [531.0, 642.0, 21.0, 43.0, 65.0, 6.0, -2.0, 32.0, 50.0]);
    assert_eq!(read_floats(&done.resources[1])[..7], [3.0, 4.0, 1.0, 4.0, 7.0, 6.0, 5.0]);
}

#[test]
fn what_is_not_executed_says_so() {
    let text = "#include <metal_stdlib>\nusing namespace metal;\nstruct I { float a [[attribute(0)]]; };\nkernel void k(I i [[stage_in]]) {}\nkernel void q() {}";
    let none = BTreeMap::new();
    assert!(matches!(EXECUTOR.compile("t", text, Some("k"), &none), Err(Error::Unsupported(_))));
    assert!(matches!(EXECUTOR.compile("t", text, Some("x"), &none), Err(Error::NoKernel { .. })));
    assert!(matches!(EXECUTOR.compile("t", text, None, &none), Err(Error::NoKernel { .. })));
    assert!(matches!(EXECUTOR.compile("t", "kernel void k() { x; }", None, &none), Err(Error::Compile(_))));
}

fn texel(values: [f32; 4]) -> [u32; 4] {
    values.map(f32::to_bits)
}

#[test]
fn textures_are_read_and_written() {
    let kernel = compile(
        "kernel void k(texture2d<float, access::read> a [[texture(0)]], texture2d_array<uint, access::write> b [[texture(1)]],
           texture3d<int, access::read_write> c, device uint* o [[buffer(0)]], uint2 g [[thread_position_in_grid]]) {
           b.write(uint4(a.read(g)), g, 1);
           int4 old = c.read(uint3(g, 1)); c.write(-old, uint3(g, 1));
           o[0] = a.get_width(); o[1] = a.get_height(1); o[2] = b.get_array_size(); o[3] = c.get_depth(); o[4] = a.get_num_mip_levels();
           o[5] = uint(a.read(uint2(9, 0)).x); b.write(uint4(9), uint2(9, 0), 0); }",
    );
    assert_eq!(kernel.arguments().iter().map(|a| a.index).collect::<Vec<_>>(), [0, 1, 2, 0]);
    let mut a = Texture::new(2, 3, 1, Element::Float).with_layers(1, 2);
    let mut c = Texture::new(2, 3, 2, Element::Int);
    for y in 0..3 {
        for x in 0..2 {
            let (at_a, at_c) = (a.index([x, y, 0], 0, 0), c.index([x, y, 1], 0, 0));
            a.texels[at_a] = texel([x as f32, y as f32, 7.0, 1.0]);
            c.texels[at_c] = [x, y, 5, 1];
        }
    }
    let b = Texture::new(2, 3, 1, Element::Uint).with_layers(2, 1);
    let d = Dispatch::new([1, 1, 1], [2, 3, 1])
        .with_texture(0, a)
        .with_texture(1, b)
        .with_texture(2, c)
        .with_buffer(0, vec![0xff; 24]);
    let done = kernel.dispatch(&d).expect("runs");
    assert_eq!(read_words(&done.resources[0]), [2, 1, 2, 2, 2, 0]);
    for y in 0..3u32 {
        for x in 0..2u32 {
            let (b, c) = (&done.textures[1], &done.textures[2]);
            assert_eq!(b.texels[b.index([x, y, 0], 1, 0)], [x, y, 7, 1]);
            assert_eq!(b.texels[b.index([x, y, 0], 0, 0)], [0; 4]);
            assert_eq!(c.texels[c.index([x, y, 1], 0, 0)], [x, y, 5, 1].map(u32::wrapping_neg));
        }
    }
    let unbound = Dispatch::new([1, 1, 1], [1, 1, 1]).with_buffer(0, vec![0; 24]);
    assert_eq!(fault(&kernel, &unbound).kind, FaultKind::NoTexture);
}

#[test]
fn textures_are_sampled() {
    // Level 0 is 4 by 2 with red x and green y, level 1 is 2 by 1 with red 100.
    let mut t = Texture::new(4, 2, 1, Element::Float).with_layers(1, 2);
    for y in 0..2 {
        for x in 0..4 {
            let at = t.index([x, y, 0], 0, 0);
            t.texels[at] = texel([x as f32, y as f32, 0.0, 1.0]);
        }
    }
    t.texels[8..].fill(texel([100.0, 0.0, 0.0, 1.0]));
    let kernel = compile(
        "constexpr sampler near(filter::nearest), rep(address::repeat, filter::linear), zero(address::clamp_to_zero), edge(coord::pixel, filter::linear);
         kernel void k(texture2d<float> t [[texture(0)]], sampler s [[sampler(2)]], device float* o [[buffer(0)]]) {
           o[0] = t.sample(near, float2(0.6, 0)).x;
           o[1] = t.sample(rep, float2(0.0, 0.25)).x; // between texels 3 and 0
           o[2] = t.sample(zero, float2(-0.1, 0)).w; o[3] = t.sample(edge, float2(1.25, 1.0)).x; o[4] = t.sample(edge, float2(1.25, 1.0)).y;
           o[5] = t.sample(s, float2(0.375, 0.25), level(0.5)).x; // texel 1 and level 1
           o[6] = t.sample(near, float2(0.6, 0), int2(1, 1)).y; float4 g = t.gather(rep, float2(0.5, 0.5)); o[7] = g.x + 10 * g.y + 100 * g.z + 1000 * g.w;
           o[8] = t.sample(s, float2(0.375, 0.25), gradient2d(float2(0.5, 0), float2(0))).x; }",
    );
    let s = Sampler { mag: Filter::Linear, min: Filter::Linear, mip: MipFilter::Linear, ..Sampler::default() };
    let d = Dispatch::new([1, 1, 1], [1, 1, 1]).with_texture(0, t).with_sampler(2, s).with_buffer(0, vec![0; 36]);
    let o = read_floats(&kernel.dispatch(&d).expect("runs").resources[0]);
    // gather: (1,1), (2,1), (2,0), (1,0) of red.
    assert_eq!(o, [2.0, 1.5, 0.0, 0.75, 0.5, 50.5, 1.0, 1221.0, 100.0]);
}

#[test]
fn tables_hold_handles_of_eight_bytes() {
    let kernel = compile(
        "template<typename T> struct Descriptor { T value; };
         kernel void k(const device Descriptor<ulong>* table [[buffer(0)]], const device Descriptor<sampler>* s [[buffer(1)]],
           device float* o [[buffer(2)]], uint g [[thread_position_in_grid]]) {
           const device Descriptor<texture2d<float>>* t = reinterpret_cast<const device Descriptor<texture2d<float>>*>(table);
           const device Descriptor<device uint*>* b = reinterpret_cast<const device Descriptor<device uint*>*>(table);
           o[g] = t[g].value.sample(s[g].value, float2(1.25, 0)).x + reinterpret_cast<const device Descriptor<depth2d<float>>*>(t)[g].value.read(uint2(1, 0));
           b[2].value[g] = g + 5; }",
    );
    let texture = |values: [f32; 2]| {
        let mut t = Texture::new(2, 1, 1, Element::Float);
        t.texels = values.map(|v| texel([v, 0.0, 0.0, 1.0])).to_vec();
        t
    };
    let sampler = |mode| Sampler { address: [mode; 3], ..Sampler::default() };
    let table: Vec<u8> =
        [texture_handle(200), texture_handle(1023), 0].into_iter().flat_map(u64::to_le_bytes).collect();
    let samplers = [sampler(AddressMode::Repeat), sampler(AddressMode::ClampToEdge)];
    let samplers: Vec<u8> = samplers.iter().flat_map(|s| s.handle().to_le_bytes()).collect();
    let mut d = Dispatch::new([1, 1, 1], [2, 1, 1])
        .with_buffer(0, table)
        .with_buffer(1, samplers)
        .with_buffer(2, vec![0; 8])
        .with_texture(200, texture([1.0, 2.0]))
        .with_texture(1023, texture([10.0, 20.0]));
    d.resources.push(vec![0; 8]);
    d.addresses.push(Address { resource: 0, at: 16, target: 3, offset: 0 });
    let done = kernel.dispatch(&d).expect("runs");
    // 1.25 wraps to texel 0, or stays at the edge, texel 1.
    assert_eq!(read_floats(&done.resources[2]), [1.0 + 2.0, 20.0 + 20.0]);
    assert_eq!(read_words(&done.resources[3]), [5, 6]);
    // An entry that nobody wrote.
    d.resources[0][..8].fill(0);
    assert_eq!(fault(&kernel, &d).kind, FaultKind::NoTexture);
}

#[test]
fn levels_of_samplers_are_clamped() {
    let mut t = Texture::new(4, 1, 1, Element::Float).with_layers(1, 3);
    for (level, from, to) in [(0.0, 0, 4), (1.0, 4, 6), (2.0, 6, 7)] {
        t.texels[from..to].fill(texel([level, 0.0, 0.0, 1.0]));
    }
    let kernel = compile(
        "constexpr sampler low(filter::nearest, mip_filter::nearest, lod_clamp(1.0f, 1.0f));
         kernel void k(texture2d<float> t [[texture(0)]], sampler s [[sampler(0)]], device float* o [[buffer(0)]]) {
           o[0] = t.sample(low, float2(0)).x; o[1] = t.sample(low, float2(0), level(2)).x;
           o[2] = t.sample(s, float2(0)).x; o[3] = t.sample(s, float2(0), level(2)).x; }",
    );
    let s = Sampler { mip: MipFilter::Linear, lod: [0.5, f32::MAX], ..Sampler::default() };
    let d = Dispatch::new([1, 1, 1], [1, 1, 1]).with_texture(0, t).with_sampler(0, s).with_buffer(0, vec![0; 16]);
    assert_eq!(read_floats(&kernel.dispatch(&d).expect("runs").resources[0]), [1.0, 1.0, 0.5, 2.0]);
}

#[test]
fn depth_is_compared_and_cubes_have_faces() {
    let kernel = compile(
        "constexpr sampler less(compare_func::less, filter::linear);
         kernel void k(depth2d<float> d [[texture(0)]], texturecube<float> c [[texture(1)]], array<texture2d<float>, 2> a [[texture(2)]], sampler s, device float* o [[buffer(0)]]) {
           o[0] = d.sample_compare(less, float2(0.5), 0.5); o[1] = d.sample(s, float2(0.9, 0.1));
           float3 v[6] = {float3(1, 0, 0), float3(-1, 0, 0), float3(0, 1, 0), float3(0, -1, 0), float3(0, 0, 1), float3(0, 0, -1)};
           for (int i = 0; i < 6; ++i) o[2 + i] = c.sample(s, v[i]).x;
           o[8] = a[1].read(uint2(0)).x; }",
    );
    let mut d = Texture::new(2, 2, 1, Element::Float);
    for (i, v) in [0.25, 0.75, 1.0, 0.5].into_iter().enumerate() {
        d.texels[i] = texel([v, 0.0, 0.0, 0.0]);
    }
    let mut cube = Texture::new(1, 1, 1, Element::Float).with_layers(6, 1);
    for i in 0..6 {
        cube.texels[i] = texel([i as f32; 4]);
    }
    let mut last = Texture::new(1, 1, 1, Element::Float);
    last.texels[0] = texel([42.0; 4]);
    let dispatch = Dispatch::new([1, 1, 1], [1, 1, 1])
        .with_texture(0, d)
        .with_texture(1, cube)
        .with_texture(3, last)
        .with_buffer(0, vec![0; 36]);
    let o = read_floats(&kernel.dispatch(&dispatch).expect("runs").resources[0]);
    // Of the four depths two are greater than the reference.
    assert_eq!(o, [0.5, 0.75, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 42.0]);
}

#[test]
fn texture_atomics() {
    let kernel = compile(
        "kernel void k(texture2d<int, access::read_write> t [[texture(0)]], texture_buffer<uint, access::read_write> b [[texture(1)]], uint g [[thread_position_in_grid]]) {
           t.atomic_fetch_add(uint2(0, 0), int4(int(g) - 1)); t.atomic_fetch_min(uint2(1, 0), int4(-int(g))); b.atomic_fetch_max(1u, uint4(g)); }",
    );
    let dispatch = Dispatch::new([1, 1, 1], [8, 1, 1])
        .with_texture(0, Texture::new(2, 1, 1, Element::Int))
        .with_texture(1, Texture::new(2, 1, 1, Element::Uint));
    let done = kernel.dispatch(&dispatch).expect("runs");
    assert_eq!(done.textures[0].texels.iter().map(|t| t[0] as i32).collect::<Vec<_>>(), [20, -7]);
    assert_eq!(done.textures[1].texels[1][0], 7);
}
