//! Colours: by how much each stack's top is moved down from its page.

use corosensei::stack::STACK_ALIGNMENT;

use super::StackError;

/// Offsets of stack tops within their page: `step * (number % count)` bytes for
/// stack `number`.
///
/// A first-level cache picks the set of a line by its place within the page
/// (64 sets of 64 B on most machines), so that stacks whose tops all lie at one
/// place of their pages share a few sets, and with a dozen live stacks every
/// resume misses. Moved apart by a line each, they spread over all sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    step: usize,
    count: usize,
}

impl Colours {
    /// All tops at the same place of their pages.
    pub const NONE: Colours = Colours { step: 64, count: 1 };

    /// 56 cache lines. The last eight of a page are left out, so that the
    /// first 512 bytes of a stack, all that most waiting tasks use, lie within
    /// one page.
    pub const LINES: Colours = Colours {
        step: 64,
        count: 56,
    };

    /// `count` offsets, `step` bytes apart.
    ///
    /// # Errors
    /// The step is not a multiple of the stack alignment, there is no colour,
    /// or they do not fit into the smallest page that Linux has, 4,096 B.
    pub fn new(step: usize, count: usize) -> Result<Self, StackError> {
        let fits = count > 0
            && step > 0
            && step.is_multiple_of(STACK_ALIGNMENT)
            && step.checked_mul(count).is_some_and(|all| all <= 4_096);
        if fits {
            Ok(Colours { step, count })
        } else {
            Err(StackError::Colours { step, count })
        }
    }

    /// Bytes by which the top of stack `number` is moved down.
    pub fn offset(self, number: usize) -> usize {
        self.step * (number % self.count)
    }

    /// The largest offset, bytes.
    pub fn room(self) -> usize {
        self.step * (self.count - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_used_as_often_as_the_others_and_stays_in_the_page() {
        let mut used = [0; 64];
        for number in 0..56 * 10 {
            used[Colours::LINES.offset(number) / 64] += 1;
        }
        assert!(used[..56].iter().all(|times| *times == 10));
        assert!(used[56..].iter().all(|times| *times == 0));
        assert_eq!(Colours::LINES.room(), 55 * 64);
        assert_eq!(Colours::NONE.offset(12_345), 0);
    }

    #[test]
    fn colours_that_cannot_be_are_refused() {
        for (step, count) in [(64, 0), (0, 4), (24, 4), (64, 65), (usize::MAX & !15, 2)] {
            assert!(Colours::new(step, count).is_err(), "{step} x {count}");
        }
        assert!(Colours::new(128, 32).is_ok());
    }
}
