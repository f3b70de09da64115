//! The command line. Flags are stated here and nowhere else.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use corolab_lab::workload::Scale;

/// Stackful green threads or stackless futures? Measured side by side.
///
/// Without a verb it runs the quick plan and writes the report.
#[derive(Debug, Parser)]
#[command(name = "corolab", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do; nothing means `run`.
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// `run` can be left out together with its name.
    #[command(flatten)]
    pub run: Run,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Measure, and write a record with its report.
    Run(Box<Run>),
    /// List workloads, contenders and the conditions of a plan.
    List(Selection),
    /// Render the views of a record again, byte for byte.
    Report(OfRecord),
    /// Print what the rows of a record say of published claims.
    Claims(OfRecord),
    /// Print what is known of this host, and what would make it measure better.
    Doctor,
    /// Serve one condition over a wire; started by `run`.
    #[command(hide = true)]
    Child,
    /// Hold the instrument against itself: one contender under two names.
    #[command(hide = true)]
    Agree(Agree),
}

/// A record, and the form in which to print.
#[derive(Debug, Args)]
pub struct OfRecord {
    /// Folder of the record.
    pub dir: PathBuf,
    /// Form of what is printed.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// When to colour what is printed.
    #[arg(long, value_enum, default_value_t)]
    pub color: Colour,
}

/// Which conditions.
#[derive(Debug, Args)]
pub struct Selection {
    /// Only conditions whose id matches.
    #[arg(short = 'f', long, value_name = "REGEX")]
    pub filter: Option<String>,
    /// No condition whose id matches.
    #[arg(short = 'F', long, value_name = "REGEX")]
    pub filter_not: Option<String>,
    /// Only contenders whose name matches; the control stays.
    #[arg(short = 'e', long, value_name = "REGEX")]
    pub engine: Option<String>,
    /// The quick plan (the default): the main rows, within 90 seconds.
    #[arg(long, conflicts_with_all = ["full", "smoke"])]
    pub quick: bool,
    /// Everything, with more launches.
    #[arg(long, conflicts_with = "smoke")]
    pub full: bool,
    /// Everything once, smallest sizes.
    #[arg(long)]
    pub smoke: bool,
    /// Measure at N workers only.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4_096))]
    pub workers: Option<u64>,
    /// Every nth block, starting with the ith, as in 1/3.
    #[arg(long, value_name = "i/n")]
    pub shard: Option<Shard>,
    /// An executable that speaks the wire contract; may be given several times.
    #[arg(long, value_name = "PATH")]
    pub runner: Vec<PathBuf>,
}

/// Measure, and write a record with its report.
#[derive(Debug, Args)]
pub struct Run {
    /// Which conditions.
    #[command(flatten)]
    pub selection: Selection,
    /// Time for all measuring, as in 90s or 5m.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Launches of each block.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub launches: Option<u32>,
    /// Seed of every shuffled order.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Folder for the record; it must not exist.
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// Go on with a record that was cut short.
    #[arg(long, value_name = "DIR", conflicts_with = "dry_run")]
    pub resume: Option<PathBuf>,
    /// Print what would be measured, how long it would take and what memory it
    /// would need.
    #[arg(long)]
    pub dry_run: bool,
    /// Form of what is printed.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// When to colour what is printed.
    #[arg(long, value_enum, default_value_t)]
    pub color: Colour,
    /// No progress.
    #[arg(short, long)]
    pub quiet: bool,
    /// Tell about every launch.
    #[arg(short, long)]
    pub verbose: bool,
    /// Seconds until a silent child is killed.
    #[arg(long, hide = true, value_name = "S")]
    pub deadline: Option<f64>,
}

/// Hold the instrument against itself.
#[derive(Debug, Args)]
pub struct Agree {
    /// Condition to measure under two names; may be given several times.
    #[arg(long, default_values = ["switch/corosensei/live=1", "ping_pong/tokio-current/pairs=1"])]
    pub condition: Vec<String>,
    /// Comparisons.
    #[arg(long, default_value_t = 60)]
    pub comparisons: u32,
    /// Launches of each comparison.
    #[arg(long, default_value_t = 8)]
    pub launches: u32,
    /// Turns of each launch.
    #[arg(long, default_value_t = 20)]
    pub turns: u32,
    /// Seed of every shuffled order.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Form of what is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for a terminal.
    #[default]
    Text,
    /// The summary as JSON.
    Json,
    /// The rows as CSV.
    Csv,
    /// The report as Markdown.
    Md,
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Selection {
    /// How much of the grid.
    pub fn scale(&self) -> Scale {
        match (self.full, self.smoke) {
            (true, _) => Scale::Full,
            (_, true) => Scale::Smoke,
            _ => Scale::Quick,
        }
    }
}

impl Run {
    /// Whether nothing was said of what to measure.
    pub fn plans_nothing(&self) -> bool {
        let Selection {
            filter,
            filter_not,
            engine,
            quick,
            full,
            smoke,
            workers,
            shard,
            runner: _,
        } = &self.selection;
        let texts = [filter, filter_not, engine]
            .into_iter()
            .all(Option::is_none);
        let scales = !quick && !full && !smoke;
        let numbers = workers.is_none() && shard.is_none() && self.launches.is_none();
        texts && scales && numbers && self.budget.is_none() && self.seed.is_none()
    }

    /// How long a child may be silent.
    ///
    /// # Errors
    /// A time that is none.
    pub fn patience(&self) -> anyhow::Result<Duration> {
        let usual = if self.selection.smoke { 10.0 } else { 20.0 };
        Duration::try_from_secs_f64(self.deadline.unwrap_or(usual))
            .map_err(|_| usage("--deadline is a number of seconds"))
    }
}

/// A share of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1 to `of`.
    pub index: usize,
    /// Number of shards.
    pub of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split_once('/')
            .and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)))
            .filter(|(index, of)| (1..=*of).contains(index))
            .map(|(index, of)| Shard { index, of })
            .ok_or_else(|| "a shard is i/n with 1 <= i <= n, as in 2/3".to_owned())
    }
}

/// Bad input: one sentence, exit code 2.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// An error of bad input.
pub fn usage(sentence: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage(sentence.into()))
}

fn duration(text: &str) -> Result<Duration, String> {
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds = match unit {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" | "min" => 60.0,
        "h" => 3_600.0,
        _ => f64::NAN,
    };
    let total = number.parse::<f64>().unwrap_or(f64::NAN) * seconds;
    if total > 0.0 && total < 1e7 {
        Ok(Duration::from_secs_f64(total))
    } else {
        Err("a time is a number with s, m or h, as in 90s or 5m".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn times_and_shards_are_read() {
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1_500)));
        assert!(duration("5 parsecs").is_err() && duration("").is_err() && duration("0").is_err());
        assert_eq!("2/3".parse(), Ok(Shard { index: 2, of: 3 }));
        assert!("0/3".parse::<Shard>().is_err() && "4/3".parse::<Shard>().is_err());
    }
}
