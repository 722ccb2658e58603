// Tests a server that is stopped in the middle of a decision while another one starts on the same host.
#include <catch2/catch.hpp>
#include <functional>

#include "orb/dispatch/leases/cross_process_analysis.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;
using corelane::testing::Quiet;
using corelane::testing::TempDirectory;

namespace {

enum class Point { none, begun, claimed, ending };

// The ledger of a server that is stopped for a while, once, at one point of a transaction.
class Interrupted final : public CoreProvider {
 public:
  explicit Interrupted(std::unique_ptr<HostLedger> ledger) : ledger_(std::move(ledger)) {}

  void stop_at(Point point, std::function<void()> meanwhile) {
    point_ = point;
    meanwhile_ = std::move(meanwhile);
  }

  Expected<std::vector<CoreLease>> lease(const LeaseRequest& request) override { return ledger_->lease(request); }
  Expected<std::span<const Promise>> begin() noexcept override {
    auto others = ledger_->begin();
    if (others) pass(Point::begun);
    return others;
  }
  Expected<void> claim(std::span<const Promise> mine) noexcept override {
    auto claimed = ledger_->claim(mine);
    if (claimed) pass(Point::claimed);
    return claimed;
  }
  Expected<void> end(std::span<const Promise> mine) noexcept override {
    pass(Point::ending);
    return ledger_->end(mine);
  }
  void abandon() noexcept override { ledger_->abandon(); }
  bool alone() const noexcept override { return ledger_->alone(); }
  void withdraw() noexcept override { ledger_->withdraw(); }
  void maintain() noexcept override {}

 private:
  void pass(Point here) {
    if (here != point_) return;
    point_ = Point::none;
    meanwhile_();
  }

  const std::unique_ptr<HostLedger> ledger_;
  Point point_ = Point::none;
  std::function<void()> meanwhile_;
};

class Host {
 public:
  std::unique_ptr<HostLedger> join() const {
    return std::move(*HostLedger::open(*os::Topology::synthetic("core:2 pu:1"), directory_.path()));
  }
  static sched::Ppm on_core(int core, std::span<const Promise> promises) {
    return promised_on({.core = CoreId{static_cast<std::int16_t>(core)}, .physical_core = core}, promises);
  }

 private:
  const TempDirectory directory_;
};

// Promises half of each core that has room for it, as soon as a transaction opens.
void take_halves(HostLedger& ledger) {
  auto others = ledger.begin();
  while (!others) others = ledger.begin();  // bound: HostLedger::longest_wait
  std::vector<Promise> mine;
  for (int core = 0; core < 2; ++core)
    if (Host::on_core(core, *others) <= 450'000)
      mine.push_back(
          {.core = CoreId{static_cast<std::int16_t>(core)}, .physical_core = core, .contract = plain(100ms, 50ms)});
  REQUIRE(ledger.end(mine));
}

}  // namespace

TEST_CASE("a server that is stopped in a repacking while another starts promises no core twice with it") {
  const Quiet quiet;
  const Host host;
  Interrupted provider(host.join());
  Machine server(2, bare_options(), &provider);
  for (const Duration each : {30ms, 40ms, 30ms}) server.admit(plain(100ms, each));  // 60 % and 40 %
  std::unique_ptr<HostLedger> late;
  provider.stop_at(GENERATE(Point::begun, Point::claimed, Point::ending), [&] {
    late = host.join();
    take_halves(*late);
  });
  const auto moves = server.ask(plain(100ms, 60ms));
  for (int i = 0; i < 40; ++i) server.advance(100ms);
  REQUIRE(late);
  CHECK(moves->calls == 1);
  const auto watcher = host.join();
  const auto all = watcher->begin();
  REQUIRE(all);
  CHECK(all->size() >= 3);
  for (int core = 0; core < 2; ++core) CHECK(Host::on_core(core, *all) <= sched::whole_core);
  watcher->abandon();
}
