//! Published claims, and what our rows say of them by stated rules. Pure.

use super::foreign;
use super::rules::{self, Found, not_measurable};
use crate::summary::{Claim, Ratio, Row};

/// A published claim; the statement is in our words.
struct Published {
    id: &'static str,
    statement: &'static str,
    figure: &'static str,
    source: &'static str,
    rule: Rule,
}

enum Rule {
    /// Computed from rows.
    Rows(fn(&[Row], &[Ratio]) -> Found),
    /// The workload that it needs is not in this version.
    Needs(&'static str),
    /// No row can tell; why, in a sentence.
    Beyond(&'static str),
}

const S3: &str = "the .NET runtime-async article";
const RUNTIMELAB: &str = "dotnet/runtimelab, green thread report";

const CLAIMS: &[Published] = &[
    Published {
        id: "dotnet-ffi",
        statement: "A minimal native call costs six times as much on a green thread.",
        figure: "3 ns -> 18 ns; 100 M calls 300 ms -> 1,800 ms",
        source: "the .NET runtime-async article; dotnet/runtimelab#2398",
        rule: Rule::Rows(foreign::dotnet_ffi),
    },
    Published {
        id: "dotnet-rps",
        statement: "A plaintext web server answers fewer requests on green threads than on async.",
        figure: "178,620 -> 162,019 requests/s (-9.3%)",
        source: RUNTIMELAB,
        rule: Rule::Needs("http"),
    },
    Published {
        id: "dotnet-switch",
        statement: "A green thread's yield and resume lie far below two thread switches and above an await with its continuation.",
        figure: "500 ns; 8 µs; 110 ns",
        source: RUNTIMELAB,
        rule: Rule::Needs("chain"),
    },
    Published {
        id: "dotnet-create",
        statement: "Creating a green thread costs microseconds, reusing one a fifth of that, a deep stack far more.",
        figure: "3 µs; 600 ns; deep 120 µs / 24 µs",
        source: RUNTIMELAB,
        rule: Rule::Rows(rules::dotnet_create),
    },
    Published {
        id: "dotnet-memory",
        statement: "A waiting async request holds about 100 B, a green stack with its red zone at least 12 KB.",
        figure: "100 B; 10 KB; 12 KB",
        source: RUNTIMELAB,
        rule: Rule::Rows(rules::dotnet_memory),
    },
    Published {
        id: "stack-vs-state",
        statement: "The smallest stack holds hundreds of async states.",
        figure: "2 KB against tens of bytes",
        source: S3,
        rule: Rule::Rows(rules::stack_vs_state),
    },
    Published {
        id: "affinity-cost",
        statement: "Thread-affine calls, ten thousand a second, make green threads' scheduling dear.",
        figure: "no figure",
        source: S3,
        rule: Rule::Needs("affine"),
    },
    Published {
        id: "shadow-stack",
        statement: "Hardware shadow stacks conflict with switching stacks in user space.",
        figure: "no figure",
        source: S3,
        rule: Rule::Beyond(
            "neither corosensei nor generator has code for a shadow stack, and no workload here \
             asks the kernel for one",
        ),
    },
    Published {
        id: "no-suspend-free",
        statement: "An async function that never suspends costs what a plain call costs.",
        figure: "0.34 ns against 0.33 ns",
        source: S3,
        rule: Rule::Needs("chain"),
    },
    Published {
        id: "depth-cost",
        statement: "Resuming a state machine grows dearer with the depth of calls, resuming a stack does not.",
        figure: "a curve",
        source: "async_simple's documentation; dotnet/runtimelab, async2 report",
        rule: Rule::Needs("chain"),
    },
    Published {
        id: "not-intrinsic",
        statement: "A stackful switch is not slow in itself once only live registers are saved.",
        figure: "7 ns for a round trip (libfringe)",
        source: "the Photon blog, 2024-10; libfringe",
        rule: Rule::Rows(rules::not_intrinsic),
    },
    Published {
        id: "million-tasks",
        statement: "A million sleeping tasks fit into some hundred megabytes as futures, into gigabytes as stacks.",
        figure: "tokio 213.6 to 500 MB; may 4.44 GB; Go 2.35 to 2.66 GB",
        source: "pkolaczk 2023; may#72",
        rule: Rule::Beyond("no workload here lets tasks sleep: those of footprint are parked"),
    },
    Published {
        id: "io-erases",
        statement: "Under I/O readiness, or pinned to one core, async's switch advantage vanishes.",
        figure: "1.7 µs = 1.7 µs",
        source: "jimblandy/context-switch",
        rule: Rule::Needs("pipe"),
    },
    Published {
        id: "pin-throughput",
        statement: "A pinned carrier that blocks serves workers ÷ block time requests.",
        figure: "8 ÷ 19 ms = 421/s; about 420 seen",
        source: "a Loom field report",
        rule: Rule::Needs("affine"),
    },
    Published {
        id: "rfc230",
        statement: "Pre-allocated stacks are not lightweight, a blocking call blocks the worker, and one dynamic call beside a system call is trivial.",
        figure: "no figure",
        source: "Rust RFC 230",
        rule: Rule::Rows(foreign::rfc230),
    },
];

/// Holds every claim against the rows.
pub fn judge(rows: &[Row], ratios: &[Ratio]) -> Vec<Claim> {
    CLAIMS
        .iter()
        .map(|claim| {
            let found = match claim.rule {
                Rule::Rows(rule) => rule(rows, ratios),
                Rule::Beyond(why) => not_measurable(why.to_owned()),
                Rule::Needs(workload) => not_measurable(format!(
                    "it needs the workload {workload}, which this version does not have"
                )),
            };
            Claim {
                id: claim.id,
                statement: claim.statement,
                published: claim.figure,
                source: claim.source,
                verdict: found.verdict,
                measured: found.measured,
                rows: found.rows,
                why: found.why,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::fixture;
    use corolab_lab::workload;

    fn verdict(time: f64) -> Claim {
        let rows = [fixture::row("switch", "corosensei", &[("live", 1)], time)];
        judge(&rows, &[])
            .into_iter()
            .find(|claim| claim.id == "not-intrinsic")
            .unwrap()
    }

    #[test]
    fn the_rule_follows_the_interval() {
        // The fixture's interval is 5% to either side.
        assert_eq!(verdict(4.0).verdict, "reproduced");
        assert_eq!(verdict(7.1).verdict, "partly");
        assert_eq!(verdict(9.0).verdict, "not reproduced");
        assert_eq!(verdict(4.0).rows, ["switch/corosensei/live=1:time_per_op"]);
    }

    #[test]
    fn what_cannot_be_judged_says_what_it_needs() {
        for claim in judge(&[], &[]) {
            assert_eq!(claim.verdict, "not measurable here", "{}", claim.id);
            let told = [
                "it needs the workload ",
                "has no figure",
                "no workload here",
                "was not measured",
            ];
            assert!(
                told.iter().any(|words| claim.why.contains(words)),
                "{}",
                claim.why
            );
        }
    }

    #[test]
    fn a_workload_that_a_claim_waits_for_has_a_name_of_the_design() {
        const NAMES: [&str; 4] = ["chain", "affine", "http", "pipe"];
        for claim in CLAIMS {
            if let Rule::Needs(workload) = claim.rule {
                assert!(NAMES.contains(&workload), "{}: {workload}", claim.id);
                assert!(workload::find(workload).is_none(), "{workload} is there");
            }
        }
    }
}
