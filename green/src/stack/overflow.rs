//! The last words of a stack that overflowed: "stack overflow in a 16 KiB
//! stack".

use std::fmt::{self, Write};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use corolab_syscalls::fault;

/// Mappings that are known at once; stacks of a pool beyond that overflow as
/// safely, but without a sentence.
const KNOWN: usize = 1_024;

/// One mapping full of stacks. It is read by a signal handler, so everything
/// in it is atomic; an entry without a start is free.
struct Region {
    start: AtomicUsize,
    end: AtomicUsize,
    stride: AtomicUsize,
    guard: AtomicUsize,
    usable: AtomicUsize,
}

static REGIONS: [Region; KNOWN] = [const { Region::free() }; KNOWN];

/// What an entry says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stacks {
    /// Address of the first guard.
    pub start: usize,
    /// Bytes of all of them.
    pub bytes: usize,
    /// Bytes from one guard to the next.
    pub stride: usize,
    /// Bytes of a guard.
    pub guard: usize,
    /// Usable bytes of a stack.
    pub usable: usize,
}

impl Region {
    const fn free() -> Self {
        Region {
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            stride: AtomicUsize::new(1),
            guard: AtomicUsize::new(0),
            usable: AtomicUsize::new(0),
        }
    }
}

/// An entry of the table; given back when dropped.
#[derive(Debug)]
pub(super) struct Entry(Option<usize>);

/// Takes a mapping into the table.
pub(super) fn enlist(stacks: Stacks) -> Entry {
    // 1 marks an entry that is being filled: no mapping ends there.
    let taken = REGIONS.iter().position(|region| {
        let taking = (Ordering::AcqRel, Ordering::Relaxed);
        region
            .start
            .compare_exchange(0, 1, taking.0, taking.1)
            .is_ok()
    });
    if let Some(region) = taken.map(|at| &REGIONS[at]) {
        let end = stacks.start + stacks.bytes;
        region.end.store(end, Ordering::Relaxed);
        region.stride.store(stacks.stride, Ordering::Relaxed);
        region.guard.store(stacks.guard, Ordering::Relaxed);
        region.usable.store(stacks.usable, Ordering::Relaxed);
        region.start.store(stacks.start, Ordering::Release);
    }
    Entry(taken)
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(at) = self.0 {
            REGIONS[at].end.store(0, Ordering::Relaxed);
            REGIONS[at].start.store(0, Ordering::Release);
        }
    }
}

/// From now on a stack of any pool that runs into its guard is named on
/// standard error before SIGSEGV ends the process; other faults go to the
/// handler that stood before.
///
/// It sets a process-wide signal handler, so it is the program's choice and
/// not the pool's. Threads that resume coroutines need an alternate signal
/// stack, which those of the standard library have.
///
/// # Errors
/// The kernel's.
pub fn name_overflows() -> io::Result<()> {
    fault::tell(describe)
}

/// Runs in a signal handler: it reads atomics and writes into `sentence`.
fn describe(address: usize, sentence: &mut [u8]) -> usize {
    for region in &REGIONS {
        let start = region.start.load(Ordering::Acquire);
        let end = region.end.load(Ordering::Relaxed);
        if start <= 1 || address < start || address >= end {
            continue;
        }
        let within = (address - start) % region.stride.load(Ordering::Relaxed).max(1);
        if within >= region.guard.load(Ordering::Relaxed) {
            return 0; // a stack, not its guard
        }
        let usable = region.usable.load(Ordering::Relaxed);
        let mut text = Text {
            bytes: sentence,
            length: 0,
        };
        let _ = writeln!(text, "stack overflow in a {} stack", Size(usable));
        return text.length;
    }
    0
}

/// Bytes as people say them, without a rounding that would hide some.
struct Size(usize);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => {
                write!(f, "{} MiB", bytes >> 20)
            }
            bytes if bytes.is_multiple_of(1 << 10) => write!(f, "{} KiB", bytes >> 10),
            bytes => write!(f, "{bytes} B"),
        }
    }
}

/// Text in a buffer of fixed size; what does not fit is cut.
struct Text<'b> {
    bytes: &'b mut [u8],
    length: usize,
}

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.length..];
        let taken = text.len().min(room.len());
        room[..taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.length += taken;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(address: usize) -> String {
        let mut sentence = [0; 160];
        let length = describe(address, &mut sentence);
        String::from_utf8_lossy(&sentence[..length]).into_owned()
    }

    #[test]
    fn only_guards_are_overflows_and_only_while_they_stand() {
        // Addresses that no mapping of this process has.
        let start = (usize::MAX / 2) & !0xfff;
        let entry = enlist(Stacks {
            start,
            bytes: 3 * 20_480,
            stride: 20_480,
            guard: 4_096,
            usable: 16_384,
        });
        assert_eq!(told(start + 20_480), "stack overflow in a 16 KiB stack\n");
        assert_eq!(told(start + 2 * 20_480 + 4_095).len(), 33);
        assert_eq!(told(start + 4_096), "");
        assert_eq!(told(start + 3 * 20_480), "");
        drop(entry);
        assert_eq!(told(start), "");
    }

    #[test]
    fn sizes_are_exact_and_a_short_buffer_cuts() {
        let say = |bytes| Size(bytes).to_string();
        assert_eq!(say(4_096), "4 KiB");
        assert_eq!(say(1 << 20), "1 MiB");
        assert_eq!(say(5_000), "5000 B");
        let mut bytes = [0; 4];
        let mut text = Text {
            bytes: &mut bytes,
            length: 0,
        };
        write!(text, "overflow").unwrap();
        assert_eq!(&bytes, b"over");
    }
}
