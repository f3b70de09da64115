//! What a contender wants its rows to say: which of several means this machine
//! gave it, as in "guard regions (MADV_GUARD_INSTALL)".
//!
//! A child measures one condition, so its notes are the process's.

use std::sync::{Mutex, PoisonError};

static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Says it; once is enough.
pub fn say(note: impl Into<String>) {
    let (note, mut notes) = (note.into(), lock());
    if !notes.contains(&note) {
        notes.push(note);
    }
}

/// What has been said so far, in order.
pub fn said() -> Vec<String> {
    lock().clone()
}

fn lock() -> std::sync::MutexGuard<'static, Vec<String>> {
    NOTES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_note_is_kept_once() {
        super::say("a test's note");
        super::say("a test's note");
        let ours = super::said()
            .into_iter()
            .filter(|note| note == "a test's note");
        assert_eq!(ours.count(), 1);
    }
}
