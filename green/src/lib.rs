//! The stackful side of corolab.

use corolab_lab::contender::Contender;

/// All contenders of this side.
pub const CONTENDERS: &[&Contender] = &[];
