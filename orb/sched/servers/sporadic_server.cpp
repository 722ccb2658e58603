#include "orb/sched/servers/sporadic_server.h"

#include <algorithm>
#include <cassert>

namespace corelane::sched {

SporadicServer::SporadicServer(const Reservation& reservation, Time start, std::size_t chunks) noexcept
    : reservation_(reservation), limit_(chunks) {
  assert(is_sound(reservation) && chunks >= 2 && chunks <= most_chunks);
  queue_[0] = {start, reservation.budget};
}

void SporadicServer::wake(Time now) noexcept {
  if (queue_[0].at >= now) return;
  Chunk first{now, Duration::zero()};
  std::size_t merged = 0;
  while (merged < count_ && queue_[merged].at <= now + first.budget) first.budget += queue_[merged++].budget;
  drop_front(merged - 1);
  queue_[0] = first;
}

void SporadicServer::charge(Time, Duration used) noexcept {
  const auto turns = used / reservation_.budget;  // each turn uses every token once
  shift(turns * reservation_.period);
  used -= turns * reservation_.budget;
  while (used > Duration::zero()) {
    Chunk& head = queue_[0];
    const Chunk spent{head.at + reservation_.period, std::min(used, head.budget)};
    used -= spent.budget;
    head = {head.at + spent.budget, head.budget - spent.budget};
    if (head.budget == Duration::zero()) drop_front(1);
    give_back(spent);
  }
}

Duration SporadicServer::available(Time now) const noexcept {
  Duration sum{};
  for (const Chunk& chunk : chunks()) {
    if (chunk.at > now + sum) break;
    sum += chunk.budget;
  }
  return sum;
}

void SporadicServer::shift(Duration by) noexcept {
  for (Chunk& chunk : std::span(queue_).first(count_)) chunk.at += by;
}

void SporadicServer::drop_front(std::size_t chunks) noexcept {
  std::copy(queue_.begin() + static_cast<std::ptrdiff_t>(chunks), queue_.begin() + static_cast<std::ptrdiff_t>(count_),
            queue_.begin());
  count_ -= chunks;
}

void SporadicServer::give_back(Chunk chunk) noexcept {
  if (count_ > 0) {
    Chunk& last = queue_[count_ - 1];
    assert(last.at + last.budget <= chunk.at);
    if (count_ == limit_ || last.at + last.budget == chunk.at) {
      last = {chunk.at - last.budget, last.budget + chunk.budget};
      return;
    }
  }
  queue_[count_++] = chunk;
}

}  // namespace corelane::sched
