#include "services/corelane/tune/load_run.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <optional>
#include <regex>
#include <string>

#include "orb/os/clock.h"
#include "orb/os/fd.h"

namespace load_run_test {
namespace {

using namespace corelane::tool;
using namespace std::chrono_literals;
using Catch::Contains;

corelane::Expected<double, LoadFault> run_shell(const std::string& script, std::optional<std::regex> metric = {},
                                                corelane::Duration timeout = 1h) {
  return run_load({.command = {"sh", "-c", script}, .metric = std::move(metric), .timeout = timeout},
                  {"CORELANE_TRIED=7"});
}

std::string fault_of(const corelane::Expected<double, LoadFault>& run) { return run ? "" : run.error().text; }

}  // namespace

TEST_CASE("the figure is the last line of the output, or what the metric matches last") {
  CHECK(figure_of("calls\n 12.5 \n\n", {}).value_or(0) == 12.5);
  CHECK(figure_of("1e3", {}).value_or(0) == 1000);
  CHECK(figure_of("rate: 1 /s\nrate: 2 /s\nend\n", std::regex("rate: ([0-9]+)")).value_or(0) == 2);
  CHECK(figure_of("a 7 b", std::regex("[0-9]+")).value_or(0) == 7);
}

TEST_CASE("an output without a figure is refused, with what to do") {
  CHECK_THAT(fault_of(figure_of("12 calls/s\n", {})),
             Contains("is no number: '12 calls/s'; let it print its figure there, or name it with --metric REGEX"));
  CHECK_THAT(fault_of(figure_of("", {})), Contains("is no number: ''"));
  CHECK_THAT(fault_of(figure_of("0\n", {})), Contains("the figure must be above 0"));
  CHECK_THAT(fault_of(figure_of("nan\n", {})), Contains("the figure must be above 0"));
  CHECK_THAT(fault_of(figure_of("1e308\n", {})), Contains("is 1e308; print the figure in another unit"));
  CHECK_THAT(fault_of(figure_of("1e-300\n", {})), Contains("is 1e-300; print the figure in another unit"));
  CHECK_THAT(fault_of(figure_of("x\n", std::regex("y"))), Contains("no text of the program's output matches --metric"));
  CHECK_THAT(fault_of(figure_of("xy\n", std::regex("x(y)"))), Contains("put the number into a group"));
}

TEST_CASE("a metric that backtracks without end is stopped at the deadline") {
  const auto found = figure_of(std::string(100, 'a') + "\n", std::regex("(a+)+b"), corelane::os::now() + 100ms);
  CHECK_THAT(fault_of(found), Contains("--timeout has passed, and --metric was still looking for its match"));
}

TEST_CASE("a metric that uses up the stack is a fault, and harms no process") {
  const auto found = figure_of(std::string(5'000'000, 'x') + "\n", std::regex("(x|y)*z"));
  CHECK_THAT(fault_of(found), Contains("the search for what --metric matches has failed: ") ||
                                  Contains("no text of the program's output matches --metric"));
}

TEST_CASE("a metric may match nothing but an empty text") {
  CHECK_THAT(fault_of(figure_of("x\n", std::regex("y*"))), Contains("what --metric matches is no number: ''"));
}

TEST_CASE("the program runs with the variables in its environment") {
  CHECK(run_shell("echo noise; echo $CORELANE_TRIED").value_or(0) == 7);
}

TEST_CASE("a run that is to stop ends with what the program has started") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);  // inherited: its other end closes with the last process that has it
  const corelane::os::Fd read_end(ends[0]);
  corelane::os::Fd write_end(ends[1]);
  char byte = 0;
  const std::string script = "sleep 1000 & printf x >/dev/fd/" + std::to_string(ends[1]) + "; wait";
  const auto stop = [&] { return ::read(read_end.get(), &byte, 1) == 1; };  // once the server runs
  const auto figure = run_load({.command = {"sh", "-c", script}, .timeout = 1h, .is_to_stop = stop}, {});
  CHECK_FALSE(figure);
  CHECK(byte == 'x');
  write_end.reset();
  CHECK(::read(read_end.get(), &byte, 1) == 0);
}

TEST_CASE("a search for the figure is stopped, too") {
  const auto found =
      figure_of(std::string(100, 'a') + "\n", std::regex("(a+)+b"), corelane::never, [] { return true; });
  CHECK_FALSE(found);
}

TEST_CASE("a program that fails or takes too long is reported") {
  CHECK(fault_of(run_shell("echo 5; exit 3")) == "sh failed: exit status 3");
  CHECK_THAT(fault_of(run_shell("sleep 1000", {}, 1ms)), Contains("has not ended after 1ms; let it do less"));
  CHECK_THAT(fault_of(run_load({.command = {"/nowhere/load"}, .timeout = 1h}, {})),
             Contains("failed: exit status 127"));
}

}  // namespace load_run_test
