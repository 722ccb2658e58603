// What recorded jobs say about an operation: how long its executions took, what it promised, and which budget would
// have held. An execution time is the processor time of the task's thread from the job's beginning to its end, reply
// included.
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
#include "orb/sched/trace_file.h"

namespace corelane::tool {

// The jobs of all tasks of one operation.
struct Measurement {
  std::string label;                    // "Plant/Controller.step"
  std::vector<TaskId> tasks{};          // in the order of their first records
  std::vector<Duration> used{};         // ascending
  std::optional<Duration> least_gap{};  // between two arrivals of one task
  bool came_early = false;              // some came less than T - J of their task's contract after the last one
  std::optional<Contract> contract{};   // of the task seen last; nothing where the record of it was overwritten
  bool has_several = false;             // its tasks have different ones
  std::vector<Contract> own{};          // the terms that the server itself has for it, each once
  Duration longest_section{};           // of what it locks by those: no budget can be less
  std::uint64_t overruns = 0, misses = 0;
  std::uint64_t blocks = 0;  // jobs that waited without saying so
  Duration longest_block{};

  // p in parts per million, by nearest rank. Call only when there are samples.
  Duration quantile(std::int64_t ppm) const;
};

struct Selection {
  TaskId only = no_task;  // this task alone; no_task: all
  Time since{};           // jobs that arrived then or later
};
// Those of the traces, by label. Traces of one process may have the same records: each job counts once.
std::vector<Measurement> measurements_of(std::span<const sched::TraceFile> traces, const Selection& selection = {});
inline std::vector<Measurement> measurements_of(const sched::TraceFile& trace, const Selection& selection = {}) {
  return measurements_of(std::span(&trace, 1), selection);
}
// The same of several processes.
void add(std::vector<Measurement>& sum, std::vector<Measurement> more);
// What a table says beside the budget that is measured, and `uses`, which it leaves to the IDL.
Contract terms_of(const Contract& contract);
// The terms of more, each once.
void add_terms(std::vector<Contract>& terms, const std::vector<Contract>& more);

inline constexpr std::size_t few_samples = 100;  // below, the longest one says little

// The longest execution and so many percent more, rounded up to two digits; the longest section at least. Call only
// when there are samples.
Duration proposed_budget(const Measurement& measurement, int margin_percent);

// A table of a contracts file for the operation. `contract` has what the budget is put into.
std::string contracts_entry(const std::string& repository_id, const std::string& operation, const Contract& contract,
                            const std::string& comment);

// Such a table as a comment, with what is wrong with it, so that a server reads the file all the same.
std::string set_aside(const std::string& entry, const std::string& fault);

// Why a contracts file has no use for it as an interface's name, with what to write; "": it is one with a version, or
// of another format than IDL's. A server compares it with those of its interfaces letter by letter.
std::string fault_of_repository_id(const std::string& text);

// "Plant/Controller.step" -> "IDL:Plant/Controller:1.0"; nothing for a label that names no interface.
std::optional<std::string> repository_id_of(const std::string& label);
using core::label_of;
// "Plant/Controller.step" -> "step".
std::string operation_of(const std::string& label);
// Pages and traces have room for so much of a label: of a longer one the operation may be missing.
bool may_be_cut(const std::string& label);
// Whether they show this one as `shown`.
bool is_shown_as(const std::string& shown, const std::string& label);

}  // namespace corelane::tool
