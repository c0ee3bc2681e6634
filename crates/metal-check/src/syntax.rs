//! Entry functions, their parameters and attributes, as tokens show them.
use crate::lex::TokenStream;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Stage {
    /// `kernel`
    Kernel,
    /// `vertex`
    Vertex,
    /// `fragment`
    Fragment,
    /// Object and mesh functions: their inputs are those of kernels and more.
    Mesh,
}

impl Stage {
    /// The name Metal gives it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Vertex => "vertex",
            Self::Fragment => "fragment",
            Self::Mesh => "mesh",
        }
    }
}

/// A parameter of an entry function.
pub(crate) struct Parameter<'a> {
    /// Its first token.
    pub at: usize,
    /// Its declaration as written, without attributes.
    pub text: String,
    /// Its type without `const`, `metal::` and spaces.
    pub ty: String,
    pub attributes: Vec<Attribute<'a>>,
    /// Elements of `array<T, N>`, if N is a literal.
    pub count: u64,
}

/// A function with its stage: tokens of its name and parameter list.
pub(crate) struct Entry {
    pub stage: Stage,
    pub first: usize,
    pub name: usize,
    pub open: usize,
    pub close: usize,
}

/// One attribute of a list.
#[derive(Clone, Copy)]
pub(crate) struct Attribute<'a> {
    pub name: &'a str,
    /// Its first token.
    pub at: usize,
    /// Tokens between its parentheses.
    pub argument: Option<(usize, usize)>,
}

impl Attribute<'_> {
    /// The argument as a number, if it is a literal.
    pub fn index(&self, s: &TokenStream<'_>) -> Option<u64> {
        let (from, to) = self.argument?;
        if to != from + 1 {
            return None;
        }
        s.str(from).trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()
    }

    /// The argument's text without spaces.
    pub fn text(&self, s: &TokenStream<'_>) -> String {
        self.argument.map_or_else(String::new, |(from, to)| (from..to).map(|i| s.str(i)).collect())
    }
}

/// The attributes of the list that opens at token `i`, and the index past the list; `None` if no list opens there.
pub(crate) fn attribute_list<'a>(s: &TokenStream<'a>, i: usize) -> Option<(Vec<Attribute<'a>>, usize)> {
    if s.str(i) != "[" || s.str(i + 1) != "[" {
        return None;
    }
    let end = s.closing(i)?;
    if s.str(end - 1) != "]" || s.closing(i + 1) != Some(end - 1) {
        return None;
    }
    let mut attributes = Vec::new();
    let mut k = i + 2;
    while k < end - 1 {
        let at = k;
        let mut last = k;
        while s.str(last + 1) == "::" {
            last += 2;
        }
        let name = s.tokens.get(last).map_or("", |t| &s.text[s.tokens[at].start..t.end]);
        k = last + 1;
        let mut argument = None;
        if s.str(k) == "(" {
            let close = s.closing(k)?;
            argument = Some((k + 1, close));
            k = close + 1;
        }
        attributes.push(Attribute { name, at, argument });
        match s.str(k) {
            "," => k += 1,
            // MSL 5.2.3.4 writes [[color(0), index(1)]]; Apple's compiler takes it without the comma.
            "index" if name == "color" => {}
            _ if k >= end - 1 => {}
            _ => {
                attributes.push(Attribute { name: s.str(k), at: k, argument: None });
                return Some((attributes, end + 1));
            }
        }
    }
    Some((attributes, end + 1))
}

/// Whether the declaration that token `i` is in the head of is a template or an instance of one.
fn is_template(s: &TokenStream<'_>, i: usize) -> bool {
    (i.saturating_sub(400)..i)
        .rev()
        .take_while(|&k| !matches!(s.str(k), ";" | "}" | "{"))
        .any(|k| s.str(k) == "template")
}

