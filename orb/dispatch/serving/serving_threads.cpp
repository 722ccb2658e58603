#include "orb/dispatch/serving/serving_threads.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/base/thread_safety.h"
#include "orb/dispatch/current.h"
#include "orb/dispatch/serving/upcall_monitor.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/wait/wait.h"

namespace corelane::dispatch {
namespace {

constexpr std::size_t read_buffer_size = 68 * 1024;  // holds 64 KiB of arguments and their header
constexpr std::size_t fewest_threads = 2;            // one that leads, and one that takes its place
constexpr int events_at_once = 16;
constexpr int sources_between_waits = 16;
constexpr std::chrono::milliseconds expiry_retry{200};  // until connections are checked again, if there was no memory

void warn_of_shortage() noexcept try {
  os::log::warn("requests without a contract wait until a thread is free: " +
                std::string(minor::text(minor::no_thread)));
} catch (const std::bad_alloc&) {
}

}  // namespace

class ServingThreads::Monitor final : public UpcallMonitor {
 public:
  Monitor(ServingThreads& all, Duration patience) : UpcallMonitor(patience), all_(all) {}

 private:
  const std::vector<std::shared_ptr<Upcaller>>& upcallers() override {
    // A thread that was made just now is looked at the next time.
    const std::uint64_t generation = all_.threads_.generation();
    if (generation != known_generation_) all_.copy_workers(known_);
    known_generation_ = generation;
    return known_;
  }
  ServingThreads& all_;
  std::uint64_t known_generation_ = 0;
  std::vector<std::shared_ptr<Upcaller>> known_;
};

// Worker is one of the threads. Its buffer belongs to the source that it serves.
class ServingThreads::Worker final : public os::ThreadGroup::Member, public Suspendable, public Upcaller {
 public:
  explicit Worker(ServingThreads& all) : all_(all), buffer_(read_buffer_size) {}

  void suspend(WaitsFor what) noexcept override {
    all_.begin_detached(*this);
    if (suspended_++ == 0) all_.limiter_.leave();
    if (runs_for_ && runs_for_->begin_wait(what)) all_.call_help(runs_for_);
  }
  void resume(WaitsFor what) noexcept override {
    if (runs_for_ && runs_for_->end_wait(what)) all_.call_help(runs_for_);
    if (--suspended_ == 0) all_.limiter_.come_back();
    all_.end_detached(*this);
  }
  bool has_substitute() const noexcept override { return true; }

  Now now() noexcept override {
    const os::LockGuard lock(mutex);
    return source ? Now{.of = source.get(), .upcall = source->turn.upcall()} : Now{};
  }
  std::uint64_t servants_ended() const noexcept override {
    return jobs.load(std::memory_order_relaxed);  // relaxed: a hint
  }
  void take_over(Turn::Upcall upcall) noexcept override { all_.take_over(*this, upcall); }

  // Returns whether this thread can watch a connection while it rests.
  bool can_watch() const noexcept { return static_cast<bool>(bell_); }
  // Waits until call(), or until the quiet connection has something.
  Woken rest(Time until) noexcept {
    if (!quiet) return parker_.park(until) ? Woken::by_call : Woken::not_at_all;
    std::array<pollfd, 2> watched{{{.fd = bell_.get(), .events = POLLIN, .revents = 0},
                                   {.fd = quiet->descriptor(), .events = POLLIN, .revents = 0}}};
    for (;;) {  // bound: EINTR, one turn for each signal
      const timespec left = os::to_timespec(os::left_until(until));
      const int ready = ppoll(watched.data(), watched.size(), until == never ? nullptr : &left, nullptr);
      if (ready < 0 && errno == EINTR) continue;
      if (watched[0].revents != 0) return take_call(), Woken::by_call;
      return ready > 0 ? Woken::by_connection : Woken::not_at_all;
    }
  }
  // Thread: any, with mutex_ of ServingThreads, while the worker rests.
  void call() noexcept { quiet ? (void)eventfd_write(bell_.get(), 1) : parker_.unpark(); }
  // Takes a call that was made.
  void take_call() noexcept {
    eventfd_t ignored;
    quiet ? (void)eventfd_read(bell_.get(), &ignored) : (void)parker_.park(never);
  }

