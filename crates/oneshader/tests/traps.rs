//! Where translators of HLSL are known to go wrong, and what is right. Where a number is the point, the Metal is run.
//!
//! Expected numbers are those of the HLSL and Direct3D 11.3 functional specifications.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use metal_check::Checker;
use metal_check::run::{Dispatch, Executor};
use oneshader::reflect::{MslTable, Reflection};
use oneshader::{CompileTarget, LayoutOptions, OptLevel, Options, Output, Source, compile};

fn checks() -> metal_check::Options {
    metal_check::Options { check_layout: true, ..metal_check::Options::default() }
}

fn checker() -> &'static Checker {
    static CHECKER: OnceLock<Checker> = OnceLock::new();
    CHECKER.get_or_init(|| Checker::new(checks()).expect("clang, to check Metal with"))
}

fn executor() -> &'static Executor {
    static EXECUTOR: OnceLock<Executor> = OnceLock::new();
    EXECUTOR.get_or_init(|| Executor::new(checks()).expect("clang, to run Metal with"))
}

fn options(profile: &str) -> Options {
    Options::new(CompileTarget::Msl).profile(profile).unwrap().entry("main")
}

#[track_caller]
fn made(options: &Options, hlsl: &str) -> Output {
    compile(&Source::new("trap.hlsl", hlsl), options).unwrap_or_else(|failure| panic!("{failure}"))
}

/// The Metal text, which the checker accepts.
#[track_caller]
fn metal(profile: &str, hlsl: &str) -> String {
    let output = made(&options(profile), hlsl);
    let text = output.text("main").unwrap().to_owned();
    let report = checker().check_text("trap.metal", &text).unwrap();
    assert!(report.passed(), "{report}\n{text}");
    text
}

/// A kernel and the memory it works on.
struct Kernel<'a> {
    options: Options,
    hlsl: &'a str,
    memory: BTreeMap<&'a str, Vec<u8>>,
}

impl<'a> Kernel<'a> {
    fn new(hlsl: &'a str) -> Self {
        Self { options: options("cs_6_0"), hlsl, memory: BTreeMap::new() }
    }

    fn with(mut self, name: &'a str, bytes: impl Into<Vec<u8>>) -> Self {
        self.memory.insert(name, bytes.into());
        self
    }

    /// The bytes of `Out` after a dispatch of one threadgroup, which are the same however much is optimized.
    #[track_caller]
    fn run(self) -> Vec<u8> {
        let Self { mut options, hlsl, memory } = self;
        let mut last: Option<Vec<u8>> = None;
        for level in [OptLevel::O0, OptLevel::O1, OptLevel::O3] {
            options.opt_level = level;
            let output = made(&options, hlsl);
            let text = output.text("main").unwrap();
            let kernel = executor().compile("trap.metal", text, None, &BTreeMap::new());
            let kernel = kernel.unwrap_or_else(|e| panic!("{level:?}: {e}\n{text}"));
            let entry = &output.reflection.entry_points[0];
            let mut dispatch = Dispatch::new([1, 1, 1], entry.threads);
            for (name, bytes) in &memory {
                dispatch = dispatch.with_buffer(slot(&output.reflection, name), bytes.clone());
            }
            for resource in &output.reflection.resources {
                if let Some(index) = resource.msl_counter {
                    dispatch = dispatch.with_buffer(index, [0; 4]);
                }
            }
            let done = kernel.dispatch(&dispatch).unwrap_or_else(|e| panic!("{level:?}: {e}\n{text}"));
            assert!(done.notes.is_empty(), "{:?}", done.notes);
            let bytes = done.buffer(slot(&output.reflection, "Out")).unwrap().to_vec();
            if let Some(last) = &last {
                assert_eq!(last, &bytes, "{level:?} computes something else\n{text}");
            }
            last = Some(bytes);
        }
        last.unwrap()
    }

