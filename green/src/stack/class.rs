//! One size class: where its stacks come from and go to.
//!
//! Stacks are cut from large mappings, in order, each in a slot as `layout` has
//! it.
//!
//! A stack is known by its base alone. Those that nobody uses lie in the
//! depot, under a lock that threads take once for many stacks (see `cache`).
//! Stacks outside the depot, in use or in a thread's cache, are *lent*; while
//! there are any, the class keeps itself alive, which is why a stack may hold
//! a bare pointer to it.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use corolab_syscalls::memory::{self, Advice, Mapping, Range};
use corosensei::stack::valgrind::ValgrindStackRegistration;

use super::layout::Layout;
use super::overflow::{self, Stacks};
use super::{Release, StackError};

/// Bytes of a class's first mapping; each further one doubles them, up to
/// [`LARGEST`], so that a million stacks take a few dozen mappings.
const FIRST: usize = 1 << 20;
/// Bytes of the largest mapping.
const LARGEST: usize = 4 << 30;

/// What a class is made with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub layout: Layout,
    pub release: Release,
    pub huge_pages: bool,
    /// Idle stacks that a thread keeps to itself.
    pub cached: usize,
}

/// A size class, shared by all threads.
#[derive(Debug)]
pub(super) struct Class {
    pub rules: Rules,
    /// Reads as the maker's process id, and as 0 in a fork of it.
    mark: &'static AtomicU32,
    made_in: u32,
    closed: AtomicBool,
    depot: Mutex<Depot>,
    this: Weak<Class>,
}

#[derive(Debug, Default)]
struct Depot {
    /// Bases of stacks that nobody uses; the last one in is the first out.
    idle: Vec<usize>,
    /// Mappings; stacks are cut from the last one.
    cuts: Vec<Cut>,
    /// Stacks cut so far.
    made: usize,
    /// Stacks in use or in threads' caches.
    lent: usize,
    /// Keeps the class alive while stacks are lent.
    keep: Option<Arc<Class>>,
    /// How many of the lent ones lie idle in each thread's cache.
    caches: Vec<Weak<AtomicUsize>>,
}

/// A mapping and how much of it has been cut into stacks.
#[derive(Debug)]
struct Cut {
    mapping: Mapping,
    stacks: usize,
    room: usize,
    _named: overflow::Entry,
}

/// How a class stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    pub made: usize,
    pub lent: usize,
    pub cached: usize,
    pub mappings: usize,
    pub mapped: usize,
}

impl Class {
    pub fn new(rules: Rules, mark: &'static AtomicU32) -> Arc<Self> {
        Arc::new_cyclic(|this| Class {
            rules,
            mark,
            made_in: mark.load(Ordering::Relaxed),
            closed: AtomicBool::new(false),
            depot: Mutex::default(),
            this: this.clone(),
        })
    }

    /// Whether it hands out stacks: not when closed, nor in a fork.
    #[inline]
    pub fn check(&self) -> Result<(), StackError> {
        self.check_process()?;
        if self.is_closed() {
            return Err(StackError::Closed);
        }
        Ok(())
    }

    /// Whether this process is its maker's.
    #[inline]
    pub fn check_process(&self) -> Result<(), StackError> {
        if self.is_elsewhere() {
            return Err(StackError::Forked {
                made_in: self.made_in,
                here: std::process::id(),
            });
        }
        Ok(())
    }

    #[inline]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Whether this process is a fork of the one that made the class. Its lock
    /// may be held there by a thread that does not exist here.
    #[inline]
    pub fn is_elsewhere(&self) -> bool {
        self.mark.load(Ordering::Relaxed) != self.made_in
    }

    /// The class as a thread's cache holds it.
    pub fn shared(&self) -> Option<Arc<Class>> {
        self.this.upgrade()
    }

    /// Takes up to `wanted` stacks out of the depot and cuts more if it has
    /// none; at least one.
    pub fn lend(&self, wanted: usize, into: &mut Vec<usize>) -> Result<(), StackError> {
        let mut depot = self.depot();
        let stays = depot.idle.len().saturating_sub(wanted);
        let mut count = depot.idle.len() - stays;
        if count > 0 {
            into.extend(depot.idle.drain(stays..));
        } else {
            count = self.cut(&mut depot, wanted, into)?;
        }
        if depot.lent == 0 {
            depot.keep = self.this.upgrade();
        }
        depot.lent += count;
        Ok(())
    }

    /// Takes stacks back, and lets go of their memory as the rules say.
    ///
    /// With the last one it gives back what kept the class alive, for the
    /// caller to drop when it has no reference to the class any more.
    #[must_use = "it may free the class"]
    pub fn take_back(&self, bases: &[usize]) -> Option<Arc<Class>> {
        if bases.is_empty() || self.is_elsewhere() {
            return None; // in a fork: they go when it ends
        }
        self.release(bases);
        let mut depot = self.depot();
        depot.idle.extend_from_slice(bases);
        depot.lent -= bases.len();
        if depot.lent > 0 {
            return None;
        }
        if self.is_closed() {
            depot.unmap();
        }
        depot.keep.take()
    }

