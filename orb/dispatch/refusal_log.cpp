#include "orb/dispatch/refusal_log.h"

#include <algorithm>

#include "orb/base/peer.h"
#include "orb/os/lock.h"

namespace corelane::dispatch {

void RefusalLog::record(std::string_view label, PeerId owner, const Contract& contract, const sched::Refusal& why,
                        Time asked) noexcept {
  const os::LockGuard lock(mutex_);
  Row& row = row_of(label.substr(0, label_length), owner);
  row.owner = connection_of(owner);
  row.contract = contract;
  row.why = why;
  row.asked = asked;
  row.turn = ++turns_;
  ++row.times;
}

// Returns the row of the label, for clients or for this process. If there is none, returns the row with the oldest
// refusal, emptied; a free row is older than all.
RefusalLog::Row& RefusalLog::row_of(std::string_view label, PeerId owner) noexcept {
  const bool is_own = owner == PeerId{};
  const auto is_its = [&](const Row& row) {
    return row.times > 0 && row.name() == label && (row.owner == PeerId{}) == is_own;
  };
  if (const auto found = std::ranges::find_if(rows_, is_its); found != rows_.end()) return *found;
  Row& row = *std::ranges::min_element(rows_, {}, &Row::turn);
  row.length = label.copy(row.label.data(), row.label.size());
  row.times = 0;
  return row;
}

std::vector<RefusedAdmission> RefusalLog::latest() const {
  std::vector<Row> rows;
  rows.reserve(most);  // before the lock: the manager may wait for it
  {
    const os::LockGuard lock(mutex_);
    rows = rows_;
  }
  std::erase_if(rows, [](const Row& row) { return row.times == 0; });
  std::ranges::sort(rows, std::ranges::greater{}, &Row::turn);
  std::vector<RefusedAdmission> result;
  for (const Row& row : rows)
    result.push_back({.label = std::string(row.name()),
                      .owner = row.owner,
                      .contract = row.contract,
                      .why = row.why,
                      .asked = row.asked,
                      .times = row.times});
  return result;
}

}  // namespace corelane::dispatch
