//! Acceleration structures of a case: geometry from buffers of the case (`BLAS`), and instances of it (`TLAS`), which
//! shaders bind.

use super::Program;
use serde::{Deserialize, Deserializer};
use serde_yaml_ng::Value;

/// The structures of a case.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccelerationStructures {
    /// Geometries.
    #[serde(default, rename = "BLAS")]
    pub geometries: Vec<Geometries>,
    /// What shaders bind.
    #[serde(default, rename = "TLAS")]
    pub scenes: Vec<Scene>,
}

/// Triangles or boxes that are instanced together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct Geometries {
    /// Its name, which instances refer to.
    pub name: String,
    /// Geometries of triangles.
    #[serde(default)]
    pub triangles: Vec<Triangles>,
    /// Geometries of boxes.
    #[serde(default, rename = "AABBs")]
    pub boxes: Vec<Boxes>,
}

/// A geometry of triangles.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct Triangles {
    /// The buffer of vertices.
    pub vertex_buffer: String,
    /// Format of a position.
    #[serde(default)]
    pub vertex_format: VertexFormat,
    /// Bytes from one position to the next.
    #[serde(default = "twelve")]
    pub vertex_stride: u32,
    /// Positions in the buffer.
    pub vertex_count: u32,
    /// The buffer of indices; without one, three positions in order are a triangle.
    #[serde(default)]
    pub index_buffer: String,
    /// Format of an index.
    #[serde(default)]
    pub index_format: IndexFormat,
    /// Indices in the buffer.
    #[serde(default)]
    pub index_count: u32,
    /// Whether a hit is accepted without asking.
    #[serde(default = "yes")]
    pub opaque: bool,
    /// Three rows of four numbers, applied when the structure is built.
    #[serde(default)]
    pub transform: Option<[f32; 12]>,
}

/// A geometry of boxes: least x, y and z, greatest x, y and z.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boxes {
    /// The buffer.
    #[serde(rename = "AABBBuffer")]
    pub buffer: String,
    /// Boxes in it.
    #[serde(rename = "AABBCount")]
    pub count: u32,
    /// Bytes from one box to the next.
    #[serde(default = "twenty_four", rename = "AABBStride")]
    pub stride: u32,
    /// Whether a candidate is opaque.
    #[serde(default = "yes", rename = "Opaque")]
    pub opaque: bool,
}

/// Formats of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum VertexFormat {
    RG32Float,
    #[default]
    RGB32Float,
    RGBA32Float,
}

/// Formats of indices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum IndexFormat {
    Uint16,
    #[default]
    Uint32,
}

/// Instances; an array of resources has a list for each element.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Its name, which resources refer to.
    pub name: String,
    /// The instances of each element.
    pub elements: Vec<Vec<Instance>>,
}

/// The text of a scene.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct SceneText {
    name: String,
    #[serde(default = "one")]
    array_size: usize,
    instances: Value,
}

/// An instance.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct Instance {
    /// The geometry.
    #[serde(rename = "BLAS")]
    pub geometries: String,
    /// Three rows of four numbers.
    #[serde(default = "identity")]
    pub transform: [f32; 12],
    /// The number that shaders see, 24 bits.
    #[serde(default, rename = "InstanceID")]
    pub id: u32,
    /// Rays whose mask has a bit of it see the instance.
    #[serde(default = "all_rays", rename = "InstanceMask")]
    pub mask: u32,
    /// Offset in tables of shaders, 24 bits.
    #[serde(default, rename = "InstanceContributionToHitGroupIndex")]
    pub contribution: u32,
    /// Flags.
    #[serde(default, rename = "InstanceFlags")]
    pub flags: Vec<InstanceFlag>,
}

/// Flags of instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum InstanceFlag {
    TriangleCullDisable,
    TriangleFrontCounterclockwise,
    ForceOpaque,
    ForceNonOpaque,
}

fn one() -> usize {
    1
}

fn twelve() -> u32 {
    12
}

fn twenty_four() -> u32 {
    24
}

fn all_rays() -> u32 {
    0xff
}

fn yes() -> bool {
    true
}

fn identity() -> [f32; 12] {
    [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
}

impl<'de> Deserialize<'de> for Scene {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let text = SceneText::deserialize(deserializer)?;
        let elements: Vec<Vec<Instance>> = match text.array_size {
            1 => vec![serde_yaml_ng::from_value(text.instances).map_err(D::Error::custom)?],
            _ => serde_yaml_ng::from_value(text.instances).map_err(D::Error::custom)?,
        };
        if elements.len() != text.array_size {
            let message = format!("Expected {} instance lists, found {}", text.array_size, elements.len());
            return Err(D::Error::custom(message));
        }
        Ok(Self { name: text.name, elements })
    }
}

