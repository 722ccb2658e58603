// OverheadAccount draws what each overhead costs, and counts them.
//
// Threads: one. charge() does not allocate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>

#include "orb/base/time.h"
#include "orb/sim/overheads.h"

namespace corelane::sim::multicore {

class OverheadAccount {
 public:
  OverheadAccount(const Overheads& overheads, std::uint64_t seed) : random_(seed) {
    for (const OverheadInfo& info : overhead_infos) costs_[index_of(info.kind)] = cost_of(overheads, info.kind);
  }

  // Counts one occurrence. Returns its cost.
  Duration charge(OverheadKind kind) {
    const DurationDistribution& cost = costs_[index_of(kind)];
    const Duration paid = cost.is_constant() ? cost.most() : cost.at(random_());
    OverheadUse& use = uses_[index_of(kind)];
    ++use.count;
    use.total += paid;
    return paid;
  }

  const OverheadUse& use(OverheadKind kind) const { return uses_[index_of(kind)]; }

 private:
  static constexpr std::size_t index_of(OverheadKind kind) { return static_cast<std::size_t>(kind); }

  std::array<DurationDistribution, overhead_infos.size()> costs_{};
  std::array<OverheadUse, overhead_infos.size()> uses_{};
  std::mt19937_64 random_;  // its sequence is fixed by the standard
};

}  // namespace corelane::sim::multicore
