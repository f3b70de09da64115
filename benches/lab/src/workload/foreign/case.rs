//! What a caller needs: the parameters, what is called, and how a call that fails
//! is told.

use std::hint::black_box;
use std::io;
use std::sync::{Arc, Once};
use std::thread;

use corolab_syscalls::callee::{self, Call, Callee};
use corolab_syscalls::limits;

use super::{ALONE, BESIDE, is_beside};
use crate::condition::Params;
use crate::contender::Assignment;
use crate::notes;
use crate::sample::{Batch, Refusal, Status};
use crate::turns::Turns;

/// The parameters, typed.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What is called.
    pub callee: &'static callee::Entry,
    /// Tasks that call.
    pub callers: u64,
    /// Whether others want to run.
    pub beside: bool,
    /// Calls of the one batch; 0 for batches of a sample's length.
    pub batch: u64,
}

impl Case {
    /// Reads the parameters.
    ///
    /// # Errors
    /// Nobody who calls, nothing that is called, or an unknown form.
    pub fn of(assignment: &Assignment) -> Result<Self, Refusal> {
        let params = &assignment.condition.params;
        let callers = params.number("callers").unwrap_or(1);
        if callers == 0 {
            return Err(Refusal::not_applicable(
                "callers is 0: there is nobody to call",
            ));
        }
        if let Some(other) = params
            .word("form")
            .filter(|form| ![ALONE, BESIDE].contains(form))
        {
            return Err(Refusal::not_applicable(format!(
                "form={other}: calls are made {ALONE} or {BESIDE} others"
            )));
        }
        Ok(Case {
            callee: entry(params)?,
            callers,
            beside: is_beside(params),
            batch: params.number("batch").unwrap_or(0),
        })
    }

    /// What each caller calls; every one is tried once.
    ///
    /// # Errors
    /// The kernel refuses the call, or has no descriptors left.
    pub fn equip<K: Callee>(&self) -> Result<Vec<Arc<K>>, Refusal> {
        keep_company();
        let mut callees = Vec::with_capacity(self.callers as usize);
        for made in 0..self.callers {
            let tried = K::new().and_then(|callee| callee.call(0).map(|_| callee));
            let callee = tried.map_err(|why| self.refused(&why, made))?;
            callees.push(Arc::new(callee));
        }
        Ok(callees)
    }

    /// The refusal for a call that fails.
    pub fn refused(&self, why: &io::Error, made: u64) -> Refusal {
        let name = self.callee.name;
        if callee::is_refused(why) {
            return Refusal::new(
                Status::NotSupported,
                format!("this kernel or container refuses {name}: {why}"),
            );
        }
        if callee::descriptors_are_short(why) {
            let limit = limits::open_files().map_or("unknown".to_owned(), |n| n.to_string());
            return Refusal::infeasible(format!(
                "{made} of {} callers have their descriptors for {name}: {why}; the limit is {limit} \
                 (ulimit -n)",
                self.callers
            ));
        }
        Refusal::failed(format!("{name}: {why}"))
    }

    /// Serves turns, or the one batch, by what makes `rounds` calls of each
    /// caller.
    ///
    /// # Errors
    /// What the body refuses, or a wrong answer.
    pub fn serve(
        self,
        turns: &mut dyn Turns,
        body: &mut dyn FnMut(u64) -> Result<Batch, Refusal>,
    ) -> Result<(), Refusal> {
        match self.batch {
            0 => turns.serve(self.callers, &|rounds| self.callers * rounds, body),
            calls => turns.once(&mut || Ok((self.callers * calls, body(calls)?))),
        }
    }
}

