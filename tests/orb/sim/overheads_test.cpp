#include "orb/sim/overheads.h"

#include <catch2/catch.hpp>
#include <string_view>
#include <vector>

namespace overheads_test {

using namespace corelane;
using namespace corelane::sim;
using namespace std::chrono_literals;

TEST_CASE("each kind of overhead has a name and a cost, in the order of the kinds") {
  Overheads overheads{.release = 1us, .dispatch = 2us, .hop = 3us, .preemption = 4us, .migration = 5us};
  std::vector<std::string_view> names;
  Duration next = 1us;
  for (const OverheadInfo& info : overhead_infos) {
    CHECK(static_cast<std::size_t>(info.kind) == names.size());
    names.push_back(info.name);
    CHECK(cost_of(overheads, info.kind).most() == next);
    next += 1us;
  }
  CHECK(names == std::vector<std::string_view>{"release", "dispatch", "hop", "preemption", "migration"});
  cost_of(overheads, OverheadKind::hop) = 9us;
  CHECK(overheads.hop.most() == 9us);
}

}  // namespace overheads_test
