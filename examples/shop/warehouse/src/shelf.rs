//! One shelf with one product.

/// A shelf and how much is on it.
pub struct Shelf {
    count: u32,
}

impl Shelf {
    /// A shelf with so many on it.
    pub fn new(count: u32) -> Self {
        Self { count }
    }

    /// How many are left.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Takes some off, all or none; says whether there were enough.
    pub fn take(&mut self, wanted: u32) -> bool {
        let enough = wanted <= self.count;
        if enough {
            self.count -= wanted;
        }
        enough
    }
}