/// Starts a thread that rests for ever, once.
///
/// In a process of one thread a descriptor is reached without counting its users
/// and a futex without a lock of the process's own: 35 of 210 ns of a `read4k`.
/// Threads and workers never are alone, and nobody else in a real program is.
fn keep_company() {
    static COMPANY: Once = Once::new();
    COMPANY.call_once(|| {
        let resting = || loop {
            thread::park();
        };
        // Without it the figures are those of a lone thread, and the calls work.
        let started = thread::Builder::new().name("company".into()).spawn(resting);
        if let Err(why) = started {
            notes::say(format!(
                "alone in its process, which makes calls cheaper: {why}"
            ));
        }
    });
}

/// What all callers did, as one batch.
///
/// # Errors
/// Nobody did anything.
pub fn together(batches: Vec<Batch>) -> Result<Batch, Refusal> {
    let all = batches.into_iter().reduce(Batch::beside);
    all.ok_or_else(|| Refusal::failed("nobody called"))
}

pub(super) fn entry(params: &Params) -> Result<&'static callee::Entry, Refusal> {
    let name = params.word("callee").unwrap_or("nothing");
    callee::find(name).ok_or_else(|| {
        let all: Vec<_> = callee::ALL.iter().map(|entry| entry.name).collect();
        Refusal::not_applicable(format!("callee={name}: there are {}", all.join(", ")))
    })
}

/// The direct route, for everybody: one loop in one place, so that hosts differ
/// by where they call from and not by how a compiler laid their loops.
///
/// # Errors
/// The callee's.
#[inline(never)]
pub fn direct<K: Callee>(callee: &K, rounds: u64) -> io::Result<u64> {
    let mut count = 0;
    for _ in 0..rounds {
        count = callee.call(count)?;
    }
    Ok(count)
}

/// The same through a trait object.
///
/// # Errors
/// The callee's.
#[inline(never)]
pub fn through_object<K: Callee>(callee: &K, rounds: u64) -> io::Result<u64> {
    let mut count = 0;
    let callee: &dyn Call = black_box(callee);
    for _ in 0..rounds {
        count = callee.call(count)?;
    }
    Ok(count)
}

/// Calls `$run::<$of…, K>(…)` with the type of the callee.
#[macro_export]
macro_rules! with_callee {
    ($entry:expr, $run:ident $(::<$($of:ty),+>)? ($($argument:expr),* $(,)?)) => {{
        use corolab_syscalls::callee;
        match $entry.name {
            "noop" => $run::<$($($of,)+)? callee::Noop>($($argument),*),
            "adds16" => $run::<$($($of,)+)? callee::Adds16>($($argument),*),
            "adds20" => $run::<$($($of,)+)? callee::Adds20>($($argument),*),
            "vdso" => $run::<$($($of,)+)? callee::Vdso>($($argument),*),
            "getppid" => $run::<$($($of,)+)? callee::Getppid>($($argument),*),
            "futex" => $run::<$($($of,)+)? callee::Futex>($($argument),*),
            "pipe1" => $run::<$($($of,)+)? callee::Pipe1>($($argument),*),
            "read4k" => $run::<$($($of,)+)? callee::Read4k>($($argument),*),
            "sleep1ms" => $run::<$($($of,)+)? callee::Sleep1ms>($($argument),*),
            "deep" => $run::<$($($of,)+)? callee::Deep>($($argument),*),
            other => Err($crate::sample::Refusal::failed(format!(
                "the callee {other} has a price and no type"
            ))),
        }
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_fails_is_named() {
        let case = Case {
            callee: callee::find("getppid").unwrap(),
            callers: 4,
            beside: false,
            batch: 0,
        };
        let of = |kind: io::ErrorKind| case.refused(&io::Error::from(kind), 3);
        assert_eq!(of(io::ErrorKind::Other).status, Status::Failed);
        let refused = case.refused(&io::Error::from_raw_os_error(1), 3);
        assert_eq!(refused.status, Status::NotSupported);
        assert!(refused.reason.contains("refuses getppid"), "{refused}");
        let short = case.refused(&io::Error::from_raw_os_error(24), 3);
        assert_eq!(short.status, Status::Infeasible);
        assert!(short.reason.starts_with("3 of 4 callers"), "{short}");
    }
}
