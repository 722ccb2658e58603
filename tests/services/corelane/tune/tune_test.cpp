#include "services/corelane/tune/tune.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "orb/core/config/settings_of.h"
#include "tests/support/system/temp_directory.h"

namespace tune_test {
namespace {

using namespace corelane::tool;
using Catch::Contains;
using corelane::testing::TempDirectory;
using Variables = std::vector<std::string>;

const std::vector<TunedParameter>& parameters() {
  static const std::vector<TunedParameter> all{{"client.wait", {"", "park"}}, {"client.spin", {"", "5us", "7us"}}};
  return all;
}

bool has(const Variables& variables, const std::string& wanted) {
  return std::ranges::find(variables, wanted) != variables.end();
}

struct Tuned {
  int status;
  std::string out, err, file;
};

Tuned tune_with(const RunLoad& run, const std::string& output) {
  TuneOptions options{.load = {.command = {"./load", "a\"b"}}, .output = output};
  std::ostringstream out, err;
  const int status = tune(options, parameters(), run, out, err);
  if (!std::filesystem::is_regular_file(output)) return {status, out.str(), err.str(), {}};
  std::ifstream file(output);
  return {status, out.str(), err.str(), {std::istreambuf_iterator<char>(file), {}}};
}

Tuned tune_with(const RunLoad& run) {
  const TempDirectory directory;
  return tune_with(run, directory / "tuned.toml");
}

// client.wait = park doubles the figure. In the validation, the first runs with it, or with the defaults, fail.
struct FailsInValidation {
  int failures;
  bool with_defaults;
  int runs_until_validation = 13;  // one with the defaults, three pairs that win, one of each other value
  int runs = 0;

