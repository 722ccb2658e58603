#include "orb/eval/scenario/experiment_tables.h"

#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "orb/eval/dispatchers.h"

namespace corelane::eval {
namespace {

std::vector<std::string_view> names_of_dispatchers() {
  std::vector<std::string_view> names;
  for (const Dispatcher* const dispatcher : dispatchers()) names.push_back(dispatcher->name);
  return names;
}

constexpr Field<Experiment> experiment_rows[] = {
    {{.key = "dispatchers",
      .help = "The dispatchers under which `corelane eval` runs each set, with the same jobs. "
              "`corelane simulate` takes the first one, unless policy.dispatcher names another of them",
      .fallback = "that of policy.dispatcher, and mc-orb*",
      .example = "[\"mc-orb\", \"mc-orb*\"]",
      .choices = &names_of_dispatchers},
     &Experiment::dispatchers},
    {{.key = "baseline",
      .help = "The dispatcher with which `corelane eval` compares the others",
      .fallback = "the last one of dispatchers",
      .example = "\"mc-orb*\"",
      .choices = &names_of_dispatchers},
     &Experiment::baseline},
    {{.key = "length",
      .help = "How long a run lasts, from the common start of all tasks; a day at most",
      .fallback = "\"1s\"",
      .example = "\"10s\""},
     &Experiment::length},
    {{.key = "precision",
      .help =
          "`corelane eval` draws more sets than repetitions, up to ten times as many, until the 95 % interval of each "
          "difference from the baseline is at most +- this",
      .fallback = "none",
      .example = "0.02",
      .least = 1,
      .most = unity.millionths},
     &Experiment::precision},
    {{.key = "transport",
      .help = "How clients call the server in a real run",
      .fallback = "\"channel\"",
      .example = "\"unix\"",
      .choices =
          [] {
            return std::vector<std::string_view>{"channel", "unix", "tcp"};
          }},
     &Experiment::transport},
    {{.key = "note",
      .help = "A sentence that is printed under the results",
      .fallback = "none",
      .example = "\"The generator was fitted.\""},
     &Experiment::note},
};

constexpr Field<Published> published_rows[] = {
    {{.key = "dispatcher",
      .help = "The dispatcher beside whose results the figures belong",
      .example = "\"mc-orb*\"",
      .is_required = true,
      .choices = &names_of_dispatchers},
     &Published::dispatcher},
    {{.key = "values",
      .help =
          "The figures as texts: one for each combination of the sweeps, in the order in which they run. There may be "
          "fewer: then they are for the combinations of the last sweeps. Each combination of the first sweeps is a "
          "configuration, and its distance from the figures is printed",
      .example = "[\"0.4\", \"0\"]",
      .is_required = true},
     &Published::values},
    {{.key = "source", .help = "Where they were published", .fallback = "none", .example = "\"RTCSA 2009, table 4\""},
     &Published::source},
};

constexpr Field<OverheadFields> row_of(sim::OverheadKind kind) {
  const sim::OverheadInfo& info = sim::overhead_infos[static_cast<std::size_t>(kind)];
  return {{.key = info.name, .help = info.help, .fallback = "that of from, or \"0us\"", .example = info.example},
          sim::cost_member<std::optional<Duration>>(kind)};
}

constexpr Field<OverheadFields> overhead_rows[] = {
    {{.key = "from",
      .help =
          "host-card: what corelane doctor --measure found on this host (p99). Otherwise a file with a host card, or "
          "with a table of SchedCAT by the number of tasks. Its path is relative to the scenario",
      .fallback = "none",
      .example = "\"host-card\""},
     &OverheadFields::from},
    row_of(sim::OverheadKind::release),
    row_of(sim::OverheadKind::dispatch),
    row_of(sim::OverheadKind::hop),
    row_of(sim::OverheadKind::preemption),
    row_of(sim::OverheadKind::migration),
    {{.key = "charged",
      .help = "Whether the analysis adds release, hop, preemption and twice dispatch to each budget",
      .fallback = "true",
      .example = "false"},
     &OverheadFields::charged},
};
static_assert(std::size(overhead_rows) == sim::overhead_infos.size() + 2, "each kind has a row");

}  // namespace

std::span<const Field<OverheadFields>> overhead_fields() noexcept { return overhead_rows; }
std::span<const Field<Experiment>> experiment_fields() noexcept { return experiment_rows; }
std::span<const Field<Published>> published_fields() noexcept { return published_rows; }

}  // namespace corelane::eval
