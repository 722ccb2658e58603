// RevokedCores: the cores of this host that its operator has taken back from the servers that meet in a runtime
// directory: the file `revoked` there names hardware threads, as in "2,3". A core that it names no more, or that had
// been named by a file that is gone, is lent again.
//
// Threads: one at a time, none that is real-time.
#pragma once

#include <string>
#include <vector>

#include "orb/base/ids.h"

namespace corelane::dispatch {

class RevokedCores {
 public:
  explicit RevokedCores(const std::string& directory) : path_(directory + "/revoked") {}

  // Reads the file again. What it cannot read changes nothing, and is said once.
  void look();
  bool has(CoreId core) const noexcept;
  const std::string& path() const noexcept { return path_; }

 private:
  void complain(const std::string& why);

  const std::string path_;
  std::vector<CoreId> cores_;
  std::string said_;
};

}  // namespace corelane::dispatch
