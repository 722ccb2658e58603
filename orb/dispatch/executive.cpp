#include "orb/dispatch/executive.h"

#include <condition_variable>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/base/thread_safety.h"
#include "orb/dispatch/best_effort/best_effort_servers.h"
#include "orb/dispatch/inline/inline_tasks.h"
#include "orb/dispatch/manager/managed_tasks.h"
#include "orb/dispatch/queue/executive_state.h"
#include "orb/dispatch/serving/request_source.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/pi_mutex.h"
#include "orb/sched/priority.h"

namespace corelane::dispatch {
namespace {

constexpr Error bad_option{.kind = ErrorKind::bad_param, .minor = minor::bad_option};

// The answer that admit_and_wait() waits for. The manager, above all tasks, sets it. Tasks may keep the waiting thread
// from its core while that thread has the mutex. So the mutex inherits priority.
struct Answer {
  os::PiMutex mutex;
  std::condition_variable_any ready;
  std::optional<Expected<Admission, NotAdmitted>> value CORELANE_GUARDED_BY(mutex);

  void set(Expected<Admission, NotAdmitted> answer) {
    const os::LockGuard lock(mutex);
    value.emplace(std::move(answer));
    ready.notify_one();
  }
  Expected<Admission, NotAdmitted> wait() {
    os::UniqueLock lock(mutex);
    ready.wait(lock, [this]() CORELANE_REQUIRES(mutex) { return value.has_value(); });
    return *value;
  }
};

class AnswerHandler final : public AdmissionHandler {
 public:
  explicit AnswerHandler(std::shared_ptr<Answer> answer) : answer_(std::move(answer)) {}
  void admitted(const Admission& admission) noexcept override { answer_->set(admission); }
  void refused(const sched::Refusal& refusal) noexcept override { answer_->set(NotAdmitted(refusal)); }
  void failed(Error error) noexcept override { answer_->set(NotAdmitted(error)); }

 private:
  const std::shared_ptr<Answer> answer_;
};

// Under SCHED_FIFO, a thread that never sleeps takes the whole core. The other tasks on that core would not run.
constexpr std::string_view spin_takes_core =
    "pool.wait = spin needs pool.real_time = off, because a thread under SCHED_FIFO that never sleeps leaves no time "
    "to threads below it; use spin-then-park or adaptive, which pool.spin bounds";

}  // namespace

std::string text_of(const NotAdmitted& why) {
  if (const auto* refusal = std::get_if<sched::Refusal>(&why)) return sched::text_of(*refusal);
  const Error error = std::get<Error>(why);
  return std::string(name_of(error.kind)) + ": " + std::string(minor::text(error.minor));
}

Expected<std::unique_ptr<Executive>> Executive::start(const ExecutiveOptions& options, CoreProvider& provider) try {
  const sched::NativeRange natives = task_natives(options);
  if (!natives.valid() || options.queue_capacity == 0) return bad_option;
  if (options.wait.mode == os::WaitMode::spin && options.real_time) {
    os::log::error(spin_takes_core);
    return bad_option;
  }
  if (options.mode == DispatchMode::leader_followers) {
    if (options.best_effort_server.kind != BestEffortServer::none) {
      os::log::error(
          "best_effort.server needs dispatch.mode manager or direct, because leader-followers makes no promises");
      return bad_option;
    }
    if (!options.follower_cores.empty() && options.allocation->regards_caches) {
      os::log::error("dispatch.allocation = " + std::string(options.allocation->name) +
                     " needs dispatch.mode manager or direct, because leader-followers does not regard caches; choose "
                     "another one");
      return bad_option;
    }
    os::log::warn("dispatch.mode = leader-followers: contracts are not analyzed, and no deadline is promised");
    auto tasks = std::make_unique<InlineTasks>(options);
    if (const auto started = tasks->start(options.stack); !started) return started.error();
    return std::unique_ptr<Executive>(new Executive(std::move(tasks)));
  }
  auto state = start_managed_tasks(options, provider);
  if (!state) return state.error();
  return std::unique_ptr<Executive>(new Executive(std::move(*state)));
} catch (const std::bad_alloc&) {
  return errors::no_memory;
}

Executive::Executive(std::unique_ptr<State> state)
    : state_(std::move(state)), serves_where_read_(state_->serves_where_read()) {}

Executive::~Executive() { stop(); }

Expected<void> Executive::submit(JobPtr& job) noexcept {
  switch (state_->submit(job)) {
    case Pushed::done:
      return {};
    case Pushed::full:
      return errors::queue_full;
    case Pushed::closed:
      break;
  }
  return errors::shutting_down;
}

void Executive::admit(AdmissionRequest request, std::unique_ptr<AdmissionHandler> handler) {
  state_->admit(std::move(request), std::move(handler));
}

Expected<Admission, NotAdmitted> Executive::admit_and_wait(AdmissionRequest request) {
  const auto answer = std::make_shared<Answer>();
  admit(std::move(request), std::make_unique<AnswerHandler>(answer));
  return answer->wait();
}

void Executive::depart(TaskId task, PeerId owner) noexcept { state_->depart(task, owner); }

void Executive::peer_gone(PeerId peer) noexcept { state_->peer_gone(peer); }

void Executive::attach(TaskId task, PeerId owner, std::shared_ptr<JobSource> source) noexcept {
  state_->attach(task, owner, std::move(source));
}

bool Executive::serve(std::shared_ptr<RequestSource> source) noexcept { return state_->serve(std::move(source)); }

bool Executive::evict(const std::shared_ptr<RequestSource>& source) noexcept { return state_->evict(source); }

void Executive::resume(const std::shared_ptr<RequestSource>& source) noexcept { state_->resume(source); }

void Executive::on_event(TaskEventKind kind, TaskEventHandler handler) { state_->events.set(kind, std::move(handler)); }

void Executive::note_refused_job() noexcept { state_->note_refused_job(); }

ExecutiveReport Executive::snapshot() const { return state_->report(); }

Expected<std::string> Executive::dump_trace(const std::string& directory) { return state_->dump_trace(directory); }

void Executive::stop() { state_->stop(); }

}  // namespace corelane::dispatch
