//! `summary.json`.

use crate::summary::Summary;

/// The summary as JSON, with a line end.
pub fn summary(summary: &Summary) -> String {
    let mut text = serde_json::to_string_pretty(summary).unwrap_or_else(|why| {
        // Only a map key that is not text could fail, and there is none.
        format!("{{\"error\":{why:?}}}")
    });
    text.push('\n');
    text
}
