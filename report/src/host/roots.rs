//! Where the kernel states things, under a root that tests can replace.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Where the kernel shows itself; another root in tests.
#[derive(Clone, Debug)]
pub struct Roots {
    /// Usually `/`.
    pub root: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Roots {
            root: PathBuf::from("/"),
        }
    }
}

impl Roots {
    pub(super) fn read(&self, path: &str) -> Option<String> {
        let text = fs::read_to_string(self.root.join(path)).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    pub(super) fn number(&self, path: &str) -> Option<u64> {
        self.read(path)?.parse().ok()
    }

    /// The value after `key:` in a file of such lines.
    pub(super) fn field(&self, path: &str, key: &str) -> Option<String> {
        let text = self.read(path)?;
        let line = text.lines().find(|line| {
            line.strip_prefix(key)
                .is_some_and(|rest| rest.trim_start().starts_with(':'))
        })?;
        let (_, value) = line.split_once(':')?;
        let value = value.trim();
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// The word in brackets of a file like `always [madvise] never`.
    pub(super) fn chosen(&self, path: &str) -> Option<String> {
        let text = self.read(path)?;
        let (_, rest) = text.split_once('[')?;
        Some(rest.split_once(']')?.0.to_owned())
    }

    /// Bytes of a line `Key: n kB` in `/proc/meminfo`.
    pub(super) fn memory(&self, key: &str) -> Option<u64> {
        let text = self.field("proc/meminfo", key)?;
        let kib: u64 = text.strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib * 1024)
    }

    /// What the cgroup (version 2) of this process and those above it say in
    /// `file`, innermost first; `None` where there is no such tree.
    pub(super) fn cgroup(&self, file: &str) -> Option<Vec<String>> {
        let own = self.read("proc/self/cgroup")?;
        let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
        let tree = Path::new("sys/fs/cgroup");
        self.read("sys/fs/cgroup/cgroup.controllers")?;
        let mut folder = tree.join(path.trim_start_matches('/'));
        let mut told = Vec::new();
        while folder.starts_with(tree) {
            told.extend(self.read(&folder.join(file).to_string_lossy()));
            folder.pop();
        }
        Some(told)
    }

    /// CPUs' worth of time that the cgroup allows, or "none".
    pub(super) fn cpu_quota(&self) -> Option<Value> {
        let quota = |line: &str| -> Option<f64> {
            let (quota, period) = line.split_once(' ')?;
            Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
        };
        let told = self.cgroup("cpu.max")?;
        let least = told.iter().filter_map(|line| quota(line)).reduce(f64::min);
        Some(least.map_or(json!("none"), |cpus| json!(cpus)))
    }

    /// Bytes that the cgroup allows; `None` where it does not say, or says
    /// that there is no limit.
    pub(super) fn memory_limit(&self) -> Option<u64> {
        self.cgroup("memory.max")?
            .iter()
            .filter_map(|line| line.parse().ok())
            .min()
    }
}

/// CPU time of the whole machine since it booted, in the kernel's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// Taken by the hypervisor for others.
    pub steal: u64,
    /// All of it.
    pub all: u64,
}

impl Roots {
    /// Reads the machine's CPU time; `None` where the kernel does not say.
    pub fn ticks(&self) -> Option<Ticks> {
        let text = self.read("proc/stat")?;
        let numbers: Vec<u64> = text
            .lines()
            .next()?
            .strip_prefix("cpu ")?
            .split_whitespace()
            .map_while(|number| number.parse().ok())
            .collect();
        // user nice system idle iowait irq softirq steal; guest time is in user
        let steal = *numbers.get(7)?;
        Some(Ticks {
            steal,
            all: numbers[..8].iter().sum(),
        })
    }

    /// Bytes that can be had without swapping, and within the cgroup's limit.
    pub fn memory_available(&self) -> Option<u64> {
        let free = self.memory("MemAvailable")?;
        Some(self.memory_limit().map_or(free, |limit| free.min(limit)))
    }
}