  // The connection that this thread watches while it rests. Its turn is free: other threads may end the connection, and
  // find a thread that serves it. Owner: the thread; call() reads it while that rests.
  SourcePtr quiet;

  // Guarded by mutex_ of ServingThreads.
  std::size_t detached = 0;
  bool has_begun = false;

  std::atomic<bool> serves_as_leader{false};  // this is serving_leader_ of ServingThreads; changes with its mutex

  // Guards the source. Also guards the buffer while the monitor keeps what is left in it (RequestSource::detach()).
  os::PiMutex mutex;
  SourcePtr source CORELANE_GUARDED_BY(mutex);
  std::atomic<std::uint64_t> jobs{0};

 private:
  void live() noexcept override {
    const SuspendableScope tells(*this);
    serve_all();
    bell_.reset();  // the worker stays until its thread is joined, which may be late
  }
  void serve_all() noexcept {
    for (;;) {  // bound: ends with stop(), or when the thread is not needed
      const Work work = all_.next_work(*this);
      all_.leave_quiet(*this);
      if (!work.source) return;
      runs_for_ = work.source;
      if (work.helps) {
        help(work.source);
      } else {
        attach(work.source);
        serve(work.source);
        detach();
      }
      runs_for_.reset();
    }
  }

  void attach(const SourcePtr& next) noexcept {
    const os::LockGuard lock(mutex);
    source = next;
  }
  // If the monitor is keeping what is left in the buffer, this waits for it.
  void detach() noexcept {
    const os::LockGuard lock(mutex);
    source.reset();
  }

  [[gnu::hot]] void serve(const SourcePtr& served) noexcept {
    JobPtr job;
    Time last = os::now();  // when the last request arrived, or a later reading of the clock
    // If false, the clock need not be read after a request: it has ended soon after it arrived, or run() has returned
    // false.
    const bool reads_clock = all_.limiter_.is_on() || all_.options_.patience > std::chrono::milliseconds{1};
    for (;;) {  // bound: ends when the connection has nothing and this thread may not wait for it, or when it has ended
      const bool stays = all_.may_stay(*this);
      const Time until = stays ? last + all_.options_.stay : Time{};
      switch (served->next(job, buffer_, until)) {
        case RequestSource::Found::job:
          last = std::max(last, job->arrived);
          if (!run(served, job)) return;
          if (reads_clock) last = os::now();
          break;
        case RequestSource::Found::again:
          last = os::now();
          break;
        case RequestSource::Found::nothing:
          // It may not be waited for here now: it expires, memory is short, or another connection needs a thread.
          if (!stays || os::now() < until) return all_.give_back(served);
          return all_.keep_quiet(*this, served);
        case RequestSource::Found::full:
          return;  // a thread that makes room queues it again
        case RequestSource::Found::blocked:
          return all_.wait_blocked(served);
        case RequestSource::Found::gone:
          return all_.forget(*served);
        case RequestSource::Found::leaves:
          all_.forget(*served);
          return served->leave();
      }
    }
  }

  // Runs the job. False: the connection was taken over.
  bool run(const SourcePtr& served, JobPtr& job) noexcept {
    // Before the upcall, or the monitor would take the connection from a thread that waits here.
    if (!all_.limiter_.try_enter()) {
      served->send_kept();
      all_.limiter_.enter();
    }
    const Turn::Upcall upcall = served->turn.begin_upcall();
    all_.monitor_->notice();
    run_one(*job);
    if (served->turn.end_upcall(upcall)) return served->finish(std::move(job)), true;
    { const os::LockGuard taken_over(mutex); }  // take_over() holds it until the source is given to another thread
    finish_alone(served, std::move(job));
    return false;
  }

