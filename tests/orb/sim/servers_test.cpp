// Tests servers on virtual cores: the published examples, and floods of work without a contract beside admitted tasks.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "orb/sched/response_time.h"
#include "orb/sim/simulator.h"

namespace servers_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sim;
using namespace std::chrono_literals;

namespace {

constexpr CoreId core{0};
constexpr Duration endless_work = 1h;

ManagerOptions one_core() {
  ManagerOptions options;
  options.cores.push_back({.id = core, .capacity = whole_core});
  return options;
}

Contract contract(Duration budget, Duration period) { return {.period = period, .deadline = period, .budget = budget}; }

enum class Kind { sporadic, deferrable };

Server server_of(Kind kind, const Reservation& r, Time start = {}) {
  return kind == Kind::sporadic ? Server(SporadicServer(r, start)) : Server(DeferrableServer(r, start));
}

PlatformLoad load_of(Kind kind, const Reservation& r) {
  return {.budget = r.budget, .period = r.period, .jitter = kind == Kind::sporadic ? 0ms : r.period - r.budget};
}

}  // namespace

TEST_CASE("in virtual time the corrected sporadic server gives 22 where POSIX would give 27") {
  Simulator sim(one_core());
  const auto above = sim.add_server({core, SporadicServer({10ms, 40ms}, Time{1ms}), Priority{2}});
  const auto below = sim.add_server({core, SporadicServer({20ms, 50ms}), Priority{1}});
  sim.add_work({.server = above, .first = Time{1ms}, .demand = endless_work});
  sim.add_work({.server = below, .demand = 18ms});
  sim.add_work({.server = below, .first = Time{40ms}, .demand = 18ms});
  sim.add_work({.server = below, .first = Time{90ms}, .demand = 20ms});
  const auto served_until = [&](Duration until) {
    sim.run(Time{until});
    return sim.served(below);
  };
  const Duration before = served_until(18ms);
  CHECK(served_until(51ms) == 19ms);
  CHECK(sim.served(above) == 20ms);
  CHECK(served_until(68ms) - before == 28ms);
  CHECK(served_until(101ms) == 19ms + 22ms);
}

