//! iceoryx2's request-response as a peer: a ping whose request and reply have as many bytes as Corelane's GIOP messages.
//!
//!   corelane-peer-iceoryx2 server --address NAME --kind spin|event
//!   corelane-peer-iceoryx2 client --address NAME --kind spin|event [--calls N] [--warm-up N] [--server-pid PID]
//!
//! With `spin` both ends poll; with `event` the sender notifies and the receiver sleeps. The server prints READY once
//! it can be called. It ends after the client's last request, which is empty. The client prints one record as the C++
//! peers do (bench/peers/driver/loads.h). It supports only the load `calls` in a closed loop, and only the operation
//! `ping`.
use iceoryx2::port::{client::Client, listener::Listener, notifier::Notifier, server::Server};
use iceoryx2::prelude::*;
use std::{collections::HashMap, error::Error, hint, io::Write, time::Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Calls = iceoryx2::service::port_factory::request_response::PortFactory<ipc::Service, [u8], (), [u8], ()>;

const REQUEST_SIZE: usize = 80;
const REPLY_SIZE: usize = 32;
const ARGUMENT: usize = 72; // offset of the long long in a request
const RESULT: usize = 24; // and in a reply

mod system {
    //! The calls of the C library that the standard library does not offer.
    #[repr(C)]
    #[derive(Default)]
    struct Timespec {
        seconds: i64,
        nanoseconds: i64,
    }
    extern "C" {
        fn clock_getcpuclockid(pid: i32, clock: *mut i32) -> i32;
        fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
        fn prctl(option: i32, value: u64) -> i32;
    }
    const SET_DEATH_SIGNAL: i32 = 1;
    const SIGKILL: u64 = 9;

    pub fn end_with_parent() {
        unsafe { prctl(SET_DEATH_SIGNAL, SIGKILL) };
    }

    /// Returns the nanoseconds of CPU time that all threads of the process have used; 0 if the process has ended or pid
    /// is 0.
    pub fn cpu_time_of(pid: i32) -> i64 {
        let (mut clock, mut time) = (0, Timespec::default());
        let is_known = pid != 0
            && unsafe { clock_getcpuclockid(pid, &mut clock) == 0 && clock_gettime(clock, &mut time) == 0 };
        if is_known { time.seconds * 1_000_000_000 + time.nanoseconds } else { 0 }
    }
}

/// Notices that a message has come, and notifies the other end of messages to it.
struct Bell {
    notifier: Option<Notifier<ipc::Service>>,
    listener: Option<Listener<ipc::Service>>,
}

impl Bell {
    fn new(node: &Node<ipc::Service>, tells: &str, hears: &str, kind: &str) -> Result<Self> {
        if kind != "event" {
            return Ok(Self { notifier: None, listener: None });
        }
        let events = |name: &str| -> Result<_> { Ok(node.service_builder(&name.try_into()?).event().open_or_create()?) };
        let notifier = Some(events(tells)?.notifier_builder().create()?);
        Ok(Self { notifier, listener: Some(events(hears)?.listener_builder().create()?) })
    }

    fn tell(&self) -> Result<()> {
        if let Some(notifier) = &self.notifier {
            notifier.notify()?;
        }
        Ok(())
    }

    fn wait(&self) -> Result<()> {
        match &self.listener {
            Some(listener) => drop(listener.blocking_wait(|_| {})?),
            None => hint::spin_loop(),
        }
        Ok(())
    }
}

fn calls(node: &Node<ipc::Service>, name: &str) -> Result<Calls> {
    Ok(node.service_builder(&name.try_into()?).request_response::<[u8], [u8]>().open_or_create()?)
}

fn number_at(bytes: &[u8], offset: usize) -> i64 {
    i64::from_ne_bytes(bytes[offset..offset + 8].try_into().unwrap())
}

// ---- Server

fn serve(server: &Server<ipc::Service, [u8], (), [u8], ()>, bell: &Bell) -> Result<()> {
    let mut reply = [0u8; REPLY_SIZE];
    loop {
        let Some(request) = server.receive()? else {
            bell.wait()?;
            continue;
        };
        if request.payload().len() < REQUEST_SIZE {
            return Ok(());
        }
        let result = number_at(request.payload(), ARGUMENT) + 1;
        reply[RESULT..RESULT + 8].copy_from_slice(&result.to_ne_bytes());
        request.loan_slice_uninit(REPLY_SIZE)?.write_from_slice(&reply).send()?;
        bell.tell()?;
    }
}

fn run_server(options: &HashMap<String, String>) -> Result<()> {
    let (node, name, kind) = (new_node()?, &options["--address"], &options["--kind"]);
    let server = calls(&node, name)?.server_builder().initial_max_slice_len(REPLY_SIZE).create()?;
    let bell = Bell::new(&node, &format!("{name}/replies"), &format!("{name}/requests"), kind)?;
    println!("READY {name}");
    serve(&server, &bell)
}

// ---- Client

struct Caller {
    client: Client<ipc::Service, [u8], (), [u8], ()>,
    bell: Bell,
    request: [u8; REQUEST_SIZE],
}

impl Caller {
    fn ping(&mut self, value: i64) -> Result<()> {
        self.request[ARGUMENT..].copy_from_slice(&value.to_ne_bytes());
        let pending = self.client.loan_slice_uninit(REQUEST_SIZE)?.write_from_slice(&self.request).send()?;
        self.bell.tell()?;
        loop {
            if let Some(reply) = pending.receive()? {
                let got = number_at(reply.payload(), RESULT);
                return if got == value + 1 { Ok(()) } else { Err(format!("ping({value}) returned {got}").into()) };
            }
            self.bell.wait()?;
        }
    }

    fn end_server(&self) -> Result<()> {
        self.client.loan_slice_uninit(1)?.write_from_slice(&[0]).send()?;
        self.bell.tell()
    }
}

fn percentile(sorted: &[u64], share: f64) -> u64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

fn run_client(options: &HashMap<String, String>) -> Result<String> {
    let number = |key: &str, default: usize| -> Result<usize> {
        options.get(key).map_or(Ok(default), |text| text.parse().map_err(|_| format!("{key} takes a whole number").into()))
    };
    let (warm_up, count) = (number("--warm-up", 100)?, number("--calls", 1000)?);
    let server_pid = number("--server-pid", 0)? as i32;
    if options.get("--load").is_some_and(|load| load != "calls") || options.contains_key("--rate") {
        return Err("this peer knows the load calls without a rate alone".into());
    }
    let (node, name, kind) = (new_node()?, &options["--address"], &options["--kind"]);
    let client = calls(&node, name)?.client_builder().initial_max_slice_len(REQUEST_SIZE).create()?;
    let bell = Bell::new(&node, &format!("{name}/requests"), &format!("{name}/replies"), kind)?;
    let mut caller = Caller { client, bell, request: [0; REQUEST_SIZE] };
    for i in 0..warm_up {
        caller.ping(i as i64)?;
    }
    let mut samples = Vec::with_capacity(count);
    let (own_pid, begin) = (std::process::id() as i32, Instant::now());
    let before = (system::cpu_time_of(own_pid), system::cpu_time_of(server_pid));
    for i in 0..count {
        let start = Instant::now();
        caller.ping(i as i64)?;
        samples.push(start.elapsed().as_nanos() as u64);
    }
    let elapsed = begin.elapsed().as_nanos();
    let cpu = (system::cpu_time_of(own_pid) - before.0, system::cpu_time_of(server_pid) - before.1);
    caller.end_server()?;
    samples.sort_unstable();
    Ok(format!(
        "{{\"client_cpu_ns\": {}, \"server_cpu_ns\": {}, \"calls\": {count}, \"elapsed_ns\": {elapsed}, \"count\": {count}, \
         \"min_ns\": {}, \"p50_ns\": {}, \"p99_ns\": {}, \"p999_ns\": {}, \"p9999_ns\": {}, \"max_ns\": {}}}",
        cpu.0,
        cpu.1,
        samples[0],
        percentile(&samples, 0.5),
        percentile(&samples, 0.99),
        percentile(&samples, 0.999),
        percentile(&samples, 0.9999),
        samples[count - 1]
    ))
}

// ---- Both

fn new_node() -> Result<Node<ipc::Service>> {
    set_log_level(LogLevel::Error);
    Ok(NodeBuilder::new().create::<ipc::Service>()?)
}

fn run() -> Result<String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(end), true) = (arguments.first(), arguments.len() % 2 == 1) else {
        return Err("usage: server|client --address NAME --kind spin|event [--option value ...]".into());
    };
    let options: HashMap<String, String> = arguments[1..].chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    for needed in ["--address", "--kind"] {
        if !options.contains_key(needed) {
            return Err(format!("{needed} is missing").into());
        }
    }
    match end.as_str() {
        "server" => run_server(&options).map(|()| String::new()),
        "client" => run_client(&options),
        _ => Err(format!("the first word is server or client, not '{end}'").into()),
    }
}

fn main() {
    system::end_with_parent();
    let (text, status) = match run() {
        Ok(record) => (record, 0),
        Err(fault) => (format!("{{\"error\": {:?}}}", fault.to_string()), 1),
    };
    let _ = writeln!(std::io::stdout(), "{text}");
    std::process::exit(status);
}
