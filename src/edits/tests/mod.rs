//! Plans and changes on real trees.

mod applying;
mod attributes;
mod faults;
mod hostile;
mod others;
mod plans;
mod random;
mod recovering;
mod uniting;
mod world;
