#include "orb/transport/reactor.h"

#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#include "orb/base/errors.h"
#include "orb/os/clock.h"
#include "orb/os/descriptor_limit.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/wait.h"
#include "orb/transport/detail/asio.h"
#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/detail/read_gate.h"
#include "orb/transport/detail/timer_queue.h"

namespace corelane::transport {
namespace asio = boost::asio;
namespace {

static_assert(std::chrono::steady_clock::is_steady);
// Both count CLOCK_MONOTONIC's nanoseconds.
std::chrono::steady_clock::time_point to_steady(Time time) noexcept {
  return std::chrono::steady_clock::time_point{time.time_since_epoch()};
}

constexpr std::size_t read_buffer_size = 64 * 1024;
constexpr int timers_per_turn = 64;  // then sockets get their turn

}  // namespace

struct Readiness::State {
  explicit State(Reactor::Impl& owner);

  Reactor::Impl& impl;
  asio::posix::stream_descriptor descriptor;
  std::shared_ptr<ReadinessHandler> handler;  // null once given back
};

// relaxed wherever `thread` is read: only the thread that wrote the value can find it equal to itself.
struct Reactor::Impl::Io {
  explicit Io(Impl& impl) : reads(impl) {}

  // Any thread; Asio locks.
  asio::io_context context{1};
  TimerQueue timers;
  std::atomic<std::thread::id> thread{};
  std::atomic<bool> ended{false};  // the thread left run()
  // Shared, under the lock.
  os::PiMutex mutex;
  bool accepting = true;
  // Owner: the reactor's thread.
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  asio::steady_timer timer{context};
  Time timer_at = never;  // what `timer` waits for
  bool stopping = false;
  std::unordered_set<Readiness::State*> registered;
  std::array<std::byte, read_buffer_size> buffer;
  ReadGate reads;
};

Readiness::State::State(Reactor::Impl& owner) : impl(owner), descriptor(owner.io_->context) {}

Readiness::~Readiness() {
  state_->handler.reset();
  state_->impl.io_->registered.erase(state_.get());
  state_->descriptor.release();  // ends what is armed; those callbacks find no handler
}

// The completion keeps the state, not the handler: a Readiness that is gone calls nobody.
void Readiness::arm_read() {
  state_->descriptor.async_wait(asio::posix::descriptor_base::wait_read, [state = state_](boost::system::error_code) {
    if (const auto handler = state->handler) handler->on_readable();
  });
}

void Readiness::arm_write() {
  state_->descriptor.async_wait(asio::posix::descriptor_base::wait_write, [state = state_](boost::system::error_code) {
    if (const auto handler = state->handler) handler->on_writable();
  });
}

Reactor::Impl::Impl() : io_(std::make_unique<Io>(*this)) {}
Reactor::Impl::~Impl() = default;

bool Reactor::Impl::post(os::UniqueFunction<void()> function) {
  // Under the lock, so that a function is either queued before the stop, and runs, or refused.
  const std::lock_guard lock(io_->mutex);
  if (!io_->accepting) return false;
  asio::post(io_->context, [f = std::move(function)]() mutable { f(); });
  return true;
}

bool Reactor::Impl::run_and_wait(os::UniqueFunction<void()> function) {
  if (on_reactor_thread()) return function(), true;
  // The waker's last access to `done` is the exchange that lets this thread go; its system call names only the address.
  os::Parker done;
  if (post([&] { function(), done.unpark(); })) return done.park(never);
  // PAIR reactor.ended: acquire here <- release in run(). What the last callbacks wrote is visible.
  io_->ended.wait(false, std::memory_order_acquire);
  return false;
}

TimerId Reactor::Impl::schedule(Time time, os::UniqueFunction<void()> function) {
  TimerQueue::Added added{};
  {
    const std::lock_guard lock(io_->mutex);
    if (!io_->accepting) return TimerId{0};
    added = io_->timers.add(time, std::move(function));
  }
  if (!added.is_first) return added.id;
  if (on_reactor_thread()) {
    arm_timer();
  } else {
    post([this] { arm_timer(); });  // refused: the reactor stops, and with it its timers
  }
  return added.id;
}

bool Reactor::Impl::cancel(TimerId timer) { return io_->timers.remove(timer).has_value(); }

bool Reactor::Impl::on_reactor_thread() const noexcept {
  // relaxed: only the reactor's own thread ever sees its id here
  return io_->thread.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

// Waits for the first timer. A timer that was cancelled ends this wait all the same: it finds nothing due.
void Reactor::Impl::arm_timer() {
  const Time first = io_->timers.first();
  if (io_->stopping || first >= io_->timer_at) return;
  io_->timer.expires_at(to_steady(first));
  insist([this] {
    io_->timer.async_wait([this](boost::system::error_code error) {
      if (!error) run_due_timers();
    });
  });
  io_->timer_at = first;
}

void Reactor::Impl::run_due_timers() {
  io_->timer_at = never;
  for (int i = 0; i < timers_per_turn && !io_->stopping; ++i) {
    auto function = io_->timers.take_due(os::now());
    if (!function) break;
    (*function)();
  }
  arm_timer();
}

std::unique_ptr<Readiness> Reactor::Impl::watch(int fd, std::shared_ptr<ReadinessHandler> handler) {
  if (io_->stopping) return nullptr;
  auto state = std::make_shared<Readiness::State>(*this);
  auto readiness = std::make_unique<Readiness>(state);  // from here on it undoes what follows
  io_->registered.insert(state.get());
  boost::system::error_code error;
  state->descriptor.assign(fd, error);
  if (error) return nullptr;
  state->handler = std::move(handler);
  return readiness;
}

MutableBytes Reactor::Impl::read_buffer() noexcept {
  const MutableBytes all = io_->buffer;
  return io_->reads.is_limited() ? all.first(ReadGate::bytes_per_turn) : all;
}

ReadGate& Reactor::Impl::reads() noexcept { return io_->reads; }

void Reactor::Impl::run() {
  // relaxed: see Io
  io_->thread.store(std::this_thread::get_id(), std::memory_order_relaxed);
  io_->context.run();
  // relaxed: see Io; the system may give this thread's identity to another one
  io_->thread.store({}, std::memory_order_relaxed);
  // PAIR reactor.ended: release here -> acquire in run_and_wait(). Others may stand in for this thread from now on.
  io_->ended.store(true, std::memory_order_release);
  io_->ended.notify_all();
}

bool Reactor::Impl::is_stopping() const noexcept { return io_->stopping; }

// Runs on the reactor's thread as the last function that post() accepted.
void Reactor::Impl::stop_handlers() {
  io_->stopping = true;
  std::vector<std::shared_ptr<ReadinessHandler>> handlers;
  for (const Readiness::State* state : io_->registered) handlers.push_back(state->handler);
  for (const auto& handler : handlers) handler->on_stopping();
  assert(io_->registered.empty());
  io_->timer.cancel();
  io_->work.reset();
}

void Reactor::Impl::drop_timers() { io_->timers.clear(); }

void Reactor::Impl::request_stop() {
  const std::lock_guard lock(io_->mutex);
  if (!std::exchange(io_->accepting, false)) return;
  asio::post(io_->context, [this] { stop_handlers(); });
}

Reactor::Reactor(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

Expected<std::unique_ptr<Reactor>> Reactor::start(ReactorOptions options) try {
  auto impl = std::make_shared<Impl>();
  auto thread = os::start_thread(std::move(options.thread), [impl = impl.get()] { impl->run(); });
  if (!thread) return thread.error();
  std::unique_ptr<Reactor> reactor(new Reactor(std::move(impl)));
  reactor->thread_ = std::move(*thread);
  return reactor;
} catch (const boost::system::system_error& refused) {  // of the context: epoll, its timer, its interrupter
  return os::is_out_of_descriptors(refused.code().value()) ? errors::no_descriptor : errors::no_memory;
}

Reactor::~Reactor() { stop(); }

bool Reactor::post(os::UniqueFunction<void()> function) { return impl_->post(std::move(function)); }
TimerId Reactor::schedule(Time time, os::UniqueFunction<void()> function) {
  return impl_->schedule(time, std::move(function));
}
bool Reactor::cancel(TimerId timer) { return impl_->cancel(timer); }
bool Reactor::on_reactor_thread() const noexcept { return impl_->on_reactor_thread(); }

void Reactor::limit_reads(const sched::Reservation& reservation) {
  impl_->run_and_wait([&] { impl_->reads().limit(reservation); });
}
std::uint64_t Reactor::deferred_reads() const noexcept { return impl_->reads().deferred(); }

bool Reactor::real_time() const noexcept { return thread_.real_time(); }

void Reactor::stop() noexcept {
  assert(!impl_->on_reactor_thread());
  impl_->request_stop();
  thread_.join();
  impl_->drop_timers();
}

}  // namespace corelane::transport
