#include "orb/os/wait/directory_bell.h"

namespace corelane::os {

bool DirectoryBell::watch(std::span<const std::string> directories) noexcept {
  watch_ = bell_.open() ? DirectoryWatch(directories) : DirectoryWatch();
  return watches();
}

void DirectoryBell::park(Time deadline) noexcept {
  resting_&& watches() ? bell_.wait_beside(watch_.descriptor(), deadline) : bell_.wait(deadline);
}

}  // namespace corelane::os
