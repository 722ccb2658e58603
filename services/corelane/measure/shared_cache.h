// What `corelane measure --call` needs to measure slowdowns: the core on which other work runs and shares the cache,
// and the file to which slowdowns are added.
// Threads: pure, except for files.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/eval/scenario.h"
#include "orb/os/machine/cache_counters.h"
#include "orb/os/machine/topology.h"
#include "services/corelane/host/host_files.h"
#include "services/corelane/measure/co_run.h"

namespace corelane::tool {

// Returns a core that shares its last-level cache with `core`, but is no hardware thread of the same physical core.
// Returns no_core if there is none.
CoreId core_beside(std::span<const os::CoreInfo> cores, CoreId core);

// How much longer an operation takes beside other work on the same last-level cache. It is a measured estimate, never a
// bound.
struct Slowdown {
  std::string operation;                      // "Plant/Controller.step"
  std::string beside;                         // the task or the command that ran beside it
  Duration alone{};                           // the median execution time without it
  Duration together{};                        // the median execution time beside it
  std::size_t samples = 0;                    // jobs of the shorter series
  std::optional<FactorRange> range{};         // nothing: too few samples
  std::optional<os::CacheMetrics> metrics{};  // of the operation beside the work; nothing: not counted

  double factor() const { return static_cast<double>(together.count()) / static_cast<double>(alone.count()); }
};

// Returns "1.31 times that alone (1.29 to 1.33 with 95 % confidence, 200 jobs)".
std::string factor_text(const Slowdown& slowdown);

// Returns an entry of a TOML file of slowdowns. In its labels, what is not UTF-8 becomes U+FFFD.
std::string toml_of(const Slowdown& slowdown);
// Returns why an option cannot give this label to a task; "" if it can. Files of slowdowns are in UTF-8.
std::string fault_of_label(const std::string& label);
// Returns why add_slowdowns() would not add slowdowns of the task beside these others to the file; "" if nothing is
// known against it. If `task` is empty, its label is not known yet, and only the other labels are checked: call it
// again with the label of the operation.
std::string fault_of_slowdowns_file(const std::string& path, const std::string& task,
                                    std::span<const std::string> beside);
// Adds the entries to the file, which may be a scenario, and which it makes if there is none. Writes nothing if the
// file would then not be read without a fault. Returns all slowdowns that the file has afterwards, or what is wrong.
Expected<std::vector<eval::PairSlowdown>, std::string> add_slowdowns(const std::string& path,
                                                                     std::span<const Slowdown> slowdowns);

}  // namespace corelane::tool
