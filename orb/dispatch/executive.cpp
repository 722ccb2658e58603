// The executive's assembly: leases, threads, and the order in which they end. What they do stands in their agents.
#include "orb/dispatch/executive.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "orb/base/minor.h"
#include "orb/dispatch/best_effort_lane.h"
#include "orb/dispatch/manager_agent.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"
#include "orb/sched/priority.h"

namespace corelane::dispatch {
namespace {

constexpr Error stopping{.kind = ErrorKind::transient, .minor = minor::shutting_down};
constexpr Error full{.kind = ErrorKind::transient, .minor = minor::queue_full};
constexpr Error bad_option{.kind = ErrorKind::bad_param, .minor = minor::bad_option};

class SystemThread final : public WorkerThread {
 public:
  SystemThread(os::Thread thread, bool bound, Seat seat) : thread_(std::move(thread)), bound_(bound), seat_(seat) {}

  // A refusal leaves the thread where it was: real_time() tells of the class, and a core of our own lease is there.
  void place(Seat seat) noexcept override {
    if (!bound_) return;
    if (seat.core != seat_.core) (void)thread_.bind(seat.core);
    if (seat.native != seat_.native) (void)thread_.set_priority(seat.native);
    seat_ = seat;
  }
  bool real_time() const noexcept override { return thread_.real_time(); }

 private:
  os::Thread thread_;
  const bool bound_;
  Seat seat_;
};

class SystemThreads final : public ThreadMaker {
 public:
  SystemThreads(bool real_time, std::size_t stack) : real_time_(real_time), stack_(stack) {}

  Expected<std::unique_ptr<WorkerThread>> start(const std::string& name, const WorkerPtr& worker) override {
    const Seat seat = worker->seat();
    os::ThreadOptions options{.name = name, .stack = stack_};
    if (real_time_) options.core = seat.core, options.fifo_priority = seat.native;
    auto thread = os::start_thread(std::move(options), [worker]() noexcept { worker->loop(); });
    if (!thread) return thread.error();
    return std::unique_ptr<WorkerThread>(std::make_unique<SystemThread>(std::move(*thread), real_time_, seat));
  }

 private:
  const bool real_time_;
  const std::size_t stack_;
};

// Steps an agent that tells when it wants to be stepped again, until stopped.
template <typename SomeAgent>
class AgentThread {
 public:
  explicit AgentThread(SomeAgent& agent) : agent_(agent) {}
  ~AgentThread() { stop(); }

  Expected<void> start(os::ThreadOptions options) {
    auto thread = os::start_thread(std::move(options), [this]() noexcept { loop(); });
    if (!thread) return thread.error();
    thread_ = std::move(*thread);
    return {};
  }
  void stop() noexcept {
    // PAIR agent.stopping: release here -> acquire in loop().
    stopping_.store(true, std::memory_order_release);
    agent_.parker().unpark();
    thread_.join();
  }

 private:
  void loop() noexcept {
    // Bound: ends with stop(). PAIR agent.stopping: acquire here <- release in stop().
    while (!stopping_.load(std::memory_order_acquire))
      if (!agent_.step(os::now())) agent_.parker().park(agent_.wake_at());
  }

  SomeAgent& agent_;
  std::atomic<bool> stopping_{false};
  os::Thread thread_;
};

std::string text_of(const std::vector<CoreLease>& leases) {
  std::string text;
  for (const CoreLease& lease : leases) text += ' ' + std::to_string(lease.core.value);
  return text;
}

// For admit_and_wait(): a thread that is not real-time waits, so an ordinary condition variable will do.
struct Answer {
  std::mutex mutex;
  std::condition_variable ready;
  std::optional<Expected<Admission, sched::Refusal>> value;

  void set(Expected<Admission, sched::Refusal> answer) {
    const std::lock_guard lock(mutex);
    value.emplace(std::move(answer));
    ready.notify_one();
  }
};

class AnswerHandler final : public AdmissionHandler {
 public:
  explicit AnswerHandler(std::shared_ptr<Answer> answer) : answer_(std::move(answer)) {}
  void admitted(const Admission& admission) noexcept override { answer_->set(admission); }
  void refused(const sched::Refusal& refusal) noexcept override { answer_->set(refusal); }
  void failed(Error) noexcept override { answer_->set(sched::Refusal{.code = sched::RefusalCode::no_core}); }

