// Tests the file of slowdowns that a server reads (dispatch.slowdowns).
#include "orb/core/contracts/slowdowns_file.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "orb/core/settings.h"
#include "orb/rt/rt.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

namespace slowdowns_file_test {

using namespace corelane;
using namespace corelane::core;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

constexpr const char* ids[] = {"IDL:Plant/Controller:1.0", "IDL:omg.org/CORBA/Object:1.0"};
constexpr Upcall upcalls[] = {{.name = "configure"}, {.name = "step"}};
constexpr Skeleton skeleton{ids, upcalls};

std::string table(const std::string& operation, const std::string& beside, const std::string& factor = "1.5") {
  return "[[slowdown]]\noperation = \"" + operation + "\"\nbeside = \"" + beside + "\"\nfactor = " + factor + "\n";
}

}  // namespace

TEST_CASE("a file of slowdowns gives the worst factor of each operation") {
  const auto file = SlowdownsFile::parse(
      table("Plant/Controller.step", "./load") + table("Plant/Controller.step", "Plant/Camera.take", "1.25"), "s.toml");
  REQUIRE(file);
  CHECK((*file)->worst()->of("Plant/Controller.step").factor == 1'500'000);
  CHECK((*file)->worst()->of("Plant/Camera.take").factor == 1'000'000);
}

TEST_CASE("a file of slowdowns without a table is refused") {
  const auto file = SlowdownsFile::parse("# nothing\n", "s.toml");
  REQUIRE_FALSE(file);
  CHECK(file.error().text ==
        "s.toml: there is no table [[slowdown]] in it; name a file that corelane measure --slowdowns has written, or "
        "leave dispatch.slowdowns out");
}

TEST_CASE("an operation of the file of slowdowns without an object is reported once a look with a similar name") {
  const std::string text = table("Plant/Controller.step", "./load") + table("Plant/Controller.stp", "./load") +
                           table("Plant/Controller.stp", "b") + table("Camera.take", "./load");
  const auto file = SlowdownsFile::parse(text, "s.toml");
  REQUIRE(file);
  (*file)->note(skeleton);
  using enum ContractsFile::Look;
  const auto lines = [](const std::string& so_far) {
    const std::string middle = " was activated" + so_far + ": its slowdowns are charged to no task";
    return std::vector<std::string>{
        "s.toml:13:1: no object with the operation Camera.take" + middle,
        "s.toml:5:1: no object with the operation Plant/Controller.stp" + middle + "; is Plant/Controller.step meant?"};
  };
  CHECK((*file)->unused(running) == lines(" so far"));
  CHECK((*file)->unused(running).empty());
  CHECK((*file)->unused(ended) == lines(""));
  CHECK((*file)->unused(ended).empty());
}

TEST_CASE("without any object all operations of the file of slowdowns are reported") {
  const auto file = SlowdownsFile::parse(table("Plant/Controller.step", "./load"), "s.toml");
  REQUIRE(file);
  CHECK((*file)->unused(ContractsFile::Look::ended) ==
        std::vector<std::string>{"s.toml:1:1: no object with the operation Plant/Controller.step was activated: its "
                                 "slowdowns are charged to no task"});
}

TEST_CASE("a server's tasks have budgets with the slowdowns of its file") {
  TempDirectory directory;
  const std::string contracts = directory / "contracts.toml", slowdowns = directory / "slowdowns.toml";
  std::ofstream(contracts) << "[\"" << Probing::Probe::_id << "\".add]\nperiod = \"500ms\"\nbudget = \"70us\"\n";
  const std::string label = label_of(Probing::Probe::_id, "add");
  std::ofstream(slowdowns) << table(label, "./load");
  TestOrb server({"-ORBContractsFile", contracts, "-ORBDispatchSlowdowns", slowdowns, "-ORBPoolCacheDomains", "1"});
  const auto servant = CORBA::make_reference<ProbeServant>();
  (void)server.root()->servant_to_reference(servant);
  const auto report = rt::report(*server.orb);
  REQUIRE_FALSE(report.cores.empty());
  const auto others = static_cast<std::int64_t>(report.cores.size()) - 1;
  const auto task = std::ranges::find(report.tasks, label, &dispatch::TaskReport::label);
  REQUIRE(task != report.tasks.end());
  CHECK(task->contract.budget == dispatch::slowed(70us, 1'000'000 + others * 500'000));
  CHECK(server.orb->settings().slowdowns->unused(ContractsFile::Look::running).empty());
}

}  // namespace slowdowns_file_test
