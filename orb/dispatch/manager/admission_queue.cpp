#include "orb/dispatch/manager/admission_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/peer.h"
#include "orb/os/lock.h"

namespace corelane::dispatch {

// The first entry of the peer in waiting_ has its latest round.
std::uint64_t AdmissionQueue::round_for(PeerId peer) const noexcept {
  if (peer == PeerId{}) return served_ + 1;  // requests of this process
  const auto last =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const Place& place) { return same_holder(place.peer, peer); });
  return std::max(served_, last == waiting_.end() ? 0 : last->round) + 1;
}

bool AdmissionQueue::push(AdmissionCandidatePtr candidate) noexcept {
  Error why = errors::queue_full;
  AdmissionCandidatePtr turned_away;
  {
    const os::LockGuard lock(mutex_);
    if (closed_) {
      why = errors::shutting_down;
      turned_away = std::move(candidate);
    } else {
      turned_away = insert(std::move(candidate));
    }
  }
  if (turned_away) turned_away->fail(why);
  return !turned_away;
}

// Returns the request that loses its place, or null.
AdmissionCandidatePtr AdmissionQueue::insert(AdmissionCandidatePtr candidate) noexcept {
  const PeerId peer = candidate->owner;
  const std::uint64_t round = round_for(peer);
  const auto behind = std::ranges::partition_point(waiting_, [&](const Place& place) { return place.round > round; });
  if (waiting_.size() < most) {
    waiting_.insert(behind, Place{.round = round, .peer = peer, .candidate = std::move(candidate)});
    return nullptr;
  }
  if (behind == waiting_.begin()) return candidate;
  AdmissionCandidatePtr last = std::move(waiting_.front().candidate);
  const auto free = std::move(std::next(waiting_.begin()), behind, waiting_.begin());
  *free = {.round = round, .peer = peer, .candidate = std::move(candidate)};
  return last;
}

AdmissionCandidatePtr AdmissionQueue::pop() noexcept {
  const os::LockGuard lock(mutex_);
  if (waiting_.empty()) return nullptr;
  served_ = waiting_.back().round;
  AdmissionCandidatePtr next = std::move(waiting_.back().candidate);
  waiting_.pop_back();
  return next;
}

bool AdmissionQueue::empty() const noexcept {
  const os::LockGuard lock(mutex_);
  return waiting_.empty();
}

void AdmissionQueue::drop(PeerId peer) noexcept {
  const auto take = [&]() -> AdmissionCandidatePtr {
    const os::LockGuard lock(mutex_);
    const auto found =
        std::find_if(waiting_.begin(), waiting_.end(), [&](const Place& place) { return place.peer == peer; });
    if (found == waiting_.end()) return nullptr;
    AdmissionCandidatePtr theirs = std::move(found->candidate);
    waiting_.erase(found);
    return theirs;
  };
  while (const AdmissionCandidatePtr theirs = take()) theirs->fail(errors::task_gone);  // bound: most
}

void AdmissionQueue::close() noexcept {
  {
    const os::LockGuard lock(mutex_);
    closed_ = true;
  }
  while (const AdmissionCandidatePtr left = pop()) left->fail(errors::shutting_down);  // bound: most
}

}  // namespace corelane::dispatch
