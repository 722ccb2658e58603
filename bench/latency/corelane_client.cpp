// Corelane's client of the latency benchmark: IOR WARM-UP CALLS INTERVAL [task]. With `task` the calls are jobs of an
// admitted task. Its rate is twice the load's, so that calls that a stall delayed can catch up. In a closed loop the
// task has the shortest period that fits beside the platform load.
#include <algorithm>
#include <optional>
#include <string_view>

#include "bench/latency/load.h"
#include "orb/corba/orb.h"
#include "orb/rt/rt.h"
#include "pingC.h"

namespace {

using namespace std::chrono_literals;

corelane::Contract contract_of(const latency::Load& load) {
  if (load.interval == latency::Nanoseconds::zero()) return corelane::make_contract(30us, 2us);
  return corelane::make_contract(load.interval / 2, std::min<latency::Nanoseconds>(load.interval / 20, 50us));
}

int call(int argc, char** argv) {
  auto orb = CORBA::ORB_init(argc, argv);
  if (argc != 5 && (argc != 6 || std::string_view(argv[5]) != "task"))
    return latency::usage(argv[0], "IOR WARM-UP CALLS INTERVAL [task] [-ORB options]");
  auto ping = IDL::traits<Bench::Echo>::narrow(orb->string_to_object(argv[1]));
  const latency::Load load = latency::load_of(argv);
  std::optional<corelane::rt::Task> task;
  if (argc == 6) {
    auto admitted = corelane::rt::admit(ping, {.operation = "ping", .contract = contract_of(load)});
    if (!admitted) return std::fprintf(stderr, "corelane: refused: %s\n", admitted.error().text.c_str()), 1;
    task = std::move(*admitted);
  }
  const auto samples = latency::measure(load, [&](std::int64_t value) { latency::check(value, ping->ping(value)); });
  return latency::report(samples) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try { return call(argc, argv); } catch (const std::exception& fault) {
  std::fprintf(stderr, "corelane: %s\n", fault.what());
  return 1;
}