  corelane::Expected<double, LoadFault> operator()(const Variables& variables) {
    const bool park = has(variables, "CORELANE_CLIENT_WAIT=park");
    if (++runs > runs_until_validation && park != with_defaults && failures > 0) {
      --failures;
      return LoadFault{"./load failed: signal 11"};
    }
    return park ? 4.0 : 2.0;
  }
};

}  // namespace

TEST_CASE("values that are better are written for this host, and an ORB reads them") {
  const TempDirectory directory;
  const std::string path = directory / "tuned.toml";
  const Tuned tuned = tune_with(
      [](const Variables& variables) { return has(variables, "CORELANE_CLIENT_SPIN=7us") ? 3.0 : 2.0; }, path);
  CHECK(tuned.status == 0);
  CHECK(tuned.err.empty());
  CHECK_THAT(tuned.out, Contains("client.spin = 7us: 1.500 1.500 1.500; taken\n"));
  CHECK_THAT(tuned.out, Contains("client.spin = 5us: 1.000; dropped\n"));
  CHECK_THAT(tuned.out, Contains("1.500 times as good as the defaults, with 95 % confidence from 1.500 to 1.500"));
  CHECK_THAT(tuned.file, Contains("[client]\nspin = \"7us\"\n") && Contains("load = \"./load a\\\"b\"\n"));
  const auto settings = corelane::core::settings_of({"-ORBRuntimeTuned", path});
  REQUIRE(settings);
  CHECK(settings->wait.spin == std::chrono::microseconds{7});
  CHECK_FALSE(settings->tuned_elsewhere);
}

TEST_CASE("without a better value nothing is written") {
  const Tuned tuned = tune_with([](const Variables&) { return 2.0; });
  CHECK(tuned.status == 0);
  CHECK_THAT(tuned.out, Contains("the defaults stay: no other value was better\n"));
  CHECK(tuned.file.empty());
}

TEST_CASE("a value that wins only before the validation is not written") {
  int runs = 0;
  const Tuned tuned = tune_with([&runs](const Variables& variables) {
    ++runs;
    return runs < 8 && has(variables, "CORELANE_CLIENT_WAIT=park") ? 3.0 : 2.0 + runs % 3 * 0.01;
  });
  CHECK(tuned.status == 0);
  CHECK_THAT(tuned.out, Contains("client.wait = park: ") && Contains("; taken"));
  CHECK_THAT(tuned.out, Contains("the defaults stay"));
  CHECK(tuned.file.empty());
}

TEST_CASE("a program that fails with the defaults ends the search") {
  const Tuned tuned = tune_with([](const Variables&) { return LoadFault{"./load failed: exit status 1"}; });
  CHECK(tuned.status == 1);
  CHECK(tuned.err == "corelane tune: ./load failed: exit status 1\n");
}

TEST_CASE("a value with which the program fails is dropped, with the reason in one line") {
  const std::string reason = GENERATE(as<std::string>{}, "./load failed:\nsignal 11", std::string(1000, 'x'));
  const Tuned tuned = tune_with([&reason](const Variables& variables) -> corelane::Expected<double, LoadFault> {
    if (has(variables, "CORELANE_CLIENT_WAIT=park")) return LoadFault{reason};
    return 2.0;
  });
  CHECK(tuned.status == 0);
  const std::string shown = reason.size() == 1000 ? std::string(160, 'x') + "..." : "./load failed:?signal 11";
  CHECK_THAT(tuned.out, Contains("client.wait = park: dropped, because " + shown + "\n"));
}

TEST_CASE("a pair of the validation in which a run fails is repeated once") {
  const int failures = GENERATE(1, 2);
  const bool with_defaults = GENERATE(false, true);
  const Tuned tuned = tune_with(FailsInValidation{failures, with_defaults});
  const std::string values = with_defaults ? "the defaults" : "client.wait = park";
  CHECK_THAT(tuned.out,
             Contains("a run with " + values + " failed: ./load failed: signal 11; this pair is repeated\n"));
  CHECK_THAT(tuned.out, !Contains("no other value was better"));
  if (failures == 1) {
    CHECK(tuned.status == 0);
    CHECK_THAT(tuned.out, Contains("(10 pairs)"));
    CHECK_THAT(tuned.file, Contains("wait = \"park\""));
  } else if (with_defaults) {
    CHECK(tuned.status == 1);
    CHECK(tuned.err == "corelane tune: ./load failed: signal 11\n");
  } else {
    CHECK(tuned.status == 0);
    CHECK_THAT(tuned.out, Contains("the defaults stay: a run with the best values failed: ./load failed: signal 11\n"));
  }
  if (failures == 2) CHECK(tuned.file.empty());
}

TEST_CASE("a search that is interrupted writes nothing and says in which run it was") {
  const TempDirectory directory;
  const std::string output = directory / "tuned.toml";
  const int last = GENERATE(1, 3);  // the run with the defaults, and one of a pair
  int runs = 0;
  TuneOptions options{.load = {.command = {"./load"}, .is_to_stop = [&] { return runs == last; }}, .output = output};
  const auto run = [&](const Variables& variables) -> corelane::Expected<double, LoadFault> {
    if (++runs == last) return LoadFault{"./load failed: killed by signal 9 (Killed)"};
    return has(variables, "CORELANE_CLIENT_WAIT=park") ? 4.0 : 2.0;
  };
  std::ostringstream out, err;
  CHECK(tune(options, parameters(), run, out, err) == 1);
  CHECK(runs == last);
  CHECK_THAT(err.str(), Catch::StartsWith("corelane tune: a run of ./load with ") &&
                            Catch::EndsWith(" was interrupted, and nothing was written to " + output + "\n"));
  CHECK_FALSE(std::filesystem::exists(output));
}

TEST_CASE("a file that cannot be written is reported before anything runs") {
  const std::string output = GENERATE(as<std::string>{}, "/nowhere/tuned.toml", "/tmp");
  int runs = 0;
  const Tuned tuned = tune_with([&](const Variables&) { return ++runs; }, output);
  CHECK(tuned.status == 1);
  CHECK_THAT(tuned.err, Contains(output) && Contains("--output FILE"));
  CHECK(runs == 0);
}

TEST_CASE("a file that tune has not written is not replaced, but an earlier result is") {
  const TempDirectory directory;
  const std::string output = directory / "corelane.toml";
  std::ofstream(output) << "[client]\nspin = \"5us\"\n";
  int runs = 0;
  const auto faster_parked = [&](const Variables& variables) {
    ++runs;
    return has(variables, "CORELANE_CLIENT_WAIT=park") ? 200.0 : 100.0;
  };
  const Tuned refused = tune_with(faster_parked, output);
  CHECK(refused.status == 1);
  CHECK(refused.err == "corelane tune: " + output +
                           " exists, and corelane tune has not written it; name another file: --output FILE\n");
  CHECK(refused.file == "[client]\nspin = \"5us\"\n");
  CHECK(runs == 0);
  std::ofstream(output) << "# Written by corelane tune. An earlier result.\n";
  CHECK_THAT(tune_with(faster_parked, output).file, Contains("wait = \"park\""));
}

}  // namespace tune_test
