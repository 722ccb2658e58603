// Measurement holds what recorded jobs say about an operation: how long its executions took, which contract it had, and
// which budget would have been enough. An execution time is the processor time of the task's thread from the job's
// beginning to its end, with the reply.
//
// Threads: pure. Allocates.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "orb/core/skeleton.h"
#include "orb/os/machine/cache_counters.h"
#include "orb/sched/trace/trace_file.h"

namespace corelane::tool {

// A series of calls of one operation beside other work on its last-level cache.
struct SeriesBeside {
  std::string work;                           // the task or the command that ran meanwhile
  std::vector<Duration> used{};               // ascending; at least one
  std::optional<os::CacheMetrics> metrics{};  // of the operation's thread; nothing: not counted
};

// The jobs of all tasks of one operation.
struct Measurement {
  std::string label;                    // "Plant/Controller.step"
  std::vector<TaskId> tasks{};          // in the order of their first records
  std::vector<Duration> used{};         // ascending
  std::optional<Duration> least_gap{};  // between two arrivals of one task
  bool came_early = false;              // some arrived less than T - J of their task's contract after the previous one
  std::optional<Contract> contract{};   // of the last task; nothing if its record was overwritten
  bool has_several = false;             // its tasks have different contracts
  std::vector<Contract> own{};          // the contracts that the server itself has for it, each once
  Duration longest_section{};           // of the locks in those contracts: no budget can be less
  std::uint64_t overruns = 0, misses = 0;
  std::uint64_t blocks = 0;  // jobs that blocked without announcing it
  Duration longest_block{};
  std::optional<std::uint16_t> intensity{};  // as Contract::intensity; nothing: not counted
  std::string uncounted{};                   // why it was not counted; "": nobody tried to
  std::optional<os::CacheMetrics> metrics{};
  std::vector<SeriesBeside> beside{};  // empty: it was not measured beside other work

  // Returns the quantile by nearest rank; `ppm` is in parts per million. Call it only if there are samples.
  Duration quantile(std::int64_t ppm) const;
};

// Returns a quantile of ascending samples, of which there is at least one, as Measurement::quantile() does.
Duration quantile_of(std::span<const Duration> samples, std::int64_t ppm);

struct Selection {
  TaskId only = no_task;  // only this task; no_task: all
  Time since{};           // jobs that arrived then or later
};
// Returns the measurements in the traces, by label. Traces of one process may share records: each job counts once.
std::vector<Measurement> measurements_of(std::span<const sched::TraceFile> traces, const Selection& selection = {});
inline std::vector<Measurement> measurements_of(const sched::TraceFile& trace, const Selection& selection = {}) {
  return measurements_of(std::span(&trace, 1), selection);
}
// Adds the measurements of another process.
void add(std::vector<Measurement>& sum, std::vector<Measurement> more);
// Returns what a table has beside the measured budget. `uses` is left to the IDL.
Contract terms_of(const Contract& contract);
// Adds the terms of `more`, each once.
void add_terms(std::vector<Contract>& terms, const std::vector<Contract>& more);

inline constexpr std::size_t few_samples = 100;  // with fewer, the longest one says little

// Returns the longest execution plus the margin, rounded up to two digits, and at least the longest section. Call it
// only if there are samples.
Duration proposed_budget(const Measurement& measurement, int margin_percent);

// Returns a table of a contracts file for the operation: `contract` with the budget in it.
std::string contracts_entry(const std::string& repository_id, const std::string& operation, const Contract& contract,
                            const std::string& comment);

// Returns such a table as a comment that says what is wrong with it, so that a server can still read the file.
std::string set_aside(const std::string& entry, const std::string& fault);

// Returns why a contracts file cannot use the text as an interface's name, and what to write. Returns "" if it has a
// version, or another format than IDL. A server compares it with the names of its interfaces character by character.
std::string fault_of_repository_id(const std::string& text);

// "Plant/Controller.step" -> "IDL:Plant/Controller:1.0"; nothing if the label has no interface.
std::optional<std::string> repository_id_of(const std::string& label);
using core::label_of;
// "Plant/Controller.step" -> "step".
std::string operation_of(const std::string& label);
// Returns whether the label may be cut: pages and traces store labels up to a length. Then the operation may be
// missing.
bool may_be_cut(const std::string& label);
// Returns whether they show this label as `shown`.
bool is_shown_as(const std::string& shown, const std::string& label);

}  // namespace corelane::tool
