// RevokedCores holds the cores that the operator of this host has taken back from the servers that share a runtime
// directory. The file `revoked` there names hardware threads, as in "2,3". When it does not name a core any more, the
// servers may use that core again. When the file is gone, they may use all cores again.
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

  // Reads the file again. If it cannot be read, nothing changes, and the log says so once.
  void look();
  bool has(CoreId core) const noexcept;
  const std::string& path() const noexcept { return path_; }

 private:
  void complain(const std::string& why);

  const std::string path_;
  std::vector<CoreId> cores_;
  std::string logged_;
};

}  // namespace corelane::dispatch
