#include <sched.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "orb/core/config/settings_of.h"
#include "orb/os/machine/cpu_mask.h"
#include "services/corelane/commands/command.h"
#include "services/corelane/evaluate/interrupt.h"
#include "services/corelane/tune/tune.h"

namespace corelane::tool {
namespace {

std::regex regex_of(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error&) {
    throw CLI::ValidationError("--metric", "'" + text + "' is no regular expression; write one such as 'rate: (.*)'");
  }
}

// The tuned file would change what the candidates are compared with.
std::vector<std::string> without_tuned_file(std::vector<std::string> variables) {
  variables.emplace_back("CORELANE_RUNTIME_TUNED=off");
  return variables;
}

int run_tune(TuneOptions options, const ToolSettings& settings) {
  if (settings.program.empty()) {
    std::cerr << "corelane tune: name the program to measure behind --, as in: corelane tune -- ./load\n";
    return 2;
  }
  options.load.command = settings.program;
  std::vector<std::string> words = settings.orb_options;
  words.insert(words.end(), {"-ORBRuntimeTuned", "off"});
  const auto loaded = core::settings_of(words);
  if (!loaded) return std::cerr << "corelane tune: " << loaded.error().text << "\n", 2;
  const auto cores = static_cast<std::size_t>(CPU_COUNT_S(os::CpuMask::native_size, os::process_affinity().native()));
  const Interrupt interrupt;
  options.load.is_to_stop = &Interrupt::asked;
  const auto run = [&options](const std::vector<std::string>& variables) {
    return run_load(options.load, without_tuned_file(variables));
  };
  return tune(options, tuned_parameters(*loaded, cores), run, std::cout, std::cerr);
}

}  // namespace

Action define_tune(CLI::App& app, std::vector<std::string>&) {
  const auto options = std::make_shared<TuneOptions>();
  options->load.timeout = std::chrono::minutes{1};
  app.footer(
      "As in: corelane tune -- ./load\n"
      "The program prints a figure on its last line, such as calls in a second, and ends. It runs again and again with "
      "CORELANE_ variables for settings of Corelane. Settings that you set yourself are left alone. Values that "
      "admission counts with are never lowered. The file is written only if fresh runs show, with 95 % confidence, "
      "that its values are better than the defaults.\n"
      "Exit status: 0 searched, 1 the program failed, the search was interrupted or the file cannot be written, 2 the "
      "command line was wrong.");
  app.add_option("--runs", options->search.runs, "runs of the search, at most")
      ->type_name("COUNT")
      ->check(CLI::Range(2, 100'000).description(""))
      ->capture_default_str();
  app.add_option("--pairs", options->search.validation_pairs, "pairs of fresh runs that validate the best values")
      ->type_name("COUNT")
      ->check(CLI::Range(3, 10'000).description(""))
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--metric", [options](const std::string& text) { options->load.metric = regex_of(text); },
         "the figure is what this matches last in the output, or its first group [the last line]")
      ->type_name("REGEX");
  auto* const maximize = app.add_flag_callback(
      "--maximize", [options] { options->search.maximizes = true; }, "the highest figure is best; the default");
  app.add_flag_callback(
         "--minimize", [options] { options->search.maximizes = false; }, "the lowest figure is best")
      ->excludes(maximize);
  add_duration(app, "--timeout", options->load.timeout, "how long a run may take [60s]", Duration{1});
  refuse_empty(app.add_option("--output", options->output, "the file to write"))
      ->type_name("FILE")
      ->capture_default_str();
  return [options](const ToolSettings& settings) { return run_tune(*options, settings); };
}

}  // namespace corelane::tool