    #[track_caller]
    fn uints(self, count: usize) -> Vec<u32> {
        let bytes = self.with("Out", vec![0xcd; count * 4]).run();
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    #[track_caller]
    fn ints(self, count: usize) -> Vec<i32> {
        self.uints(count).into_iter().map(u32::cast_signed).collect()
    }

    #[track_caller]
    fn floats(self, count: usize) -> Vec<f32> {
        self.uints(count).into_iter().map(f32::from_bits).collect()
    }
}

fn slot(reflection: &Reflection, name: &str) -> u32 {
    let resource = reflection.resource(name).unwrap_or_else(|| panic!("no resource `{name}`"));
    let slot = resource.msl.as_ref().unwrap_or_else(|| panic!("`{name}` has no slot"));
    slot.index
}

fn bytes_of<const N: usize, T: Copy>(values: &[T], to: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&v| to(v)).collect()
}

fn floats(values: &[f32]) -> Vec<u8> {
    bytes_of(values, f32::to_le_bytes)
}

fn ints(values: &[i32]) -> Vec<u8> {
    bytes_of(values, i32::to_le_bytes)
}

fn uints(values: &[u32]) -> Vec<u8> {
    bytes_of(values, u32::to_le_bytes)
}

#[test]
fn no_two_resources_on_one_index() {
    let hlsl = "cbuffer C : register(b0) { uint c; };
        cbuffer D : register(b0, space1) { uint d; };
        StructuredBuffer<uint> T : register(t0);
        StructuredBuffer<uint> T1 : register(t0, space1);
        ByteAddressBuffer Raw : register(t1);
        RWStructuredBuffer<uint> Out : register(u0);
        RWStructuredBuffer<uint> Counted : register(u0, space1);
        AppendStructuredBuffer<uint> Appended : register(u1);
        uint loose;
        [numthreads(1, 1, 1)] void main() {
            Out[0] = c; Out[1] = d; Out[2] = T[0]; Out[3] = T1[0]; Out[4] = Raw.Load(0); Out[5] = loose;
            Counted[Counted.IncrementCounter()] = 7;
            Appended.Append(8);
            Out[6] = Counted[0];
        }";
    let reflection = made(&options("cs_6_0"), hlsl).reflection;
    let mut taken = BTreeSet::new();
    for resource in &reflection.resources {
        let slot = resource.msl.as_ref().unwrap();
        assert_eq!(slot.table, MslTable::Buffer, "{}", resource.name);
        for index in (slot.index..slot.index + slot.count).chain(resource.msl_counter) {
            assert!(taken.insert(index), "buffer {index} twice, again for {}", resource.name);
        }
    }
    assert_eq!(taken.len(), 12, "nine resources and three counters");
    let out = Kernel::new(hlsl)
        .with("C", uints(&[1, 0, 0, 0]))
        .with("D", uints(&[2, 0, 0, 0]))
        .with("T", uints(&[3]))
        .with("T1", uints(&[4]))
        .with("Raw", uints(&[5]))
        .with("$Globals", uints(&[6, 0, 0, 0]))
        .with("Counted", uints(&[0]))
        .with("Appended", uints(&[0]))
        .uints(7);
    assert_eq!(out, [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_float_lies_in_the_last_word_of_a_float3() {
    let hlsl = "cbuffer C { float3 a; float b; float3 many[2]; float last; };
        RWStructuredBuffer<float> Out;
        [numthreads(1, 1, 1)] void main() {
            Out[0] = a.x; Out[1] = a.z; Out[2] = b; Out[3] = many[1].x; Out[4] = many[1].z; Out[5] = last;
        }";
    let words: Vec<f32> = (0..16).map(|n| n as f32).collect();
    // Offsets in words: Direct3D packs `last` behind the array, std140 begins a row.
    for (layout, last) in [(LayoutOptions::DX, 11.0), (LayoutOptions::default(), 12.0)] {
        let mut kernel = Kernel::new(hlsl).with("C", floats(&words));
        kernel.options.layout = layout;
        assert_eq!(kernel.floats(6), [0.0, 2.0, 3.0, 8.0, 10.0, last], "{layout:?}");
    }
    let hlsl = "struct S { float3 a; float b; };
        StructuredBuffer<S> In;
        RWStructuredBuffer<float> Out;
        [numthreads(1, 1, 1)] void main() { Out[0] = In[1].a.z; Out[1] = In[1].b; }";
    assert_eq!(Kernel::new(hlsl).with("In", floats(&words)).floats(2), [6.0, 7.0]);
}

#[test]
fn a_number_becomes_a_matrix() {
    let hlsl = "RWStructuredBuffer<float> Out; StructuredBuffer<float> In;
        [numthreads(1, 1, 1)] void main() {
            float3x4 zero = (float3x4)0;
            float2x3 same = (float2x3)In[0];
            float4x2 assigned = In[1];
            for (uint i = 0; i < 12; ++i) Out[i] = zero[i / 4][i % 4];
            for (uint j = 0; j < 6; ++j) Out[12 + j] = same[j / 3][j % 3];
            for (uint k = 0; k < 8; ++k) Out[18 + k] = assigned[k / 2][k % 2];
        }";
    let out = Kernel::new(hlsl).with("In", floats(&[2.0, 3.0])).floats(26);
    assert_eq!(out, [vec![0.0; 12], vec![2.0; 6], vec![3.0; 8]].concat());
}

#[test]
fn matrices_of_one_row_or_column() {
    let hlsl = "cbuffer C { float1x3 row; row_major float1x3 row2; float3x1 column; float1x1 one; };
        RWStructuredBuffer<float> Out;
        [numthreads(1, 1, 1)] void main() {
            float1x3 a = { 1, 2, 3 };
            float3x1 b = { 4, 5, 6 };
            Out[0] = mul(a, b);
            float3x3 outer = mul(b, a);
            Out[1] = outer._m02; Out[2] = outer._m20;
            Out[3] = transpose(a)[2].x;
            Out[4] = a[0][1]; Out[5] = b._31;
            a._m01 = 9; Out[6] = a._12;
            Out[7] = row._13; Out[8] = row2._13; Out[9] = column._31; Out[10] = one;
            Out[11] = mul(row2, column);
        }";
    // For Vulkan they are vectors: at 0, 16 and 32, and the number at 44.
    let words = [1.0, 2.0, 3.0, 0.0, 10.0, 20.0, 30.0, 0.0, 5.0, 6.0, 7.0, 8.0];
    let out = Kernel::new(hlsl).with("C", floats(&words)).floats(12);
    assert_eq!(out, [32.0, 12.0, 6.0, 3.0, 2.0, 6.0, 9.0, 3.0, 30.0, 7.0, 8.0, 380.0]);
}

#[test]
fn round_is_half_to_even() {
    let values = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 8388609.0];
    let want = [0.0f32, 2.0, 2.0, -0.0, -2.0, -2.0, 0.0, 8388609.0];
    let hlsl = "StructuredBuffer<float> In; RWStructuredBuffer<float> Out;
        [numthreads(8, 1, 1)] void main(uint i : SV_DispatchThreadID) { Out[i] = round(In[i]); }";
    let bits = |v: &[f32]| v.iter().map(|f| f.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&Kernel::new(hlsl).with("In", floats(&values)).floats(8)), bits(&want));
    // Folded as well.
    let folded = "RWStructuredBuffer<float> Out; [numthreads(1, 1, 1)] void main() {
        Out[0] = round(0.5); Out[1] = round(1.5); Out[2] = round(2.5); Out[3] = round(-0.5); Out[4] = round(-1.5);
        Out[5] = round(-2.5); Out[6] = round(0.49999997); Out[7] = round(8388609.0); }";
    assert_eq!(bits(&Kernel::new(folded).floats(8)), bits(&want));
}

