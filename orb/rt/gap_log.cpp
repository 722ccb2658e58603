#include "orb/rt/gap_log.h"

#include <algorithm>

namespace corelane::rt {

GapLog::GapLog(std::size_t capacity) : slots_(capacity) {}

void GapLog::record(const Gap& gap) noexcept {
  // relaxed: the number only hands each writer a slot of its own
  const std::uint64_t index = next_.fetch_add(1, std::memory_order_relaxed);
  if (index >= slots_.size()) return;
  slots_[index].gap = gap;
  // PAIR gap_log.written: release here -> acquire in GapLog::gaps(). Publishes the gap.
  slots_[index].written.store(true, std::memory_order_release);
}

std::vector<Gap> GapLog::gaps() const {
  std::vector<Gap> gaps;
  for (const Slot& slot : slots_) {
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
  return external_time(core, core, from, from, to);
}

Duration GapLog::external_time(CoreId core, CoreId way, Time release, Time begin, Time end) const {
  struct Stretch {
    Time from, to;
  };
  std::vector<Stretch> stretches;
  for (const Gap& gap : gaps()) {
    if (gap.cause != GapCause::machine) continue;
    if (gap.core == core) stretches.push_back({gap.begin, std::min(gap.begin + gap.length, end)});
    if (gap.core == way) stretches.push_back({gap.begin, std::min(gap.begin + gap.length, begin)});
  }
  std::sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) { return a.from < b.from; });
  Duration covered{};
  Time reached = release;
  for (const auto& [from, to] : stretches) {
    covered += std::max(Duration::zero(), to - std::max(from, reached));
    reached = std::max(reached, to);
  }
  return covered;
}

}  // namespace corelane::rt
