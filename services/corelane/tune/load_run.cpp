#include "services/corelane/tune/load_run.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "orb/base/contract.h"
#include "orb/base/text/one_line.h"
#include "orb/os/clock.h"
#include "orb/os/files/small_file.h"
#include "orb/os/process/child_process.h"

namespace corelane::tool {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::string_view last_line(std::string_view output) {
  output = trimmed(output);
  const std::size_t newline = output.rfind('\n');
  return trimmed(newline == output.npos ? output : output.substr(newline + 1));
}

std::string shown(std::string_view text) {
  constexpr std::size_t most = 80;
  return "'" + as_one_line(std::string(text.substr(0, most))) + (text.size() > most ? "...'" : "'");
}

constexpr double least_figure = 1e-30, largest_figure = 1e30;  // so that ratios of figures are numbers

std::optional<std::string> find_last(const std::string& output, const std::regex& metric) {
  std::optional<std::string> found;
  for (std::sregex_iterator match(output.begin(), output.end(), metric), end; match != end; ++match)
    found = (*match)[match->size() > 1 ? 1 : 0].str();
  return found;
}

struct EndedLoad {
  std::string output;
  os::ExitStatus status{};
};

// Waits until the program ends. Returns nothing at `deadline`, and soon after `is_to_stop` returns true.
std::optional<EndedLoad> ended_load(os::ChildProcess& program, Time deadline, const std::function<bool()>& is_to_stop) {
  constexpr Duration between_looks = std::chrono::milliseconds{50};
  std::optional<std::string> output;
  while (os::now() < deadline && !(is_to_stop && is_to_stop())) {  // bound: the deadline
    const Time next_look = std::min(deadline, os::now() + between_looks);
    if (!output) output = program.read_all(next_look);
    const auto status = output ? program.wait(next_look) : std::nullopt;
    if (status) return EndedLoad{*std::move(output), *status};
  }
  return std::nullopt;
}

// Returns what the regular expression matches last, if anything. A process of its own looks for it, because some
// expressions backtrack nearly without end, or use up the stack.
Expected<std::optional<std::string>, LoadFault> last_match(const std::string& output, const std::regex& metric,
                                                           Time deadline, const std::function<bool()>& is_to_stop) {
  constexpr char mark = '=';  // before a match, which may be empty
  auto finder = os::ChildProcess::running([&] {
    const auto found = find_last(output, metric);
    if (found && !os::write_all(STDOUT_FILENO, mark + *found))
      throw std::system_error(errno, std::generic_category(), "write");
  });
  const auto search = ended_load(finder, deadline, is_to_stop);
  if (!search)
    return LoadFault{
        "--timeout has passed, and --metric was still looking for its match in the program's output; write a regular "
        "expression without nested repetitions such as (a+)+, let the program print less, or raise --timeout"};
  if (!search->status.ok())
    return LoadFault{"the search for what --metric matches has failed: " + search->status.text() +
                     "; write a simpler regular expression, or let the program print shorter lines"};
  return search->output.empty() ? std::nullopt : std::optional(search->output.substr(1));
}

Expected<double, LoadFault> number_in(std::string_view text, const char* where, const char* remedy) {
  const std::string_view word = trimmed(text);
  double value = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (fault != std::errc{} || end != word.data() + word.size())
    return LoadFault{std::string(where) + " is no number: " + shown(word) + "; " + remedy};
  if (!std::isfinite(value) || value <= 0)
    return LoadFault{std::string(where) + " is " + std::string(word) + "; the figure must be above 0"};
  if (value < least_figure || value > largest_figure)
    return LoadFault{std::string(where) + " is " + std::string(word) + "; print the figure in another unit"};
  return value;
}

}  // namespace

Expected<double, LoadFault> figure_of(const std::string& output, const std::optional<std::regex>& metric, Time deadline,
                                      const std::function<bool()>& is_to_stop) {
  if (!metric)
    return number_in(last_line(output), "the last line of the program's output",
                     "let it print its figure there, or name it with --metric REGEX");
  const auto found = last_match(output, *metric, deadline, is_to_stop);
  if (!found) return found.error();
  if (!*found)
    return LoadFault{"no text of the program's output matches --metric; its last line is " + shown(last_line(output))};
  return number_in(**found, "what --metric matches", "put the number into a group: 'calls/s: ([0-9.]+)'");
}

Expected<double, LoadFault> run_load(const LoadProgram& load, const std::vector<std::string>& variables) {
  std::vector<std::string> words{"env"};
  words.insert(words.end(), variables.begin(), variables.end());
  words.insert(words.end(), load.command.begin(), load.command.end());
  os::ChildProcess program(words);
  program.end_input();
  const Time deadline = os::now() + load.timeout;
  const auto run = ended_load(program, deadline, load.is_to_stop);
  if (!run)
    return LoadFault{load.command.front() + " has not ended after " + to_string(load.timeout) +
                     "; let it do less, or allow more with --timeout"};
  if (!run->status.ok()) return LoadFault{load.command.front() + " failed: " + run->status.text()};
  return figure_of(run->output, load.metric, deadline, load.is_to_stop);
}

}  // namespace corelane::tool