#[test]
fn shift_amounts_are_masked() {
    let hlsl = "StructuredBuffer<int> In; RWStructuredBuffer<int> Out;
        [numthreads(1, 1, 1)] void main() {
            int v = In[0]; uint u = In[0];
            Out[0] = 1 << In[1]; Out[1] = v >> In[1]; Out[2] = int(u >> uint(In[1]));
            Out[3] = 1 << In[2]; Out[4] = v >> In[2];
            Out[5] = 1u << In[3];
            int2 w = int2(v, 1) << int2(In[1], In[2]); Out[6] = w.x; Out[7] = w.y;
            v <<= In[1]; Out[8] = v;
            Out[9] = int(1u << 33); Out[10] = int(-8) >> 33;
        }";
    let out = Kernel::new(hlsl).with("In", ints(&[-8, 33, 32, -1])).ints(11);
    assert_eq!(out, [2, -4, 0x7fff_fffc, 1, -8, i32::MIN, -16, 1, -16, 2, -4]);
    let wide = "StructuredBuffer<uint64_t> In; RWStructuredBuffer<uint64_t> Out;
        [numthreads(1, 1, 1)] void main() { Out[0] = In[0] << In[1]; Out[1] = In[0] >> In[2]; }";
    let bytes = bytes_of(&[6u64, 65, 64], u64::to_le_bytes);
    let out = Kernel::new(wide).with("In", bytes).uints(4);
    assert_eq!(out, [12, 0, 6, 0]);
}

