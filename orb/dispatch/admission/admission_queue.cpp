#include "orb/dispatch/admission/admission_queue.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/peer.h"
#include "orb/os/lock.h"

namespace corelane::dispatch {

bool AdmissionQueue::is_before(const Place& a, const Place& b) noexcept {
  return std::tie(a.round, a.urgency, a.arrival) < std::tie(b.round, b.urgency, b.arrival);
}

// Returns the round of a new request, and moves the requests of its peer that it overtakes to later rounds. It does not
// overtake a request that is as urgent, nor one that was overtaken often enough, nor those before such a request.
std::uint64_t AdmissionQueue::take_round(PeerId peer, Duration urgency) noexcept {
  if (peer == PeerId{}) return served_ + 1;  // requests of this process
  std::uint64_t last = served_, kept = 0;
  for (const Place& place : waiting_) {
    if (!same_holder(place.peer, peer)) continue;
    last = std::max(last, place.round);
    if (place.urgency <= urgency || place.overtaken >= most_overtaking) kept = std::max(kept, place.round);
  }
  std::uint64_t round = last + 1;
  for (Place& place : waiting_) {
    if (!same_holder(place.peer, peer) || place.round <= kept) continue;
    round = std::min(round, place.round++);
    ++place.overtaken;
  }
  return round;
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
  const Duration urgency = candidate->contract.deadline - candidate->contract.jitter;
  const std::uint64_t round = take_round(peer, urgency);
  Place place{round, urgency, ++arrivals_, peer, 0, std::move(candidate)};
  if (waiting_.size() < most) {
    waiting_.push_back(std::move(place));
    return nullptr;
  }
  const auto last = std::ranges::max_element(waiting_, is_before);
  if (is_before(*last, place)) return std::move(place.candidate);
  return std::exchange(*last, std::move(place)).candidate;
}

AdmissionCandidatePtr AdmissionQueue::pop() noexcept {
  const os::LockGuard lock(mutex_);
  if (waiting_.empty()) return nullptr;
  const auto next = std::ranges::min_element(waiting_, is_before);
  served_ = next->round;
  AdmissionCandidatePtr candidate = std::move(next->candidate);
  if (next != std::prev(waiting_.end())) *next = std::move(waiting_.back());
  waiting_.pop_back();
  return candidate;
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
