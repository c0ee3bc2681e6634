//! Attributes of `vk::` that state what SPIR-V says of a function or of a `static` variable.

use oneshader_diag::{Diagnostic, Span, codes};
use oneshader_ir::Stage;

use crate::ast::{self, Attribute, Mods, Slice};
use crate::cx::Cx;

/// Which tests of the stencil's face an attribute speaks of; of each group one may be stated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Face {
    Front,
    Back,
}

/// Attributes of pixel shaders and the execution modes they state (SPIR-V specification 3.6).
const PIXEL_MODES: &[(&str, u32, Option<Face>)] = &[
    ("depth_unchanged", 16, None),
    ("post_depth_coverage", 4446, None),
    ("early_and_late_tests", 5017, None),
    ("stencil_ref_unchanged_front", 5079, Some(Face::Front)),
    ("stencil_ref_greater_equal_front", 5080, Some(Face::Front)),
    ("stencil_ref_less_equal_front", 5081, Some(Face::Front)),
    ("stencil_ref_unchanged_back", 5082, Some(Face::Back)),
    ("stencil_ref_greater_equal_back", 5083, Some(Face::Back)),
    ("stencil_ref_less_equal_back", 5084, Some(Face::Back)),
];

/// Execution modes without operands that a shader may state by number, and whether pixel shaders alone have them.
const MODES: &[(u32, bool)] = &[
    (9, true),
    (12, true),
    (14, true),
    (15, true),
    (16, true),
    (4446, true),
    (5017, true),
    (5027, true),
    (5079, true),
    (5080, true),
    (5081, true),
    (5082, true),
    (5083, true),
    (5084, true),
    (5088, true),
    (5089, true),
    (5366, true),
    (5367, true),
    (5368, true),
    (5369, true),
    (6023, false),
];

/// The one built-in that is an input of pixel shaders and an output of them: `SampleMask`.
const SAMPLE_MASK: i64 = 20;

/// A built-in that a `static` variable stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatedBuiltin {
    number: i64,
    output: bool,
    span: Span,
}

/// Whether a `vk::` attribute states an execution mode.
pub(crate) fn is_mode(name: &str) -> bool {
    name == "spvexecutionmode" || PIXEL_MODES.iter().any(|(mode, ..)| *mode == name)
}

impl Cx<'_> {
    fn vk_attributes(&self, list: Slice<Attribute>) -> Vec<(Attribute, &'static str)> {
        const NAMES: &[&str] = &["ext_decorate_id", "ext_decorate_string", "spvexecutionmode"];
        let known = |text: &str| {
            let names = PIXEL_MODES.iter().map(|(name, ..)| *name).chain(NAMES.iter().copied());
            names.into_iter().find(|name| *name == text)
        };
        self.ast[list]
            .iter()
            .filter(|a| a.space.is_some_and(|s| self.text(s) == "vk"))
            .filter_map(|a| Some((*a, known(self.text(a.name))?)))
            .collect()
    }

    /// The execution modes that attributes of an entry point state.
    pub(crate) fn spirv_modes(&mut self, stage: Stage, attributes: Slice<Attribute>) -> Vec<u32> {
        let mut modes = Vec::new();
        let mut faces: Vec<(Face, Attribute)> = Vec::new();
        for (a, name) in self.vk_attributes(attributes) {
            let mode = match PIXEL_MODES.iter().find(|(n, ..)| *n == name) {
                Some(&(_, mode, face)) => {
                    if let Some(face) = face {
                        self.check_face(face, a, &mut faces);
                    }
                    Some((mode, true))
                }
                None if name == "spvexecutionmode" => self.stated_mode(a),
                None => None,
            };
            let Some((mode, pixel)) = mode else { continue };
            if pixel && stage != Stage::Pixel {
                self.error(codes::WRONG_STAGE, a.span, format!("`vk::{name}` is for pixel shaders"));
            } else if !modes.contains(&mode) {
                modes.push(mode);
            }
        }
        modes
    }

    fn check_face(&mut self, face: Face, a: Attribute, faces: &mut Vec<(Face, Attribute)>) {
        match faces.iter().find(|(f, other)| *f == face && other.name != a.name) {
            Some((_, other)) => {
                let (name, before) = (self.text(a.name), self.text(other.name));
                let message = format!("`vk::{name}` contradicts `vk::{before}`: a face has one of them");
                let d = Diagnostic::new(codes::BAD_ATTRIBUTE_USE, a.span, message).label(other.span, "stated here");
                self.report(d);
            }
            None => faces.push((face, a)),
        }
    }

    fn stated_mode(&mut self, a: Attribute) -> Option<(u32, bool)> {
        let number = self.attribute_ints(a, 1, 1).ok()?[0];
        let found = MODES.iter().find(|(mode, _)| i64::from(*mode) == number).copied();
        if found.is_none() {
            let message =
                format!("{number} is no execution mode without operands of a vertex, pixel or compute shader");
            self.error(codes::BAD_ATTRIBUTE_USE, a.span, message);
        }
        found
    }

    /// Reports attributes that decorate values with other values or strings: a function has no such decorations.
    pub(crate) fn check_function_attributes(&mut self, attributes: Slice<Attribute>) {
        for (a, name) in self.vk_attributes(attributes) {
            if name.starts_with("ext_decorate") {
                let message = format!("`vk::{name}` decorates variables and members, not functions");
                self.error(codes::BAD_ATTRIBUTE_USE, a.span, message);
            }
        }
    }

    /// Checks the attributes that make a `static` variable stand for a built-in.
    pub(crate) fn check_builtin_attributes(&mut self, attributes: Slice<Attribute>, node: &ast::Var) {
        let input = self.attribute(attributes, Some("vk"), "ext_builtin_input");
        let output = self.attribute(attributes, Some("vk"), "ext_builtin_output");
        if let (Some(_), Some(a)) = (input, output) {
            let message = "a variable stands for an input or for an output, not for both";
            self.error(codes::BAD_ATTRIBUTE_USE, a.span, message);
            return;
        }
        let Some(a) = input.or(output) else { return };
        let is_const = self.mods(node).contains(Mods::CONST);
        if input.is_some() && !is_const {
            let message = "a variable that stands for an input cannot change: make it `static const`";
            self.error(codes::BAD_ATTRIBUTE_USE, node.name_span, message);
        }
        if output.is_some() && is_const {
            let message = "a variable that stands for an output must be written: remove `const`";
            self.error(codes::BAD_ATTRIBUTE_USE, node.name_span, message);
        }
        let Some(number) = self.attribute_ints(a, 1, 1).ok().map(|n| n[0]) else { return };
        let stated = StatedBuiltin { number, output: output.is_some(), span: a.span };
        let other = self.s.builtins.iter().find(|b| b.number == number && b.output != stated.output).copied();
        if let Some(other) = other.filter(|_| number != SAMPLE_MASK) {
            let (was, is) = if stated.output { ("an input", "an output") } else { ("an output", "an input") };
            let message = format!("built-in {number} is {was} already and cannot be {is}");
            let d = Diagnostic::new(codes::BAD_ATTRIBUTE_USE, a.span, message).label(other.span, "stated here");
            self.report(d);
        }
        self.s.builtins.push(stated);
    }
}
