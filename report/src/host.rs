//! Facts of the host, for `env.json` and for `doctor`.
//!
//! What cannot be determined is "unknown": never blank, never 0.

use std::fs;
use std::path::{Path, PathBuf};

use corolab_syscalls::affinity;
use serde_json::{Value, json};

use crate::summary::Host;

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
    fn read(&self, path: &str) -> Option<String> {
        let text = fs::read_to_string(self.root.join(path)).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn number(&self, path: &str) -> Option<u64> {
        self.read(path)?.parse().ok()
    }

    /// The value after `key:` in a file of such lines.
    fn field(&self, path: &str, key: &str) -> Option<String> {
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
    fn chosen(&self, path: &str) -> Option<String> {
        let text = self.read(path)?;
        let (_, rest) = text.split_once('[')?;
        Some(rest.split_once(']')?.0.to_owned())
    }

    /// Bytes of a line `Key: n kB` in `/proc/meminfo`.
    fn memory(&self, key: &str) -> Option<u64> {
        let text = self.field("proc/meminfo", key)?;
        let kib: u64 = text.strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib * 1024)
    }

    /// The lowest limit of the cgroup (version 2) of this process and those
    /// above it; the kernel's own word where there is none.
    fn cgroup(&self, file: &str) -> Option<String> {
        let own = self.read("proc/self/cgroup")?;
        let path = own
            .lines()
            .find_map(|line| line.strip_prefix("0::"))?
            .trim_start_matches('/');
        let mut folder = Path::new("sys/fs/cgroup").join(path);
        let mut told = None;
        while folder.starts_with("sys/fs/cgroup") {
            if let Some(limit) = self.read(&folder.join(file).to_string_lossy()) {
                if !limit.starts_with("max") {
                    return Some(limit);
                }
                told = Some("none".to_owned());
            }
            if !folder.pop() {
                break;
            }
        }
        told
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

    /// Bytes that can be had without swapping.
    pub fn memory_available(&self) -> Option<u64> {
        self.memory("MemAvailable")
    }
}

fn known<T: Into<Value>>(fact: Option<T>) -> Value {
    fact.map_or_else(|| json!("unknown"), Into::into)
}

/// Collects the facts of this host.
pub fn facts(roots: &Roots) -> Host {
    let cpu = |key| roots.field("proc/cpuinfo", key);
    let allowed = affinity::allowed().ok();
    let load = roots.read("proc/loadavg").map(|line| {
        line.split_whitespace()
            .take(3)
            .collect::<Vec<_>>()
            .join(" ")
    });
    let steal = roots
        .ticks()
        .map(|ticks| json!((ticks.steal as f64 / ticks.all.max(1) as f64 * 1e6).round() / 1e6));
    let mut host = Host::new();
    let mut fact = |name: &str, value: Value| drop(host.insert(name.to_owned(), value));
    fact("arch", json!(std::env::consts::ARCH));
    fact("os", json!(std::env::consts::OS));
    fact("hostname", known(roots.read("proc/sys/kernel/hostname")));
    fact("kernel", known(roots.read("proc/sys/kernel/osrelease")));
    fact("cpu_model", known(cpu("model name")));
    fact("cpu_family", known(cpu("cpu family")));
    fact("cpu_mhz", known(cpu("cpu MHz")));
    fact("cpu_cache", known(cpu("cache size")));
    fact(
        "cpus_online",
        known(roots.read("sys/devices/system/cpu/online")),
    );
    fact("cpus_allowed", known(allowed.map(|cpus| json!(cpus))));
    fact(
        "smt",
        known(roots.read("sys/devices/system/cpu/smt/control")),
    );
    fact("mitigations", mitigations(roots));
    fact("virtualised", known(virtualised(roots)));
    fact(
        "clocksource",
        known(roots.read("sys/devices/system/clocksource/clocksource0/current_clocksource")),
    );
    fact(
        "governor",
        known(roots.read("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
    );
    fact(
        "thp",
        known(roots.chosen("sys/kernel/mm/transparent_hugepage/enabled")),
    );
    fact(
        "max_map_count",
        known(roots.number("proc/sys/vm/max_map_count")),
    );
    fact(
        "overcommit_memory",
        known(roots.number("proc/sys/vm/overcommit_memory")),
    );
    fact(
        "threads_max",
        known(roots.number("proc/sys/kernel/threads-max")),
    );
    fact("cgroup_cpu_max", known(roots.cgroup("cpu.max")));
    fact("cgroup_memory_max", known(roots.cgroup("memory.max")));
    fact("memory_total_bytes", known(roots.memory("MemTotal")));
    fact("memory_available_bytes", known(roots.memory_available()));
    fact("steal_since_boot", known(steal));
    fact("load", known(load));
    fact(
        "tokio_worker_threads",
        match std::env::var("TOKIO_WORKER_THREADS") {
            Ok(set) => json!(format!("{set} (set; our explicit count wins)")),
            Err(_) => json!("not set"),
        },
    );
    host
}

fn virtualised(roots: &Roots) -> Option<bool> {
    let flags = roots.field("proc/cpuinfo", "flags")?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// What the kernel does about each CPU weakness that concerns this one.
fn mitigations(roots: &Roots) -> Value {
    let folder = "sys/devices/system/cpu/vulnerabilities";
    let Ok(entries) = fs::read_dir(roots.root.join(folder)) else {
        return json!("unknown");
    };
    let mut told: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let state = roots.read(&format!("{folder}/{name}"))?;
            (state != "Not affected").then(|| format!("{name}: {state}"))
        })
        .collect();
    told.sort();
    json!(told)
}

/// What would make this host measure better, in sentences.
pub fn advice(host: &Host) -> Vec<String> {
    let word = |name: &str| host.get(name).and_then(Value::as_str).unwrap_or("");
    let number = |name: &str| host.get(name).and_then(Value::as_f64);
    let mut advice = Vec::new();
    if !matches!(word("governor"), "unknown" | "performance") {
        advice.push(format!(
            "The governor is {}: `cpupower frequency-set -g performance` keeps the clock still.",
            word("governor")
        ));
    }
    if !matches!(
        word("clocksource"),
        "tsc" | "kvm-clock" | "arch_sys_counter"
    ) {
        advice.push(format!(
            "The clocksource is {}: reading it may be a system call, and batches grow longer.",
            word("clocksource")
        ));
    }
    if word("thp") == "always" {
        advice.push(
            "Transparent huge pages are always on: a stack can become resident as a whole; \
             madvise is the usual setting."
                .to_owned(),
        );
    }
    if number("max_map_count").is_some_and(|count| count < 2_100_000.0) {
        advice.push(format!(
            "vm.max_map_count is {}: stacks with two mappings each end near {}; \
             `sysctl vm.max_map_count=2100000` makes room for a million.",
            number("max_map_count").unwrap_or_default(),
            (number("max_map_count").unwrap_or_default() / 2.0).floor()
        ));
    }
    if number("steal_since_boot").is_some_and(|share| share > 0.01) {
        advice.push(
            "The hypervisor takes more than 1% of the CPU time: trust ratios only.".to_owned(),
        );
    }
    advice
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Roots) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let roots = Roots {
            root: dir.path().to_owned(),
        };
        (dir, roots)
    }

    #[test]
    fn what_cannot_be_read_is_unknown() {
        let (_dir, roots) = tree(&[("sys/kernel/mm/transparent_hugepage/enabled", "")]);
        let host = facts(&roots);
        for name in [
            "kernel",
            "thp",
            "max_map_count",
            "smt",
            "memory_total_bytes",
            "load",
            "steal_since_boot",
            "cgroup_cpu_max",
            "mitigations",
            "virtualised",
        ] {
            assert_eq!(host[name], json!("unknown"), "{name}");
        }
    }

    #[test]
    fn facts_are_read_from_where_the_kernel_states_them() {
        let (_dir, roots) = tree(&[
            (
                "sys/kernel/mm/transparent_hugepage/enabled",
                "always [madvise] never\n",
            ),
            ("proc/sys/vm/max_map_count", "65530\n"),
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: A CPU\nflags\t\t: fpu hypervisor\n",
            ),
            (
                "proc/meminfo",
                "MemTotal:  2048 kB\nMemAvailable:  1024 kB\n",
            ),
            ("proc/stat", "cpu  10 0 10 70 0 0 0 10 0 0\n"),
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
        ]);
        let host = facts(&roots);
        assert_eq!(host["thp"], json!("madvise"));
        assert_eq!(host["max_map_count"], json!(65_530));
        assert_eq!(host["cpu_model"], json!("A CPU"));
        assert_eq!(host["virtualised"], json!(true));
        assert_eq!(host["memory_available_bytes"], json!(1 << 20));
        assert_eq!(host["steal_since_boot"], json!(0.1));
        assert_eq!(host["cgroup_cpu_max"], json!("150000 100000"));
        assert!(advice(&host).iter().any(|line| line.contains("65530")));
    }
}
