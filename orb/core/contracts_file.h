// ContractsFile: contracts by configuration (contracts.file). It gives operations a contract, or changes what their IDL
// says, without touching the IDL. TOML, a table for each operation of an interface:
//
//   ["IDL:Plant/Controller:1.0".step]
//   period = "10ms"           # required where the IDL has no contract, as budget is
//   budget = "1500us"
//   deadline = "8ms"          # T
//   jitter = "1ms"            # a tenth of the smaller of T and D
//   suspension = "0ms"        # none
//   importance = 3            # 0
//   on_overrun = "demote"     # report; or cancel
//   uses = { bus = "200us" }  # none; each resource with its longest section
//
// What a table leaves out is as the IDL says, and without a contract there what the comment says; so is a deadline that
// is the IDL's period, and a jitter that is a tenth there: they follow the period of the table. Tables of an
// interface count for those that inherit from it, unless they have one of their own for the operation.
//
// Threads: load() makes a value; contracts_of() any but real-time ones (it allocates and takes a lock).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "orb/core/settings_fault.h"
#include "orb/core/skeleton.h"
#include "orb/core/toml_text.h"

namespace corelane::core {

// What fault_of() leaves: a deadline and jitter that span more periods than jobs of a task may wait, so that no server
// admits it; with what would do. Not for real-time threads (allocates).
std::optional<std::string> backlog_fault_of(const Contract& sound);

class ContractsFile {
 public:
  // Faults name the file, the line and the column.
  static Expected<std::shared_ptr<const ContractsFile>, SettingsFault> load(const std::string& path);
  // The same from text; `path` is for the faults.
  static Expected<std::shared_ptr<const ContractsFile>, SettingsFault> parse(std::string_view text,
                                                                             const std::string& path);

  // The IDL's contracts with this file's over them. Faults: an operation that the interface does not have, a contract
  // that is incomplete or unsound with what the IDL says.
  Expected<OperationContracts, SettingsFault> contracts_of(const Skeleton& skeleton) const;
  // What these are otherwise than in the IDL, a line for each operation of the file; of each interface once.
  std::vector<std::string> untold_changes(const Skeleton& skeleton, const OperationContracts& contracts) const;

  // Whether objects may come yet: those that are activated on demand do.
  enum class Look { running, ended };
  // A line for each interface that nobody asked about, with the one that was probably meant. Each is told once by the
  // looks while the program runs and once by those at its end.
  std::vector<std::string> unused(Look look) const;
  // Likewise for each resource that an operation of an activated interface uses by a name that neither one of `made`
  // has nor one of these interfaces' IDL knows: what is really locked then has no ceiling, and is not analysed.
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
    std::optional<std::array<ResourceUse, max_uses>> uses;
    std::vector<Resource> resources{};  // as many as there are
    FilePlace at{};
  };
  using Operations = std::map<std::string, Entry, std::less<>>;
  class Reader;

  static std::string with_names(std::string text, const Entry& entry);
  static std::string uses_text(const Entry& entry);
  static Contract merged(const Entry& entry, const Contract* declared);
  std::optional<std::string> fault_of(const Operations& operations, const Skeleton& skeleton) const;
  void note(const Skeleton& skeleton) const;
  const Entry* find(const Skeleton& skeleton, std::string_view operation) const;
  std::string at(FilePlace place) const { return text_of(path_, place); }

  // Constant after construction.
  std::string path_;
  std::map<std::string, Operations, std::less<>> interfaces_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  mutable std::set<std::string, std::less<>> asked_;  // the interfaces of all objects that were asked about
  mutable std::set<ResourceId> declared_;             // what their IDL says that they use
  mutable std::set<std::string, std::less<>> told_running_, told_ended_;  // ids and places
  mutable std::set<std::string, std::less<>> told_changes_;               // ids
};

}  // namespace corelane::core
