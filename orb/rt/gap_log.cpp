#include "orb/rt/gap_log.h"

#include <algorithm>
#include <span>

namespace corelane::rt {

GapLog::GapLog(std::size_t capacity) : slots_(capacity) {}

void GapLog::record(const Gap& gap) noexcept {
  // relaxed: the number only gives each writer a slot of its own
  const std::uint64_t index = next_.fetch_add(1, std::memory_order_relaxed);
  if (index >= slots_.size()) return;
  slots_[index].gap = gap;
  // PAIR gap_log.written: release here -> acquire in GapLog::gaps(). Publishes the gap.
  slots_[index].written.store(true, std::memory_order_release);
}

std::vector<Gap> GapLog::gaps() const {
  std::vector<Gap> gaps;
  // relaxed: each slot's own flag says whether it is written
  const std::size_t used = std::min<std::size_t>(slots_.size(), next_.load(std::memory_order_relaxed));
  for (const Slot& slot : std::span(slots_).first(used)) {
    // PAIR gap_log.written: acquire here <- release in GapLog::record().
    if (slot.written.load(std::memory_order_acquire)) gaps.push_back(slot.gap);
  }
  return gaps;
}

std::uint64_t GapLog::dropped() const noexcept {
  // relaxed: a count for a report
  const std::uint64_t recorded = next_.load(std::memory_order_relaxed);
  return recorded > slots_.size() ? recorded - slots_.size() : 0;
}

Duration GapLog::external_time(CoreId core, Time from, Time to) const {
  std::vector<Gap> inside = gaps();
  std::erase_if(inside, [&](const Gap& gap) {
    return gap.cause != GapCause::machine || gap.core != core || gap.begin >= to || gap.begin + gap.length <= from;
  });
  std::sort(inside.begin(), inside.end(), [](const Gap& a, const Gap& b) { return a.begin < b.begin; });
  Duration covered{};
  Time reached = from;
  for (const Gap& gap : inside) {
    const Time begin = std::max(gap.begin, reached);
    const Time end = std::min(gap.begin + gap.length, to);
    if (end > begin) covered += end - begin;
    reached = std::max(reached, end);
  }
  return covered;
}

}  // namespace corelane::rt
