// ContractsFile reads contracts from a configuration file, which the setting contracts.file names. The file gives
// operations a contract, or changes the contract in their IDL, without a change of the IDL. It is TOML, with a table
// for each operation of an interface. A key's default is in the comment behind it:
//
//   ["IDL:Plant/Controller:1.0".step]
//   period = "10ms"           # required if the IDL has no contract; so is budget
//   budget = "1500us"
//   deadline = "8ms"          # T, the period
//   jitter = "1ms"            # a tenth of the smaller of T and D, the deadline
//   suspension = "0ms"        # none
//   importance = 3            # 0
//   on_overrun = "demote"     # report; the third policy is cancel
//   intensity = 25            # 0, unknown: last-level-cache accesses per 1,000 instructions
//   uses = { bus = "200us" }  # none; each resource with its longest section
//
// A key that a table leaves out keeps its value in the IDL's contract. If the IDL has no contract, the key has its
// default. A deadline that equals the period in the IDL follows the period of the table. So does a jitter that has its
// default in the IDL. An interface's tables also apply to interfaces that inherit from it, unless they have their own
// table for the operation.
//
// Threads: any except real-time ones: all functions allocate, and most take a lock.
//
// The folder orb/core/contracts reads the files with contracts and slowdowns, and says what is wrong with contracts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "orb/base/thread_safety.h"
#include "orb/core/settings_fault.h"
#include "orb/core/skeleton.h"
#include "orb/core/text/toml_text.h"
#include "orb/os/mutex.h"

namespace corelane::core {

class ContractsFile {
 public:
  // Reads the file. Faults name the file, the line and the column.
  static Expected<std::shared_ptr<const ContractsFile>, SettingsFault> load(const std::string& path);
  // Does the same from text; `path` is for the faults.
  static Expected<std::shared_ptr<const ContractsFile>, SettingsFault> parse(std::string_view text,
                                                                             const std::string& path);

  // Returns the IDL's contracts with this file's changes. Faults: an operation that the interface does not have; a
  // contract that is incomplete or unsound together with the IDL's values.
  Expected<OperationContracts, SettingsFault> contracts_of(const Skeleton& skeleton) const;
  // Returns how these contracts differ from the IDL, with a line for each operation of the file. Later calls for the
  // same interface return nothing.
  std::vector<std::string> untold_changes(const Skeleton& skeleton, const OperationContracts& contracts) const;

  // A task of the file, for programs that read no IDL.
  struct Task {
    std::string repository_id, operation;
    Contract contract{};
    FilePlace at{};
  };
  // Returns the contract of each operation as it is where the IDL has none, in the order of the file. Faults: an entry
  // without period or budget; a contract that no server admits.
  Expected<std::vector<Task>, SettingsFault> tasks() const;

  // Says whether objects may still be activated. Objects that are activated on demand may be, while the program runs.
  enum class Look { running, ended };
  // Returns a line for each interface of the file that no activated object has, with the interface that was probably
  // meant. Each line is returned once while the program runs and once at its end.
  std::vector<std::string> unused(Look look) const;
  // Returns a line for each unknown resource that an operation of an activated interface uses. Each is returned as
  // often as those of unused(). A name is known if it is in `made` or in the IDL of an activated interface. A resource
  // that is locked under another name has no ceiling, and is not analyzed.
  std::vector<std::string> unknown_resources(Look look, const std::vector<std::string>& made) const;

 private:
  struct Resource {
    std::string name;
    FilePlace at;
  };
  struct Entry {
    std::optional<Duration> period, deadline, budget, jitter, suspension;
    std::optional<std::int16_t> importance;
    std::optional<OverrunPolicy> on_overrun;
    std::optional<std::uint16_t> intensity;
    std::optional<std::array<ResourceUse, max_uses>> uses;
    std::vector<Resource> resources{};  // in the order of `uses`
    FilePlace at{};
  };
  using Operations = std::map<std::string, Entry, std::less<>>;
  class Reader;

  static std::string with_names(std::string text, const Entry& entry);
  static std::string uses_text(const Entry& entry);
  static Contract merged(const Entry& entry, const Contract* declared);
  static std::optional<std::string> fault_of_merged(const Entry& entry, const Contract& contract);
  std::optional<std::string> fault_of(const Operations& operations, const Skeleton& skeleton) const;
  void note(const Skeleton& skeleton) const;
  const Entry* find(const Skeleton& skeleton, std::string_view operation) const;
  std::string at(FilePlace place) const { return text_of(path_, place); }

  // Constant after construction.
  std::string path_;
  std::map<std::string, Operations, std::less<>> interfaces_;

  mutable os::Mutex mutex_;
  using Texts = std::set<std::string, std::less<>>;
  mutable Texts asked_ CORELANE_GUARDED_BY(mutex_);  // interfaces of all objects that contracts_of() was called for
  mutable std::set<ResourceId> declared_ CORELANE_GUARDED_BY(mutex_);  // resources that their IDL uses
  mutable Texts told_running_ CORELANE_GUARDED_BY(mutex_);             // repository ids and places
  mutable Texts told_ended_ CORELANE_GUARDED_BY(mutex_);               // the same
  mutable Texts told_changes_ CORELANE_GUARDED_BY(mutex_);             // repository ids
};

}  // namespace corelane::core
