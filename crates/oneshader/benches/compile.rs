//! What a compile costs: in this process, and as a whole process beside other compilers, in tables.
//!
//!     cargo build --release -p oneshader-cli && cargo bench -p oneshader --bench compile
//!
//! Times are means of CPU time, which other load on the machine disturbs little: in process by the scheduler's account of
//! the thread (wall time where there is none), for whole processes by the account of child processes, which there is on
//! Linux only. Peers are `dxc` and `spirv-cross`, from the path or from `ONESHADER_BENCH_DXC` and
//! `ONESHADER_BENCH_SPIRV_CROSS`; a peer that is missing is left out. `oneshader` is taken from where cargo builds it, or
//! from `ONESHADER_BENCH_ONESHADER`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use oneshader::{CompileTarget, OptLevel, Options, Source, compile, lower};

const TINY: &str = "float4 main(float4 color : COLOR) : SV_Target\n{\n    return color;\n}\n";
const PIXEL: &str = include_str!("pixel.hlsl");

/// A run is repeated for so long.
const ENOUGH: Duration = Duration::from_millis(400);
/// At least so often, however long it takes.
const LEAST_RUNS: u32 = 3;

fn main() {
    let shaders = [
        ("tiny", TINY.to_owned()),
        ("pixel shader", PIXEL.to_owned()),
        ("1,000 lines", generate(1_000)),
        ("10,000 lines", generate(10_000)),
        ("100,000 lines", generate(100_000)),
    ];
    in_process(&shaders);
    whole_process(&shaders[..4]);
}

/// A pixel shader of about so many lines: functions of some dozen lines, each called once.
fn generate(lines: usize) -> String {
    let layers = (lines - 20) / 19;
    let mut text = String::from(
        "struct Surface { float4 base; float3 normal; float3 view; float roughness; float2 uv; };\n\
         cbuffer Frame { float4 lights[8]; uint4 steps; float4 limits[8]; };\n\
         Texture2D<float4> map; SamplerState smp;\n\n",
    );
    for k in 0..layers {
        let (c, component, limit) = (0.25 + (k % 97) as f32 / 64.0, ["x", "y", "z", "w"][k % 4], k % 8);
        let _ = write!(
            text,
            "float3 Layer{k}(Surface s, float3 light)
{{
    const float3 h = normalize(s.view + light);
    const float nh = saturate(dot(s.normal, h));
    const float a = s.roughness * s.roughness + {c};
    const float d = a / (3.14159 * pow(nh * nh * (a - 1) + 1, 2));
    float3 sum = 0;
    for (uint i = 0; i < steps.{component}; ++i)
    {{
        const float w = sin(s.uv.x * i + {c}) * d;
        if (w > limits[{limit}].{component})
            sum += s.base.rgb * w;
        else
            sum -= light * (w * {c});
    }}
    return sum + map.SampleLevel(smp, s.uv * {c}, 0).rgb;
}}

"
        );
    }
    text.push_str(
        "float4 main(float4 base : COLOR, float3 normal : NORMAL, float3 view : VIEW, float2 uv : TEXCOORD) : SV_Target\n\
         {\n    Surface s = { base, normalize(normal), normalize(view), base.a, uv };\n    float3 sum = 0;\n",
    );
    for k in 0..layers {
        let _ = writeln!(text, "    sum += Layer{k}(s, lights[{}].xyz);", k % 8);
    }
    text.push_str("    return float4(sum, 1);\n}\n");
    text
}

/// CPU time of this thread in seconds: the first field of `schedstat`, in nanoseconds.
fn thread() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(stat.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

/// The mean time of a run, in seconds.
fn mean(mut run: impl FnMut()) -> f64 {
    let (began, before, mut runs) = (Instant::now(), thread(), 0);
    loop {
        run();
        runs += 1;
        let wall = began.elapsed();
        // The account is brought up to date with every tick of the kernel, each few milliseconds.
        let spent = thread().zip(before).map_or(wall.as_secs_f64(), |(after, before)| after - before);
        if runs >= LEAST_RUNS && spent > ENOUGH.as_secs_f64() {
            return spent / f64::from(runs);
        }
    }
}

fn in_process(shaders: &[(&str, String)]) {
    println!("\nIn process (ms), and lines per second of the first column:\n");
    println!("| shader | lines | Metal -O1 | lines/s | Metal -O3 | SPIR-V -O3 | front end alone |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (name, text) in shaders {
        let source = Source::new("bench.hlsl", text.as_str());
        let time = |target, level| {
            let options = Options { opt_level: level, ..options(target) };
            mean(|| drop(compile(&source, &options).unwrap_or_else(|failure| panic!("{failure}"))))
        };
        let front = mean(|| drop(lower(&source, &options(CompileTarget::Msl)).expect("it compiled")));
        let metal = time(CompileTarget::Msl, OptLevel::O1);
        let lines = text.lines().count();
        println!(
            "| {name} | {lines} | {:.3} | {:.0} | {:.3} | {:.3} | {:.3} |",
            metal * 1e3,
            lines as f64 / metal,
            time(CompileTarget::Msl, OptLevel::O3) * 1e3,
            time(CompileTarget::Spirv, OptLevel::O3) * 1e3,
            front * 1e3
        );
    }
}

fn options(target: CompileTarget) -> Options {
    Options::new(target).profile("ps_6_0").expect("a profile").entry("main")
}

/// A program by its variable, else beside `beside`, else on the path.
fn program(variable: &str, name: &str, beside: Option<&Path>) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable) {
        return Some(path.into());
    }
    let dirs = std::env::var_os("PATH").unwrap_or_default();
    let dirs = beside.map(Path::to_owned).into_iter().chain(std::env::split_paths(&dirs));
    dirs.map(|dir| dir.join(name)).find(|path| path.is_file())
}

