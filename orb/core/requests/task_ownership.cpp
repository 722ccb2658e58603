#include "orb/core/requests/task_ownership.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "orb/os/lock.h"

namespace corelane::core {

std::optional<TaskOwnership::Ticket> TaskOwnership::open(std::uint32_t request_id, Bytes object_key,
                                                         const Upcall& upcall, std::size_t capacity) {
  Entry entry{.upcall = &upcall, .request_id = request_id, .object_key = {object_key.begin(), object_key.end()}};
  const os::LockGuard lock(mutex_);
  if (entries_.size() >= capacity) return std::nullopt;
  entry.ticket = Ticket{++tickets_};
  entries_.push_back(std::move(entry));
  return entries_.back().ticket;
}

void TaskOwnership::close(Ticket ticket) noexcept {
  const os::LockGuard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.ticket == ticket; });
}

bool TaskOwnership::settle(Ticket ticket, TaskId task, const Contract& contract) noexcept {
  const os::LockGuard lock(mutex_);
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.ticket == ticket; });
  if (entry == entries_.end()) return false;
  entry->task = task;
  entry->arrivals = sched::ArrivalMeter(contract);
  return true;
}

std::optional<TaskId> TaskOwnership::cancel(std::uint32_t request_id) noexcept {
  std::optional<TaskId> task;
  const os::LockGuard lock(mutex_);
  const auto given_up = [&](const Entry& entry) { return entry.request_id == request_id && !entry.used; };
  const auto entry = std::find_if(entries_.begin(), entries_.end(), given_up);
  if (entry == entries_.end()) return task;
  if (entry->task != no_task) task = entry->task;
  entries_.erase(entry);
  return task;
}

bool TaskOwnership::forget(TaskId task) noexcept {
  const os::LockGuard lock(mutex_);
  return std::erase_if(entries_, [&](const Entry& entry) { return entry.task == task && task != no_task; }) > 0;
}

std::vector<TaskOwnership::Entry> TaskOwnership::clear() noexcept {
  const os::LockGuard lock(mutex_);
  return std::exchange(entries_, {});
}

bool TaskOwnership::empty() noexcept {
  const os::LockGuard lock(mutex_);
  return entries_.empty();
}

bool TaskOwnership::has(TaskId task) noexcept {
  const os::LockGuard lock(mutex_);
  return task != no_task && std::ranges::any_of(entries_, [&](const Entry& entry) { return entry.task == task; });
}

TaskOwnership::Use TaskOwnership::use(TaskId task, Bytes object_key, const Upcall& upcall, Time at) noexcept {
  const os::LockGuard lock(mutex_);
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.task == task; });
  if (entry == entries_.end() || entry->upcall != &upcall) return Use::forbidden;
  // An object key has one byte at least. memcmp(), since std::equal() compares each std::byte alone.
  const bool is_of_object = object_key.size() == entry->object_key.size() &&
                            std::memcmp(object_key.data(), entry->object_key.data(), object_key.size()) == 0;
  if (!is_of_object) return Use::forbidden;
  entry->used = true;
  return entry->arrivals.foresees(at) ? Use::foreseen : Use::early;
}

}  // namespace corelane::core
