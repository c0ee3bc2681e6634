//! Lists of lists in two arrays.

/// Row `r` is `items[starts[r]..starts[r + 1]]`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Csr<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Csr<T> {
    /// Sorts pairs (row, item) by row; within a row their order is kept. A row must be below `rows`.
    pub fn new(rows: usize, pairs: &[(u32, T)]) -> Self {
        let mut starts = vec![0u32; rows + 1];
        for &(row, _) in pairs {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let Some(&(_, filler)) = pairs.first() else { return Self { starts, items: Vec::new() } };
        let mut next = starts.clone();
        let mut items = vec![filler; pairs.len()];
        for &(row, item) in pairs {
            let at = &mut next[row as usize];
            items[*at as usize] = item;
            *at += 1;
        }
        Self { starts, items }
    }

    /// The items of a row; none for a row that does not exist.
    pub fn row(&self, row: usize) -> &[T] {
        match (self.starts.get(row), self.starts.get(row + 1)) {
            (Some(&from), Some(&to)) => &self.items[from as usize..to as usize],
            _ => &[],
        }
    }
}
