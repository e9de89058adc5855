//! What lies on the shop's shelves.

pub mod shelf;

use shelf::Shelf;

/// All shelves, the nearest to the door first.
pub struct Warehouse {
    pub tea: Shelf,
    pub mugs: Shelf,
}

impl Warehouse {
    /// How many products there are in all.
    pub fn count(&self) -> u32 {
        self.tea.count() + self.mugs.count()
    }

    /// Takes what belongs into the welcome parcel; says whether there was enough.
    pub fn welcome_parcel(&mut self) -> bool {
        self.tea.take(2) && self.mugs.take("1")
    }
}
