// Tests next fit: where it stays, when it moves on, and what departures and lost cores change.
#include <catch2/catch.hpp>

#include "tests/orb/sched/allocation/packing_fixture.h"

namespace next_fit_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;

namespace {

constexpr CoreId first{0}, second{1}, third{2};

struct Cores {
  Bench bench{whole_cores(3, "next-fit")};

  CoreId place(int percent) { return bench.core_of(bench.admitted(share_of_core(percent))); }
  void leave(TaskId task, CoreId core) {
    bench.tell(Departed{Time{}, task});
    bench.vacated(task, core);
  }
};

}  // namespace

TEST_CASE("next fit packs the published items as published") {
  CHECK(packed("next-fit", published_items, 7) == Bins{{8}, {5}, {7}, {6, 2}, {4, 1}});
}

TEST_CASE("next fit stays on a core until a task does not fit there") {
  Cores cores;
  CHECK(cores.place(40) == first);
  CHECK(cores.place(40) == first);
  CHECK(cores.place(30) == second);
  CHECK(cores.place(10) == second);  // it would fit on the first core, too
}

TEST_CASE("next fit comes round to the first core after the last") {
  Cores cores;
  for (const int percent : {60, 60, 60}) cores.place(percent);
  CHECK(cores.place(30) == third);
  CHECK(cores.place(30) == first);
  CHECK(cores.bench.refused(share_of_core(50)).code == RefusalCode::not_schedulable);
}

TEST_CASE("capacity that a departure frees is used when next fit comes round to it") {
  Cores cores;
  const TaskId leaves = cores.bench.admitted(share_of_core(60));
  CHECK(cores.place(60) == second);
  cores.leave(leaves, first);
  CHECK(cores.place(30) == second);
  CHECK(cores.place(60) == third);
  CHECK(cores.place(60) == first);
}

// Edges.

TEST_CASE("next fit stays on its core when the last task there has left") {
  Cores cores;
  cores.place(60);
  const TaskId leaves = cores.bench.admitted(share_of_core(60));
  cores.leave(leaves, second);
  CHECK(cores.place(10) == second);
}

TEST_CASE("a refused task does not make next fit move on") {
  Cores cores;
  cores.place(60);
  cores.place(60);
  CHECK(cores.place(80) == third);
  cores.bench.refused(share_of_core(70));
  CHECK(cores.place(20) == third);
}

TEST_CASE("next fit moves on from a core that is lost and takes its tasks along") {
  Cores cores;
  cores.place(60);
  const TaskId moves = cores.bench.admitted(share_of_core(50));
  CHECK(cores.bench.core_of(moves) == second);
  cores.bench.tell(CoreLost{Time{}, second});
  CHECK(cores.bench.core_of(moves) == third);
  CHECK(cores.place(50) == third);
  CHECK(cores.place(40) == first);
}

}  // namespace next_fit_test
