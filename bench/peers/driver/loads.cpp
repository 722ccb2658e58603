#include "bench/peers/driver/loads.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/peers/driver/process.h"

namespace peers {
namespace {

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC
using namespace std::chrono_literals;

std::int64_t nanoseconds(Clock::duration duration) { return std::chrono::duration_cast<Nanoseconds>(duration).count(); }

// ---- CPU time

struct CpuTimes {
  std::int64_t client = 0, server = 0;
};

CpuTimes cpu_times(const ClientOptions& options) { return {cpu_time_of(::getpid()), cpu_time_of(options.server_pid)}; }

void add_cpu(Record& record, const ClientOptions& options, const CpuTimes& before) {
  const CpuTimes now = cpu_times(options);
  record.add("client_cpu_ns", now.client - before.client);
  if (options.server_pid != 0) record.add("server_cpu_ns", now.server - before.server);
}

// Adds the CPU time that both processes use while no calls are made: the cost of waiting.
void add_idle_cpu(Record& record, const ClientOptions& options) {
  if (options.idle == 0ns) return;
  std::this_thread::sleep_for(100ms);  // bounded spinning has ended by then
  const CpuTimes before = cpu_times(options);
  std::this_thread::sleep_for(options.idle);
  const CpuTimes after = cpu_times(options);
  record.add("idle_ns", options.idle.count());
  record.add("idle_cpu_ns", after.client - before.client + after.server - before.server);
}

// ---- Before the measured part

void wait_for_line() {
  for (int letter = std::getchar(); letter != '\n' && letter != EOF;) letter = std::getchar();
}

void pass_gate(const ClientOptions& options) {
  if (!options.gate) return;
  announce("gate");
  wait_for_line();
}

void check_ping(Caller& caller, std::int64_t value) {
  if (const std::int64_t got = caller.ping(value); got != value + 1)
    throw std::runtime_error("ping(" + std::to_string(value) + ") returned " + std::to_string(got));
}

// Opens connections that are used once and then stay open.
std::vector<std::unique_ptr<Caller>> open_connections(std::size_t count, Peer& peer) {
  std::vector<std::unique_ptr<Caller>> callers;
  for (std::size_t i = 0; i < count; ++i) {
    callers.push_back(peer.connect());
    check_ping(*callers.back(), static_cast<std::int64_t>(i));
  }
  return callers;
}

// ---- calls

std::vector<std::uint8_t> octets_to_send(std::size_t size) {
  std::vector<std::uint8_t> octets(size, 0x5a);
  if (size > 0) octets.back() = last_octet(size);
  return octets;
}

using Call = std::function<void(std::int64_t number)>;

Call call_of(const ClientOptions& options, Caller& caller, Octets octets) {
  const std::size_t size = octets.size();
  if (options.operation == "ping") return [&caller](std::int64_t number) { check_ping(caller, number); };
  if (options.operation == "echo") return [&caller, octets, size](auto) { check_octets(caller.echo(octets), size); };
  if (options.operation == "put") return [&caller, octets](auto) { caller.put(octets); };
  if (options.operation == "get") return [&caller, size](auto) { check_octets(caller.get(size), size); };
  throw std::invalid_argument("unknown operation '" + options.operation + "'");
}

void sleep_until(Clock::time_point due) {
  const std::int64_t ns = nanoseconds(due.time_since_epoch());
  const timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

enum class Pace { closed_loop, sleep, sleep_until_due, spin_until_due };

Pace pace_of(const ClientOptions& options) {
  if (options.pace != "sleep" && options.pace != "due" && options.pace != "spin")
    throw std::invalid_argument("--pace is sleep, due or spin, not '" + options.pace + "'");
  if (options.rate == 0) return Pace::closed_loop;
  if (options.pace == "sleep") return Pace::sleep;
  return options.pace == "due" ? Pace::sleep_until_due : Pace::spin_until_due;
}

// Waits until the call is due, and returns the time from which it counts.
Clock::time_point start_of(Pace pace, Clock::time_point due) {
  switch (pace) {
    case Pace::closed_loop:
      break;
    case Pace::sleep:
      sleep_until(due);
      break;
    case Pace::sleep_until_due:
      sleep_until(due);
      return due;
    case Pace::spin_until_due:
      while (Clock::now() < due) {
      }
      return due;
  }
  return Clock::now();
}

Record run_calls(const ClientOptions& options, Peer& peer) {
  if (options.calls == 0) throw std::invalid_argument("--calls must be at least 1");
  const Pace pace = pace_of(options);
  const auto octets = octets_to_send(options.size);
  const auto caller = peer.connect();
  const Call call = call_of(options, *caller, octets);
  for (std::size_t i = 0; i < options.warm_up; ++i) call(static_cast<std::int64_t>(i));
  const auto others = open_connections(options.extra_connections, peer);
  pass_gate(options);
  std::vector<std::uint64_t> samples(options.calls);
  const Nanoseconds interval{options.rate == 0 ? 0 : 1'000'000'000 / options.rate};
  const CpuTimes before = cpu_times(options);
  const auto begin = Clock::now();
  auto due = begin;
  for (std::size_t i = 0; i < options.calls; ++i) {
    due += interval;
    const auto start = start_of(pace, due);
    call(static_cast<std::int64_t>(i));
    samples[i] = static_cast<std::uint64_t>(nanoseconds(Clock::now() - start));
  }
  const auto elapsed = Clock::now() - begin;
  Record record;
  add_cpu(record, options, before);
  record.add("calls", static_cast<std::int64_t>(options.calls));
  record.add("elapsed_ns", nanoseconds(elapsed));
  record.add(percentiles_of(samples));
  add_idle_cpu(record, options);
  return record;
}

// ---- throughput

// Threads that call ping as fast as they can after start(), each with a counter of its own. They connect one after the
// other, since a server's queue of connections to accept may be short.
class Hammers {
 public:
  Hammers(const ClientOptions& options, Peer& peer) : counts_(options.threads) {
    const std::size_t others = options.extra_connections / std::max<std::size_t>(options.threads, 1);
    for (Count& count : counts_) {
      threads_.emplace_back([this, others, &peer, &count](std::stop_token stop) { hammer(stop, peer, others, count); });
      wait_until_connected();
    }
  }

  ~Hammers() { start(); }  // so that the threads end

  void start() {
    // PAIR peers.started: release here -> acquire in hammer(). Only the order of calls matters.
    started_.store(true, std::memory_order_release);
    started_.notify_all();
  }

  std::int64_t calls() const {
    std::int64_t sum = 0;
    for (const Count& count : counts_) {
      sum += count.calls.load(std::memory_order_relaxed);  // relaxed: a counter that publishes nothing
    }
    return sum;
  }

  // Ends the threads. Throws the first fault of a thread.
  void stop() {
    start();
    threads_.clear();
    if (fault_) std::rethrow_exception(fault_);
  }

 private:
  // Blocks until every started thread has a connection or has failed.
  void wait_until_connected() const {
    // PAIR peers.connected: acquire here <- release in hammer(). The connections are there.
    for (std::size_t count = 0; (count = connected_.load(std::memory_order_acquire)) < threads_.size();)
      connected_.wait(count, std::memory_order_acquire);
  }

  struct alignas(128) Count {
    std::atomic<std::int64_t> calls{0};
  };

  void hammer(const std::stop_token& stop, Peer& peer, std::size_t others, Count& count) {
    bool is_counted = false;
    const auto say_connected = [&] {
      // PAIR peers.connected: release here -> acquire in wait_until_connected().
      if (std::exchange(is_counted, true)) return;
      connected_.fetch_add(1, std::memory_order_release);
      connected_.notify_all();
    };
    try {
      const auto caller = peer.connect();
      const auto idle_ones = open_connections(others, peer);
      check_ping(*caller, 0);
      say_connected();
      // PAIR peers.started: acquire here <- release in start().
      started_.wait(false, std::memory_order_acquire);
      for (std::int64_t i = 1; !stop.stop_requested(); ++i) {
        check_ping(*caller, i);
        count.calls.store(i, std::memory_order_relaxed);  // relaxed: only this thread writes it
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!fault_) fault_ = std::current_exception();
    }
    say_connected();
  }

  std::vector<Count> counts_;
  std::atomic<std::size_t> connected_{0};
  std::atomic<bool> started_{false};
  std::mutex mutex_;
  std::exception_ptr fault_;  // guarded by mutex_
  std::vector<std::jthread> threads_;
};

Record run_throughput(const ClientOptions& options, Peer& peer) {
  Hammers hammers(options, peer);
  pass_gate(options);
  hammers.start();
  std::this_thread::sleep_for(300ms);
  const CpuTimes cpu = cpu_times(options);
  const std::int64_t before = hammers.calls();
  const auto begin = Clock::now();
  std::this_thread::sleep_for(options.duration);
  const std::int64_t calls = hammers.calls() - before;
  const std::int64_t elapsed = nanoseconds(Clock::now() - begin);
  Record record;
  add_cpu(record, options, cpu);
  hammers.stop();
  record.add("calls", calls).add("elapsed_ns", elapsed);
  record.add("rate", static_cast<double>(calls) * 1e9 / static_cast<double>(elapsed));
  return record;
}

// ---- oneways

// Waits until the server has run as many pushes as were sent. Returns how many it has run, and when the last one was
// seen.
std::pair<std::int64_t, Clock::time_point> wait_for_pushes(Caller& caller, std::int64_t before, std::int64_t sent) {
  constexpr auto patience = 2s;  // without progress
  std::int64_t arrived = 0;
  auto last_progress = Clock::now();
  while (arrived < sent && Clock::now() - last_progress < patience) {
    if (const std::int64_t now = caller.pushed() - before; now > arrived) {
      arrived = now;
      last_progress = Clock::now();
    } else {
      std::this_thread::sleep_for(500us);
    }
  }
  return {arrived, last_progress};
}

Record run_oneways(const ClientOptions& options, Peer& peer) {
  const auto octets = octets_to_send(options.size);
  const auto caller = peer.connect();
  for (std::size_t i = 0; i < options.warm_up; ++i) check_ping(*caller, static_cast<std::int64_t>(i));
  const std::int64_t before = caller->pushed();
  std::int64_t sent = 0, failed = 0;
  std::string fault;
  const CpuTimes cpu = cpu_times(options);
  const auto begin = Clock::now();
  while (Clock::now() - begin < options.duration) {
    for (int i = 0; i < 32; ++i) {
      try {
        caller->push(octets);
        ++sent;
      } catch (const Unsupported&) {
        throw;
      } catch (const std::exception& error) {
        if (failed++ == 0) fault = error.what();
      }
    }
  }
  const auto [arrived, end] = wait_for_pushes(*caller, before, sent);
  const std::int64_t elapsed = nanoseconds(end - begin);
  Record record;
  add_cpu(record, options, cpu);
  record.add("calls", arrived).add("elapsed_ns", elapsed);
  record.add("rate", static_cast<double>(arrived) * 1e9 / static_cast<double>(elapsed));
  record.add("sent", sent).add("lost", sent - arrived).add("failed", failed);
  if (failed > 0) record.add("fault", fault);
  return record;
}

// ---- first, hold

Record run_first(const ClientOptions& options, Peer& peer) {
  const auto caller = peer.connect();
  check_ping(*caller, 1);
  return Record{}.add("first_ns", nanoseconds(Clock::now().time_since_epoch()) - options.started);
}

Record run_hold(const ClientOptions& options, Peer& peer) {
  const auto callers = open_connections(options.threads, peer);
  announce("held");
  wait_for_line();
  return Record{}.add("connections", static_cast<std::int64_t>(callers.size()));
}

}  // namespace

Record apply_load(const ClientOptions& options, Peer& peer) {
  if (options.load == "calls") return run_calls(options, peer);
  if (options.load == "throughput") return run_throughput(options, peer);
  if (options.load == "oneways") return run_oneways(options, peer);
  if (options.load == "first") return run_first(options, peer);
  if (options.load == "hold") return run_hold(options, peer);
  throw std::invalid_argument("unknown load '" + options.load + "'");
}

int run_client(const ClientOptions& options, Peer& peer) {
  std::printf("%s\n", apply_load(options, peer).text().c_str());
  std::fflush(stdout);
  return 0;
}

}  // namespace peers