TEST_CASE("work on behalf of a task of period 8 takes time only from the one of period 10") {
  // (1, 4), (2, 5), (2, 8), (1, 10) fill the core. An I/O server of 10 % works for the third one.
  const auto served = [](bool with_io) {
    Simulator sim(one_core());
    std::vector<std::size_t> servers;
    int priority = 4;
    for (const auto& [budget, period] : {std::pair{1ms, 4ms}, {2ms, 5ms}, {2ms, 8ms}, {1ms, 10ms}})
      servers.push_back(sim.add_server({core, SporadicServer({budget, period}), Priority{priority--}}));
    servers.push_back(sim.add_server({core, IoServer(100'000)}));
    for (std::size_t i = 0; i < 4; ++i) sim.add_work({.server = servers[i], .demand = endless_work});
    if (with_io) sim.add_work({.server = servers[4], .demand = endless_work, .io = {8ms, Priority{2}}});
    sim.run(Time{4s});
    std::vector<Duration> result;
    for (const std::size_t server : servers) result.push_back(sim.served(server));
    return result;
  };
  CHECK(served(false) == std::vector<Duration>{1000ms, 1600ms, 1000ms, 400ms, 0ms});
  CHECK(served(true) == std::vector<Duration>{1000ms, 1600ms, 1000ms, 0ms, 400ms});
}

TEST_CASE("at one instant, ends come before returns, and returns before arrivals") {
  for (const Kind kind : {Kind::sporadic, Kind::deferrable}) {
    Simulator sim(one_core());
    const auto server = sim.add_server({core, server_of(kind, {3ms, 10ms})});
    const auto work = sim.add_work({.server = server, .every = 10ms, .demand = 3ms, .room = 1});
    sim.run(Time{1s});
    CHECK(sim.work(work).dropped == 0);
    CHECK(sim.work(work).worst == 3ms);
    CHECK(sim.work(work).jobs == 100);
  }
}

TEST_CASE("a task below a flooded server responds exactly as the analysis says when all start together") {
  for (const Kind kind : {Kind::sporadic, Kind::deferrable}) {
    const Reservation r{3ms, 20ms};
    Simulator sim(one_core());
    sim.manager().set_interference(core, std::vector{load_of(kind, r)});
    const Time start{50ms};
    // A deferrable server delays others most at the end of its period.
    const auto server = sim.add_server({core, server_of(kind, r, kind == Kind::sporadic ? Time{} : start - 17ms)});
    sim.add_work({.server = server, .first = start, .every = 1ms, .demand = 2ms});
    const auto high = sim.add({.contract = contract(4ms, 25ms), .first_release = start});
    const auto low = sim.add({.contract = contract(20ms, 60ms), .first_release = start});
    sim.run(Time{2s});
    for (const auto plan : {high, low}) {
      CHECK(sim.report(plan).worst == sim.manager().find(sim.report(plan).task)->response);
      CHECK(sim.report(plan).misses == 0);
    }
    CHECK(sim.report(high).worst == (kind == Kind::sporadic ? 7ms : 10ms));
  }
}

TEST_CASE("no flood under a server makes an admitted task later than analysed") {
  Random random(7);
  std::uint64_t jobs = 0;
  Duration served{};
  for (std::uint64_t set = 0; set < 200; ++set) {
    const auto kind = static_cast<Kind>(set % 2);
    const Duration period = log_uniform_period(random, 5ms, 50ms);
    const Reservation r{std::max<Duration>(period * static_cast<int>(5 + random() % 30) / 100, 1us), period};
    Simulator sim(one_core(), set);
    sim.manager().set_interference(core, std::vector{load_of(kind, r)});
    const auto server = sim.add_server({core, server_of(kind, r, Time{random() % 10 * 1ms})});
    for (int i = 0; i < 2; ++i)
      sim.add_work({.server = server,
                    .first = Time{1ms + random() % 30 * 1ms},
                    .every = log_uniform_period(random, 1ms, 20ms),
                    .demand = 2 * r.budget,
                    .random = true});
    for (const double u : uunifast(random, 3, 0.6)) {
      Contract c = contract_of(std::max(u, 0.01), log_uniform_period(random, 10ms, 100ms));
      c.jitter = c.period / 20;
      sim.add({.contract = c, .first_release = Time{random() % 20 * 1ms}, .jittered = true});
    }
    sim.run(Time{2s});
    for (std::size_t i = 0; i < sim.size(); ++i) {
      const TaskReport& report = sim.report(i);
      if (!report.admitted) continue;
      REQUIRE(report.misses == 0);
      REQUIRE(report.worst <= sim.manager().find(report.task)->response);
      jobs += report.jobs;
    }
    served += sim.served(server);
  }
  CHECK(jobs > 10'000);
  CHECK(served > 20s);
}

TEST_CASE("a flood on behalf of a task delays no task above it, and others by no more than its share allows") {
  Random random(9);
  int delayed = 0;
  for (std::uint64_t set = 0; set < 200; ++set) {
    Simulator sim(one_core(), set);
    std::vector<Contract> contracts;
    for (const double u : uunifast(random, 4, 0.7)) {
      contracts.push_back(contract_of(std::max(u, 0.01), log_uniform_period(random, 10ms, 100ms)));
      contracts.back().deadline = 2 * contracts.back().period;  // room for the server, unknown to the Manager
    }
    std::sort(contracts.begin(), contracts.end(), [](const auto& a, const auto& b) { return a.period < b.period; });
    const auto share = static_cast<Ppm>(20'000 + random() % 150'000);
    const auto server = sim.add_server({core, IoServer(share)});
    for (const Contract& c : contracts) sim.add({.contract = c, .first_release = Time{1ms}});
    const std::size_t caller = random() % contracts.size();
    sim.add_work({.server = server,
                  .first = Time{1ms},
                  .every = 1ms,
                  .demand = set % 2 == 0 ? 1ms : 50us,
                  .random = set % 4 > 1,
                  .caller = caller});
    sim.run(Time{3s});
    std::vector<Interference> above;
    for (std::size_t i = 0; i < contracts.size(); ++i) {
      REQUIRE(sim.report(i).admitted);
      if (i == caller) above.push_back(io_interference(share, contracts[i].period));
      const Response r = response_time({contracts[i].budget.count(), contracts[i].period.count()}, above);
      above.push_back({contracts[i].budget.count(), contracts[i].period.count(), 0});
      if (r.verdict != Response::Verdict::exact) break;
      REQUIRE(sim.report(i).worst <= Duration{r.value});
      if (i < caller) REQUIRE(sim.report(i).worst == Duration{r.value});
      delayed += sim.report(i).worst > sim.manager().find(sim.report(i).task)->response;
    }
    REQUIRE(sim.served(server) > Duration::zero());
  }
  CHECK(delayed > 100);
}

TEST_CASE("a flood of foreign requests adds no more to a task's response than its reader's budget") {
  // The reader runs above all tasks, under a sporadic server. What it has read is processed as best effort.
  const auto worst = [](bool flood) {
    Simulator sim(one_core());
    sim.manager().set_interference(core, std::vector{load_of(Kind::sporadic, {1ms, 20ms})});
    const auto reader = sim.add_server({core, SporadicServer({1ms, 20ms})});
    const auto rest = sim.add_server({core, SporadicServer({20ms, 20ms}), best_effort});
    const auto task = sim.add({.contract = contract(4ms, 23ms), .first_release = Time{7ms}});
    if (flood) sim.add_work({.server = reader, .every = 100us, .demand = 90us, .random = true});
    if (flood) sim.add_work({.server = rest, .every = 1ms, .demand = 2ms, .random = true});
    sim.run(Time{60s});
    CHECK(sim.report(task).misses == 0);
    CHECK(sim.report(task).jobs > 2600);
    return sim.report(task).worst;
  };
  CHECK(worst(false) == 4ms);
  CHECK(worst(true) > 4ms);
  CHECK(worst(true) <= 5ms);
}

TEST_CASE("a server below all tasks lives on what they leave") {
  Simulator sim(one_core());
  const auto server = sim.add_server({core, DeferrableServer({50ms, 100ms}), best_effort});
  sim.add_work({.server = server, .demand = endless_work});
  const auto task = sim.add({.contract = contract(70ms, 100ms), .first_release = Time{}});
  sim.run(Time{1s});
  CHECK(sim.served(server) == 300ms);
  CHECK(sim.report(task).worst == 70ms);
}

TEST_CASE("virtual cores with servers are deterministic") {
  const auto trace = [](std::uint64_t seed) {
    Simulator sim(one_core(), seed);
    const auto sporadic = sim.add_server({core, SporadicServer({2ms, 10ms})});
    const auto io = sim.add_server({core, IoServer(100'000)});
    const auto task = sim.add({.contract = contract(3ms, 15ms)});
    sim.add_work({.server = sporadic, .every = 3ms, .demand = 2ms, .random = true});
    sim.add_work({.server = io, .every = 3ms, .demand = 1ms, .random = true, .caller = task});
    sim.run(Time{500ms});
    return sim.trace_hash();
  };
  CHECK(trace(1) == trace(1));
  CHECK(trace(1) != trace(2));
}

TEST_CASE("work past the room of its queue is dropped and counted") {
  Simulator sim(one_core());
  const auto server = sim.add_server({core, SporadicServer({1ms, 10ms})});
  const auto work = sim.add_work({.server = server, .every = 1ms, .demand = 1ms, .room = 3});
  sim.run(Time{99500us});
  CHECK(sim.work(work).jobs == 10);
  CHECK(sim.work(work).dropped == 100 - 10 - 3);
}

}  // namespace servers_test
