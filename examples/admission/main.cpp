// An experiment with admission control: what a server with so many cores would say to a set of tasks, and what comes of
// those that it admits. The server's own Manager decides, on virtual cores, in virtual time: ten seconds take none.
//
//   corelane-admission-example 2 10ms:6ms 20ms:12ms:15ms 10ms:6ms
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/contract.h"
#include "orb/sched/refusal.h"
#include "orb/sim/simulator.h"

using namespace corelane;
using namespace std::chrono_literals;

namespace {

constexpr Time end{10s};

constexpr const char* usage =
    "usage: corelane-admission-example CORES PERIOD:BUDGET[:DEADLINE]...\n"
    "CORES: 1 to 64. Durations as 500us, 10ms, 1s. Without a deadline it is the period.\n";

// The text up to the next colon; `rest` is what follows it.
std::string_view next_field(std::string_view& rest) {
  const auto colon = rest.find(':');
  const std::string_view field = rest.substr(0, colon);
  rest = colon == rest.npos ? "" : rest.substr(colon + 1);
  return field;
}

std::optional<Contract> contract_of(std::string_view text) {
  const auto period = parse_duration(next_field(text));
  const auto budget = parse_duration(next_field(text));
  const auto deadline = text.empty() ? period : parse_duration(text);
  if (!period || !budget || !deadline) return std::nullopt;
  const Contract contract = make_contract(*period, *budget, *deadline, 0ns);
  return is_sound(contract) ? std::optional(contract) : std::nullopt;
}

std::optional<sched::ManagerOptions> platform_of(std::string_view text) {
  std::int16_t cores = 0;
  const auto [behind, fault] = std::from_chars(text.data(), text.data() + text.size(), cores);
  if (fault != std::errc{} || behind != text.data() + text.size() || cores < 1 || cores > 64) return std::nullopt;
  sched::ManagerOptions options;
  for (std::int16_t core = 0; core < cores; ++core) options.cores.push_back({.id = CoreId{core}});
  return options;
}

void show(const char* task, const sim::TaskReport& report) {
  if (!report.admitted) {
    std::printf("%-16s refused: %s\n", task, sched::text_of(report.refusal).c_str());
    return;
  }
  std::printf("%-16s core %d, computed bound %s, worst of %llu responses %s, misses %llu\n", task, report.core.value,
              to_string(report.bound).c_str(), static_cast<unsigned long long>(report.jobs),
              to_string(report.worst).c_str(), static_cast<unsigned long long>(report.misses));
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
  for (int i = 2; i < argc; ++i) {
    const auto contract = contract_of(argv[i]);
    if (!contract) return complain("'" + std::string(argv[i]) + "' is no task: 0 < budget <= deadline is needed");
    simulator.add({.contract = *contract});
  }
  simulator.run(end);
  for (int i = 2; i < argc; ++i) show(argv[i], simulator.report(static_cast<std::size_t>(i - 2)));
  return 0;
}
