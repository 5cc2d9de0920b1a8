//! A fixed set of threads with a bounded queue. Guests run here and nowhere else: never on the threads that serve
//! requests or the database.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

type Job = Box<dyn FnOnce() + Send>;

/// Rust's own frames below a guest's 512 KiB, with room for the host calls it makes.
const STACK_BYTES: usize = 4 * 1024 * 1024;

/// The threads; they end when this is dropped and the queue is empty.
pub(crate) struct Workers {
    queue: SyncSender<Job>,
}

/// The queue is full.
#[derive(Debug)]
pub(crate) struct Full;

impl Workers {
    pub(crate) fn start(count: usize, queue: usize) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel::<Job>(queue);
        let receiver = Arc::new(Mutex::new(receiver));
        for index in 0..count.max(1) {
            let receiver = Arc::clone(&receiver);
            thread::Builder::new()
                .name(format!("policy-{index}"))
                .stack_size(STACK_BYTES)
                .spawn(move || work(&receiver))?;
        }
        Ok(Self { queue: sender })
    }

    /// Runs `job` on one of the threads.
    pub(crate) fn submit(&self, job: impl FnOnce() + Send + 'static) -> Result<(), Full> {
        self.queue.try_send(Box::new(job)).map_err(|_| Full)
    }
}

fn work(receiver: &Mutex<Receiver<Job>>) {
    loop {
        // The lock is held while waiting and released before the job runs.
        let job = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        // Whoever waits for the job sees its channel close; the thread goes on.
        if catch_unwind(AssertUnwindSafe(job)).is_err() {
            tracing::error!("a policy worker panicked; the questions it was answering count as faults");
        }
    }
}
