//! generator: the coroutines under may, bare. Switch layer only.

use std::io;
use std::mem::transmute;
use std::panic::{AssertUnwindSafe, catch_unwind};

use corolab_lab::child::{Turns, words};
use corolab_lab::condition::Condition;
use corolab_lab::contender::{Assignment, Contender, Family, Offer};
use corolab_lab::sample::Refusal;
use corolab_lab::versions;
use corolab_lab::workload::foreign::{self, Ground};
use corolab_lab::workload::{create, footprint, switch};
use generator::{Gn, LocalGenerator, Scope};

use super::corosensei::BARE_LACKS;
use crate::route::{Direct, Dyn, Suspend};
use crate::stackful::{Coroutine, stack_bytes};
use crate::workload;

/// A generator that yields nothing.
pub struct Generator(LocalGenerator<'static, (), ()>);

impl Coroutine for Generator {
    type Yielder<'y> = Scope<'static, 'static, (), ()>;

    type Stacks = Stacks;
    type Kept = Option<LocalGenerator<'static, (), ()>>;

    fn stacks(assignment: &Assignment) -> Result<Stacks, Refusal> {
        // The crate counts words. An odd count would fill the whole stack and
        // print; a size of whole pages is even.
        let bytes = stack_bytes(&assignment.settings).min(usize::MAX / 2);
        Ok(Stacks {
            in_words: bytes.next_multiple_of(4_096) / size_of::<usize>(),
            reused: create::is_reused(&assignment.condition.params),
        })
    }

    fn new<F>(stacks: &Stacks, kept: &mut Self::Kept, body: F) -> io::Result<Self>
    where
        F: for<'y> FnOnce(&mut Self::Yielder<'y>) + 'static,
    {
        let on_it = |scope: Scope<'_, '_, (), ()>| {
            // SAFETY: only lifetimes change. The scope borrows the parameter
            // and return slots of its generator, which outlive this body, and
            // the body gets it by a reference that cannot leave this frame.
            let mut scope = unsafe {
                transmute::<Scope<'_, '_, (), ()>, Scope<'static, 'static, (), ()>>(scope)
            };
            body(&mut scope);
        };
        if let Some(mut ended) = kept.take() {
            ended.scoped_init(on_it);
            return Ok(Generator(ended));
        }
        // The crate panics when it gets no stack.
        let made = catch_unwind(AssertUnwindSafe(|| {
            Gn::new_scoped_opt_local(stacks.in_words, on_it)
        }));
        made.map(Generator)
            .map_err(|panic| io::Error::other(words(&*panic)))
    }

    #[inline]
    fn suspend(yielder: &mut Self::Yielder<'_>) {
        yielder.yield_with(());
    }

    #[inline]
    fn resume(&mut self) {
        self.0.resume();
    }

    #[inline]
    fn end(self, stacks: &Stacks, kept: &mut Self::Kept) {
        if stacks.reused {
            *kept = Some(self.0);
        }
    }
}

/// A generator that has ended can be given another body; may's pool does that.
#[derive(Clone, Copy)]
pub struct Stacks {
    in_words: usize,
    reused: bool,
}

fn foreign(assignment: &Assignment, turns: &mut dyn Turns) -> Result<(), Refusal> {
    use workload::foreign::measure_bare;
    match assignment.condition.params.word("route") {
        Some(foreign::DYN) => measure_bare::<Generator, _>(assignment, turns, |_| Dyn),
        Some(foreign::SUSPEND) => {
            measure_bare::<Generator, _>(assignment, turns, Suspend::<Generator>::by)
        }
        _ => measure_bare::<Generator, _>(assignment, turns, |_| Direct),
    }
}

/// Routes that the crate does not offer.
pub const NO_OTHER_STACK: &[foreign::Lack] = &[
    (foreign::PARENT_STACK, foreign::not_offered, ONLY_ITS_OWN),
    (foreign::BIG_STACK, foreign::not_offered, ONLY_ITS_OWN),
];

const ONLY_ITS_OWN: &str = "generator has no call that runs a function on another stack";

fn admits(condition: &Condition) -> Result<(), Refusal> {
    switch::one_layout(&condition.params)?;
    foreign::admits(condition, Ground::OwnStack, false, BARE_LACKS)?;
    foreign::admits(condition, Ground::OwnStack, false, NO_OTHER_STACK)?;
    footprint::only(
        footprint::BARE,
        &condition.params,
        "it has no scheduler; form=bare is measured",
    )
}

/// generator.
pub const CONTENDER: Contender = Contender {
    name: "generator",
    family: Family::Stackful,
    package: "generator",
    version: versions::of("generator"),
    about: "The coroutines that may is built on, resumed by hand; their stack holds the crate's \
            own header and closure too.",
    prices: None,
    maps_per_task: 2,
    offers: &[
        Offer::measured("switch", workload::switch::measure::<Generator>),
        Offer::measured("create", workload::create::measure::<Generator>),
        Offer::not_offered("yield", "generator has no scheduler; may is its scheduler"),
        Offer::not_offered(
            "ping_pong",
            "generator has no scheduler; may is its scheduler",
        ),
        Offer::not_offered("spawn", "generator has no scheduler; may is its scheduler"),
        Offer::measured("footprint", workload::footprint::measure_bare::<Generator>),
        Offer::measured("foreign", foreign),
    ],
    admits,
};
