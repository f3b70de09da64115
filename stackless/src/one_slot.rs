//! The channel of the lab scheduler: one slot, over park and unpark.

use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;
use std::task::Waker;

use corolab_lab::thread_bound::ThreadBound;

use crate::stackless::{Channel, park, unparker};

/// A one-slot channel for tasks of a single-thread scheduler.
pub struct OneSlot;

/// The slot, and the one task that waits for it to be filled or emptied.
#[derive(Default)]
pub struct Slot {
    message: Option<u64>,
    waiter: Option<Waker>,
}

/// Either end of the channel.
pub type End = ThreadBound<Rc<RefCell<Slot>>>;

impl Channel for OneSlot {
    type Sender = End;
    type Receiver = End;
    type Closed = Infallible;

    fn new() -> (End, End) {
        let slot = Rc::new(RefCell::new(Slot::default()));
        (ThreadBound::new(slot.clone()), ThreadBound::new(slot))
    }

    async fn send(sender: &mut End, message: u64) -> Result<(), Infallible> {
        while sender.get().borrow().message.is_some() {
            wait(sender).await;
        }
        sender.get().borrow_mut().message = Some(message);
        wake(sender);
        Ok(())
    }

    async fn receive(receiver: &mut End) -> Option<u64> {
        loop {
            let message = receiver.get().borrow_mut().message.take();
            if let Some(message) = message {
                wake(receiver);
                return Some(message);
            }
            wait(receiver).await;
        }
    }
}

async fn wait(end: &End) {
    let waker = unparker().await;
    end.get().borrow_mut().waiter = Some(waker);
    park().await;
}

fn wake(end: &End) {
    let waiter = end.get().borrow_mut().waiter.take();
    if let Some(waiter) = waiter {
        waiter.wake();
    }
}