#[test]
fn min_max_and_saturate_leave_nan_out() {
    let hlsl = "StructuredBuffer<float> In; RWStructuredBuffer<float> Out;
        [numthreads(1, 1, 1)] void main() {
            float nan = In[0], one = In[1];
            Out[0] = min(nan, one); Out[1] = min(one, nan); Out[2] = max(nan, one); Out[3] = max(one, nan);
            Out[4] = saturate(nan); Out[5] = clamp(nan, 2, 3); Out[6] = saturate(-one);
            float2 v = max(float2(nan, one), 0.5); Out[7] = v.x; Out[8] = v.y;
            float3 s = saturate(float3(nan, 7, 0.25)); Out[9] = s.x; Out[10] = s.y; Out[11] = s.z;
        }";
    let out = Kernel::new(hlsl).with("In", floats(&[f32::NAN, 1.0])).floats(12);
    assert_eq!(out, [1.0, 1.0, 1.0, 1.0, 0.0, 2.0, 0.0, 0.5, 1.0, 0.0, 1.0, 0.25]);
}

#[test]
fn firstbithigh_of_signed_numbers() {
    let values = [0, -1, 1, -2, 8, -8, -9, i32::MIN, i32::MAX];
    let hlsl = "StructuredBuffer<int> In; RWStructuredBuffer<int> Out;
        [numthreads(9, 1, 1)] void main(uint i : SV_DispatchThreadID) {
            Out[i * 3] = firstbithigh(In[i]); Out[i * 3 + 1] = firstbithigh(uint(In[i])); Out[i * 3 + 2] = firstbitlow(In[i]);
        }";
    // The highest bit that differs from the sign; the highest set bit; the lowest set bit. Counted from bit 0; -1: none.
    let want = [
        [-1, -1, -1], // 0
        [-1, 31, 0],  // -1
        [0, 0, 0],    // 1
        [0, 31, 1],   // -2
        [3, 3, 3],    // 8
        [2, 31, 3],   // -8
        [3, 31, 0],   // -9
        [30, 31, 31], // the least
        [30, 30, 0],  // the greatest
    ];
    assert_eq!(Kernel::new(hlsl).with("In", ints(&values)).ints(27), want.concat());
    // Folded as well.
    let folded = "RWStructuredBuffer<int> Out; [numthreads(1, 1, 1)] void main() {
        Out[0] = firstbithigh(0); Out[1] = firstbithigh(-1); Out[2] = firstbithigh(-8); Out[3] = firstbithigh(0xffffffffu); }";
    assert_eq!(Kernel::new(folded).ints(4), [-1, -1, 2, 31]);
}

