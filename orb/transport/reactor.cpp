#include "orb/transport/reactor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <system_error>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "orb/base/errors.h"
#include "orb/base/thread_safety.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/process/descriptor_limit.h"
#include "orb/os/wait/event_poll.h"
#include "orb/os/wait/wait.h"
#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/detail/read_gate.h"
#include "orb/transport/detail/timer_queue.h"

namespace corelane::transport {
namespace {

constexpr std::size_t read_buffer_size = 64 * 1024;
constexpr int timers_per_turn = 64;  // then sockets are served

// Events that mean there is something to read, or that there never will be.
constexpr std::uint32_t to_read = EPOLLIN | EPOLLPRI | EPOLLRDHUP;
constexpr std::uint32_t ended = EPOLLERR | EPOLLHUP;

}  // namespace

// Each event is reported once (edge-triggered), armed or not. An event that comes unarmed is no longer asked for.
// Arming asks for it again.
struct Readiness::State {
  // Asks to be told of `what` from now on, and of what is true already.
  void ask(std::uint32_t what) noexcept;

  Reactor::Impl& impl;
  const int fd;
  std::shared_ptr<ReadinessHandler> handler;
  std::uint32_t asked = to_read;
  bool added = false;  // to the EventPoll
  bool read_armed = false;
  bool write_armed = false;
  // Whether the last event was for bytes alone: neither the end nor urgent data follows, where a read would stop.
  bool bytes_alone = false;
};

// relaxed wherever `thread` is read: only the thread that wrote the value can find it equal to its own id.
struct Reactor::Impl::Io {
  using Function = os::UniqueFunction<void()>;
  explicit Io(Impl& impl) : reads(impl) {}

