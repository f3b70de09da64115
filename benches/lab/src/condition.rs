//! A condition: workload + contender + parameters, under given settings.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::workload;

/// The value of a parameter: a number, or one word of a fixed set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A count, or a size in bytes.
    Number(u64),
    /// One of the words that the workload declares for the parameter.
    Word(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(n) => n.fmt(f),
            Value::Word(w) => w.fmt(f),
        }
    }
}

impl From<u64> for Value {
    fn from(n: u64) -> Self {
        Value::Number(n)
    }
}

impl From<&str> for Value {
    fn from(word: &str) -> Self {
        Value::Word(word.to_owned())
    }
}

/// Parameters by key, in the order in which the workload declares them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Params(Vec<(String, Value)>);

impl Params {
    /// No parameters.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same parameters with `key` set to `value`.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        match self.0.iter_mut().find(|(k, _)| k == key) {
            Some(slot) => slot.1 = value,
            None => self.0.push((key.to_owned(), value)),
        }
        self
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The number under `key`, or `None` where it is absent or a word.
    pub fn number(&self, key: &str) -> Option<u64> {
        match self.get(key) {
            Some(Value::Number(n)) => Some(*n),
            _ => None,
        }
    }

    /// The word under `key`, or `None` where it is absent or a number.
    pub fn word(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Value::Word(w)) => Some(w),
            _ => None,
        }
    }

    /// Keys and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v))
    }
}

/// `key=value,key=value`
impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (key, value)) in self.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{key}={value}")?;
        }
        Ok(())
    }
}

impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Params;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of parameters")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Params, A::Error> {
                let mut params = Params::new();
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    params = params.with(&key, value);
                }
                Ok(params)
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// What is equal for every contender of a block, and printed with its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Worker threads of a scheduler; 1 for whatever has no scheduler.
    pub workers: u64,
    /// CPUs that the whole child is confined to; no worker is pinned further.
    pub cpus: Vec<u32>,
    /// Usable bytes of each stack.
    pub stack: u64,
    /// Seed for whatever a contender shuffles.
    pub seed: u64,
}

/// One workload done by one contender with given parameters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Condition {
    /// Name of the workload.
    pub workload: String,
    /// Name of the contender.
    pub contender: String,
    /// Every parameter that the workload declares, in its order.
    pub params: Params,
}

impl Condition {
    /// `workload/contender/key=value,…`; parameters at the value that the
    /// workload declares as usual are left out, so that an id stays the same
    /// when a workload gains a parameter.
    pub fn id(&self) -> String {
        format!("{}/{}/{}", self.workload, self.contender, self.told())
    }

    /// Id of one figure of this condition: [`Condition::id`] and the metric.
    pub fn row_id(&self, metric: &str) -> String {
        format!("{}:{metric}", self.id())
    }

    /// The parameters that differ from the workload's usual values.
    pub fn told(&self) -> Params {
        let declared = workload::find(&self.workload).map_or(&[][..], |w| w.params);
        let mut told = Params::new();
        for (key, value) in self.params.iter() {
            let usual = declared
                .iter()
                .find(|p| p.key == key)
                .and_then(|p| p.usual());
            if usual.as_ref() != Some(value) {
                told = told.with(key, value.clone());
            }
        }
        told
    }
}

/// The condition's id.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(touch: u64) -> Condition {
        Condition {
            workload: "switch".into(),
            contender: "corosensei-pooled".into(),
            params: Params::new().with("live", 1_000).with("touch", touch),
        }
    }

    #[test]
    fn an_id_leaves_usual_values_out() {
        assert_eq!(
            switch(0).row_id("time_per_op"),
            "switch/corosensei-pooled/live=1000:time_per_op"
        );
        assert_eq!(
            switch(64).id(),
            "switch/corosensei-pooled/live=1000,touch=64"
        );
    }

    #[test]
    fn params_keep_their_order_through_json() {
        let params = Params::new()
            .with("tasks", 2)
            .with("wake", "yield-now")
            .with("a", 1);
        let json = serde_json::to_string(&params).unwrap();
        assert_eq!(json, r#"{"tasks":2,"wake":"yield-now","a":1}"#);
        assert_eq!(serde_json::from_str::<Params>(&json).unwrap(), params);
    }

    #[test]
    fn setting_a_key_again_replaces_its_value() {
        let params = Params::new().with("n", 1).with("n", 2);
        assert_eq!(params.to_string(), "n=2");
        assert_eq!(params.number("n"), Some(2));
        assert_eq!(params.word("n"), None);
    }
}
