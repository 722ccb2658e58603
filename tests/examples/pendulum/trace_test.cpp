// What a missed deadline of the demo leaves: one trace. At the end the demo names the command that converts the trace
// into a file that Perfetto reads.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "orb/os/process/child_process.h"
#include "tests/support/peers/task_peer.h"
#include "tests/support/perfetto_schema.h"
#include "tests/support/system/temp_directory.h"

namespace trace_test {

using namespace corelane;
using Catch::Contains;
using corelane::testing::TempDirectory;

namespace {

std::string output_of(const std::vector<std::string>& command) {
  os::ChildProcess program(command, {.joins_errors = true});
  std::string text = program.read_all().value();
  CHECK(program.wait()->ok());
  return text;
}

std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) files.push_back(entry.path());
  return files;
}

}  // namespace

// Far more work than one core can do.
TEST_CASE("the demo without admission leaves one trace of a missed deadline that Perfetto reads") {
  if (!testing::can_decode_traces()) return;
  const TempDirectory place;
  const std::string said =
      output_of({os::program_beside("corelane-pendulum"), "--no-admission", "--reserve", "off", "--pendulums", "8",
                 "--length", "2s", "-ORBRuntimeDirectory", place / "run", "-ORBRecorderDirectory", place / "traces",
                 "-ORBPoolCores", std::to_string(testing::first_core().value)});
  INFO(said);
  REQUIRE(std::filesystem::exists(place / "traces"));
  const auto traces = files_in(place / "traces");
  REQUIRE(traces.size() == 1);
  const std::string tool = os::program_beside("corelane");
  CHECK_THAT(said, Contains("\n  " + tool + " trace --output demo.perfetto-trace " + traces[0] + "\n"));
  output_of({tool, "trace", "--output", place / "perfetto", traces[0]});
  const auto decoded = testing::decode_trace(place / "perfetto");
  CHECK(decoded.good);
  CHECK(decoded.unknown == "");
  CHECK(decoded.has("name: \"deadline missed\""));
  CHECK(decoded.has("type: TYPE_SLICE_BEGIN"));
}

}  // namespace trace_test
