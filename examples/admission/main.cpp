// An experiment with admission control. Shows how a server with a given number of cores would decide about a set of
// tasks, and how the admitted tasks perform. The server's own Manager decides, with a server's default settings. Cores
// and time are virtual, so ten seconds pass at once.
//
//   corelane-admission-example 2 10ms:6ms 20ms:12ms:15ms 10ms:6ms
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/contract.h"
#include "orb/dispatch/manager_options.h"
#include "orb/sched/refusal.h"
#include "orb/sim/simulator.h"

using namespace corelane;
using namespace std::chrono_literals;

namespace {

constexpr Time end{10s};

constexpr const char* usage =
    "usage: corelane-admission-example CORES PERIOD:BUDGET[:DEADLINE[:JITTER]]...\n"
    "CORES: 1 to 64. Durations as 500us, 10ms, 1s. Defaults as a server has them: the deadline is the period, the\n"
    "jitter a tenth of the smaller of the two. Releases come up to the jitter late.\n";

// Returns the text up to the next colon, and sets `rest` to what follows it.
std::string_view next_field(std::string_view& rest) {
  const auto colon = rest.find(':');
  const std::string_view field = rest.substr(0, colon);
  rest = colon == rest.npos ? "" : rest.substr(colon + 1);
  return field;
}

// A task of the command line, or what is wrong with it.
struct Parsed {
  Contract contract;
  std::optional<std::string> fault;
};

Parsed contract_of(std::string_view text) {
  constexpr std::array names = {"period", "budget", "deadline", "jitter"};
  std::array<std::optional<Duration>, names.size()> values;
  std::size_t count = 0;
  do {
    if (count == names.size()) return {{}, "it has more than four fields"};
    const std::string field(next_field(text));
    values[count] = parse_duration(field);
    if (!values[count])
      return {{}, std::string("its ") + names[count] + " '" + field + "' is no duration" + duration_hint(field)};
    ++count;
  } while (!text.empty());
  const auto [period, budget, deadline, jitter] = values;
  if (!budget) return {{}, "it has no budget"};
  const Contract contract = make_contract(*period, *budget, deadline, jitter);
  return {contract, fault_of(contract)};
}

std::optional<sched::ManagerOptions> platform_of(std::string_view text) {
  std::int16_t cores = 0;
  const auto [behind, fault] = std::from_chars(text.data(), text.data() + text.size(), cores);
  if (fault != std::errc{} || behind != text.data() + text.size() || cores < 1 || cores > 64) return std::nullopt;
  std::vector<dispatch::CoreLease> leases;
  for (std::int16_t core = 0; core < cores; ++core) leases.push_back({.core = CoreId{core}, .physical_core = core});
  return dispatch::manager_options({}, leases);
}

double milliseconds(Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

void show_refused(const char* task, const sched::Refusal& refusal) {
  std::printf("%-16s refused: %s\n", task, sched::text_of(refusal).c_str());
}

void show_admitted(const char* task, const sim::TaskReport& report) {
  std::printf("%-16s core %d, computed bound %.4gms, worst of %llu responses %.4gms, misses %llu\n", task,
              report.core.value, milliseconds(report.bound), static_cast<unsigned long long>(report.jobs),
              milliseconds(report.worst), static_cast<unsigned long long>(report.misses));
}

int complain(const std::string& what) {
  std::fprintf(stderr, "corelane-admission-example: %s\n%s", what.c_str(), usage);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return complain("name the number of cores and at least one task");
  const auto platform = platform_of(argv[1]);
  if (!platform) return complain("'" + std::string(argv[1]) + "' is no number of cores");
  sim::Simulator simulator(*platform);
  std::vector<Contract> contracts;
  for (int i = 2; i < argc; ++i) {
    const auto [contract, fault] = contract_of(argv[i]);
    if (fault) return complain("'" + std::string(argv[i]) + "' is no task: " + *fault);
    contracts.push_back(contract);
    simulator.add({.contract = contract, .jittered = true});
  }
  simulator.run(end);
  for (std::size_t i = 0; i < contracts.size(); ++i) {
    const sim::TaskReport& report = simulator.report(i);
    if (report.admitted) {
      show_admitted(argv[i + 2], report);
      continue;
    }
    sched::Refusal refusal = report.refusal;
    refusal.nearest = simulator.manager().nearest(contracts[i]);
    for (std::size_t other = 0; other < contracts.size(); ++other)  // names the task that would be late by its argument
      if (simulator.report(other).admitted && simulator.report(other).task == refusal.loser)
        sched::name_loser(refusal, argv[other + 2], contracts[other].jitter);
    show_refused(argv[i + 2], refusal);
  }
  return 0;
}
