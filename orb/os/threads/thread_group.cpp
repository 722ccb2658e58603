#include "orb/os/threads/thread_group.h"

#include <algorithm>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "orb/base/errors.h"

namespace corelane::os {

ThreadGroup::ThreadGroup(ThreadOptions each, std::size_t most) : each_(std::move(each)), most_(most) {}

// The member is in the list before its thread starts: if it could not be kept, the new thread would have to be joined
// here.
Expected<bool> ThreadGroup::start(MemberPtr member) noexcept {
  Member& starts = *member;
  std::uint64_t number = 0;
  {
    const LockGuard lock(mutex_);
    if (joined_ || size() >= most_) return false;
    try {
      members_.push_back(std::move(member));
    } catch (const std::bad_alloc&) {
      return errors::no_memory;
    }
    number = made_++;
    ++starting_;
    alive_.fetch_add(1, std::memory_order_relaxed);  // relaxed: see size()
    note_change();
  }
  auto thread = make_thread(starts, number);
  MemberPtr failed;  // dies after the lock
  const LockGuard lock(mutex_);
  --starting_;
  if (!thread) {
    const auto place = std::ranges::find_if(members_, [&](const MemberPtr& each) { return each.get() == &starts; });
    failed = std::move(*place);
    members_.erase(place);
    alive_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: see size()
    note_change();
    return thread.error();
  }
  starts.thread_ = std::move(*thread);
  // PAIR thread_group.has_handle: release here -> acquire in run(). Publishes the handle.
  starts.has_handle_.store(true, std::memory_order_release);
  starts.has_handle_.notify_one();
  return true;
}

Expected<Thread> ThreadGroup::make_thread(Member& member, std::uint64_t number) noexcept try {
  ThreadOptions options = each_;
  options.name += std::to_string(number);
  return start_thread(std::move(options), [this, &member]() noexcept { run(member); });
} catch (const std::bad_alloc&) {
  return errors::no_memory;
}

void ThreadGroup::run(Member& member) noexcept {
  // PAIR thread_group.has_handle: acquire here <- release in start().
  member.has_handle_.wait(false, std::memory_order_acquire);
  member.live();
  leave(member);
  join_ended();
  const LockGuard lock(mutex_);
  member.ended_ = true;
}

void ThreadGroup::leave(Member& member) noexcept {
  const LockGuard lock(mutex_);
  if (!std::exchange(member.has_left_, true)) alive_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: see size()
}

void ThreadGroup::join_ended() noexcept {
  for (;;) {  // bound: the threads that are gone
    MemberPtr ended;
    {
      const LockGuard lock(mutex_);
      ended = take_ended();
    }
    if (!ended) return;
    ended->thread_.join();  // gives the stack back
  }
}

// Returns a member whose thread is gone, or null.
ThreadGroup::MemberPtr ThreadGroup::take_ended() noexcept {
  const auto is_gone = [](const MemberPtr& member) { return member->ended_ && member->thread_.try_join(); };
  const auto place = std::ranges::find_if(members_, is_gone);
  if (place == members_.end()) return nullptr;
  MemberPtr ended = std::move(*place);
  members_.erase(place);
  note_change();
  return ended;
}

void ThreadGroup::join() noexcept {
  Members members;
  {
    const LockGuard lock(mutex_);
    joined_ = true;
    while (starting_ > 0) {  // bound: the start of a thread
      const ReleasedLock released(mutex_);
      std::this_thread::yield();
    }
    members.swap(members_);
    note_change();
  }
  for (const MemberPtr& member : members) member->thread_.join();
}

void ThreadGroup::rebind() noexcept {
  if (!each_.core) return;
  const LockGuard lock(mutex_);
  for (const MemberPtr& member : members_)
    if (!member->ended_ && member->has_handle_.load(std::memory_order_relaxed))  // relaxed: the mutex orders the handle
      (void)member->thread_.bind(*each_.core);
}

void ThreadGroup::note_change() noexcept {
  generation_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the mutex orders what it counts
}

}  // namespace corelane::os
