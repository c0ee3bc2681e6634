//! Structures between stages: which members a stage may have, and of which types (MSL 5.2.3, 5.2.4).
use super::Lint;
use super::structs::{Member, Structs, is_matrix};
use crate::lex::TokenStream;
use crate::syntax::{Stage, attribute_list, entries, parameter};

/// Outputs of other stages, for the result of a vertex function.
const NO_VERTEX_OUTPUT: &[&str] = &["color", "depth", "stencil", "sample_mask", "attribute"];
/// The same for a fragment function.
const NO_FRAGMENT_OUTPUT: &[&str] =
    &["position", "point_size", "clip_distance", "render_target_array_index", "viewport_array_index", "attribute"];

pub(super) fn check(lint: &mut Lint<'_>, structs: &Structs<'_>) {
    let mut remarks = Vec::new();
    for members in structs.values() {
        for m in members {
            member(m, &mut remarks);
        }
    }
    functions(&lint.s, structs, &mut remarks);
    remarks.sort();
    remarks.dedup();
    for (at, message) in remarks {
        lint.remark(at, message);
    }
}

/// The type of a member that goes between stages, and the place of its attributes.
fn member(m: &Member<'_>, remarks: &mut Vec<(usize, String)>) {
    let barycentric = m.attributes.iter().find(|a| a.name == "barycentric_coord");
    let other = m.attributes.iter().find(|a| a.name.starts_with("centroid_") || a.name.starts_with("sample_"));
    if let (Some(a), Some(b)) = (barycentric, other) {
        remarks.push((a.at, format!("'{}' and '{}' attributes are not compatible", a.name, b.name)));
    }
    if let Some(at) = m.late {
        remarks.push((at, "an attribute after the bounds of an array cannot be applied to types".to_owned()));
    }
    let Some(a) = m.attributes.iter().find(|a| matches!(a.name, "user" | "attribute" | "color")) else { return };
    let wrong = m.array || m.points() || m.ty().iter().any(|w| is_matrix(w) || w.starts_with("packed_"));
    if wrong {
        let ty = m.ty().join(" ");
        let array = if m.array { " as an array" } else { "" };
        remarks.push((a.at, format!("type '{ty}'{array} is not valid for attribute '{}'", a.name)));
    }
}

/// Results and inputs of vertex and fragment functions.
fn functions(s: &TokenStream<'_>, structs: &Structs<'_>, remarks: &mut Vec<(usize, String)>) {
    for entry in entries(s) {
        let foreign = match entry.stage {
            Stage::Vertex => NO_VERTEX_OUTPUT,
            Stage::Fragment => NO_FRAGMENT_OUTPUT,
            Stage::Kernel | Stage::Mesh => continue,
        };
        let stage = entry.stage.name();
        // The result is the last word before the name, attributes aside.
        let mut result = "";
        let mut k = entry.first + 1;
        while k < entry.name {
            match attribute_list(s, k) {
                Some((_, end)) => k = end,
                None => {
                    result = s.str(k);
                    k += 1;
                }
            }
        }
        let members = structs.get(result);
        let places = members.is_some_and(|m| m.iter().flat_map(|m| &m.attributes).any(|a| a.name == "position"));
        if entry.stage == Stage::Vertex && members.is_some() && !places {
            let message = format!("missing output declaration with attribute 'position': '{result}'");
            remarks.push((entry.first, message));
        }
        for m in members.into_iter().flatten() {
            for a in m.attributes.iter().filter(|a| foreign.contains(&a.name)) {
                remarks.push((a.at, format!("'{}' is not an output of a {stage} function: '{result}'", a.name)));
            }
        }
        let parameters: Vec<_> =
            s.split_commas(entry.open + 1, entry.close).into_iter().map(|(from, to)| parameter(s, from, to)).collect();
        let inputs = parameters.iter().filter(|p| p.attributes.iter().any(|a| a.name == "stage_in"));
        for m in inputs.filter_map(|p| structs.get(p.ty.as_str())).flatten() {
            for a in m.attributes.iter().filter(|a| a.argument.is_none()) {
                let twice = parameters.iter().flat_map(|p| &p.attributes).find(|b| b.name == a.name);
                if let Some(b) = twice.filter(|b| !b.name.contains("perspective") && b.name != "flat") {
                    remarks.push((b.at, format!("[[{}]] is used twice: in the [[stage_in]] structure too", b.name)));
                }
            }
        }
    }
}
