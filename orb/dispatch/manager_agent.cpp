// The manager's duty cycle: its doors, its queues, and the decision about newcomers. What the Manager commands is
// carried out in manager_commands.cpp.
#include "orb/dispatch/manager_agent.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "orb/base/minor.h"
#include "orb/dispatch/job_source.h"
#include "orb/dispatch/neighbours.h"

namespace corelane::dispatch {
namespace {

constexpr std::size_t max_admissions = 1024;  // that wait for a decision
constexpr std::size_t remembered_peers = 256;
constexpr Error gone{.kind = ErrorKind::transient, .minor = minor::unknown_task};
constexpr Error full{.kind = ErrorKind::transient, .minor = minor::queue_full};
constexpr Error stopping{.kind = ErrorKind::transient, .minor = minor::shutting_down};

Promise load_promise(const CoreLease& lease, const sched::PlatformLoad& load) {
  return {.core = lease.core,
          .physical_core = lease.physical_core,
          .contract = {.period = load.period, .deadline = load.period, .budget = load.budget, .jitter = load.jitter},
          .kind = PromiseKind::platform,
          .blocking = load.blocking};
}

sched::ManagerOptions manager_options(const ExecutiveOptions& options, const std::vector<CoreLease>& leases,
                                      sched::NativeRange natives) {
  sched::ManagerOptions result;
  sched::PlatformLoad load = options.platform;
  load.blocking += options.overshoot;  // a release that is late by so much, which all tasks of a core share
  for (const CoreLease& lease : leases)
    result.cores.push_back({.id = lease.core, .capacity = options.capacity, .load = load});
  result.max_tasks = options.max_tasks;
  result.levels = natives.task_levels();
  result.test = options.admission ? sched::AdmissionTest::response_time : sched::AdmissionTest::none;
  result.peer_limit = options.peer_limit;
  return result;
}

std::vector<CoreCounters> core_counters(const ExecutiveOptions& options, const std::vector<CoreLease>& leases) {
  std::vector<CoreCounters> result;
  for (const CoreLease& lease : leases) result.push_back({.core = lease.core, .capacity = options.capacity});
  return result;
}

}  // namespace

ManagerAgent::ManagerAgent(const ExecutiveOptions& options, const std::vector<CoreLease>& leases,
                           CoreProvider& provider, ThreadMaker& maker, BestEffortLane& best_effort, const Clock& clock)
    : options_(options),
      leases_(leases),
      natives_(task_natives(options)),
      clock_(clock),
      provider_(provider),
      best_effort_(best_effort),
      inbox_(options.max_tasks, parker_),
      queue_(options.queue_capacity),
      hints_(options.max_tasks),
      recorder_(options.recorder, manager_options(options, leases, natives_), options.max_tasks),
      counters_(options.recorder.requests, core_counters(options, leases), options.max_tasks, best_effort),
      housekeeper_(maker, provider, inbox_),
      core_watch_(leases, provider, inbox_),
      departures_(options.max_tasks),
      manager_(manager_options(options, leases, natives_), recorder_.manager()),
      home_(leases.front().core),
      others_(leases.size()) {
  for (const CoreLease& lease : leases_)
    pools_.push_back(std::make_unique<CorePool>(lease.core, options.max_tasks, inbox_, recorder_.lane(lease.core),
                                                options_.overshoot));
  records_.reserve(options.max_tasks);
  work_.reserve(8 * options.max_tasks);
  notes_.reserve(4 * options.max_tasks);
  if (!best_effort_.servers().empty() || options_.reader.budget > Duration::zero())
    for (const CoreLease& lease : leases_) tell_interference(lease, {});
  promise_is_stale_ = !best_effort_.servers().all_granted();
  housekeeper_.keep(core_watch_, CoreWatch::period);
  housekeeper_.keep(recorder_, recorder_.period());
  housekeeper_.keep(counters_, CounterPublisher::period);
}

ManagerAgent::~ManagerAgent() = default;

Pushed ManagerAgent::submit(JobPtr& job) noexcept {
  const Priority priority = job->task == no_task ? best_effort : hints_.of(job->task);
  JobPtr displaced;
  const Pushed pushed = queue_.push(job, priority, &displaced);
  if (pushed == Pushed::full || displaced) queue_full_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  if (pushed == Pushed::done) parker_.unpark();
  if (displaced) displaced->fail(full);
  return pushed;
}

void ManagerAgent::admit(AdmissionRequest request, std::unique_ptr<AdmissionHandler> handler) {
  auto asked = std::make_unique<AskedAdmission>();
  asked->request = std::move(request);
  asked->handler = std::move(handler);
  bool closed = false;
  {
    const std::lock_guard lock(door_mutex_);
    closed = closed_;
    if (!closed && admission_count_ < max_admissions) {
      ++admission_count_;
      admissions_.push_back(std::move(asked));
    }
  }
  if (asked) return asked->handler->failed(closed ? stopping : full);
  parker_.unpark();
}

void ManagerAgent::depart(TaskId task, PeerId owner) {
  if (departures_.ask(task, owner)) parker_.unpark();
}

void ManagerAgent::peer_gone(PeerId peer) {
  if (peer == PeerId{}) return;  // this process itself
  auto loss = std::make_unique<LostPeer>();
  loss->peer = peer;
  {
    const std::lock_guard lock(door_mutex_);
    if (!closed_) losses_.push_back(std::move(loss));
  }
  parker_.unpark();
}

void ManagerAgent::attach(TaskId task, PeerId owner, std::shared_ptr<JobSource> source) {
  auto attachment = std::make_unique<Attachment>();
  attachment->task = task;
  attachment->owner = owner;
  attachment->source = std::move(source);
  {
    const std::lock_guard lock(door_mutex_);
    if (!closed_) attachments_.push_back(std::move(attachment));
  }
  if (attachment) return attachment->source->close();
  parker_.unpark();
}

bool ManagerAgent::step(Time now) noexcept {
  const std::lock_guard lock(state_mutex_);
  bool busy = read_notes(now);
  busy |= take_attachment();
  const int dispatched = dispatch_jobs(now);
  busy |= dispatched > 0;
  // Who asked to leave before somebody asked to come leaves before.
  busy |= take_lost_peer(now) || take_departure(now) || take_admission(now);
  if (may_analyse(dispatched)) busy |= decide_newcomer(now);
  busy |= refresh_promise(now);
  if (!busy) busy = explain(now) || !manager_.refresh_bounds(slice);
  counters_.note(admitted_, refused_, jobs_refused_);
  // A lingering promise that is over has made ours stale, and the next try has a time of its own.
  wake_at_ = promise_is_stale_ ? promise_.at() : lingering_until();
  if (!waiting_.empty()) wake_at_ = std::min(wake_at_, newcomers_.at());
  return busy;
}

bool ManagerAgent::read_notes(Time now) noexcept {
  notes_.clear();
  inbox_.drain(notes_);
  for (const Note& note : notes_) std::visit([&](const auto& n) { handle_note(n, now); }, note);
  return !notes_.empty();
}

int ManagerAgent::dispatch_jobs(Time now) noexcept {
  int taken = 0;
  for (; taken < batch; ++taken) {
    JobPtr job = queue_.pop();
    if (!job) break;
    arrive(std::move(job), now);
  }
  return taken;
}

// A full batch: more may wait, and goes first. Newcomers are not shut out by a flood that lasts, though.
bool ManagerAgent::may_analyse(int dispatched) noexcept {
  if (dispatched == batch && ++skipped_ < most_skipped) return false;
  skipped_ = 0;
  return true;
}

void ManagerAgent::arrive(JobPtr job, Time now) noexcept {
  job->id_ = next_job_id();
  if (job->task == no_task && job->contract) {
    Newcomer newcomer{.request = job->id_,
                      .contract = *job->contract,
                      .owner = job->owner,
                      .label = std::string(job->label),
                      .handler = nullptr,
                      .job = std::move(job),
                      .since = now};
    return propose(std::move(newcomer), now);
  }
  // The arrival is what the contract counts from, unless its stamp is unset or ahead of the clock.
  const Time at = job->arrived == Time{} ? now : std::min(job->arrived, now);
  const sched::Arrived fact{.at = at, .job = job->id_, .task = job->task, .peer = job->owner};
  current_ = std::move(job);
  tell(fact, now);
  if (current_) {  // neither placed nor refused: the task is not ready for jobs
    ++jobs_refused_;
    std::exchange(current_, nullptr)->refuse({.code = sched::RefusalCode::reorganizing});
  }
}

bool ManagerAgent::take_lost_peer(Time now) noexcept {
  std::unique_ptr<LostPeer> lost;
  {
    const std::lock_guard lock(door_mutex_);
    lost = losses_.pop_front();
  }
  if (!lost) return false;
  drop_newcomers(lost->peer);
  tell(sched::PeerLost{.at = now, .peer = lost->peer}, now);
  return true;
}

bool ManagerAgent::take_departure(Time now) noexcept {
  const TaskId task = departures_.next();
  if (task == no_task) return false;
  tell(sched::Departed{.at = now, .task = task}, now);
  return true;
}

// A task that is still waiting for its thread has nobody who knows of it yet.
bool ManagerAgent::take_attachment() noexcept {
  std::unique_ptr<Attachment> attachment;
  {
    const std::lock_guard lock(door_mutex_);
    attachment = attachments_.pop_front();
  }
  if (!attachment) return false;
  Record* record = find(attachment->task);
  const bool theirs = record && !record->leaving && record->report.owner == attachment->owner;
  if (!theirs || !record->worker->give(attachment->source)) attachment->source->close();
  return true;
}

bool ManagerAgent::take_admission(Time now) noexcept {
  std::unique_ptr<AskedAdmission> asked;
  {
    const std::lock_guard lock(door_mutex_);
    asked = admissions_.pop_front();
    if (asked) --admission_count_;
  }
  if (!asked) return false;
  propose({.request = next_job_id(),
           .contract = asked->request.contract,
           .owner = asked->request.owner,
           .label = std::move(asked->request.label),
           .handler = std::move(asked->handler),
           .job = nullptr,
           .since = now},
          now);
  return true;
}

// Its id stays known for a while, for those of its requests that are still in the queue.
void ManagerAgent::drop_newcomers(PeerId peer) noexcept {
  if (lost_peers_.size() == remembered_peers) lost_peers_.pop_front();
  lost_peers_.push_back(peer);
  const auto drop = [&](auto& list) {
    for (Newcomer& newcomer : list)
      if (newcomer.owner == peer) fail(std::move(newcomer), gone);
    std::erase_if(list, [&](const Newcomer& newcomer) { return newcomer.owner == peer; });
  };
  drop(waiting_);
  drop(deciding_);
  NodeList<AskedAdmission> dropped;
  {
    const std::lock_guard lock(door_mutex_);
    for (std::size_t left = admission_count_; left > 0; --left) {  // once around; bound: max_admissions
      auto asked = admissions_.pop_front();
      const bool theirs = asked->request.owner == peer;
      admission_count_ -= theirs ? 1 : 0;
      (theirs ? dropped : admissions_).push_back(std::move(asked));
    }
  }
  while (auto asked = dropped.pop_front()) asked->handler->failed(gone);  // bound: as above
}

void ManagerAgent::propose(Newcomer newcomer, Time now) {
  if (std::find(lost_peers_.begin(), lost_peers_.end(), newcomer.owner) != lost_peers_.end())
    return fail(std::move(newcomer), gone);
  if (!is_sound(newcomer.contract)) return turn_away(std::move(newcomer), {.code = sched::RefusalCode::bad_contract});
  if (waiting_.size() >= max_admissions) return fail(std::move(newcomer), full);
  if (waiting_.empty()) newcomers_.start(now);
  waiting_.push_back(std::move(newcomer));
}

// A slice of the first newcomer's analysis; or, when that has ended, its decision inside a transaction of the provider.
bool ManagerAgent::decide_newcomer(Time now) noexcept {
  if (waiting_.empty() || !newcomers_.is_due(now)) return false;
  const bool prepared = waiting_.front().request == preparing_;
  const bool lasts = now - waiting_.front().since >= patience;
  if (prepared && lasts) return turn_away(take_first(), {.code = sched::RefusalCode::reorganizing}), true;
  if (prepared && !manager_.continue_preparing(slice)) return true;
  const auto others = provider_.begin();
  if (!others) {
    newcomers_.failed(now);
    if (lasts) fail(take_first(), others.error());
    return lasts;
  }
  newcomers_.start(now);
  settle_lingering(*others, now);
  note_others(*others, waiting_.front().contract);
  if (!prepared) prepare_first();
  if (!manager_.continue_preparing(prepared ? 0 : slice)) {
    provider_.abandon();
    return true;
  }
  decide_first(now);
  return true;
}

void ManagerAgent::prepare_first() noexcept {
  const Newcomer& first = waiting_.front();
  preparing_ = first.request;
  manager_.prepare(first.owner, first.contract);
}

ManagerAgent::Newcomer ManagerAgent::take_first() noexcept {
  Newcomer first = std::move(waiting_.front());
  waiting_.pop_front();
  return first;
}

// Ends the transaction.
void ManagerAgent::decide_first(Time now) noexcept {
  Newcomer newcomer = take_first();
  preparing_ = {};
  const sched::Proposed fact{
      .at = now, .request = newcomer.request, .peer = newcomer.owner, .contract = newcomer.contract};
  deciding_.push_back(std::move(newcomer));
  const auto commands = manager_.decide(fact);
  work_.insert(work_.end(), commands.begin(), commands.end());
  const auto promised = provider_.end(promises());
  if (!promised) {
    // Not written down, so not promised: an Admit that finds nobody waiting for it makes the task depart.
    for (const sched::Command& command : work_)
      if (const auto* admit = std::get_if<sched::Admit>(&command))
        if (auto unwritten = take_newcomer(admit->request)) try_again(std::move(*unwritten), promised.error(), now);
  }
  promise_is_stale_ = !promised || !best_effort_.servers().all_granted();
  carry_out(now);
}

// It is decided anew when only another process came between.
void ManagerAgent::try_again(Newcomer newcomer, Error error, Time now) noexcept {
  if (error.kind != ErrorKind::transient || now - newcomer.since >= patience) return fail(std::move(newcomer), error);
  newcomers_.failed(now);
  waiting_.push_front(std::move(newcomer));
}

// What others promised is interference to the newcomer, and where it would break one of theirs its core is closed to
// it.
void ManagerAgent::note_others(std::span<const Promise> others, const Contract& newcomer) {
  const std::vector<Promise> mine = others.empty() ? std::vector<Promise>{} : task_promises();
  alone_ = true;
  for (std::size_t i = 0; i < leases_.size(); ++i) {
    const CoreLease& lease = leases_[i];
    others_[i] = promised_on(lease, others);
    alone_ = alone_ && others_[i] == 0;
    manager_.set_closed(lease.core, options_.admission && closes(lease, others, mine, newcomer));
    tell_interference(lease, others);
  }
  // The others' deadlines are checked against one newcomer on one core, not against a reshuffle of ours.
  // What moves cannot be taken back either when another process has promised something meanwhile.
  manager_.set_repack(alone_ && provider_.alone());
}

// What runs on the core beside our tasks and the platform: other processes, and what serves best effort.
void ManagerAgent::tell_interference(const CoreLease& lease, std::span<const Promise> others) {
  auto loads = interference_on(lease, others);
  best_effort_.servers().add_loads(lease.core, loads);
  if (options_.reader.budget > Duration::zero()) loads.push_back(options_.reader);
  manager_.set_interference(lease.core, loads);
}

// Whether another process's task would be late with the newcomer on the core of `lease`, or with what our platform load
// grows by: there, and for our first task also on the manager's core.
bool ManagerAgent::closes(const CoreLease& lease, std::span<const Promise> others, const std::vector<Promise>& mine,
                          const Contract& newcomer) const {
  if (others.empty()) return false;
  std::vector<Promise> ours = mine;
  ours.push_back(task_promise(lease, newcomer));
  add_platform(ours);
  best_effort_.servers().add_promises(ours);
  const bool first = mine.empty() && lease.core != home_;
  return !others_hold(lease, others, ours) || (first && !others_hold(home(), others, ours));
}

const CoreLease& ManagerAgent::home() const noexcept {
  for (const CoreLease& lease : leases_)
    if (lease.core == home_) return lease;
  return leases_.front();
}

// Neighbours know nothing of resources: the longest section blocks everybody, and what an enforced job exceeds its
// budget by to end a section is part of its budget.
Promise ManagerAgent::task_promise(const CoreLease& lease, const Contract& original) const {
  Contract contract = original;
  Duration longest{};
  for (ResourceUse& use : contract.uses) longest = std::max(longest, std::exchange(use, {}).longest);
  if (contract.on_overrun != OverrunPolicy::report)
    contract.budget = std::min(contract.budget + longest, contract.deadline - contract.suspension);
  return {.core = lease.core,
          .physical_core = lease.physical_core,
          .contract = contract,
          .blocking = longest,
          .levels = natives_.task_levels()};
}

// Every task on every core that it is charged to, those whose work may still delay others, and the platform's load.
std::vector<Promise> ManagerAgent::task_promises() const {
  std::vector<Promise> result;
  const auto add = [&](CoreId core, const Contract& contract) {
    for (const CoreLease& lease : leases_)
      if (lease.core == core) result.push_back(task_promise(lease, contract));
  };
  for (const sched::TaskView& task : manager_.tasks()) {
    add(task.core, task.contract);
    if (task.target != no_core && task.target != task.core) add(task.target, task.contract);
  }
  for (const Lingering& left : lingering_) result.push_back(left.promise);
  add_platform(result);
  return result;
}

std::vector<Promise> ManagerAgent::promises() const {
  std::vector<Promise> result = task_promises();
  best_effort_.servers().add_promises(result);
  return result;
}

// Where tasks are, and on the manager's core, which works for all of them. Once for each core.
void ManagerAgent::add_platform(std::vector<Promise>& promises) const {
  if (promises.empty()) return;
  for (const CoreLease& lease : leases_) {
    const auto is_here = [&](PromiseKind kind) {
      return std::any_of(promises.begin(), promises.end(),
                         [&](const Promise& p) { return p.core == lease.core && p.kind == kind; });
    };
    const bool needed = lease.core == home_ || is_here(PromiseKind::task);
    if (!needed || is_here(PromiseKind::platform)) continue;
    for (const sched::PlatformLoad& load : {options_.platform, options_.reader})
      if (load.budget > Duration::zero() || load.blocking > Duration::zero())
        promises.push_back(load_promise(lease, load));
  }
}

// Our own tasks may use what it held from this idle instant on; a neighbour's may have begun before it, and no third
// party may count on the room before that one is done.
void ManagerAgent::linger(CoreId core, const Contract& contract, Time now) {
  for (const CoreLease& lease : leases_)
    if (lease.core == core) lingering_.push_back({.promise = task_promise(lease, contract), .since = now});
  promise_is_stale_ = true;
}

// Inside a transaction.
void ManagerAgent::settle_lingering(std::span<const Promise> others, Time now) {
  for (Lingering& left : lingering_) {
    if (left.until != never) continue;
    left.until = left.since;
    for (const CoreLease& lease : leases_)
      if (lease.core == left.promise.core) left.until += longest_deadline_on(lease, others);
  }
  std::erase_if(lingering_, [&](const Lingering& left) { return left.until <= now; });
}

Time ManagerAgent::lingering_until() const noexcept {
  Time next = never;
  for (const Lingering& left : lingering_) next = std::min(next, left.until);
  return next;
}

// After tasks left: what is promised shrinks, as soon as the provider has time.
bool ManagerAgent::refresh_promise(Time now) noexcept {
  promise_is_stale_ = promise_is_stale_ || lingering_until() <= now;
  if (!promise_is_stale_ || !promise_.is_due(now)) return false;
  const auto others = provider_.begin();
  if (!others) {
    promise_.failed(now);
    return false;
  }
  settle_lingering(*others, now);
  BestEffortServers& servers = best_effort_.servers();
  servers.claim(*others, promises());
  promise_is_stale_ = !provider_.end(promises());
  promise_is_stale_ ? promise_.failed(now) : promise_.start(now + retry_period);
  if (!promise_is_stale_) servers.grant();
  if (!servers.all_granted()) promise_is_stale_ = true, promise_.start(now + server_retry_period);
  return true;
}

// Refusals learn what would have fitted when nothing else is to be done, or in the end without.
bool ManagerAgent::explain(Time now) noexcept {
  if (explaining_.empty()) return false;
  Explanation& first = explaining_.front();
  if (now - first.newcomer.since < explain_within) {
    if (std::exchange(asking_, first.newcomer.request) != first.newcomer.request)
      manager_.begin_nearest(first.newcomer.contract);
    const auto found = manager_.continue_nearest(slice);
    if (!found) return true;
    first.refusal.nearest = *found;
  }
  turn_away(std::move(first.newcomer), first.refusal);
  explaining_.pop_front();
  return true;
}

void ManagerAgent::shut_down(Time now) noexcept {
  queue_.close();
  std::optional<NodeList<AskedAdmission>> asked;
  std::optional<NodeList<Attachment>> unattached;
  {
    const std::lock_guard lock(door_mutex_);
    closed_ = true;
    asked.emplace(std::move(admissions_));
    admission_count_ = 0;
    unattached.emplace(std::move(attachments_));
  }
  while (auto admission = asked->pop_front()) admission->handler->failed(stopping);  // bound: max_admissions
  while (auto attachment = unattached->pop_front()) attachment->source->close();     // bound: the tasks
  {
    const std::lock_guard lock(state_mutex_);
    while (JobPtr job = queue_.pop()) job->fail(stopping);  // bound: the queue's capacity
    for (Newcomer& newcomer : waiting_) fail(std::move(newcomer), stopping);
    for (Newcomer& newcomer : deciding_) fail(std::move(newcomer), stopping);
    for (Explanation& e : explaining_) turn_away(std::move(e.newcomer), e.refusal);
    waiting_.clear(), deciding_.clear(), explaining_.clear();
    for (auto& [id, record] : records_) {
      if (record->handler) std::exchange(record->handler, nullptr)->failed(stopping);
      let_go(*record, std::nullopt, now);
    }
  }
  housekeeper_.close();
  const std::lock_guard lock(state_mutex_);
  for (auto& [id, record] : records_) forget(*record);
  records_.clear();
  provider_.withdraw();
}

}  // namespace corelane::dispatch