/// Finds entry functions that are not templates.
pub(crate) fn entries(s: &TokenStream<'_>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for i in 0..s.len() {
        let stage = match s.str(i) {
            "kernel" => Stage::Kernel,
            "vertex" => Stage::Vertex,
            "fragment" => Stage::Fragment,
            "mesh" | "object" if s.str(i.wrapping_sub(1)) == "[" => Stage::Mesh,
            _ => continue,
        };
        // From here to the parameter list there are attributes, a type and a name.
        let mut k = i + 1;
        let open = loop {
            match s.str(k) {
                "" | ";" | "{" | "}" | ")" | "=" | "," => break None,
                "(" => break Some(k),
                "[" => match attribute_list(s, k) {
                    Some((_, end)) => k = end,
                    None => break None,
                },
                "<" => k = s.template_end(k).unwrap_or(k + 1),
                "]" if k < i + 3 => k += 1, // the end of [[kernel]]
                _ => k += 1,
            }
        };
        let Some(open) = open.filter(|&o| s.is_ident(o - 1) && o > i + 2) else { continue };
        if is_template(s, i) {
            continue;
        }
        let Some(close) = s.closing(open) else { continue };
        entries.push(Entry { stage, first: i, name: open - 1, open, close });
    }
    entries
}

/// Reads the parameter of the tokens `from..to`.
pub(crate) fn parameter<'a>(s: &TokenStream<'a>, from: usize, to: usize) -> Parameter<'a> {
    let mut attributes = Vec::new();
    let mut words = Vec::new();
    let mut k = from;
    while k < to {
        if let Some((found, end)) = attribute_list(s, k) {
            attributes.extend(found);
            k = end;
        } else {
            words.push(s.str(k));
            k += 1;
        }
    }
    let text = words.join(" ");
    // The name is the last word, before any array bounds.
    let end = words.iter().rposition(|w| *w != "]" && w.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    let named = words.len() > 1 && end.is_some_and(|e| words.get(e + 1).is_none_or(|w| *w == "["));
    let ty: String = words[..if named { end.unwrap_or(words.len()) } else { words.len() }]
        .iter()
        .filter(|w| !matches!(**w, "const" | "metal" | "simd"))
        .copied()
        .collect();
    let count = match words[..] {
        ["array", "<", .., n, ">", _] | ["const", "array", "<", .., n, ">", _] => {
            n.trim_end_matches('u').parse().unwrap_or(1)
        }
        _ => 1,
    };
    Parameter { at: from, text, ty: ty.trim_start_matches("::").replace("<::", "<"), attributes, count }
}

impl Parameter<'_> {
    /// Whether the declaration has this word.
    pub fn has_word(&self, word: &str) -> bool {
        self.text.split(' ').any(|w| w == word)
    }

    /// Whether it is a pointer, a reference or an array.
    pub fn points(&self) -> bool {
        self.has_word("*") || self.has_word("&") || self.text.ends_with(']')
    }

    /// A resource that Metal numbers itself when it has no attribute (MSL 5.2.1).
    pub fn is_resource(&self) -> bool {
        let spaces = ["device", "constant", "threadgroup", "object_data", "threadgroup_imageblock", "ray_data"];
        (spaces.iter().any(|s| self.has_word(s)) && self.points())
            || self.is_texture()
            || self.is_sampler()
            || self.is_table()
    }

    /// Whether what a pointer or reference leads to is itself a pointer, a texture or a sampler.
    pub fn holds_handles(&self) -> bool {
        let (mut depth, mut marks) = (0usize, 0);
        for word in self.text.split(' ') {
            match word {
                "<" => depth += 1,
                ">" => depth = depth.saturating_sub(1),
                ">>" => depth = depth.saturating_sub(2),
                "*" | "&" if depth == 0 => marks += 1,
                _ => {}
            }
        }
        let before = ["device", "constant", "const", "coherent", "(", ")", "metal", "::"];
        let mut words = self.text.split(' ').filter(|w| !before.contains(w));
        let (first, second) = (words.next().unwrap_or_default(), words.next());
        let texture = second == Some("<") && ["texture", "depth"].iter().any(|t| first.starts_with(t));
        marks > 1 || texture || first == "sampler"
    }

    fn element(&self) -> &str {
        ["array<", "array_ref<"].iter().find_map(|p| self.ty.strip_prefix(p)).unwrap_or(&self.ty)
    }

    /// A texture or an array of them.
    pub fn is_texture(&self) -> bool {
        self.element().starts_with("texture") || self.element().starts_with("depth")
    }

    /// A sampler or an array of them.
    pub fn is_sampler(&self) -> bool {
        self.element().starts_with("sampler")
    }

    /// Opaque objects that take a buffer index.
    pub fn is_table(&self) -> bool {
        ["acceleration_structure", "visible_function_table", "intersection_function_table"]
            .iter()
            .any(|t| self.text.contains(t))
    }
}