/// CPU time of the children waited for, in seconds: fields 16 and 17 of `/proc/self/stat`, in hundredths of a second
/// whatever the kernel's clock (`proc_pid_stat(5)`).
fn children() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field, the program's name in parentheses, may hold blanks.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(13)? + ticks(14)?) / 100.0)
}

/// CPU seconds of one run of a sequence of commands; the message of one that fails.
fn cpu(commands: &mut [Command]) -> Result<f64, String> {
    let (began, before, mut runs) = (Instant::now(), children().ok_or("no accounts of processes here")?, 0);
    loop {
        for command in &mut *commands {
            let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
            let name = command.get_program().to_string_lossy().into_owned();
            match status {
                Ok(status) if status.success() => {}
                Ok(status) => return Err(format!("{name}: {status}")),
                Err(e) => return Err(format!("{name}: {e}")),
            }
        }
        runs += 1;
        let spent = children().unwrap_or(before) - before;
        // The accounts count hundredths.
        if runs >= LEAST_RUNS && (spent > 0.5 || began.elapsed() > 8 * ENOUGH) {
            return Ok(spent / f64::from(runs));
        }
    }
}

fn whole_process(shaders: &[(&str, String)]) {
    // This program is target/release/deps/compile-HASH.
    let exe = std::env::current_exe().unwrap_or_default();
    let Some(ours) = program("ONESHADER_BENCH_ONESHADER", "oneshader", exe.ancestors().nth(2)) else {
        return println!("\nWhole process: left out; `cargo build --release -p oneshader-cli` makes the command");
    };
    let dxc = program("ONESHADER_BENCH_DXC", "dxc", None);
    let cross = program("ONESHADER_BENCH_SPIRV_CROSS", "spirv-cross", None);
    let peers = dxc.zip(cross);
    if peers.is_none() {
        println!("\nWhole process: dxc and spirv-cross are not both here; their columns are left out");
    }
    println!("\nWhole process, HLSL file to Metal file, CPU time of one run (ms):\n");
    println!("| shader | oneshader -O1 | oneshader -O3 | dxc -O3, spirv-cross | ratio to -O1 | ratio to -O3 |");
    println!("|---|---:|---:|---:|---:|---:|");
    let dir = std::env::temp_dir().join(format!("oneshader-bench-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory for the files");
    let (hlsl, metal, spirv) = (dir.join("a.hlsl"), dir.join("a.metal"), dir.join("a.spv"));
    for (name, text) in shaders {
        std::fs::write(&hlsl, text).expect("a file to compile");
        let ours = |level| {
            let mut command = Command::new(&ours);
            command.args(["-T", "ps_6_0", "-E", "main", "-msl", level]).arg(&hlsl).arg("-Fo").arg(&metal);
            cpu(&mut [command])
        };
        let theirs = peers.as_ref().map(|(dxc, cross)| {
            let mut first = Command::new(dxc);
            first.args(["-T", "ps_6_0", "-E", "main", "-spirv", "-O3"]).arg(&hlsl).arg("-Fo").arg(&spirv);
            let mut second = Command::new(cross);
            second.arg(&spirv).args(["--msl", "--output"]).arg(&metal);
            cpu(&mut [first, second])
        });
        let (o1, o3) = (ours("-O1"), ours("-O3"));
        let show = |time: &Result<f64, String>| match time {
            Ok(seconds) => format!("{:.1}", seconds * 1e3),
            Err(why) => why.clone(),
        };
        let ratio = |ours: &Result<f64, String>| match (ours, &theirs) {
            (Ok(ours), Some(Ok(theirs))) => format!("{:.1}", theirs / ours),
            _ => "-".to_owned(),
        };
        let peer = theirs.as_ref().map_or("-".to_owned(), show);
        println!("| {name} | {} | {} | {peer} | {} | {} |", show(&o1), show(&o3), ratio(&o1), ratio(&o3));
    }
    // What is left behind is in the system's directory for such files.
    let _ = std::fs::remove_dir_all(dir);
}
