//! The channel of the lab scheduler: one slot, over park and unpark.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::rc::Rc;

use corolab_lab::thread_bound::ThreadBound;

use crate::stackful::{Channel, Stackful};

/// A one-slot channel for tasks of a single-thread scheduler `S`.
pub struct OneSlot<S>(PhantomData<S>);

/// The slot, and the one task that waits for it to be filled or emptied.
pub struct Slot<S: Stackful> {
    message: Option<u64>,
    waiter: Option<S::Unparker>,
}

/// Either end of the channel.
pub type End<S> = ThreadBound<Rc<RefCell<Slot<S>>>>;

impl<S: Stackful> Channel<S> for OneSlot<S> {
    type Sender = End<S>;
    type Receiver = End<S>;

    fn new() -> (End<S>, End<S>) {
        let slot = Rc::new(RefCell::new(Slot {
            message: None,
            waiter: None,
        }));
        (ThreadBound::new(slot.clone()), ThreadBound::new(slot))
    }

    fn send(cx: &S::Cx, sender: &mut End<S>, message: u64) {
        let slot = sender.get();
        while slot.borrow().message.is_some() {
            wait(cx, slot);
        }
        slot.borrow_mut().message = Some(message);
        wake(slot);
    }

    fn receive(cx: &S::Cx, receiver: &mut End<S>) -> u64 {
        let slot = receiver.get();
        loop {
            let message = slot.borrow_mut().message.take();
            if let Some(message) = message {
                wake(slot);
                return message;
            }
            wait(cx, slot);
        }
    }
}

fn wait<S: Stackful>(cx: &S::Cx, slot: &RefCell<Slot<S>>) {
    slot.borrow_mut().waiter = Some(S::unparker(cx));
    S::park(cx);
}

fn wake<S: Stackful>(slot: &RefCell<Slot<S>>) {
    let waiter = slot.borrow_mut().waiter.take();
    if let Some(waiter) = waiter {
        S::unpark(waiter);
    }
}
