// MeasuredOperation is an operation that `corelane measure` has measured, with the entry that it proposes for a
// contracts file. Threads: values. The functions are pure and allocate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "services/corelane/measure/measure.h"
#include "services/corelane/measure/measurement.h"
#include "services/corelane/measure/shared_cache.h"
#include "services/corelane/measure/table_basis.h"

namespace corelane::tool {

// An entry to add to a contracts file.
struct Proposal {
  std::string repository_id, operation;
  Contract contract;    // with the proposed budget
  std::string entry;    // the text of the table, as contracts_entry() returns it; a comment if there is a fault
  std::string fault{};  // why the entry is a comment: no contract can have this budget

  // Returns the name of the table, with its brackets.
  std::string key() const { return "[\"" + repository_id + "\"." + operation + "]"; }
};

struct MeasuredOperation {
  Measurement measurement;
  std::optional<TableBasis> basis{};   // nothing: the trace has no contract
  std::string fault{};                 // why no contract can have the proposed budget; "": one can, or there is none
  std::optional<Proposal> proposal{};  // nothing: the interface is unknown, or there is no contract
};

// Returns the measurement with its basis and the proposal for the given options. `interface` is the repository id of
// the operation's interface; "": the label says which. `measurement` has at least one sample.
MeasuredOperation measured_of(Measurement measurement, const MeasureOptions& options, const std::string& interface);

// Returns how long jobs blocked without announcing it. Call it only if there are such jobs.
std::string waits_text(const Measurement& m);

// Returns a slowdown for each series that was measured beside other work. `task` names them; "": the operation does.
std::vector<Slowdown> slowdowns_of(const Measurement& m, const std::string& task = {});

}  // namespace corelane::tool
