#include "orb/eval/measured_overheads.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "orb/base/contract.h"
#include "orb/eval/host_card/host_card.h"
#include "orb/os/files/small_file.h"

namespace corelane::eval {
namespace {

constexpr std::size_t longest_overhead_file = 1024 * 1024;  // bytes
constexpr const char* measure_again = "; measure again: corelane doctor --measure";

Duration up_to_microseconds(Duration time) { return std::chrono::ceil<std::chrono::microseconds>(time); }

// Returns why the overheads are useless: one that each job is charged with is missing, or one cannot be true. "": they
// can be charged.
std::string flaw_of(const RunOverheads& overheads) {
  if (overheads.costs.hop.most() == Duration::zero()) return "has no cost of a hop";
  if (overheads.costs.dispatch.most() == Duration::zero()) return "has no cost of a context switch";
  Duration worst = overheads.blocking;
  for (const sim::OverheadInfo& info : sim::overhead_infos)
    worst = std::max(worst, sim::cost_of(overheads.costs, info.kind).most());
  return worst > longest_overhead ? "has a cost of " + to_string(worst) + ", more than " + to_string(longest_overhead)
                                  : std::string();
}

Expected<MeasuredOverheads, CardFault> measured_by(const HostCard& card, const std::string& path, CostCharge charge) {
  const auto overheads = overheads_of(card, charge);
  if (!overheads)
    return CardFault{path +
                     " has no wake-up of a real-time thread; measure again with the right to SCHED_FIFO (corelane "
                     "doctor --for tasks says how to get it)"};
  if (const std::string flaw = flaw_of(*overheads); !flaw.empty()) return CardFault{path + " " + flaw + measure_again};
  MeasuredOverheads measured{.card = *overheads};
  if (const std::string difference = difference_from_this_host(card); !difference.empty())
    measured.note = path + " was measured " + difference;
  return measured;
}

Expected<MeasuredOverheads, CardFault> measured_in(std::string_view text, const std::string& path) {
  auto table = sim::OverheadTable::parse(text);
  if (!table) return CardFault{path + " is neither a host card nor a table of SchedCAT: " + table.error().text};
  if (table->depends_on() != "TASK-COUNT")
    return CardFault{path + " depends on " + table->depends_on() +
                     "; take a table with a column TASK-COUNT, and write cache delays as preemption and migration"};
  return MeasuredOverheads{.table = *std::move(table)};
}

}  // namespace

Duration RunOverheads::per_job() const {
  Duration sum{};
  for (const sim::OverheadInfo& info : sim::overhead_infos) sum += info.per_job * sim::cost_of(costs, info.kind).most();
  return up_to_microseconds(sum);
}

Expected<MeasuredOverheads, CardFault> read_overheads(const std::string& name, CostCharge charge) {
  if (name == own_card) {
    const std::string path = host_card_path();
    if (path.empty())
      return CardFault{
          "neither XDG_STATE_HOME nor HOME is an absolute path; name the file of a host card in place of host-card"};
    const auto card = card_of_this_host(path);
    if (!card) return card.error();
    return measured_by(*card, path, charge);
  }
  const auto text = os::read_small_file(name, longest_overhead_file);
  if (!text) return CardFault{text.error().text + "; measure this host: corelane doctor --measure"};
  if (!text->starts_with('{')) return measured_in(*text, name);
  const auto card = parse_host_card(*text, name);
  if (!card) return card.error();
  return measured_by(*card, name, charge);
}

RunOverheads overheads_of(const MeasuredOverheads& measured, std::size_t tasks) {
  RunOverheads overheads = measured.card;
  if (measured.table) overheads.costs = sim::overheads_of(*measured.table, tasks);
  overheads.blocking = up_to_microseconds(overheads.blocking);
  return overheads;
}

}  // namespace corelane::eval
