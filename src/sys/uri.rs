//! Paths in URIs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

/// What is percent-encoded in the path of a URI: everything but slashes and unreserved characters
/// (RFC 3986, section 2.3).
pub const URI_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');
