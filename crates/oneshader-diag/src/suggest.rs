//! "Did you mean ...?"

/// The candidate nearest to a misspelled name, if one is near enough: a third of its length, by insertions, deletions,
/// replacements and swaps of neighbours; another case alone always is. The first of equals wins.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name: Vec<char> = name.chars().take(MAX_LENGTH + 1).collect();
    if name.is_empty() || name.len() > MAX_LENGTH {
        return None;
    }
    let most = name.len().div_ceil(3);
    let mut best: Option<(usize, &str)> = None;
    let mut other = Vec::with_capacity(MAX_LENGTH);
    for candidate in candidates {
        other.clear();
        other.extend(candidate.chars().take(MAX_LENGTH + 1));
        if other.is_empty() || other.len() > MAX_LENGTH || other.len().abs_diff(name.len()) > most {
            continue;
        }
        let same_but_case = name.iter().flat_map(|c| c.to_lowercase()).eq(other.iter().flat_map(|c| c.to_lowercase()));
        let distance = if same_but_case { 0 } else { distance(&name, &other) };
        if distance <= most && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Longer names are not compared.
const MAX_LENGTH: usize = 64;

/// Optimal string alignment distance.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = last.clone();
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_near_names_only() {
        let names = ["normalize", "Sample", "SampleLevel", "saturate", "x"];
        let cases = [
            ("normalise", Some("normalize")),
            ("sample", Some("Sample")),
            ("SampelLevel", Some("SampleLevel")),
            ("saturated", Some("saturate")),
            ("lerp", None),
            ("", None),
            ("y", Some("x")),
        ];
        for (name, want) in cases {
            assert_eq!(closest(name, names), want, "{name}");
        }
        assert_eq!(closest(&"n".repeat(1000), ["n"]), None);
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(distance(&chars("kitten"), &chars("sitting")), 3);
        assert_eq!(distance(&chars("ab"), &chars("ba")), 1);
    }
}
