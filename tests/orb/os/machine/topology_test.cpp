// Tests the cores of this machine and of synthetic ones.
#include "orb/os/machine/topology.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <set>

#include "orb/base/minor.h"
#include "orb/os/machine/cpu_mask.h"
#include "orb/os/process/error_capture.h"

using namespace corelane;
using namespace corelane::os;

namespace {

std::vector<CoreInfo> cores_of(std::string_view description) {
  const auto topology = Topology::synthetic(description);
  REQUIRE(topology);
  return topology->cores();
}

template <typename Member>
std::size_t distinct(const std::vector<CoreInfo>& cores, Member member) {
  std::set<int> values;
  for (const CoreInfo& core : cores) values.insert(core.*member);
  return values.size();
}

}  // namespace

TEST_CASE("a core that a process may not use is named beside those that it may") {
  const auto topology = Topology::synthetic("core:4 pu:1");
  std::vector<CoreInfo> usable = topology->cores();
  usable.erase(usable.begin() + 2);
  CHECK(fault_of({CoreId{0}, CoreId{3}}, usable).empty());
  CHECK(fault_of({CoreId{0}, CoreId{99}}, usable) == "core 99 is none that this process may use (0-1,3)");
  CHECK(fault_of({CoreId{2}}, usable) == "core 2 is none that this process may use (0-1,3)");
}

TEST_CASE("this machine has the cores of the process's affinity and no others") {
  const auto topology = Topology::detect();
  REQUIRE(topology);
  std::size_t allowed = 0;
  for (int i = 0; i < CpuMask::limit; ++i) allowed += process_affinity().contains(CoreId{static_cast<std::int16_t>(i)});
  CHECK(topology->cores().size() == allowed);
  CHECK(std::ranges::all_of(topology->cores(), [](const CoreInfo& c) { return process_affinity().contains(c.core); }));
  CHECK(topology->is_this_system());
}

TEST_CASE("the log says why no core of this machine is found") {
  log::ErrorCapture said;
  setenv("HWLOC_SYNTHETIC", "core:1 pu:1(indexes=1000)", 1);
  const auto topology = Topology::detect();
  unsetenv("HWLOC_SYNTHETIC");
  REQUIRE_FALSE(topology);
  CHECK(topology.error() == Error{.kind = ErrorKind::initialize, .minor = minor::system_refused});
  const std::string why = said.take();
  INFO(why);
  CHECK(why.find("hwloc finds no core that this process may use") != why.npos);
}

TEST_CASE("a made-up machine has what its description says") {
  const auto cores = cores_of("numa:2 l3:1 core:4 pu:2");
  CHECK(cores.size() == 16);
  CHECK(distinct(cores, &CoreInfo::physical_core) == 8);
  CHECK(distinct(cores, &CoreInfo::cache) == 2);
  CHECK(distinct(cores, &CoreInfo::numa) == 2);
}

TEST_CASE("siblings share the name of their core") {
  const auto cores = cores_of("core:2 pu:2");
  REQUIRE(cores.size() == 4);
  CHECK(cores[0].physical_core == cores[0].core.value);
  CHECK(std::ranges::count(cores, cores[0].physical_core, &CoreInfo::physical_core) == 2);
}

TEST_CASE("a made-up machine is not this system") {
  CHECK_FALSE(Topology::synthetic("core:64 pu:1")->is_this_system());
}

TEST_CASE("cores are in ascending order") {
  CHECK(std::ranges::is_sorted(cores_of("core:64 pu:1"), {}, &CoreInfo::core));
}

// Edges.

TEST_CASE("one core is a machine") { CHECK(cores_of("core:1 pu:1").size() == 1); }

TEST_CASE("where there is no cache each core stands for its own") {
  const auto cores = cores_of("core:3 pu:1");
  CHECK(distinct(cores, &CoreInfo::cache) == 3);
}

TEST_CASE("a mask holds its first and last core and nothing beyond") {
  CpuMask mask;
  CHECK(mask.is_empty());
  mask.add(CoreId{0});
  mask.add(CoreId{CpuMask::limit - 1});
  mask.add(CoreId{CpuMask::limit});
  mask.add(CoreId{-1});
  CHECK(mask.contains(CoreId{0}));
  CHECK(mask.contains(CoreId{CpuMask::limit - 1}));
  CHECK_FALSE(mask.contains(CoreId{CpuMask::limit}));
  CHECK_FALSE(mask.contains(CoreId{-1}));
  CHECK_FALSE(mask.contains(CoreId{1}));
}

// Error paths.

TEST_CASE("a description that is none is refused") {
  const auto topology = Topology::synthetic("sixteen cores please");
  REQUIRE_FALSE(topology);
  CHECK(topology.error().minor == minor::bad_option);
}
