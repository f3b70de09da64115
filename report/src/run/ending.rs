//! The sentence for a child that has ended before its time. Pure.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use corolab_syscalls::process::signal_name;

/// How a child ended, with the last thing that it printed.
pub fn sentence(status: Option<ExitStatus>, half_line: Option<String>, printed: &[u8]) -> String {
    let mut sentence = match status {
        Some(status) => match (status.signal(), status.code()) {
            (Some(signal), _) => format!("killed by {} ({signal})", signal_name(signal)),
            (None, Some(0)) => "ended without a word (exit status 0)".to_owned(),
            (None, code) => format!("ended with exit status {}", code.unwrap_or(-1)),
        },
        None => "closed its wire and did not end".to_owned(),
    };
    if let Some(half) = half_line {
        let start: String = half.chars().take(60).collect();
        sentence.push_str(&format!(
            ", in the middle of a line on the wire ({start:?})"
        ));
    }
    if let Some(last) = last_line(printed) {
        sentence.push_str(&format!("; it last printed {last:?}"));
    }
    sentence
}

/// The last line that says anything, cut to a readable length.
fn last_line(printed: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(printed);
    let told = |line: &&str| !line.trim().is_empty() && !line.starts_with("note: run with");
    let line = text.lines().rfind(told)?;
    Some(line.trim().chars().take(160).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_named_and_the_last_words_are_kept() {
        let died = ExitStatus::from_raw(11);
        assert_eq!(
            sentence(Some(died), None, b"hello\nstack overflow\n\n"),
            "killed by SIGSEGV (11); it last printed \"stack overflow\""
        );
    }

    #[test]
    fn half_a_line_and_an_exit_code_are_told() {
        let ended = ExitStatus::from_raw(3 << 8);
        assert_eq!(
            sentence(Some(ended), Some("{\"say\":".into()), b""),
            "ended with exit status 3, in the middle of a line on the wire (\"{\\\"say\\\":\")"
        );
        assert_eq!(sentence(None, None, b""), "closed its wire and did not end");
    }
}