#[test]
fn booleans_in_memory_are_words() {
    let hlsl = "struct S { bool a; float f; bool3 v; };
        StructuredBuffer<bool> Flags; StructuredBuffer<S> Structs; RWStructuredBuffer<bool> Written;
        RWStructuredBuffer<uint> Out;
        [numthreads(1, 1, 1)] void main() {
            for (uint i = 0; i < 4; ++i) Out[i] = Flags[i] ? 10 : 20;
            Out[4] = Structs[1].a; Out[5] = asuint(Structs[1].f); Out[6] = Structs[1].v.z; Out[7] = Structs[0].v.y;
            Written[1] = Flags[1];
            Out[8] = Written[1]; Out[9] = Written[0];
        }";
    // True is any word that is not zero.
    let out = Kernel::new(hlsl)
        .with("Flags", uints(&[0, 1, 2, 0x8000_0000]))
        // Three words do not straddle a row of 16 bytes.
        .with("Structs", uints(&[0, 9, 0, 0, 1, 0, 1, 0, 5, 77, 0, 0, 0, 0, 256, 0]))
        .with("Written", uints(&[0, 0]))
        .uints(10);
    assert_eq!(out, [20, 10, 10, 10, 1, 77, 1, 0, 1, 0]);
    let hlsl = "StructuredBuffer<uint> In; RWStructuredBuffer<bool2> Out;
        [numthreads(1, 1, 1)] void main() { Out[0] = bool2(In[0], In[1]); }";
    assert_eq!(Kernel::new(hlsl).with("In", uints(&[4, 0])).uints(2), [1, 0]);
}

#[test]
fn vectors_and_matrices_are_truncated() {
    let hlsl = "StructuredBuffer<float4> In; RWStructuredBuffer<float> Out;
        float Sum(float2 v) { return v.x + v.y; }
        [numthreads(1, 1, 1)] void main() {
            float2 two = In[0]; float one = In[0];
            Out[0] = two.x + two.y; Out[1] = one; Out[2] = Sum(In[1]);
            float3 three = float3(1, 1, 1) + In[1]; Out[3] = three.z;
            float4x4 m = float4x4(In[0], In[1], In[2], In[3]);
            float2x3 small = (float2x3)m; Out[4] = small[1][2];
            float3x3 implicit = m; Out[5] = implicit[2][0];
        }";
    let words: Vec<f32> = (1..=16).map(|n| n as f32).collect();
    let out = Kernel::new(hlsl).with("In", floats(&words)).floats(6);
    assert_eq!(out, [3.0, 1.0, 11.0, 8.0, 7.0, 9.0]);
    let output = made(&options("ps_6_0"), "float4 main(float4 c : COLOR) : SV_Target { float2 d = c; return d.xyxy; }");
    assert_eq!(output.diagnostics.iter().count(), 1, "a truncation gives one warning");
}

#[test]
fn clip_distances_of_vectors_are_one_array() {
    let text = metal(
        "vs_6_0",
        "struct V { float4 p : SV_Position; float3 a : SV_ClipDistance0; float2 b : SV_ClipDistance1; };
         V main(float4 p : POSITION) { V v; v.p = p; v.a = p.xyz; v.b = p.zw; return v; }",
    );
    let at = text.find("[[clip_distance]]").unwrap_or_else(|| panic!("{text}"));
    assert!(text[at..].trim_start_matches("[[clip_distance]]").trim_start().starts_with("[5]"), "{text}");
    assert_eq!(text.matches("[[clip_distance]]").count(), 1, "{text}");
    for index in 0..5 {
        assert_eq!(
            text.matches(&format!("out.clip_distance[{index}] =")).count(),
            1,
            "distance {index} is written once: {text}"
        );
    }
}

#[test]
fn derivatives_of_every_kind() {
    let text = metal(
        "ps_6_0",
        "float4 main(float2 uv : TEXCOORD) : SV_Target {
             return float4(ddx_fine(uv.x), ddy_fine(uv.y), ddx_coarse(uv.y), ddy_coarse(uv.x)) + ddx(uv).xyxy + fwidth(uv.x);
         }",
    );
    assert_eq!(text.matches("dfdx(").count(), 3, "{text}");
    assert_eq!(text.matches("dfdy(").count(), 2, "{text}");
    assert!(text.contains("fwidth("), "{text}");
}

