//! Conversions against a slow reading of the specification.
