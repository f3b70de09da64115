//! What would make a host measure better. Pure.

use serde_json::Value;

use crate::summary::Host;

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
    let quota = number("cgroup_cpus");
    let cpus = number("cpus_logical");
    if quota.is_some_and(|quota| cpus.is_some_and(|cpus| quota < cpus)) {
        advice.push(format!(
            "The cgroup allows {} CPUs' worth of time: a run that meets this quota is throttled \
             in mid-sample.",
            quota.unwrap_or_default()
        ));
    }
    let load = word("load")
        .split(' ')
        .next()
        .and_then(|load| load.parse::<f64>().ok());
    if let Some(load) = load.filter(|load| *load > 0.5) {
        advice.push(format!(
            "The load is {load}: others use the CPUs; wait until they are done."
        ));
    }
    advice
}
