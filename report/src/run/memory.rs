//! What a child occupies, read from outside while it stands still.

use std::fs::File;
use std::io::{self, Read};

use procfs::process::Process;

use crate::record::line::Reading;

/// Reads a process's memory.
///
/// # Errors
/// `/proc` hides it; a sentence says which file.
pub fn read(pid: u32) -> Result<Reading, String> {
    let told = |what: &str, why: String| format!("/proc/{pid}/{what}: {why}");
    let process = i32::try_from(pid)
        .map_err(|why| why.to_string())
        .and_then(|pid| Process::new(pid).map_err(|why| why.to_string()))
        .map_err(|why| told("", why))?;
    let status = process
        .status()
        .map_err(|why| told("status", why.to_string()))?;
    let rollup = process
        .smaps_rollup()
        .map_err(|why| told("smaps_rollup", why.to_string()))?;
    let of = |key: &str| {
        let maps = rollup.memory_map_rollup.iter();
        let sum: u64 = maps.filter_map(|map| map.extension.map.get(key)).sum();
        (sum > 0).then_some(sum)
    };
    let missing = || told("smaps_rollup", "has no Rss or Pss".to_owned());
    Ok(Reading {
        rss: of("Rss").ok_or_else(missing)?,
        pss: of("Pss").ok_or_else(missing)?,
        page_tables: status
            .vmpte
            .ok_or_else(|| told("status", "has no VmPTE".to_owned()))?
            * 1_024,
        maps: maps(pid).map_err(|why| told("maps", why.to_string()))?,
    })
}

/// Mappings of a process, counted without keeping their text.
fn maps(pid: u32) -> io::Result<u64> {
    let mut file = File::open(format!("/proc/{pid}/maps"))?;
    let mut chunk = vec![0; 1 << 16];
    let mut lines = 0;
    loop {
        let length = file.read(&mut chunk)?;
        if length == 0 {
            return Ok(lines);
        }
        lines += chunk[..length]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_memory_is_there_and_grows_by_what_we_touch() {
        let before = read(std::process::id()).unwrap();
        let touched = vec![1_u8; 64 << 20];
        let after = read(std::process::id()).unwrap();
        assert!(after.rss >= before.rss + (60 << 20), "{before:?} {after:?}");
        assert!(before.pss <= before.rss && before.page_tables > 0 && before.maps > 10);
        drop(touched);
    }

    #[test]
    fn a_process_that_is_not_there_is_told() {
        let told = read(u32::MAX / 2).unwrap_err();
        assert!(told.contains("/proc/"), "{told}");
    }
}
