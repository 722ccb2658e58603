//! iceoryx2 in place of a channel: one of two processes that pass messages to each other.
//!
//!   corelane-bench-iceoryx2 echo NAME WAIT READ SIZE WARM-UP CALLS STREAMED
//!   corelane-bench-iceoryx2 call NAME WAIT READ SIZE WARM-UP CALLS STREAMED
//!
//! `echo` prints READY once it can be called. `call` makes WARM-UP and CALLS round trips, sends STREAMED messages one
//! way, and waits for one answer to all of them. It writes the nanoseconds of each of the CALLS, then those of the
//! stream, as 64-bit integers in host order.
//!
//! Both treat a payload as bench/channels treats that of a channel. The sender copies it from a buffer into the loaned
//! sample. READ says whether the reader copies it out (`copy`) or adds up its words in place (`place`). WAIT is `poll`
//! (both ends spin) or `event` (the sender notifies, the receiver sleeps).
use iceoryx2::port::{listener::Listener, notifier::Notifier, publisher::Publisher, subscriber::Subscriber};
use iceoryx2::prelude::*;
use std::{error::Error, hint, io::Write, time::Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const MESSAGES_UNDER_WAY: usize = 256;
const LARGE_UNDER_WAY: usize = 16; // for 64 KiB and more: as many as the channel has room for
const LARGE: usize = 64 * 1024;

struct Plan {
    wait_for_event: bool,
    read_in_place: bool,
    size: usize,
    warm_up: usize,
    calls: usize,
    streamed: usize,
}

/// The sender's end of one direction.
struct Sender {
    publisher: Publisher<ipc::Service, [u8], ()>,
    notifier: Option<Notifier<ipc::Service>>,
}

/// The receiver's end of one direction.
struct Receiver {
    subscriber: Subscriber<ipc::Service, [u8], ()>,
    listener: Option<Listener<ipc::Service>>,
    read_in_place: bool,
}

impl Sender {
    fn new(node: &Node<ipc::Service>, name: &str, plan: &Plan) -> Result<Self> {
        let publisher = messages(node, name, plan)?
            .publisher_builder()
            .initial_max_slice_len(plan.size)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()?;
        let notifier = match plan.wait_for_event {
            true => Some(node.service_builder(&event_name(name)?).event().open_or_create()?.notifier_builder().create()?),
            false => None,
        };
        Ok(Self { publisher, notifier })
    }

    fn send(&self, message: &[u8]) -> Result<()> {
        self.publisher.loan_slice_uninit(message.len())?.write_from_slice(message).send()?;
        if let Some(notifier) = &self.notifier {
            notifier.notify()?;
        }
        Ok(())
    }
}

impl Receiver {
    fn new(node: &Node<ipc::Service>, name: &str, plan: &Plan) -> Result<Self> {
        let subscriber = messages(node, name, plan)?.subscriber_builder().create()?;
        let listener = match plan.wait_for_event {
            true => Some(node.service_builder(&event_name(name)?).event().open_or_create()?.listener_builder().create()?),
            false => None,
        };
        Ok(Self { subscriber, listener, read_in_place: plan.read_in_place })
    }

    fn receive(&self, message: &mut [u8]) -> Result<()> {
        loop {
            if let Some(sample) = self.subscriber.receive()? {
                if self.read_in_place {
                    hint::black_box(sum_of(sample.payload()));
                } else {
                    message.copy_from_slice(sample.payload());
                    hint::black_box(message);
                }
                return Ok(());
            }
            match &self.listener {
                Some(listener) => drop(listener.blocking_wait(|_| {})?),
                None => hint::spin_loop(),
            }
        }
    }
}

/// Reads each word once, several words at a time.
fn sum_of(bytes: &[u8]) -> u64 {
    let mut sums = [0u64; 8];
    for line in bytes.chunks_exact(64) {
        for (sum, word) in sums.iter_mut().zip(line.chunks_exact(8)) {
            *sum = sum.wrapping_add(u64::from_ne_bytes(word.try_into().unwrap()));
        }
    }
    sums.iter().fold(0, |all, sum| all.wrapping_add(*sum))
}

fn event_name(name: &str) -> Result<ServiceName> {
    Ok(format!("{name}/event").as_str().try_into()?)
}

type Messages = iceoryx2::service::port_factory::publish_subscribe::PortFactory<ipc::Service, [u8], ()>;

/// No message is lost: a sender that is faster than the reader waits.
fn messages(node: &Node<ipc::Service>, name: &str, plan: &Plan) -> Result<Messages> {
    let under_way = if plan.size < LARGE { MESSAGES_UNDER_WAY } else { LARGE_UNDER_WAY };
    Ok(node
        .service_builder(&name.try_into()?)
        .publish_subscribe::<[u8]>()
        .max_publishers(1)
        .max_subscribers(1)
        .history_size(0)
        .subscriber_max_buffer_size(under_way)
        .enable_safe_overflow(false)
        .open_or_create()?)
}

fn echo(receiver: &Receiver, sender: &Sender, plan: &Plan) -> Result<()> {
    let mut message = vec![0u8; plan.size];
    for _ in 0..plan.warm_up + plan.calls {
        receiver.receive(&mut message)?;
        sender.send(&message)?;
    }
    for _ in 0..plan.streamed {
        receiver.receive(&mut message)?;
    }
    sender.send(&message)?;
    receiver.receive(&mut message) // means that the answer was read: its memory goes with this process
}

fn call(receiver: &Receiver, sender: &Sender, plan: &Plan) -> Result<Vec<u64>> {
    let mut message = vec![1u8; plan.size];
    let mut taken = Vec::with_capacity(plan.calls + 1);
    for i in 0..plan.warm_up + plan.calls {
        let start = Instant::now();
        sender.send(&message)?;
        receiver.receive(&mut message)?;
        if i >= plan.warm_up {
            taken.push(start.elapsed().as_nanos() as u64);
        }
    }
    let start = Instant::now();
    for _ in 0..plan.streamed {
        sender.send(&message)?;
    }
    receiver.receive(&mut message)?;
    taken.push(start.elapsed().as_nanos() as u64);
    sender.send(&message)?;
    Ok(taken)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [side, name, wait, read, numbers @ ..] = arguments.as_slice() else {
        return Err("usage: echo|call NAME poll|event copy|place SIZE WARM-UP CALLS STREAMED".into());
    };
    let numbers: Vec<usize> = numbers.iter().map(|n| n.parse()).collect::<std::result::Result<_, _>>()?;
    let [size, warm_up, calls, streamed] = numbers[..] else { return Err("four numbers at the end, please".into()) };
    let (wait_for_event, read_in_place) = (wait == "event", read == "place");
    let plan = Plan { wait_for_event, read_in_place, size, warm_up, calls, streamed };
    set_log_level(LogLevel::Error);
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let (there, back) = (format!("{name}/there"), format!("{name}/back"));
    if side == "echo" {
        let (receiver, sender) = (Receiver::new(&node, &there, &plan)?, Sender::new(&node, &back, &plan)?);
        println!("READY");
        return echo(&receiver, &sender, &plan);
    }
    let (receiver, sender) = (Receiver::new(&node, &back, &plan)?, Sender::new(&node, &there, &plan)?);
    let taken = call(&receiver, &sender, &plan)?;
    let bytes: Vec<u8> = taken.iter().flat_map(|ns| ns.to_ne_bytes()).collect();
    Ok(std::io::stdout().write_all(&bytes)?)
}