  // Finishes a request whose connection another thread reads by now, and runs what waited for it.
  void finish_alone(const SourcePtr& served, JobPtr job) noexcept {
    // Two statements: a parameter lives until the end of the whole expression, so the job would be kept during go_on().
    RequestSource::Next next = served->finish_detached(std::move(job));
    go_on(served, std::move(next));
    all_.end_detached(*this);
  }
  void help(const SourcePtr& served) noexcept {
    all_.begin_detached(*this);
    go_on(served, served->take_waiting());
    all_.end_detached(*this);
  }
  // Bound: the requests of the connection that wait.
  void go_on(const SourcePtr& served, RequestSource::Next next) noexcept {
    for (;;) {
      if (next.may_read) all_.put_ready(served);
      if (next.more) all_.call_help(served);
      if (!next.job) return;
      all_.limiter_.enter();
      run_one(*next.job);
      next = served->finish_detached(std::move(next.job));
    }
  }

  void run_one(Job& job) noexcept {
    job.run(best_effort_context(job.arrived));
    all_.limiter_.leave();
    // relaxed: only this thread writes it; a report
    jobs.store(jobs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  ServingThreads& all_;
  os::Parker parker_;  // of a rest without a quiet connection
  // Of a rest with one. Every worker has it, whether it needs it or not, so that the number of descriptors is steady.
  os::Fd bell_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::vector<std::byte> buffer_;
  SourcePtr runs_for_;
  int suspended_ = 0;  // suspend() without its resume()
};

ServingThreads::ServingThreads(const ServingOptions& options)
    : options_(options),
      monitor_(std::make_unique<Monitor>(*this, options.patience)),
      limiter_(options.servants, static_cast<int>(options.running + options.detached)),
      threads_(
          {.name = "cl-serve-", .stack = options.stack, .lazy_stack = true, .stack_setting = "best_effort.stack"}) {}

ServingThreads::~ServingThreads() { stop(); }

Expected<void> ServingThreads::start() {
  if (auto opened = poll_.open(); !opened) return opened;
  if (auto started = monitor_->start(); !started) return started;
  const os::LockGuard lock(mutex_);
  while (counts_.alive < std::min(fewest_threads, options_.running))  // bound: two
    if (auto grown = grow(); !grown) return grown;
  update_hints();
  return {};
}

void ServingThreads::stop() noexcept {
  std::vector<SourcePtr> sources;
  {
    const os::LockGuard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
    for (const auto& [raw, source] : sources_) sources.push_back(source);
    for (Worker* worker : std::exchange(idle_, {})) worker->call();
  }
  for (const SourcePtr& source : sources) source->close();
  limiter_.lift();
  poll_.ring();
  monitor_->stop();
  threads_.join();
  std::vector<std::byte> buffer(read_buffer_size);
  for (const SourcePtr& source : sources) {
    JobPtr job;
    if (is_known(*source)) (void)source->next(job, buffer, Time{});  // it notices that it is closed
  }
  const os::LockGuard lock(mutex_);
  waiting_.clear();
  sources_.clear();
}

bool ServingThreads::is_known(const RequestSource& source) const noexcept {
  const os::LockGuard lock(mutex_);
  return sources_.contains(&source);
}

bool ServingThreads::add(SourcePtr source) noexcept try {
  const RequestSource& added = *source;
  {
    const os::LockGuard lock(mutex_);
    if (stopped_) return false;
    sources_.emplace(&added, source);
  }
  if (!poll_.add(*source)) {
    const os::LockGuard lock(mutex_);
    sources_.erase(&added);
    return false;
  }
  give_back(source);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// The lock is not held while a connection is served.
ServingThreads::Work ServingThreads::next_work(Worker& worker) noexcept {
  const os::LockGuard lock(mutex_);
  if (!std::exchange(worker.has_begun, true)) --counts_.starting;
  stop_serving_as_leader(worker);
  for (;;) {  // bound: ends with stop(), or when the thread is not needed any more
    if (stopped_) return {};
    const bool has_work = !waiting_.empty();
    if (!led_ && (!has_work || since_wait_ >= sources_between_waits)) {
      lead(worker);
    } else if (has_work) {
      ++since_wait_;
      Work work = take_work();
      call_substitute(worker);
      update_hints();
      return work;
    } else {
      const Rested rested = rest(worker);
      if (rested == Rested::ends) return {};
      if (rested != Rested::found) continue;
      SourcePtr found = std::move(worker.quiet);
      if (!found->turn.claim()) {  // another thread serves it, or has ended it
        const os::ReleasedLock released(mutex_);
        found.reset();
        continue;
      }
      if (counts_.called == 0 && counts_.starting == 0) call_substitute(worker);
      update_hints();
      return {.source = std::move(found)};
    }
  }
}

void ServingThreads::call_substitute(Worker& worker) noexcept {
  if (!needs_thread() || call_thread() || led_ || serving_leader_ != nullptr) return;
  serving_leader_ = &worker;
  worker.serves_as_leader.store(true, std::memory_order_relaxed);  // relaxed: read by this thread, and under the lock
}

ServingThreads::Work ServingThreads::take_work() noexcept {
  if (SourcePtr helped = waiting_.pop_helped()) return {.source = std::move(helped), .helps = true};
  return {.source = waiting_.pop_ready()};
}

// Waits for the epoll set. If a connection waits to be served already, only polls the set.
void ServingThreads::lead(Worker& worker) noexcept {
  led_ = true;
  since_wait_ = 0;
  const bool may_sleep = waiting_.empty();
  update_hints();
  std::array<epoll_event, events_at_once> room;
  std::span<const epoll_event> events;
  {
    const os::ReleasedLock released(mutex_);
    leave_quiet(worker);
    expire_some();
    events = poll_.wait(room, may_sleep);
  }
  led_ = false;
  for (const epoll_event& event : events) {
    const RequestSource* const raw = SourcePoll::source_of(event);
    if (raw == nullptr) {
      if (!stopped_) poll_.quiet();
      continue;
    }
    // A source that has ended meanwhile is not found. If another one has its address, a thread finds nothing to read
    // there.
    const auto found = sources_.find(raw);
    if (found != sources_.end() && found->second->turn.claim()) waiting_.push_ready(*found->second);
  }
}

// Waits until the worker is called, or until its quiet connection has something.
ServingThreads::Rested ServingThreads::rest(Worker& worker) noexcept {
  idle_.insert(worker.quiet ? idle_.begin() : idle_.end(), &worker);
  update_hints();
  const bool may_end = counts_.alive > fewest_threads;
  Woken woken{};
  {
    const os::ReleasedLock released(mutex_);
    woken = worker.rest(may_end ? os::now() + options_.linger : never);
  }
  if (std::erase(idle_, &worker) == 0) {
    if (woken != Woken::by_call) worker.take_call();  // called at this very moment
    if (!stopped_) --counts_.called;
    return Rested::called;
  }
  if (woken == Woken::by_connection) return Rested::found;
  const bool ends = counts_.alive > fewest_threads;
  if (ends) {
    --counts_.alive;
    // relaxed: the thread runs no more jobs; a report
    jobs_.fetch_add(worker.jobs.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
  }
  update_hints();
  return ends ? Rested::ends : Rested::stays;
}

bool ServingThreads::may_stay(const Worker& worker) const noexcept {
  // relaxed: hints; a thread that stays needlessly is free again after options_.stay
  return !lacks_thread_.load(std::memory_order_relaxed) && !worker.serves_as_leader.load(std::memory_order_relaxed);
}

void ServingThreads::stop_serving_as_leader(Worker& worker) noexcept {
  if (serving_leader_ != &worker) return;
  serving_leader_ = nullptr;
  worker.serves_as_leader.store(false, std::memory_order_relaxed);  // relaxed: see may_stay()
}

bool ServingThreads::may_grow() const noexcept {
  return !stopped_ && counts_.alive - std::min(counts_.detached, options_.detached) < options_.running;
}

// relaxed: see may_stay()
void ServingThreads::update_hints() noexcept {
  const bool comes = led_ || counts_.called > 0 || counts_.starting > 0 || !idle_.empty();
  const bool lacks = !comes && !waiting_.empty();
  if (lacks_thread_.load(std::memory_order_relaxed) != lacks) lacks_thread_.store(lacks, std::memory_order_relaxed);
}

bool ServingThreads::call_thread() noexcept {
  if (stopped_) return false;
  if (!idle_.empty()) {
    Worker* const next = idle_.back();
    idle_.pop_back();
    ++counts_.called;
    next->call();
  } else if (led_) {
    poll_.ring();
  } else if (counts_.starting == 0) {
    return may_grow() && !os::is_real_time() && grow();
  }
  return true;
}

// Makes a thread, with the lock released. Call it on an ordinary thread.
Expected<void> ServingThreads::grow() noexcept {
  std::shared_ptr<Worker> made;
  try {
    idle_.reserve(counts_.alive + 1);
    made = std::make_shared<Worker>(*this);
  } catch (const std::bad_alloc&) {
    return errors::no_memory;
  }
  ++counts_.alive;
  ++counts_.starting;
  Expected<bool> started = false;
  {
    const os::ReleasedLock released(mutex_);
    started = threads_.start(std::move(made));
    threads_.join_ended();
  }
  if (started && *started) return {};
  --counts_.alive;
  --counts_.starting;
  if (started) return errors::shutting_down;  // stop() came meanwhile
  if (!std::exchange(warned_, true)) {
    const os::ReleasedLock released(mutex_);
    warn_of_shortage();
  }
  return started.error();
}

void ServingThreads::put_ready(const SourcePtr& source) noexcept {
  const os::LockGuard lock(mutex_);
  waiting_.push_ready(*source);
  (void)call_thread();
  update_hints();
}

void ServingThreads::call_help(const SourcePtr& source) noexcept {
  const os::LockGuard lock(mutex_);
  if (!waiting_.push_helped(source)) return;
  (void)call_thread();
  update_hints();
}

bool ServingThreads::evict(const SourcePtr& source) noexcept {
  const bool waits = source->turn.interrupt();
  if (!waits && !source->turn.claim()) return false;
  if (!source->evict(waits)) return give_up_turn(source), false;
  forget(*source);
  return true;
}

void ServingThreads::give_up_turn(const SourcePtr& source) noexcept {
  source->block() ? wait_blocked(source) : give_back(source);
}

// Releases the turn before it asks epoll: an event that came before would find the turn taken, and be lost.
void ServingThreads::give_back(const SourcePtr& source) noexcept {
  if (!source->arm()) return put_ready(source);
  const int fd = source->descriptor();
  source->turn.release();
  poll_.watch_bytes(source.get(), fd);
  poll_.note_expiry(source->expires_at());  // last: expire_some() can only claim a free turn
}

// As give_back(), but the worker watches for bytes.
void ServingThreads::keep_quiet(Worker& worker, const SourcePtr& source) noexcept {
  if (!worker.can_watch()) return give_back(source);
  if (!source->arm()) return put_ready(source);
  source->turn.release();
  worker.quiet = source;
  poll_.note_expiry(source->expires_at());
}

// If another thread has the turn, that one gives the connection back, or has ended it.
void ServingThreads::leave_quiet(Worker& worker) noexcept {
  const SourcePtr quiet = std::move(worker.quiet);
  if (quiet && quiet->turn.claim()) give_back(quiet);
}

// Releases the turn of a blocked connection. The connection can still expire, and epoll reports the end of its peer.
// Before release(), resume() or an event of epoll may have found the turn taken and done nothing. So this thread checks
// the connection once more after release(). It asks epoll before release(), because afterwards another thread may have
// the turn and ask epoll for bytes.
void ServingThreads::wait_blocked(const SourcePtr& source) noexcept {
  poll_.watch_end(*source);
  source->turn.release();
  poll_.note_expiry(source->expires_at());
  if (source->unblocked()) resume(source);
}

void ServingThreads::resume(const SourcePtr& source) noexcept {
  if (source->turn.claim()) put_ready(source);
}

void ServingThreads::forget(const RequestSource& source) noexcept {
  SourcePtr last;  // dies after the lock
  const os::LockGuard lock(mutex_);
  const auto found = sources_.find(&source);
  if (found == sources_.end()) return;
  last = std::move(found->second);
  sources_.erase(found);
  poll_.remove(source);
}

// Thread: the leader's, without the lock.
void ServingThreads::expire_some() noexcept try {
  const Time now = os::now();
  if (!poll_.take_expiry(now)) return;
  std::vector<SourcePtr> late;
  Time next = never;
  {
    const os::LockGuard lock(mutex_);
    for (const auto& [raw, source] : sources_) {  // bound: the connections
      const Time at = source->expires_at();
      if (at <= now) {
        late.push_back(source);
      } else {
        next = std::min(next, at);
      }
    }
  }
  for (const SourcePtr& source : late)
    if (source->turn.claim()) source->expire(now) ? forget(*source) : give_up_turn(source);
  poll_.note_expiry(next);
} catch (const std::bad_alloc&) {
  poll_.note_expiry(os::now() + expiry_retry);
}

void ServingThreads::begin_detached(Worker& worker) noexcept {
  const os::LockGuard lock(mutex_);
  if (worker.detached++ > 0) return;
  stop_serving_as_leader(worker);
  if (++counts_.detached > options_.detached) shortages_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a report
  if (needs_thread()) (void)call_thread();
  update_hints();
}

void ServingThreads::end_detached(Worker& worker) noexcept {
  const os::LockGuard lock(mutex_);
  if (--worker.detached > 0) return;
  --counts_.detached;
  update_hints();
}

// With the worker's mutex held, the worker cannot use its buffer for anything else.
void ServingThreads::take_over(Worker& worker, Turn::Upcall upcall) noexcept {
  const os::LockGuard busy(worker.mutex);
  if (!worker.source || !worker.source->turn.take_over(upcall)) return;
  const SourcePtr source = std::move(worker.source);  // from here on, all that runs for it is another thread's
  begin_detached(worker);
  source->detach() ? put_ready(source) : give_back(source);
}

void ServingThreads::copy_workers(std::vector<std::shared_ptr<Upcaller>>& workers) const {
  workers.clear();
  threads_.for_each(
      [&](const os::ThreadGroup::MemberPtr& member) { workers.push_back(std::static_pointer_cast<Worker>(member)); });
}

std::uint64_t ServingThreads::jobs() const noexcept {
  const os::LockGuard lock(mutex_);                           // no thread ends meanwhile
  std::uint64_t sum = jobs_.load(std::memory_order_relaxed);  // relaxed: a report
  threads_.for_each([&](const os::ThreadGroup::MemberPtr& member) {
    sum += static_cast<const Worker&>(*member).jobs.load(std::memory_order_relaxed);  // relaxed: a report
  });
  return sum;
}

std::size_t ServingThreads::threads() const noexcept {
  const os::LockGuard lock(mutex_);
  return counts_.alive;
}

std::size_t ServingThreads::connections() const noexcept {
  const os::LockGuard lock(mutex_);
  return sources_.size();
}

std::uint64_t ServingThreads::shortages() const noexcept {
  return shortages_.load(std::memory_order_relaxed);  // relaxed: a report
}

}  // namespace corelane::dispatch
