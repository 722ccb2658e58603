#include "orb/sim/overheads.h"

#include <utility>

namespace corelane::sim {

std::string_view name_of(OverheadKind kind) {
  switch (kind) {
    case OverheadKind::release:
      return "release";
    case OverheadKind::dispatch:
      return "dispatch";
    case OverheadKind::hop:
      return "hop";
    case OverheadKind::preemption:
      return "preemption";
    case OverheadKind::migration:
      return "migration";
  }
  return "";
}

const DurationDistribution& cost_of(const Overheads& overheads, OverheadKind kind) {
  switch (kind) {
    case OverheadKind::release:
      return overheads.release;
    case OverheadKind::dispatch:
      return overheads.dispatch;
    case OverheadKind::hop:
      return overheads.hop;
    case OverheadKind::preemption:
      return overheads.preemption;
    case OverheadKind::migration:
      break;
  }
  return overheads.migration;
}

DurationDistribution& cost_of(Overheads& overheads, OverheadKind kind) {
  return const_cast<DurationDistribution&>(cost_of(std::as_const(overheads), kind));
}

}  // namespace corelane::sim
