//! Reads the versions of all packages from the workspace's lock file, so that
//! no version of a contender is ever typed.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let lock = here
        .ancestors()
        .map(|folder| folder.join("Cargo.lock"))
        .find(|file| file.is_file());
    let mut table = String::from("&[\n");
    if let Some(lock) = lock {
        println!("cargo::rerun-if-changed={}", lock.display());
        let text = fs::read_to_string(&lock).expect("the lock file is readable text");
        let mut name = "";
        for line in text.lines() {
            if let Some(value) = field(line, "name") {
                name = value;
            } else if let Some(version) = field(line, "version") {
                if !name.is_empty() {
                    writeln!(table, "    ({name:?}, {version:?}),").expect("a String takes text");
                }
                name = "";
            }
        }
    }
    if let Some(version) = compiler() {
        // The standard library has no entry in a lock file: it is the compiler's.
        writeln!(table, "    (\"std\", {version:?}),").expect("a String takes text");
    }
    table.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("versions.rs"), table).expect("OUT_DIR is writable");
}

/// The compiler's version, as in `1.95.0`.
fn compiler() -> Option<String> {
    let told = Command::new(env::var_os("RUSTC")?)
        .arg("--version")
        .output()
        .ok()?;
    let told = String::from_utf8(told.stdout).ok()?;
    told.split_whitespace().nth(1).map(str::to_owned)
}

/// The value of a line `key = "value"`.
fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?
        .trim_start()
        .strip_prefix('=')?
        .trim()
        .strip_prefix('"')?
        .strip_suffix('"')
}
