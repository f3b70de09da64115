//! Facts of the host, for `env.json` and for `doctor`.
//!
//! What cannot be determined is "unknown": never blank, never 0.

mod advice;
mod roots;

pub use advice::advice;
pub use roots::{Roots, Ticks};

use std::fs;

use corolab_syscalls::{affinity, limits, memory};
use serde_json::{Value, json};

use crate::summary::Host;

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
    fact("os", known(os(roots)));
    fact("page_bytes", known(limits::page_bytes().ok()));
    fact("cpus_logical", known(logical_cpus(roots)));
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
    let guards = limits::page_bytes().map(|page| memory::guard_regions(page as usize));
    fact(
        "guard_regions",
        match guards {
            Ok(Ok(())) => json!("yes"),
            Ok(Err(why)) => json!(format!("no: {why}")),
            Err(_) => json!("unknown"),
        },
    );
    fact(
        "threads_max",
        known(roots.number("proc/sys/kernel/threads-max")),
    );
    fact("cgroup_cpus", known(roots.cpu_quota()));
    let limit = roots.cgroup("memory.max").map(|_| roots.memory_limit());
    fact(
        "cgroup_memory_bytes",
        known(limit.map(|limit| limit.map_or(json!("none"), |bytes| json!(bytes)))),
    );
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

/// The distribution's own name for itself.
fn os(roots: &Roots) -> Option<String> {
    let text = roots.read("etc/os-release")?;
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned())
}

fn logical_cpus(roots: &Roots) -> Option<usize> {
    let text = roots.read("proc/cpuinfo")?;
    let count = text
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    (count > 0).then_some(count)
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
            "cgroup_cpus",
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
            ("sys/fs/cgroup/cgroup.controllers", "cpu memory\n"),
            ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/a/memory.max", "524288\n"),
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
        ]);
        let host = facts(&roots);
        assert_eq!(host["thp"], json!("madvise"));
        assert_eq!(host["max_map_count"], json!(65_530));
        assert_eq!(host["cpu_model"], json!("A CPU"));
        assert_eq!(host["virtualised"], json!(true));
        assert_eq!(
            host["memory_available_bytes"],
            json!(512 << 10),
            "the cgroup allows less"
        );
        assert_eq!(host["cgroup_memory_bytes"], json!(512 << 10));
        assert_eq!(host["cpus_logical"], json!(1));
        assert_eq!(host["steal_since_boot"], json!(0.1));
        assert_eq!(host["cgroup_cpus"], json!(1.5));
        assert!(advice(&host).iter().any(|line| line.contains("65530")));
    }
}
