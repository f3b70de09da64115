//! The price list of calls out of a task: what is called, what it means, and
//! what it costs on a thread that does nothing else.
//!
//! | name | what it is |
//! |---|---|
//! | `noop` | a C function that gives its argument back |
//! | `adds16`, `adds20` | the same with 16 and 20 additions in a row: 4 cycles apart, to see whether an instrument finds them |
//! | `vdso` | `clock_gettime`, which the kernel answers in user space |
//! | `getppid` | the shortest system call |
//! | `futex` | a system call that wakes nobody |
//! | `pipe1` | a byte written to a pipe, and read |
//! | `read4k` | 4 KiB read from `/dev/zero` |
//! | `sleep1ms` | the thread sleeps a millisecond |
//! | `deep` | a C function that needs 64 KiB of stack |

mod calls;

use std::io;
use std::time::{Duration, Instant};

pub use calls::{
    Adds16, Adds20, Deep, Futex, Getppid, Noop, Pipe1, Read4k, Sleep1ms, Vdso,
    descriptors_are_short, is_refused,
};

/// Something that a task calls out to. Every call is checked: it gives the
/// count that it was called with back, plus one.
///
/// The count makes a chain of the calls, so that what a call computes is not
/// hidden beside the next one.
pub trait Call: Send + Sync + 'static {
    /// One call. An interrupted one is done again.
    ///
    /// # Errors
    /// The kernel's, or what was wrong with the answer.
    fn call(&self, count: u64) -> io::Result<u64>;
}

/// A [`Call`] that can be made ready.
pub trait Callee: Call + Sized {
    /// What it needs: descriptors, a word of memory, or nothing.
    ///
    /// # Errors
    /// The kernel's.
    fn new() -> io::Result<Self>;
}

/// An entry of the price list.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// As parameters have it.
    pub name: &'static str,
    /// What is called, in a phrase.
    pub meaning: &'static str,
    /// Whether the thread stands still for longer than a turn of a scheduler.
    pub blocks: bool,
    /// Bytes of stack that a call needs.
    pub stack: u64,
    /// Its bare price, see [`Entry::price`].
    price: fn() -> io::Result<f64>,
}

/// Bytes that a call of a few frames needs, its buffer included.
const SHALLOW: u64 = 6 << 10;

/// The price list.
pub const ALL: &[Entry] = &[
    Entry {
        name: "noop",
        meaning: "a C function that gives its argument back",
        blocks: false,
        stack: SHALLOW,
        price: price::<Noop>,
    },
    Entry {
        name: "adds16",
        meaning: "a C function with 16 dependent additions",
        blocks: false,
        stack: SHALLOW,
        price: price::<Adds16>,
    },
    Entry {
        name: "adds20",
        meaning: "the same with 20: 4 cycles more",
        blocks: false,
        stack: SHALLOW,
        price: price::<Adds20>,
    },
    Entry {
        name: "vdso",
        meaning: "clock_gettime, answered in user space",
        blocks: false,
        stack: SHALLOW,
        price: price::<Vdso>,
    },
    Entry {
        name: "getppid",
        meaning: "the shortest system call",
        blocks: false,
        stack: SHALLOW,
        price: price::<Getppid>,
    },
    Entry {
        name: "futex",
        meaning: "a system call that wakes nobody",
        blocks: false,
        stack: SHALLOW,
        price: price::<Futex>,
    },
    Entry {
        name: "pipe1",
        meaning: "a byte written to a pipe, and read",
        blocks: false,
        stack: SHALLOW,
        price: price::<Pipe1>,
    },
    Entry {
        name: "read4k",
        meaning: "4 KiB read from /dev/zero",
        blocks: false,
        stack: SHALLOW,
        price: price::<Read4k>,
    },
    Entry {
        name: "sleep1ms",
        meaning: "the thread sleeps a millisecond",
        blocks: true,
        stack: SHALLOW,
        price: price::<Sleep1ms>,
    },
    Entry {
        name: "deep",
        meaning: "a C function that needs 64 KiB of stack",
        blocks: false,
        stack: 64 << 10,
        price: price::<Deep>,
    },
];

/// The entry of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}

impl Entry {
    /// Nanoseconds of a call on this thread with nothing around it: the lowest
    /// of nine batches of about a millisecond. A price to expect, not a
    /// measurement to compare by: that is the workload `foreign`.
    ///
    /// # Errors
    /// The kernel's, as from a container that refuses the call.
    pub fn price(&self) -> io::Result<f64> {
        (self.price)()
    }
}

fn price<K: Callee>() -> io::Result<f64> {
    const BATCH: Duration = Duration::from_millis(1);
    let callee = K::new()?;
    let mut calls = 1_u64;
    loop {
        let took = batch(&callee, calls)?;
        if took >= BATCH / 2 {
            break;
        }
        calls *= 2;
    }
    let mut lowest = f64::MAX;
    for _ in 0..9 {
        let took = batch(&callee, calls)?;
        lowest = lowest.min(took.as_nanos() as f64 / calls as f64);
    }
    Ok(lowest)
}

fn batch<K: Callee>(callee: &K, calls: u64) -> io::Result<Duration> {
    let began = Instant::now();
    let mut count = 0;
    for _ in 0..calls {
        count = callee.call(count)?;
    }
    let took = began.elapsed();
    if count == calls {
        Ok(took)
    } else {
        Err(io::Error::other(format!(
            "{count} of {calls} calls counted"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_called_and_has_a_price() {
        for entry in ALL {
            let price = entry.price().unwrap();
            assert!(price > 0.0, "{}: {price}", entry.name);
            assert_eq!(find(entry.name).unwrap().meaning, entry.meaning);
        }
        assert!(find("no-such-callee").is_none());
    }

    #[test]
    fn whoever_blocks_says_so() {
        let blocking: Vec<_> = ALL.iter().filter(|entry| entry.blocks).collect();
        for entry in &blocking {
            assert!(entry.price().unwrap() >= 1e6, "{}", entry.name);
        }
        assert_eq!(blocking.len(), 1);
    }

    fn counts<K: Callee>() {
        let callee = K::new().unwrap();
        let mut count = 0;
        for _ in 0..300 {
            count = callee.call(count).unwrap();
        }
        assert_eq!(count, 300, "{}", std::any::type_name::<K>());
    }

    #[test]
    fn a_call_gives_its_count_back_plus_one() {
        counts::<Noop>();
        counts::<Adds16>();
        counts::<Adds20>();
        counts::<Vdso>();
        counts::<Getppid>();
        counts::<Futex>();
        counts::<Pipe1>();
        counts::<Read4k>();
        counts::<Deep>();
    }
}
