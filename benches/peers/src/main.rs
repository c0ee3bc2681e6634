//! The rows of `cargo bench -p rig-metal` that wgpu has, on the first adapter it finds (lavapipe on a machine without a
//! GPU). `cargo run --release` in this folder.
//!
//! wgpu validates what it encodes and lavapipe compiles and runs the shader, so the rows are not one runtime against
//! another on the same device: they show what a general, validating layer over a CPU implementation of Vulkan costs for
//! the same motions. wgpu has no indirect command buffers of compute dispatches, so it encodes anew each time.

use std::time::Instant;

const RUNS: usize = 9;
const SHADER: &str = "@group(0) @binding(0) var<storage, read_write> word: u32;
@compute @workgroup_size(1) fn add() { word = word + 1u; }";

struct Peer {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
}

fn open() -> Option<(Peer, String)> {
    let instance = wgpu::Instance::new(&wgpu::InstanceDescriptor {
        backends: wgpu::Backends::VULKAN,
        ..Default::default()
    });
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).ok()?;
    let name = adapter.get_info().name;
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default())).ok()?;
    let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &shader,
        entry_point: Some("add"),
        compilation_options: Default::default(),
        cache: None,
    });
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 256,
        usage: wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
    });
    Some((Peer { device, queue, pipeline, group }, name))
}

impl Peer {
    fn encode(&self, dispatches: u32) -> wgpu::CommandBuffer {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for _ in 0..dispatches {
                pass.set_pipeline(&self.pipeline);
                pass.set_bind_group(0, &self.group, &[]);
                pass.dispatch_workgroups(1, 1, 1);
            }
        }
        encoder.finish()
    }

    fn wait(&self) {
        self.device.poll(wgpu::PollType::Wait).expect("the device");
    }
}

fn per(count: u32, f: impl FnOnce()) -> f64 {
    let began = Instant::now();
    f();
    began.elapsed().as_nanos() as f64 / f64::from(count)
}

fn empty_submit(p: &Peer) -> f64 {
    let ns = per(2_000, || {
        for _ in 0..2_000 {
            p.queue.submit([]);
        }
    });
    p.wait();
    ns
}

fn empty_encoder(p: &Peer) -> f64 {
    let ns = per(500, || {
        for _ in 0..500 {
            p.queue.submit([p.encode(0)]);
        }
    });
    p.wait();
    ns
}

fn encode(p: &Peer) -> f64 {
    per(10_000, || {
        for _ in 0..10 {
            drop(std::hint::black_box(p.encode(1_000)));
        }
    })
}

fn encode_and_run(p: &Peer) -> f64 {
    per(10_000, || {
        for _ in 0..10 {
            p.queue.submit([p.encode(1_000)]);
        }
        p.wait();
    })
}

fn round_trip(p: &Peer) -> f64 {
    let mut times: Vec<f64> = (0..500)
        .map(|_| {
            per(1, || {
                p.queue.submit([p.encode(1)]);
                p.wait();
            })
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2] / 1000.0
}

fn main() {
    let Some((peer, name)) = open() else {
        println!("no Vulkan adapter: wgpu's rows are left out");
        return;
    };
    type Measure = fn(&Peer) -> f64;
    let rows: [(&str, &str, Measure); 5] = [
        ("submit, nothing", "ns", empty_submit),
        ("submit, a command buffer with an empty pass", "ns", empty_encoder),
        ("encode a dispatch in a pass (pipeline, group, dispatch)", "ns", encode),
        ("encode and run a dispatch", "ns", encode_and_run),
        ("submit one dispatch and wait", "µs", round_trip),
    ];
    println!("{:<58} {:>18}", format!("wgpu, {name}"), "wgpu");
    for (row, unit, measure) in rows {
        let mut runs: Vec<f64> = (0..RUNS).map(|_| measure(&peer)).collect();
        runs.sort_by(f64::total_cmp);
        let above = (runs[RUNS / 2] / runs[0] - 1.0) * 100.0;
        println!("{row:<58} {:>9.1} {unit} +{above:>3.0}%", runs[0]);
    }
}