#[test]
fn templates_of_functions_and_structures() {
    let hlsl = "template<typename T, int N> struct Stack {
            T items[N]; int count;
            void Push(T item) { if (count < N) items[count++] = item; }
            T Sum() { T sum = (T)0; for (int i = 0; i < count; ++i) sum += items[i]; return sum; }
        };
        template<typename T> T Twice(T x) { return x + x; }
        template<> float Twice<float>(float x) { return 100; }
        RWStructuredBuffer<int> Out; StructuredBuffer<int> In;
        [numthreads(1, 1, 1)] void main() {
            Stack<int, 2> s; s.count = 0;
            s.Push(In[0]); s.Push(In[1]); s.Push(In[2]);
            Out[0] = s.Sum();
            Stack<int2, 4> v; v.count = 0;
            v.Push(int2(In[0], In[1])); v.Push(int2(In[1], In[2]));
            Out[1] = v.Sum().x; Out[2] = v.Sum().y;
            Out[3] = Twice(In[2]); Out[4] = Twice<uint>(In[0]); Out[5] = int(Twice(1.5f));
        }";
    assert_eq!(Kernel::new(hlsl).with("In", ints(&[3, 4, 50])).ints(6), [7, 7, 54, 100, 6, 100]);
}

#[test]
fn non_uniform_indices_of_textures() {
    let text = metal(
        "ps_6_0",
        "Texture2D<float4> textures[8] : register(t0); SamplerState smp[2] : register(s0);
         float4 main(float2 uv : TEXCOORD, nointerpolation uint i : INDEX) : SV_Target {
             return textures[NonUniformResourceIndex(i)].Sample(smp[NonUniformResourceIndex(i & 1)], uv);
         }",
    );
    assert!(text.contains("array<texture2d<float>, 8>"), "{text}");
}

#[test]
fn wave_prefix_count_bits_counts_lanes_below() {
    let hlsl = "StructuredBuffer<uint> In; RWStructuredBuffer<uint> Out;
        [numthreads(32, 1, 1)] void main(uint i : SV_GroupIndex) {
            Out[i] = WavePrefixCountBits(In[i] != 0);
            Out[32 + i] = 999;
            if (i % 3 == 0) Out[32 + i] = WavePrefixCountBits(In[i] != 0) + 100 * WaveActiveCountBits(In[i] != 0);
        }";
    let flags: Vec<u32> = (0..32u32).map(|i| u32::from(i.is_multiple_of(2) || i > 20)).collect();
    let out = Kernel::new(hlsl).with("In", uints(&flags)).uints(64);
    let below = |i: u32, step: usize| (0..i).step_by(step).filter(|&k| flags[k as usize] != 0).count() as u32;
    for i in 0..32u32 {
        assert_eq!(out[i as usize], below(i, 1), "lane {i}");
        let divergent = if i % 3 == 0 { below(i, 3) + 100 * below(32, 3) } else { 999 };
        assert_eq!(out[32 + i as usize], divergent, "lane {i} of the branch");
    }
}

#[test]
fn increment_counter_gives_each_thread_a_number() {
    let hlsl = "RWStructuredBuffer<uint> Counted; RWStructuredBuffer<uint> Out;
        [numthreads(64, 1, 1)] void main(uint i : SV_GroupIndex) {
            uint at = Counted.IncrementCounter();
            Out[at] = 1;
            AllMemoryBarrierWithGroupSync();
            if (i < 10) Out[64 + Counted.DecrementCounter() - 54] = 2;
            AllMemoryBarrierWithGroupSync();
            if (i == 0) Out[74] = Counted.IncrementCounter();
        }";
    let out = Kernel::new(hlsl).with("Counted", uints(&[0; 64])).uints(75);
    // The value before an increment, the value after a decrement.
    assert_eq!(out, [vec![1; 64], vec![2; 10], vec![54]].concat());
}
