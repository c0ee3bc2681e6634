//! Known defects of devices, their symptoms and the switches of their workarounds.

/// A defect.
#[derive(Debug)]
pub struct Quirk {
    /// Its name, which facts report.
    pub name: &'static str,
    /// What a program sees.
    pub symptom: &'static str,
    /// The environment variable that turns the workaround on (`1`) or off (`0`) whatever the device is.
    pub switch: &'static str,
    /// The field of [`Quirks`] it sets.
    pub set: fn(&mut Quirks, bool),
    /// Whether a device of this Apple GPU family (7 for M1, 8 for M2; 0 for a Mac family) has it.
    pub has: fn(family: u32) -> bool,
}

/// The workarounds that are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// See `icb-residency`.
    pub touch_pipelines: bool,
    /// See `icb-offset-32`.
    pub short_offsets: bool,
}

/// All of them.
pub const TABLE: &[Quirk] = &[
    Quirk {
        name: "icb-residency",
        symptom: "M1 and M2: a pipeline used by an indirect command buffer alone is not resident; the command buffer \
                  that runs it faults and may take other programs' work with it. The driver dispatches every such \
                  pipeline once with no threadgroups in each command buffer.",
        switch: "RIG_METAL_ICB_RESIDENCY",
        set: |q, on| q.touch_pipelines = on,
        has: |family| family == 7 || family == 8,
    },
    Quirk {
        name: "icb-offset-32",
        symptom: "an indirect command's buffer offset is cut to 32 bits. The driver refuses larger offsets.",
        switch: "RIG_METAL_ICB_OFFSET_32",
        set: |q, on| q.short_offsets = on,
        has: |_| true,
    },
];

impl Quirks {
    /// The workarounds for a device of `family`, as `switch` overrides them (the environment, usually).
    pub fn of(family: u32, switch: impl Fn(&str) -> Option<String>) -> Self {
        let mut quirks = Self::default();
        for quirk in TABLE {
            let on = match switch(quirk.switch).as_deref() {
                Some("1") => true,
                Some("0") => false,
                _ => (quirk.has)(family),
            };
            (quirk.set)(&mut quirks, on);
        }
        quirks
    }

    /// The names and symptoms of those that are on.
    pub fn list(self) -> Vec<(&'static str, &'static str)> {
        let on = |quirk: &&Quirk| {
            let mut without = self;
            (quirk.set)(&mut without, false);
            without != self
        };
        TABLE.iter().filter(on).map(|q| (q.name, q.symptom)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_and_switches_choose_the_workarounds() {
        let of = |family| Quirks::of(family, |_| None);
        assert!(of(7).touch_pipelines && of(8).touch_pipelines && !of(9).touch_pipelines);
        assert!(of(9).short_offsets);
        let off = Quirks::of(7, |name| (name == "RIG_METAL_ICB_RESIDENCY").then(|| "0".into()));
        assert!(!off.touch_pipelines && off.short_offsets);
        assert_eq!(off.list().iter().map(|q| q.0).collect::<Vec<_>>(), ["icb-offset-32"]);
    }
}
