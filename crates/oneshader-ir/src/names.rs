//! Interned names.

use crate::entity::Name;
use cranelift_entity::PrimaryMap;
use rustc_hash::FxHashMap;

/// The names of a module, each stored once.
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: PrimaryMap<Name, Box<str>>,
    index: FxHashMap<Box<str>, Name>,
}

impl Names {
    /// The handle of `text`.
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(&name) = self.index.get(text) {
            return name;
        }
        let name = self.texts.push(text.into());
        self.index.insert(text.into(), name);
        name
    }

    /// The text of `name`.
    pub fn get(&self, name: Name) -> &str {
        &self.texts[name]
    }

    /// The handle of `text`, when it has been interned.
    pub fn find(&self, text: &str) -> Option<Name> {
        self.index.get(text).copied()
    }
}
