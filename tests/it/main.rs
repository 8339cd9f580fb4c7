//! The integration binary.
