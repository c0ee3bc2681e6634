//! Wrong Metal is rejected for the reason it is wrong: the rows of `wrong.txt`.
use metal_check::{Checker, LanguageVersion, Options};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const LIBRARY: &str = "#include <metal_stdlib>\nusing namespace metal;\n";
/// What statements may use.
const KERNEL: &str = "kernel void k(device float* f [[buffer(0)]], device atomic_uint* a [[buffer(1)]], constant float4& c [[buffer(2)]],
    texture2d<float> t [[texture(0)]], texture2d<float, access::read_write> rw [[texture(1)]], depth2d<float> d [[texture(2)]],
    texturecube<float> cube [[texture(3)]], texture3d<float> t3 [[texture(4)]], texture1d<float> t1 [[texture(5)]],
    texture2d_array<float> ta [[texture(6)]], texture2d_ms<float> ms [[texture(7)]], texture2d<float, access::write> wo [[texture(8)]],
    texture2d<uint, access::read_write> ui [[texture(9)]], sampler s [[sampler(0)]]) {
  float x = f[0]; int n = 1; uint u = 1; half h = 1; float2 v2 = x; float3 v3 = x; float4 v4 = x; int2 n2 = 1; int3 n3 = 1; uint2 u2 = 1;
  bool3 b3 = true; float3x3 m = float3x3(1);
";

/// The same beside ray queries.
const RAYS: &str = "#include <metal_raytracing>
using namespace metal::raytracing;
void f(intersection_query<instancing, triangle_data> q) {}
void g(thread intersection_query<instancing, triangle_data>& q) {}
kernel void k(instance_acceleration_structure a [[buffer(0)]], primitive_acceleration_structure b [[buffer(1)]]) {
  intersection_query<instancing, triangle_data> q; intersection_params p; float x = 1; uint u = 1; float2 v2 = x; float3 v3 = x;
";

struct Row {
    line: usize,
    version: LanguageVersion,
    text: String,
    reason: &'static str,
    says: &'static str,
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (i, line) in include_str!("wrong.txt").lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.split(";;").map(str::trim).collect();
        let [kind, text, reason, says] = fields[..] else { panic!("line {}: four fields are needed", i + 1) };
        let version = kind[1..].parse().unwrap_or_default();
        let text = match &kind[..1] {
            "E" => format!("{LIBRARY}{KERNEL}{text}\n}}\n"),
            "D" => format!("{LIBRARY}{text}\n"),
            "R" => format!("{LIBRARY}{RAYS}{text}\n}}\n"),
            "F" => text.replace("\\n", "\n"),
            _ => panic!("line {}: unknown kind", i + 1),
        };
        rows.push(Row { line: i + 1, version, text, reason, says });
    }
    rows
}

#[test]
fn wrong_text_is_rejected_for_its_reason() {
    let rows = rows();
    let checkers: BTreeMap<LanguageVersion, Checker> = rows
        .iter()
        .map(|r| r.version)
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .map(|version| {
            (
                version,
                Checker::new(Options { version, ..Options::default() }).expect("clang is needed: install clang-19"),
            )
        })
        .collect();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let report = checkers[&row.version].check_text("row.metal", &row.text).expect("clang runs");
                    let right = match row.reason {
                        "ok" => report.passed(),
                        _ => report.findings.iter().any(|f| f.message.contains(row.says)),
                    };
                    if !right {
                        let said = if report.passed() { "accepted\n".to_owned() } else { report.to_string() };
                        failures.lock().expect("no panic").push(format!("line {} ({}):\n{said}", row.line, row.reason));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{} rows:\n{}", failures.len(), failures.join("\n"));
    assert!(rows.iter().filter(|r| r.reason != "ok").count() >= 200, "the table is meant to be long");
}
