//! Going on with a record that was cut short.

use std::path::Path;

use anyhow::Result;

use super::session::Standing;
use crate::cli::usage;
use crate::record::Record;
use crate::record::line::Line;
use crate::record::manifest::{Manifest, Plan};
use crate::summary::Host;

/// Refuses to go on with a record of another binary, machine or plan; without
/// a plan, the record's own is gone on with.
///
/// # Errors
/// Which of them differ, in a sentence.
pub fn same(
    dir: &Path,
    record: &Record,
    manifest: &Manifest,
    plan: Option<&Plan>,
    host: &Host,
) -> Result<()> {
    let mut differences = Vec::new();
    if record.manifest.binary != manifest.binary {
        differences.push("another binary".to_owned());
    }
    if plan.is_some_and(|plan| !is_same_plan(plan, &record.manifest.plan)) {
        differences.push("another plan".to_owned());
    }
    for fact in ["hostname", "cpu_model", "kernel", "cpus_allowed"] {
        if record.host.get(fact) != host.get(fact) {
            differences.push(format!("another {fact}"));
        }
    }
    let missing = record
        .manifest
        .contenders
        .iter()
        .map(|profile| &profile.name);
    let missing = missing.filter(|name| manifest.contenders.iter().all(|have| have.name != **name));
    differences.extend(missing.map(|name| format!("a --runner that brings {name}")));
    if differences.is_empty() {
        return Ok(());
    }
    Err(usage(format!(
        "{} was measured with {}: measure anew with another --out, or go on with what measured it \
         ({})",
        dir.display(),
        differences.join(" and with "),
        record.manifest.command
    )))
}

/// Whether two plans measure the same; how much memory was free when they were
/// made does not matter.
fn is_same_plan(a: &Plan, b: &Plan) -> bool {
    let bare = |plan: &Plan| {
        let mut plan = plan.clone();
        for block in &mut plan.blocks {
            block.memory = 0;
            block.paired = crate::record::manifest::Paired::Baton;
        }
        plan
    };
    bare(a) == bare(b)
}

/// The number of the next session, and what the record holds already.
pub fn standing(lines: &[Line]) -> (u32, Standing) {
    let mut sessions = 0;
    let mut standing = Standing::default();
    for line in lines {
        if let Line::SessionBegan(began) = line {
            sessions = sessions.max(began.session);
        }
        standing.see(line);
    }
    (sessions + 1, standing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::line::{Launch, SessionBegan};
    use crate::record::tests::trial;
    use corolab_lab::sample::Status;

    #[test]
    fn what_stands_is_counted_and_new_launches_get_new_numbers() {
        let launch = |launch, complete| {
            Line::Launch(Launch {
                block: "b".into(),
                launch,
                heap: false,
                session: 1,
                turns: 2,
                complete,
                wall_ns: 1,
                steal: None,
            })
        };
        let began = |session| {
            Line::SessionBegan(SessionBegan {
                session,
                at: String::new(),
                binary: String::new(),
            })
        };
        let lost = trial("b", 2);
        let mut failed = lost.clone();
        failed.status = Status::Failed;
        let lines = [
            began(1),
            launch(0, true),
            launch(1, false),
            began(2),
            Line::Trial(Box::new(failed)),
        ];
        let (session, standing) = standing(&lines);
        assert_eq!(session, 3);
        assert_eq!(
            standing.whole["b"], 1,
            "a launch that was cut short is done again"
        );
        assert_eq!(standing.next["b"], 3);
        assert!(standing.lost.contains(&lost.condition.id()));
    }
}
