#include "orb/core/contracts/refused_contracts.h"

#include <utility>

#include "orb/base/text/counted.h"
#include "orb/os/lock.h"

namespace corelane::core {

std::vector<std::string> RefusedContracts::note(const std::string& label, std::string line, Time now) {
  const os::LockGuard lock(mutex_);
  std::vector<std::string> lines;
  if (!began_ || now - *began_ >= window) {
    if (auto summary = take_summary()) lines.push_back(*std::move(summary));
    began_ = now;
    logged_ = 0;
  }
  if (logged_ < most) {
    ++logged_;
    lines.push_back(std::move(line));
  } else {
    ++unlogged_;
    last_ = label;
  }
  return lines;
}

std::optional<std::string> RefusedContracts::rest() {
  const os::LockGuard lock(mutex_);
  return take_summary();
}

std::optional<std::string> RefusedContracts::take_summary() {
  const std::uint64_t count = std::exchange(unlogged_, 0);
  if (count == 0) return std::nullopt;
  return counted(count, "more operation is", "more operations are") +
         " not admitted and refused like those above, the last of them " + last_ +
         "; `corelane top` counts them by operation, each with the latest reason";
}

// Never destroyed: an ORB that ends only with the process still uses it.
RefusedContracts& refused_contracts() noexcept {
  static RefusedContracts& contracts = *new RefusedContracts;
  return contracts;
}

}  // namespace corelane::core
