// The task that callers without one of their own share, when its admission is refused for a reason that passes.
#include <atomic>
#include <catch2/catch.hpp>
#include <latch>
#include <memory>

#include "orb/base/minor.h"
#include "orb/dispatch/executive.h"
#include "tests/support/probe_servant.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

struct Ignoring : dispatch::AdmissionHandler {
  void admitted(const dispatch::Admission&) noexcept override {}
  void refused(const sched::Refusal&) noexcept override {}
  void failed(Error) noexcept override {}
};

// Keeps the manager's thread in its answer.
struct Holding final : Ignoring {
  struct Latches {
    std::latch begun{1}, end{1};
  };
  explicit Holding(std::shared_ptr<Latches> latches) : latches_(std::move(latches)) {}
  void refused(const sched::Refusal&) noexcept override {
    latches_->begun.count_down();
    latches_->end.wait();
  }

 private:
  const std::shared_ptr<Latches> latches_;  // whoever returns last from one of them lets them go
};

struct Telling final : Ignoring {
  explicit Telling(std::shared_ptr<std::atomic<bool>> full) : full_(std::move(full)) {}
  void failed(Error) noexcept override { *full_ = true; }

 private:
  const std::shared_ptr<std::atomic<bool>> full_;
};

// The manager answers nobody while this lives, and its door is full.
class BusyManager {
 public:
  explicit BusyManager(dispatch::Executive& executive) {
    const dispatch::AdmissionRequest hopeless{.contract = {}, .owner = {}, .label = "hopeless"};
    executive.admit(hopeless, std::make_unique<Holding>(latches_));
    latches_->begun.wait();
    const auto full = std::make_shared<std::atomic<bool>>(false);
    while (!*full) executive.admit(hopeless, std::make_unique<Telling>(full));  // bound: the door
  }
  ~BusyManager() { latches_->end.count_down(); }

 private:
  const std::shared_ptr<Holding::Latches> latches_ = std::make_shared<Holding::Latches>();
};

// How often a call was turned away in passing before it got its answer.
int calls_turned_away(Probing::Probe& probe) {
  for (int count = 0;; ++count) {  // bound: the manager's answer
    try {
      if (probe.paced(3) == 3) return count;
    } catch (const CORBA::TRANSIENT& passing) {
      if (passing.minor() != minor::queue_full && passing.minor() != minor::admission_pending) throw;
    }
  }
}

}  // namespace

TEST_CASE("a shared task that was refused in passing is asked for again by the next caller") {
  TestOrb server, client;
  server.root()->the_POAManager()->activate();
  const auto servant = CORBA::make_reference<ProbeServant>();
  std::string ior;
  {
    const BusyManager busy(server->executive());
    ior = server->object_to_string(server.root()->servant_to_reference(servant));  // asks, and is turned away
  }
  const auto probe = probe_of(client, ior);
  CHECK(calls_turned_away(*probe) > 0);
  CHECK(calls_turned_away(*probe) == 0);
}