impl AccelerationStructures {
    /// The scene of that name.
    pub fn scene(&self, name: &str) -> Option<&Scene> {
        self.scenes.iter().find(|s| s.name == name)
    }

    /// Whether every name means something, and every buffer holds what is read of it.
    pub(super) fn check(&self, program: &Program) -> Result<(), String> {
        for g in &self.geometries {
            let holds = |name: &str, what: &str, bytes: u64| match program.buffer(name) {
                None => Err(format!("BLAS '{}': referenced {what} buffer '{name}' not found!", g.name)),
                Some(buffer) if (buffer.size() as u64) < bytes => {
                    Err(format!("BLAS '{}': the {what} buffer '{name}' has less than {bytes} bytes", g.name))
                }
                Some(_) => Ok(()),
            };
            if g.triangles.is_empty() == g.boxes.is_empty() {
                return Err(format!("BLAS '{}' has either Triangles or AABBs", g.name));
            }
            for t in &g.triangles {
                holds(&t.vertex_buffer, "vertex", u64::from(t.vertex_stride) * u64::from(t.vertex_count))?;
                if !t.index_buffer.is_empty() {
                    let each = if t.index_format == IndexFormat::Uint16 { 2 } else { 4 };
                    holds(&t.index_buffer, "index", each * u64::from(t.index_count))?;
                }
            }
            for b in &g.boxes {
                holds(&b.buffer, "AABB", u64::from(b.stride) * u64::from(b.count))?;
            }
        }
        for scene in &self.scenes {
            for instance in scene.elements.iter().flatten() {
                if !self.geometries.iter().any(|g| g.name == instance.geometries) {
                    let (scene, name) = (&scene.name, &instance.geometries);
                    return Err(format!("TLAS '{scene}': referenced BLAS '{name}' not found!"));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIPELINE: &str = "
Shaders: [{ Stage: Compute, Entry: main }]
Buffers: [{ Name: V, Format: Float32, Stride: 12, Data: [0, 1, 0, -1, -1, 0, 1, -1, 0] }]
AccelerationStructures:
  BLAS: [{ Name: B, Triangles: [{ VertexBuffer: V, VertexCount: 3 }] }]
  TLAS:
    - { Name: S, Instances: [{ BLAS: B, InstanceID: 7, InstanceFlags: [ForceOpaque] }] }
    - { Name: A, ArraySize: 2, Instances: [[{ BLAS: B }], []] }
DescriptorSets:
  - Resources:
    - { Name: S, Kind: AccelerationStructure, DirectXBinding: { Register: 0, Space: 0 } }
";

    #[test]
    fn scenes_have_a_list_for_each_element() {
        let program = Program::parse(PIPELINE).unwrap();
        let all = &program.pipeline.acceleration_structures;
        let [instance] = &all.scene("S").unwrap().elements[0][..] else { panic!("one instance") };
        assert_eq!((instance.id, instance.mask, instance.transform[5]), (7, 0xff, 1.0));
        assert_eq!(instance.flags, [InstanceFlag::ForceOpaque]);
        assert_eq!(all.scene("A").unwrap().elements.iter().map(Vec::len).collect::<Vec<_>>(), [1, 0]);
        assert!(all.geometries[0].triangles[0].opaque);
    }

    #[test]
    fn mistakes_are_refused_by_name() {
        for (from, to, want) in [
            ("VertexBuffer: V", "VertexBuffer: W", "referenced vertex buffer 'W' not found"),
            ("VertexCount: 3", "VertexCount: 4", "less than 48 bytes"),
            ("[{ BLAS: B }]", "[{ BLAS: C }]", "TLAS 'A': referenced BLAS 'C' not found"),
            ("ArraySize: 2", "ArraySize: 3", "Expected 3 instance lists, found 2"),
            ("Name: S, Kind", "Name: T, Kind", "Referenced TLAS T not found"),
            ("InstanceID: 7", "InstanceIDs: 7", "InstanceIDs"),
            ("ForceOpaque", "ForceOpak", "ForceOpak"),
        ] {
            assert!(PIPELINE.contains(from), "{from}");
            let e = Program::parse(&PIPELINE.replace(from, to)).unwrap_err();
            assert!(e.contains(want), "{to}: {e}");
        }
    }
}