 private:
  const std::shared_ptr<Answer> answer_;
};

}  // namespace

struct Executive::State {
  State(const ExecutiveOptions& options, const std::vector<CoreLease>& leases, CoreProvider& provider)
      : threads(options.real_time, options.stack),
        best_effort(options.queue_capacity),
        manager(options, leases, provider, threads, best_effort),
        manager_thread(manager),
        housekeeper_thread(manager.housekeeper()) {}

  Expected<void> start(const ExecutiveOptions& options, CoreId manager_core);
  void stop() noexcept;

  SystemThreads threads;
  BestEffortLane best_effort;
  ManagerAgent manager;
  AgentThread<ManagerAgent> manager_thread;
  AgentThread<Housekeeper> housekeeper_thread;
  std::mutex stop_mutex;
  bool stopped = false;  // guarded by stop_mutex
};

Expected<void> Executive::State::start(const ExecutiveOptions& options, CoreId manager_core) {
  if (auto started = best_effort.start(options.best_effort_threads, options.stack); !started) return started;
  if (auto started = housekeeper_thread.start({.name = "cl-housekeeper", .stack = options.stack}); !started)
    return started;
  os::ThreadOptions own{.name = "cl-manager", .stack = options.stack};
  if (options.real_time) own.core = manager_core, own.fifo_priority = options.highest_native;
  return manager_thread.start(std::move(own));
}

// The manager first, so that nothing new reaches a task; then the housekeeper's thread, whose work shut_down() ends.
void Executive::State::stop() noexcept {
  const std::lock_guard lock(stop_mutex);
  if (std::exchange(stopped, true)) return;
  manager_thread.stop();
  housekeeper_thread.stop();
  manager.shut_down(os::now());
  manager.recorder().end();
  best_effort.stop();
}

Expected<std::unique_ptr<Executive>> Executive::start(const ExecutiveOptions& options, CoreProvider& provider) {
  const sched::NativeRange natives{.lowest = options.lowest_native, .highest = options.highest_native};
  if (options.mode == DispatchMode::leader_followers) {
    os::log::error("dispatch.mode: `leader-followers` is not built yet; use `direct` or `manager`");
    return bad_option;
  }
  if (!natives.valid() || options.max_tasks == 0 || options.queue_capacity == 0 || options.best_effort_threads == 0)
    return bad_option;
  auto leases = provider.lease(options.lease);
  if (!leases) return leases.error();
  os::log::info("dispatch: cores" + text_of(*leases) + (options.admission ? "" : "; admission is off"));
  auto state = std::make_unique<State>(options, *leases, provider);
  if (auto started = state->start(options, leases->front().core); !started) {
    state->stop();
    return started.error();
  }
  return std::unique_ptr<Executive>(new Executive(std::move(state)));
}

Executive::Executive(std::unique_ptr<State> state) : state_(std::move(state)) {}

Executive::~Executive() { stop(); }

Expected<void> Executive::submit(JobPtr& job) noexcept {
  const bool without_contract = job->task == no_task && !job->contract;
  switch (without_contract ? state_->best_effort.submit(job) : state_->manager.submit(job)) {
    case Pushed::done:
      return {};
    case Pushed::full:
      return full;
    case Pushed::closed:
      break;
  }
  return stopping;
}

void Executive::admit(AdmissionRequest request, std::unique_ptr<AdmissionHandler> handler) {
  state_->manager.admit(std::move(request), std::move(handler));
}

Expected<Admission, sched::Refusal> Executive::admit_and_wait(AdmissionRequest request) {
  const auto answer = std::make_shared<Answer>();
  admit(std::move(request), std::make_unique<AnswerHandler>(answer));
  std::unique_lock lock(answer->mutex);
  answer->ready.wait(lock, [&] { return answer->value.has_value(); });
  return *answer->value;
}

void Executive::depart(TaskId task, PeerId owner) { state_->manager.depart(task, owner); }

void Executive::peer_gone(PeerId peer) { state_->manager.peer_gone(peer); }

void Executive::attach(TaskId task, PeerId owner, std::shared_ptr<JobSource> source) {
  state_->manager.attach(task, owner, std::move(source));
}

ExecutiveReport Executive::snapshot() const { return state_->manager.report(); }

Expected<std::string> Executive::dump_trace(const std::string& directory) {
  return state_->manager.recorder().dump(sched::TraceReason::request, directory);
}

void Executive::stop() { state_->stop(); }

}  // namespace corelane::dispatch
