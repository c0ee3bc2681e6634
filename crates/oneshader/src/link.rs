//! Whether stages that were compiled apart fit together.

use crate::reflect::{EntryPointInfo, IoInfo, Reflection, StageKind};

/// What keeps a vertex stage and a pixel stage from being linked: every input of the pixel stage, but system values, must
/// be an output of the vertex stage with the same location and type. Of each reflection the first entry point of its
/// stage counts. Empty when they fit.
pub fn link(from: &Reflection, to: &Reflection) -> Vec<String> {
    let find = |reflection: &Reflection, stage| reflection.entry_points.iter().find(|e| e.stage == stage).cloned();
    match (find(from, StageKind::Vertex), find(to, StageKind::Pixel)) {
        (Some(vertex), Some(pixel)) => link_entries(&vertex, &pixel),
        (None, _) => vec!["the first reflection has no vertex shader".into()],
        (_, None) => vec!["the second reflection has no pixel shader".into()],
    }
}

fn link_entries(vertex: &EntryPointInfo, pixel: &EntryPointInfo) -> Vec<String> {
    let semantic = |io: &IoInfo| format!("{}{}", io.semantic, io.semantic_index);
    let mut problems = Vec::new();
    for input in &pixel.inputs {
        let Some(location) = input.location else { continue };
        let covers = |o: &&IoInfo| o.location.is_some_and(|at| (at..at + o.locations).contains(&location));
        let Some(output) = vertex.outputs.iter().find(covers) else {
            problems.push(format!(
                "`{}` reads {} at location {location}, which `{}` does not write",
                pixel.name,
                semantic(input),
                vertex.name
            ));
            continue;
        };
        if !semantic(output).eq_ignore_ascii_case(&semantic(input)) {
            problems.push(format!(
                "location {location} is {} in `{}` and {} in `{}`: declare both interfaces in the same order",
                semantic(output),
                vertex.name,
                semantic(input),
                pixel.name
            ));
        } else if (output.scalar, output.components, output.locations)
            != (input.scalar, input.components, input.locations)
        {
            problems.push(format!(
                "{} at location {location} is {} in `{}` and {} in `{}`",
                semantic(input),
                shape(output),
                vertex.name,
                shape(input),
                pixel.name
            ));
        }
    }
    problems
}

/// A type as HLSL writes it.
fn shape(io: &IoInfo) -> String {
    let scalar = format!("{:?}", io.scalar).to_lowercase();
    let vector = if io.components == 1 { scalar } else { format!("{scalar}{}", io.components) };
    if io.locations == 1 { vector } else { format!("{vector}[{}]", io.locations) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompileTarget, Options, Source, compile};

    fn reflect(profile: &str, text: &str) -> Reflection {
        let options = Options::new(CompileTarget::Msl).profile(profile).unwrap().entry("main");
        compile(&Source::new("t.hlsl", text), &options).unwrap().reflection
    }

    const VERTEX: &str = "struct V { float4 p : SV_Position; float2 uv : TEXCOORD; float3 n : NORMAL; };
        V main(float4 p : POSITION) { V v = { p, p.xy, p.xyz }; return v; }";

    #[test]
    fn the_same_structure_links() {
        let pixel = "struct V { float4 p : SV_Position; float2 uv : TEXCOORD; float3 n : NORMAL; };
            float4 main(V v) : SV_Target { return float4(v.n, v.uv.x); }";
        assert_eq!(link(&reflect("vs_6_0", VERTEX), &reflect("ps_6_0", pixel)), Vec::<String>::new());
    }

    #[test]
    fn another_order_or_type_does_not() {
        let vertex = reflect("vs_6_0", VERTEX);
        let order = "float4 main(float3 n : NORMAL, float2 uv : TEXCOORD) : SV_Target { return float4(n, uv.x); }";
        let problems = link(&vertex, &reflect("ps_6_0", order));
        assert_eq!(problems.len(), 2);
        assert!(problems[0].contains("same order"), "{problems:?}");
        let kind = "float4 main(float4 uv : TEXCOORD) : SV_Target { return uv; }";
        let problems = link(&vertex, &reflect("ps_6_0", kind));
        assert!(problems[0].contains("float2 in `main` and float4"), "{problems:?}");
        let missing = "float4 main(float2 uv : TEXCOORD, float3 n : NORMAL, float c : COLOR) : SV_Target { return c; }";
        assert!(link(&vertex, &reflect("ps_6_0", missing))[0].contains("does not write"));
    }
}
