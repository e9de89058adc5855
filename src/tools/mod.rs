//! One file per tool: arguments to a query to a typed outcome; and the address, which all position tools share.

pub mod outcome;
