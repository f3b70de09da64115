//! Versions of the packages in the lock file, read when this was built.

/// Name and version of every package in the lock file, and of the compiler's
/// standard library as `std`; what could not be read is left out.
pub const LOCKED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/versions.rs"));

/// The locked version of `package`, or "unknown".
pub const fn of(package: &str) -> &'static str {
    let mut at = 0;
    while at < LOCKED.len() {
        if same(LOCKED[at].0.as_bytes(), package.as_bytes()) {
            return LOCKED[at].1;
        }
        at += 1;
    }
    "unknown"
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_version_is_in_the_lock_file() {
        assert_eq!(of("corolab-lab"), env!("CARGO_PKG_VERSION"));
        assert_eq!(of("no-such-package"), "unknown");
    }
}
