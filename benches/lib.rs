//! Criterion targets live in `benches/benches`; this library is what they share.
