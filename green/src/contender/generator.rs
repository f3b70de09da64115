//! generator: the coroutines under may, bare. Switch layer only.

use std::io;
use std::mem::transmute;
use std::panic::{AssertUnwindSafe, catch_unwind};

use corolab_lab::child::words;
use corolab_lab::contender::{Contender, Family, Offer, admits_all};
use corolab_lab::versions;
use generator::{Gn, LocalGenerator, Scope};

use crate::stackful::Coroutine;
use crate::workload;

/// A generator that yields nothing.
pub struct Generator(LocalGenerator<'static, (), ()>);

impl Coroutine for Generator {
    type Yielder<'y> = Scope<'static, 'static, (), ()>;

    fn new<F>(stack: usize, body: F) -> io::Result<Self>
    where
        F: for<'y> FnOnce(&mut Self::Yielder<'y>) + 'static,
    {
        // The crate counts words and panics when it gets no stack. An odd count
        // would fill the whole stack and print; a size of whole pages is even.
        let in_words = stack.next_multiple_of(4_096) / size_of::<usize>();
        let made = catch_unwind(AssertUnwindSafe(|| {
            Gn::new_scoped_opt_local(in_words, |scope: Scope<'_, '_, (), ()>| {
                // SAFETY: only lifetimes change. The scope borrows the parameter
                // and return slots of its generator, which outlive this body, and
                // the body gets it by a reference that cannot leave this frame.
                let mut scope = unsafe {
                    transmute::<Scope<'_, '_, (), ()>, Scope<'static, 'static, (), ()>>(scope)
                };
                body(&mut scope);
            })
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
        Offer::not_offered("yield", "generator has no scheduler; may is its scheduler"),
        Offer::not_offered(
            "ping_pong",
            "generator has no scheduler; may is its scheduler",
        ),
        Offer::not_offered("spawn", "generator has no scheduler; may is its scheduler"),
    ],
    admits: admits_all,
};
