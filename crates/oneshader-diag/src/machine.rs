//! Diagnostics for programs: JSON and SARIF 2.1.0.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{Code, Diagnostic, DiagnosticBag, Severity, SourceMap, Span};

/// A place in numbers. Lines and columns count from 1, `end_column` is one past the last.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct Place {
    /// File name as the loader gave it, or as `#line` has it.
    pub file: String,
    /// First line.
    pub line: u32,
    /// First column, in characters.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// One past the last column.
    pub end_column: u32,
    /// First byte in the file.
    pub byte_start: u32,
    /// One past the last byte.
    pub byte_end: u32,
}

/// A [`Diagnostic`] with its places resolved.
#[derive(Clone, Debug, Serialize)]
pub struct Message {
    /// `OSHnnnn`.
    pub code: Code,
    /// `error`, `warning` or `note`.
    pub severity: Severity,
    /// One sentence.
    pub message: String,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Remark at the place; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Further places with remarks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// Facts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Ways out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
}

/// A further place.
#[derive(Clone, Debug, Serialize)]
pub struct Related {
    /// Where.
    pub place: Place,
    /// Remark.
    pub message: String,
}

fn place(map: &SourceMap, span: Span) -> Option<Place> {
    let file = map.file(span.file)?;
    let (name, from) = file.presumed(span.lo);
    let (_, to) = file.presumed(span.hi.max(span.lo));
    Some(Place {
        file: name.to_string(),
        line: from.line,
        column: from.col,
        end_line: to.line,
        end_column: to.col,
        byte_start: span.lo,
        byte_end: span.hi,
    })
}

/// Resolves the places of one diagnostic.
pub fn message(map: &SourceMap, d: &Diagnostic) -> Message {
    let related =
        d.labels.iter().filter_map(|l| Some(Related { place: place(map, l.span)?, message: l.message.clone() }));
    Message {
        code: d.code,
        severity: d.severity,
        message: d.message.clone(),
        place: place(map, d.primary),
        label: d.primary_label.clone(),
        related: related.collect(),
        notes: d.notes.clone(),
        help: d.help.clone(),
    }
}

/// `{"schema": 1, "diagnostics": [...]}` of [`Message`]s.
pub fn json(map: &SourceMap, bag: &DiagnosticBag) -> Value {
    let list: Vec<Message> = bag.iter().map(|d| message(map, d)).collect();
    json!({ "schema": 1, "diagnostics": list })
}

fn sarif_location(place: &Place, message: &str) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": place.file.replace('\\', "/").replace(' ', "%20") },
            "region": {
                "startLine": place.line, "startColumn": place.column,
                "endLine": place.end_line, "endColumn": place.end_column,
                "byteOffset": place.byte_start, "byteLength": place.byte_end.saturating_sub(place.byte_start),
            },
        },
    });
    if !message.is_empty() {
        location["message"] = json!({ "text": message });
    }
    location
}

/// A SARIF 2.1.0 log with one run (OASIS SARIF 2.1.0 sections 3.13, 3.14 and 3.27).
pub fn sarif(map: &SourceMap, bag: &DiagnosticBag, version: &str) -> Value {
    let mut codes: Vec<Code> = bag.iter().map(|d| d.code).collect();
    codes.sort();
    codes.dedup();
    let rules: Vec<Value> = codes
        .iter()
        .map(|code| {
            let info = code.info();
            json!({
                "id": code,
                "shortDescription": { "text": info.title },
                "fullDescription": { "text": info.explanation },
            })
        })
        .collect();
    let results: Vec<Value> = bag
        .iter()
        .map(|d| {
            let m = message(map, d);
            let text = m.notes.iter().chain(&m.help).fold(m.message, |text, more| text + "\n" + more);
            let mut result = json!({
                "ruleId": m.code,
                "ruleIndex": codes.binary_search(&m.code).unwrap_or(0),
                "level": m.severity,
                "message": { "text": text },
            });
            if let Some(place) = &m.place {
                result["locations"] = json!([sarif_location(place, &m.label)]);
            }
            if !m.related.is_empty() {
                let related = m.related.iter().map(|r| sarif_location(&r.place, &r.message));
                result["relatedLocations"] = related.collect::<Vec<_>>().into();
            }
            result
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "oneshader", "version": version, "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;

    fn sample() -> (SourceMap, DiagnosticBag) {
        let mut map = SourceMap::new();
        let file = map.add("dir/a b.hlsl", "x\nyy = 1;\n");
        let mut bag = DiagnosticBag::new();
        bag.push(
            Diagnostic::new(codes::SYNTAX, Span::new(file, 2, 4), "no `yy`")
                .label(Span::new(file, 0, 1), "see")
                .help("add it"),
        );
        bag.report(codes::EXTRA_TOKENS, Span::NONE, "extra");
        (map, bag)
    }

    #[test]
    fn json_has_places_in_numbers() {
        let (map, bag) = sample();
        let value = json(&map, &bag);
        let first = &value["diagnostics"][0];
        assert_eq!(first["code"], "OSH1100");
        assert_eq!(first["severity"], "error");
        assert_eq!(first["place"]["line"], 2);
        assert_eq!(first["place"]["end_column"], 3);
        assert_eq!(first["related"][0]["message"], "see");
        assert!(value["diagnostics"][1].get("place").is_none());
    }

    #[test]
    fn sarif_rules_and_results_agree() {
        let (map, bag) = sample();
        let value = sarif(&map, &bag, "0.1.0");
        let run = &value["runs"][0];
        for result in run["results"].as_array().unwrap() {
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        }
        let location = &run["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(location["artifactLocation"]["uri"], "dir/a%20b.hlsl");
        assert_eq!(location["region"]["startLine"], 2);
        assert_eq!(run["results"][1]["level"], "warning");
    }
}
