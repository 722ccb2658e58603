#include <CLI/CLI.hpp>
#include <algorithm>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "orb/eval/run_requests.h"
#include "orb/eval/scenario_formats.h"
#include "orb/eval/virtual_run.h"
#include "orb/os/privileges.h"
#include "orb/os/process/child_process.h"
#include "services/corelane/commands/command.h"
#include "services/corelane/evaluate/evaluate.h"
#include "services/corelane/evaluate/interrupt.h"
#include "services/corelane/evaluate/origin.h"
#include "services/corelane/output/text.h"
#include "services/corelane/real_run/overheads/overheads.h"
#include "services/corelane/real_run/overheads/overheads_file.h"
#include "services/corelane/real_run/real_run.h"
#include "services/corelane/real_run/real_runner.h"
#include "services/corelane/reproductions/reproduce.h"
#include "services/corelane/reproductions/reproduction_file.h"

namespace corelane::tool {
namespace {

Expected<eval::RunOutcome, std::string> run_until_interrupted(const eval::RunRequest& request) {
  auto outcome = eval::run_virtually(request, nullptr, &Interrupt::asked);
  if (!outcome) return std::string();  // it was stopped
  return *std::move(outcome);
}

Status run_experiment(EvaluateOptions& options) {
  const Interrupt interrupt;
  const Evaluation evaluation{.run = &run_until_interrupted,
                              .fault_of =
                                  [](const eval::RunRequest& request) {
                                    const auto fault = eval::fault_of_length(request);
                                    return fault ? fault->text : std::string();
                                  },
                              .is_to_stop = &Interrupt::asked};
  return evaluate(options, evaluation, std::cout, std::cerr);
}

// Runs each set with processes on this host. Results without SCHED_FIFO have a mode of their own: they are never
// compared with others.
Status run_for_real(EvaluateOptions& options) {
  const Interrupt interrupt;
  options.mode = os::privileges().fifo ? "real" : "unprivileged real";
  RealRunner runner({.node = os::program_beside("corelane-eval-node"), .is_to_stop = &Interrupt::asked}, std::cerr);
  const Evaluation evaluation{.run = [&runner](const eval::RunRequest& request) { return runner.run(request); },
                              .fault_of = &fault_of_real_run,
                              .is_to_stop = &Interrupt::asked};
  const Status status = evaluate(options, evaluation, std::cout, std::cerr);
  for (const std::string& sentence : runner.summary()) std::cerr << "corelane eval: " << sentence << "\n";
  return status;
}

// Returns the text of FILE; nothing if it cannot be read, which is reported where it is needed.
std::optional<std::string> text_in(const std::string& path) {
  auto text = eval::read_scenario_file(path);
  if (!text) return std::nullopt;
  return *std::move(text);
}

std::string host_text() { return machine_text() + ", " + kernel_text(); }

Status run_overheads(const std::string& text, const std::string& path) {
  const Interrupt interrupt;
  const auto file = parse_overheads(text, path);
  if (!file) return std::cerr << "corelane eval: " << plain(file.error().text) << "\n", 2;
  return overheads(*file, {.host = host_text(), .is_to_stop = &Interrupt::asked}, std::cout, std::cerr);
}

Status run_reproductions(const std::string& text, const std::string& path,
                         const reproductions::ReproduceOptions& options) {
  const Interrupt interrupt;
  const auto file = reproductions::parse_reproductions(text, path);
  if (!file) return std::cerr << "corelane eval: " << plain(file.error().text) << "\n", 2;
  return reproductions::reproduce(*file, options, std::cout, std::cerr);
}

// Returns which experiments of a reproduction file to run; nothing means all.
std::optional<reproductions::ExperimentTime> chosen_time(bool is_virtual, bool is_real) {
  if (is_virtual) return reproductions::ExperimentTime::virtually;
  if (is_real) return reproductions::ExperimentTime::really;
  return std::nullopt;
}

// Returns the first given option that is none of these; "" if there is none.
std::string other_option(const CLI::App& app, std::initializer_list<std::string_view> known) {
  for (const CLI::Option* const option : app.get_options())
    if (option->count() > 0 && !option->get_positional() &&
        std::ranges::find(known, std::string_view(option->get_name())) == known.end())
      return option->get_name();
  return {};
}

// Says that the option has no effect on this kind of file. Returns the exit status.
Status refuse_option(const std::string& file, const char* kind, const std::string& option) {
  std::cerr << "corelane eval: " << plain(file) << " is " << kind << ", on which " << option
            << " has no effect; leave it out\n";
  return 2;
}

// Runs what the file describes: a scenario, an overheads file, or a reproduction file. `is_virtual` and `is_real` say
// which of --virtual and --real were given.
Status run_eval_file(const CLI::App& app, EvaluateOptions& options, bool is_virtual, bool is_real) {
  const auto text = text_in(options.file);
  if (text && is_overheads_file(*text)) {
    if (is_virtual) {
      std::cerr << "corelane eval: " << plain(options.file)
                << " is an overheads file, which is measured in real time only; leave out --virtual\n";
      return 2;
    }
    if (const std::string other = other_option(app, {"--real"}); !other.empty())
      return refuse_option(options.file, "an overheads file", other);
    return run_overheads(*text, options.file);
  }
  if (text && reproductions::is_reproduction_file(*text)) {
    if (const std::string other = other_option(app, {"--virtual", "--real", "--quick"}); !other.empty())
      return refuse_option(options.file, "a reproduction file", other);
    return run_reproductions(*text, options.file,
                             {.only = chosen_time(is_virtual, is_real),
                              .quick = options.quick,
                              .host = host_text(),
                              .is_to_stop = &Interrupt::asked});
  }
  if (is_real) return run_for_real(options);
  if (is_virtual) return run_experiment(options);
  std::cerr << "corelane eval: say --virtual or --real; see corelane eval --help\n";
  return 2;
}

}  // namespace

Action define_eval(CLI::App& app, std::vector<std::string>&) {
  const auto options = std::make_shared<EvaluateOptions>();
  options->version = CORELANE_VERSION;
  app.footer(
      "Each set of tasks runs under each dispatcher of the file, with the same jobs. The results are lines of a CSV "
      "file. If it exists, only what it lacks is run. Ctrl-C keeps what is done.\n"
      "An overheads file (docs/evaluation-real.md) is measured on this host. It takes no option but --real.\n"
      "A reproduction file (docs/reproductions.md) repeats published experiments, by default those of both kinds. It "
      "takes --virtual, --real and --quick.\n"
      "Exit status: 0 all is done; 1 it was stopped, the file of results cannot be written further, or an admitted "
      "task missed a deadline in virtual time; 2 the command line or the file was wrong.");
  refuse_empty(
      app.add_option("FILE", options->file, "a scenario with sweeps, an overheads file, or a reproduction file")
          ->required())
      ->type_name("");
  auto* const virtually =
      app.add_flag("--virtual")->description("in virtual time, on as many simulated cores as the file says");
  auto* const really = app.add_flag("--real")->description("in real time, with a server and clients on this host");
  really->excludes(virtually);
  refuse_empty(app.add_option("--output", options->output, "the CSV file [the name of FILE with .csv]"))
      ->type_name("CSV");
  refuse_empty(app.add_option("--report", options->report, "write the results and their figures into this HTML file"))
      ->type_name("HTML");
  auto* const figures =
      refuse_empty(app.add_option("--figures", options->figures, "write the figures as SVG files into this directory"));
  figures->type_name("DIR");
  app.add_flag("--pdf", options->pdf, "with --figures: also as PDF files; needs rsvg-convert")->needs(figures);
  app.add_option("--repetitions", options->repetitions, "so many sets in each combination, whatever the file says")
      ->type_name("COUNT")
      ->check(CLI::Range(1, 1'000'000).description(""));
  app.add_flag("--quick", options->quick, "only three combinations, four sets of each, and two dispatchers");
  app.add_option("--threads", options->threads, "threads for virtual time [one for each core]")
      ->type_name("COUNT")
      ->check(CLI::Range(1, 1024).description(""));
  return [&app, options, virtually, really](const ToolSettings& settings) {
    options->orb_options = settings.planning_options;
    return run_eval_file(app, *options, virtually->count() > 0, really->count() > 0);
  };
}

}  // namespace corelane::tool