  // Any thread.
  os::EventPoll poll;  // only the reactor's thread uses it, except for ring()
  TimerQueue timers;
  std::atomic<std::thread::id> thread{};
  std::atomic<bool> ended{false};       // the thread left run()
  std::atomic<bool> has_posted{false};  // changes under the lock
  // Shared.
  os::PiMutex mutex;
  bool accepting CORELANE_GUARDED_BY(mutex) = true;
  std::shared_ptr<Impl> ordinary CORELANE_GUARDED_BY(mutex);  // null: this reactor
  std::vector<Function> posted CORELANE_GUARDED_BY(mutex);
  // Owner: the reactor's thread.
  std::vector<Function> running;  // a batch of posted functions
  Time timer_at = never;          // when the alarm is set
  bool stopping = false;
  std::unordered_set<Readiness::State*> registered;
  Readiness::State* told = nullptr;           // the one that is being called back, while it exists
  std::shared_ptr<ReadinessHandler> leaving;  // of one that was destroyed in its callback; kept until that returns
  std::array<std::byte, read_buffer_size> buffer;
  ReadGate reads;
};

void Readiness::State::ask(std::uint32_t what) noexcept {
  asked = what;
  impl.io_->poll.change(fd, this, what);
}

Readiness::Readiness(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Readiness::~Readiness() {
  Reactor::Impl::Io& io = *state_->impl.io_;
  io.registered.erase(state_.get());
  if (state_->added) io.poll.forget(state_->fd, state_.get());
  if (io.told != state_.get()) return;
  io.told = nullptr;
  io.leaving = std::move(state_->handler);
}

void Readiness::arm_read(Rest rest) noexcept {
  state_->read_armed = true;
  const bool will_be_told = rest == Rest::none && state_->bytes_alone && (state_->asked & to_read) == to_read;
  if (!will_be_told) state_->ask(state_->asked | to_read);
}

void Readiness::arm_write() noexcept {
  state_->write_armed = true;
  state_->ask(state_->asked | EPOLLOUT);
}

Reactor::Impl::Impl() : io_(std::make_unique<Io>(*this)) {}
Reactor::Impl::~Impl() = default;

// Queues the function under the lock. So either it is queued before the stop, and runs, or it is refused.
// ring() is under the lock, too, because only the first poster rings. Without the lock it could be preempted before it
// rings. Later posters would then wait for it without raising its priority.
bool Reactor::Impl::post(os::UniqueFunction<void()> function) {
  const os::LockGuard lock(io_->mutex);
  if (!io_->accepting) return false;
  io_->posted.push_back(std::move(function));
  // relaxed: the lock orders what was posted, and the system calls of ring() order the check of this flag
  const bool is_first = !io_->has_posted.exchange(true, std::memory_order_relaxed);
  if (is_first && !on_reactor_thread()) io_->poll.ring();
  return true;
}

bool Reactor::Impl::has_posted() const noexcept {
  return io_->has_posted.load(std::memory_order_relaxed);  // relaxed: see post()
}

// Runs what was posted. What these functions post in turn runs after the descriptors.
void Reactor::Impl::run_posted() {
  bool last = false;
  {
    const os::LockGuard lock(io_->mutex);
    io_->has_posted.store(false, std::memory_order_relaxed);  // relaxed: see post()
    io_->running.swap(io_->posted);
    last = !io_->accepting;
  }
  for (os::UniqueFunction<void()>& function : io_->running) {
    function();
    function = {};  // frees what it held before the next one runs
  }
  io_->running.clear();
  if (last) stop_handlers();
}

bool Reactor::Impl::run_and_wait(os::UniqueFunction<void()> function) {
  if (on_reactor_thread()) return function(), true;
  // The waking thread's last access to `done` is the exchange that lets this thread go on. Its system call uses only
  // the address.
  os::Parker done;
  if (post([&] { function(), done.unpark(); })) return done.park(never);
  // PAIR reactor.ended: acquire here <- release in run(). What the last callbacks wrote is visible.
  io_->ended.wait(false, std::memory_order_acquire);
  return false;
}

TimerId Reactor::Impl::schedule(Time time, os::UniqueFunction<void()> function) {
  TimerQueue::Added added{};
  {
    const os::LockGuard lock(io_->mutex);
    if (!io_->accepting) return TimerId{0};
    added = io_->timers.add(time, std::move(function));
  }
  if (!added.is_first) return added.id;
  if (on_reactor_thread()) {
    arm_timer();
  } else {
    post([this] { arm_timer(); });  // refused: the reactor stops, and its timers with it
  }
  return added.id;
}

bool Reactor::Impl::cancel(TimerId timer) { return io_->timers.remove(timer).has_value(); }

bool Reactor::Impl::on_reactor_thread() const noexcept {
  // relaxed: only the reactor's own thread ever sees its id here
  return io_->thread.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

std::shared_ptr<Reactor::Impl> Reactor::Impl::ordinary() {
  const os::LockGuard lock(io_->mutex);
  return io_->ordinary ? io_->ordinary : shared_from_this();
}

void Reactor::Impl::set_ordinary(std::shared_ptr<Impl> ordinary) {
  const os::LockGuard lock(io_->mutex);
  io_->ordinary = std::move(ordinary);
}

// Sets the alarm for the first timer. If that timer is cancelled later, the alarm comes anyway, and finds nothing due.
void Reactor::Impl::arm_timer() {
  const Time first = io_->timers.first();
  if (io_->stopping || first >= io_->timer_at) return;
  io_->timer_at = first;
  io_->poll.set_alarm(first);
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

std::unique_ptr<Readiness> Reactor::Impl::watch(int fd, std::shared_ptr<ReadinessHandler> handler, Interest interest) {
  if (io_->stopping) return nullptr;
  std::unique_ptr<Readiness::State> state(new Readiness::State{.impl = *this, .fd = fd, .handler = std::move(handler)});
  if (interest == Interest::end) state->asked = EPOLLRDHUP;
  Readiness::State& made = *state;
  auto readiness = std::make_unique<Readiness>(std::move(state));  // from now on its destructor undoes what follows
  io_->registered.insert(&made);
  made.added = io_->poll.add(fd, &made, made.asked);
  return made.added ? std::move(readiness) : nullptr;
}

// Calls the handler of a Readiness. After it was destroyed it is not called any more.
void Reactor::Impl::tell(void* owner, std::uint32_t what) {
  auto& state = *static_cast<Readiness::State*>(owner);
  ReadinessHandler& handler = *state.handler;
  const std::uint32_t in_vain = (state.read_armed ? 0 : what & to_read) | (state.write_armed ? 0 : what & EPOLLOUT);
  state.bytes_alone = what == EPOLLIN;
  if ((in_vain & state.asked) != 0) state.ask(state.asked & ~in_vain);
  io_->told = &state;
  if ((what & (EPOLLRDHUP | ended)) != 0) handler.on_hang_up();
  if (!io_->told) return io_->leaving.reset();
  if ((what & (to_read | ended)) != 0 && std::exchange(state.read_armed, false)) handler.on_readable();
  if (!io_->told) return io_->leaving.reset();
  if ((what & (EPOLLOUT | ended)) != 0 && std::exchange(state.write_armed, false)) handler.on_writable();
  io_->told = nullptr;
  io_->leaving.reset();
}

MutableBytes Reactor::Impl::read_buffer(std::size_t rest) noexcept {
  const MutableBytes all = io_->buffer;
  return all.first(std::min(all.size(), io_->reads.bytes_per_read(rest)));
}

ReadGate& Reactor::Impl::reads() noexcept { return io_->reads; }

void Reactor::Impl::run() {
  // relaxed: see Io
  io_->thread.store(std::this_thread::get_id(), std::memory_order_relaxed);
  // Bound: ends with request_stop().
  for (;;) {
    if (has_posted()) run_posted();
    if (io_->stopping) break;
    if (io_->poll.take_alarm()) run_due_timers();
    for (const os::EventPoll::Event& event : io_->poll.wait(!has_posted()))
      if (event.owner != nullptr) tell(event.owner, event.what);
  }
  // relaxed: see Io; the system may give this thread's id to another thread
  io_->thread.store({}, std::memory_order_relaxed);
  // PAIR reactor.ended: release here -> acquire in run_and_wait(). From now on other threads may do this thread's work.
  io_->ended.store(true, std::memory_order_release);
  io_->ended.notify_all();
}

bool Reactor::Impl::is_stopping() const noexcept { return io_->stopping; }

// Called when everything that post() accepted has run.
void Reactor::Impl::stop_handlers() {
  io_->stopping = true;
  std::vector<std::shared_ptr<ReadinessHandler>> handlers;
  for (const Readiness::State* state : io_->registered) handlers.push_back(state->handler);
  for (const auto& handler : handlers) handler->on_stopping();
  assert(io_->registered.empty());
}

void Reactor::Impl::drop_timers() { io_->timers.clear(); }

void Reactor::Impl::request_stop() {
  const os::LockGuard lock(io_->mutex);
  if (!std::exchange(io_->accepting, false)) return;
  io_->has_posted.store(true, std::memory_order_relaxed);  // relaxed: see post()
  io_->poll.ring();
}

Reactor::Reactor(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

Expected<std::unique_ptr<Reactor>> Reactor::start(ReactorOptions options) try {
  auto impl = std::make_shared<Impl>();
  auto thread = os::start_thread(std::move(options.thread), [impl = impl.get()] { impl->run(); });
  if (!thread) return thread.error();
  std::unique_ptr<Reactor> reactor(new Reactor(std::move(impl)));
  reactor->thread_ = std::move(*thread);
  return reactor;
} catch (const std::system_error& refused) {  // thrown by the EventPoll
  return os::is_out_of_descriptors(refused.code().value()) ? errors::no_descriptor : errors::no_memory;
}

Expected<void> Reactor::split_off_ordinary_work() {
  assert(!ordinary_);
  auto ordinary = start({os::ThreadOptions{.name = "corelane-io-2"}});
  if (!ordinary) return ordinary.error();
  ordinary_ = std::move(*ordinary);
  impl_->set_ordinary(ordinary_->impl());
  return {};
}

Reactor::~Reactor() { stop(); }

bool Reactor::post(os::UniqueFunction<void()> function) { return impl_->post(std::move(function)); }
TimerId Reactor::schedule(Time time, os::UniqueFunction<void()> function) {
  return impl_->schedule(time, std::move(function));
}
bool Reactor::cancel(TimerId timer) { return impl_->cancel(timer); }
bool Reactor::on_reactor_thread() const noexcept { return impl_->on_reactor_thread(); }

void Reactor::limit_reads(const sched::Reservation& reservation, sched::ReaderServer kind) {
  impl_->run_and_wait([&] { impl_->reads().limit(reservation, ReadLimit::everything, kind); });
}
void Reactor::limit_unforeseen_reads(const sched::Reservation& reservation) {
  impl_->run_and_wait([&] { impl_->reads().limit(reservation, ReadLimit::unforeseen); });
}
std::uint64_t Reactor::deferred_reads() const noexcept { return impl_->reads().deferred(); }

bool Reactor::real_time() const noexcept { return thread_.real_time(); }

void Reactor::stop() noexcept {
  assert(!impl_->on_reactor_thread());
  impl_->request_stop();
  thread_.join();
  impl_->drop_timers();
  if (ordinary_) ordinary_->stop();
}

}  // namespace corelane::transport
