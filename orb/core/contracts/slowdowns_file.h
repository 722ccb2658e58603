// SlowdownsFile is the file that the setting dispatch.slowdowns names: how much operations of this server slow each
// other down. It says which of these operations no object has. Objects come later than the settings, so an unknown
// operation is no fault of the file.
//
// Threads: any except real-time ones: all functions allocate, and most take a lock.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/thread_safety.h"
#include "orb/core/contracts/contracts_file.h"
#include "orb/core/contracts/slowdowns.h"
#include "orb/core/settings_fault.h"
#include "orb/core/skeleton.h"
#include "orb/os/mutex.h"

namespace corelane::core {

class SlowdownsFile {
 public:
  // Reads the file. Faults name the file, the line and the column.
  static Expected<std::shared_ptr<const SlowdownsFile>, SettingsFault> load(const std::string& path);
  // Does the same from text; `path` is for the faults.
  static Expected<std::shared_ptr<const SlowdownsFile>, SettingsFault> parse(std::string_view text,
                                                                             const std::string& path);
  SlowdownsFile(std::string path, const std::vector<PairSlowdown>& pairs);

  const std::shared_ptr<const dispatch::WorstSlowdowns>& worst() const noexcept { return worst_; }

  // Notes that an object with these operations is activated.
  void note(const Skeleton& skeleton) const;
  // Returns a line for each operation of the file that no activated object has, with the operation that was probably
  // meant. Each line is returned once while the program runs and once at its end.
  std::vector<std::string> unused(ContractsFile::Look look) const;

 private:
  using Labels = std::set<std::string, std::less<>>;

  // Constant after construction.
  const std::string path_;
  const std::shared_ptr<const dispatch::WorstSlowdowns> worst_;
  std::map<std::string, FilePlace> operations_;  // with their first tables

  mutable os::Mutex mutex_;
  mutable Labels active_ CORELANE_GUARDED_BY(mutex_);        // operations of all activated objects
  mutable Labels told_running_ CORELANE_GUARDED_BY(mutex_);  // operations
  mutable Labels told_ended_ CORELANE_GUARDED_BY(mutex_);    // the same
};

}  // namespace corelane::core