    /// From now on no stack is handed out; mappings go when the last comes home.
    pub fn close(&self) -> Standing {
        let mut depot = self.depot();
        self.closed.store(true, Ordering::Relaxed);
        let standing = depot.standing();
        if depot.lent == 0 {
            depot.unmap();
        }
        standing
    }

    /// How it stands; nothing is known of that in a fork.
    pub fn standing(&self) -> Standing {
        if self.is_elsewhere() {
            return Standing::default();
        }
        self.depot().standing()
    }

    /// Counts a thread's cache in.
    pub fn enlist(&self, idle: &Arc<AtomicUsize>) {
        let mut depot = self.depot();
        depot.caches.retain(|cache| cache.strong_count() > 0);
        depot.caches.push(Arc::downgrade(idle));
    }

    fn depot(&self) -> MutexGuard<'_, Depot> {
        // Nothing under this lock panics half way through a change.
        self.depot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cuts up to `wanted` stacks, all in one mapping; at least one.
    fn cut(
        &self,
        depot: &mut Depot,
        wanted: usize,
        into: &mut Vec<usize>,
    ) -> Result<usize, StackError> {
        let layout = self.rules.layout;
        if depot.cuts.last().is_none_or(|cut| cut.stacks == cut.room) {
            let next = self.map(depot)?;
            depot.cuts.push(next);
        }
        let made = depot.made;
        let Some(cut) = depot.cuts.last_mut() else {
            return Ok(0);
        };
        let count = wanted.clamp(1, cut.room - cut.stacks);
        let first = cut.mapping.start() + cut.stacks * layout.stride;
        let guard = layout.guard.bytes(layout.page);
        let guards: Vec<Range> = (0..count)
            .map(|nth| Range {
                start: first + nth * layout.stride,
                bytes: guard,
            })
            .collect();
        // SAFETY: these slots lie in our mapping and were never handed out.
        unsafe { layout.guard.install(&guards) }.map_err(|why| StackError::Guard {
            usable: layout.usable,
            made,
            way_out: layout.guard.way_out(&why),
            why,
        })?;
        for nth in 0..count {
            let low = first + nth * layout.stride;
            let start = (low + guard) as *mut u8;
            // Only a valgrind that runs us hears of it. It is never told that
            // a stack is gone: that would cost bytes for each stack.
            std::mem::forget(ValgrindStackRegistration::new(start, layout.stride - guard));
            into.push(low + layout.stride - layout.colours.offset(made + nth));
        }
        // The first to be used is the one that lies first.
        let from = into.len() - count;
        into[from..].reverse();
        cut.stacks += count;
        depot.made += count;
        Ok(count)
    }

    /// The next mapping: twice the last one, or as much as the kernel gives.
    fn map(&self, depot: &Depot) -> Result<Cut, StackError> {
        let layout = self.rules.layout;
        let last = depot
            .cuts
            .last()
            .map_or(FIRST / 2, |cut| cut.mapping.bytes());
        let mut room = (last.saturating_mul(2).min(LARGEST) / layout.stride).max(1);
        let mapping = loop {
            match Mapping::new(room * layout.stride) {
                Ok(mapping) => break mapping,
                Err(_) if room > 1 => room /= 2,
                Err(why) => {
                    return Err(StackError::Map {
                        usable: layout.usable,
                        made: depot.made,
                        why,
                    });
                }
            }
        };
        let all = Range {
            start: mapping.start(),
            bytes: mapping.bytes(),
        };
        let pages = if self.rules.huge_pages {
            Advice::HugePages
        } else {
            Advice::NoHugePages
        };
        // SAFETY: the mapping is new. A kernel without huge pages refuses the
        // advice, and there it changes nothing.
        drop(unsafe { memory::advise(all, pages) });
        let named = overflow::enlist(Stacks {
            start: all.start,
            bytes: all.bytes,
            stride: layout.stride,
            guard: layout.guard.bytes(layout.page),
            usable: layout.usable,
        });
        Ok(Cut {
            mapping,
            stacks: 0,
            room,
            _named: named,
        })
    }

    /// Gives the memory of idle stacks back, as far as the rules say.
    fn release(&self, bases: &[usize]) {
        let (advice, kept) = match self.rules.release {
            Release::Keep => return,
            Release::Free { kept } => (Advice::Free, kept),
            Release::DontNeed { kept } => (Advice::DontNeed, kept),
        };
        let ranges: Vec<Range> = bases
            .iter()
            .map(|base| self.rules.layout.let_go(*base, kept))
            .filter(|range| range.bytes > 0)
            .collect();
        // SAFETY: the stacks are ours and nobody uses them; what they held is
        // worth nothing any more. Refused advice leaves them resident, no more.
        drop(unsafe { memory::advise_all(&ranges, advice) });
    }
}

impl Depot {
    /// Gives all address space back; nothing is lent.
    fn unmap(&mut self) {
        self.idle = Vec::new();
        self.cuts = Vec::new();
    }

    fn standing(&self) -> Standing {
        let idle = self.caches.iter().filter_map(Weak::upgrade);
        Standing {
            made: self.made,
            lent: self.lent,
            cached: idle.map(|idle| idle.load(Ordering::Relaxed)).sum(),
            mappings: self.cuts.len(),
            mapped: self.cuts.iter().map(|cut| cut.mapping.bytes()).sum(),
        }
    }
}
