#include "orb/dispatch/task_events.h"

#include <cxxabi.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "orb/base/text/what_of.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"

namespace corelane::dispatch {
namespace {

thread_local bool handling = false;

std::uint8_t bit_of(TaskEventKind kind) noexcept {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(kind));
}

// Returns the name of the function that sets the handler.
const char* setter_of(TaskEventKind kind) noexcept {
  constexpr const char* names[] = {"on_miss", "on_overrun", "on_oversleep"};
  return names[static_cast<std::size_t>(kind)];
}

void complain(TaskEventKind kind, std::string_view thrown) noexcept try {
  os::log::warn(std::string("the handler of ") + setter_of(kind) + " threw: " + std::string(thrown));
} catch (const std::bad_alloc&) {
  os::log::warn("the handler of a task's event threw something");
}

}  // namespace

bool inside_event_handler() noexcept { return handling; }

void TaskEvents::set(TaskEventKind kind, TaskEventHandler handler) {
  std::shared_ptr<const TaskEventHandler> next;
  if (handler) next = std::make_shared<const TaskEventHandler>(std::move(handler));
  const os::LockGuard lock(calling_);
  // relaxed: a hint for post(); without a handler, tell() does nothing
  if (next)
    wanted_.fetch_or(bit_of(kind), std::memory_order_relaxed);
  else
    wanted_.fetch_and(static_cast<std::uint8_t>(~bit_of(kind)), std::memory_order_relaxed);
  handlers_[static_cast<std::size_t>(kind)] = std::move(next);
}

// A reader that sees the number sees a task that is no older.
void TaskEvents::Counter::add(TaskId of) noexcept {
  latest.store(of, std::memory_order_relaxed);  // relaxed: the number below publishes it
  // PAIR task_events.counted: release here -> acquire in read(). Publishes the task.
  number.fetch_add(1, std::memory_order_release);
}

TaskEvents::Count TaskEvents::Counter::read() const noexcept {
  // PAIR task_events.counted: acquire here <- release in add().
  const std::uint64_t events = number.load(std::memory_order_acquire);
  return {.events = events, .last = latest.load(std::memory_order_relaxed)};  // relaxed: as in add()
}

TaskEvents::Tally TaskEvents::tally() const noexcept {
  const auto posted = [this](TaskEventKind kind) { return posted_of_[static_cast<std::size_t>(kind)].read(); };
  return {.misses = posted(TaskEventKind::miss),
          .overruns = posted(TaskEventKind::overrun),
          .oversleeps = posted(TaskEventKind::oversleep),
          .refusals = refused_.read()};
}

void TaskEvents::note_refused(TaskId of) noexcept { refused_.add(of); }

void TaskEvents::post(const TaskEvent& event) noexcept {
  posted_of_[static_cast<std::size_t>(event.kind)].add(event.task);
  // relaxed: see set()
  if ((wanted_.load(std::memory_order_relaxed) & bit_of(event.kind)) != 0 && push(event)) ask_for_thread();
}

bool TaskEvents::push(const TaskEvent& event) noexcept {
  const os::LockGuard lock(mutex_);
  if (count_ == capacity) return ++lost_, false;
  TaskEvent& place = events_[(first_ + count_++) % capacity];
  place = event;
  place.lost = std::exchange(lost_, 0);
  return true;
}

bool TaskEvents::pop(TaskEvent& event) noexcept {
  const os::LockGuard lock(mutex_);
  if (count_ == 0) return false;
  event = events_[first_];
  first_ = (first_ + 1) % capacity;
  --count_;
  return true;
}

bool TaskEvents::waiting() noexcept {
  const os::LockGuard lock(mutex_);
  return count_ > 0;
}

// If the queue has no room, the next event asks again.
void TaskEvents::ask_for_thread() noexcept {
  if (JobPtr job = take()) queue_.take_internal(job);
}

void TaskEvents::run(const JobContext&) noexcept {
  ran_ = true;
  handling = true;
  TaskEvent event;
  for (std::size_t i = 0; i < capacity && pop(event); ++i) tell(event);
  handling = false;
}

void TaskEvents::tell(const TaskEvent& event) noexcept {
  const os::LockGuard lock(calling_);
  const auto handler = handlers_[static_cast<std::size_t>(event.kind)];  // a copy, because it may replace itself
  if (!handler) return;
  try {
    (*handler)(event);
  } catch (const abi::__forced_unwind&) {
    os::end_with_thread("the handler of a task's event");
  } catch (const std::exception& fault) {
    complain(event.kind, what_of(fault));
  } catch (...) {
    complain(event.kind, "what is no std::exception");
  }
}

void TaskEvents::recycle() noexcept {
  const bool ran = std::exchange(ran_, false);
  put_back();
  if (ran && waiting()) ask_for_thread();  // for what came after the last look
}

}  // namespace corelane::dispatch
