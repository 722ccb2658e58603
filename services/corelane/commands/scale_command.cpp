#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "orb/os/machine/core_list.h"
#include "services/corelane/commands/command.h"
#include "services/corelane/scale/locksim.h"

namespace corelane::tool {
namespace {

using Run = std::function<Status()>;

// Returns the numbers of a list such as "1-8,16". Throws CLI::ValidationError.
std::vector<int> counts_of(const std::string& text) {
  const auto list = os::parse_core_list(text);
  std::vector<int> counts;
  if (list)
    for (const CoreId count : *list) counts.push_back(count.value);
  if (counts.empty() || counts.front() < 1)
    throw CLI::ValidationError("--cores", "'" + text + "' is no list of numbers of cores; write 1-8,16");
  return counts;
}

CLI::Option* add_counts(CLI::App& app, std::vector<int>& counts, const std::string& help) {
  return app
      .add_option_function<std::string>(
          "--cores", [&counts](const std::string& text) { counts = counts_of(text); }, help)
      ->type_name("COUNTS");
}

void add_curve_format(CLI::App& app, CurveFormat& format) {
  app.add_option_function<std::string>(
         "--format",
         [&format](const std::string& name) {
           format = name == "json" ? CurveFormat::json : name == "csv" ? CurveFormat::csv : CurveFormat::table;
         },
         "output format")
      ->type_name("table|json|csv")
      ->check(CLI::IsMember({"table", "json", "csv"}).description(""))
      ->default_str("table");
}

void define_locksim(CLI::App& app, LocksimOptions& options) {
  app.footer(
      "As in: corelane scale locksim --tncs 10us --tcs 400ns --handover 100ns --cores 1-32\n"
      "      corelane scale locksim --fit curve.csv\n"
      "sections/s: critical sections of all cores together. speed-up: sections/s times (T_ncs + T_cs). outside: mean "
      "number of cores that work outside of the lock. waiting: share of the cores' time. +-: 95 % interval.\n"
      "A fit needs measurements with up to 8 cores or more. It uses those with up to half of the cores, and predicts "
      "the others. Exit status: 0 shown, 1 too few measurements to test a prediction, 2 the command line or the file was "
      "wrong.");
  add_duration(app, "--tncs", options.outside, "mean time outside of the lock between two critical sections", Duration{1});
  add_duration(app, "--tcs", options.section, "mean time of a critical section", Duration{1});
  auto* const hand_over =
      add_duration(app, "--handover", options.hand_over,
                   "twice what each core that holds or waits for the lock adds to a section [0ns]", Duration{});
  auto* const cores = add_counts(app, options.cores, "numbers of cores, such as 1-8,16 [1-32]");
  auto* const simulate = app.add_option_function<std::string>(
      "--simulate",
      [&options](const std::string& name) {
        options.times = name == "constant" ? scale::SectionTimes::constant : scale::SectionTimes::exponential;
      },
      "also simulate, with times of this kind");
  simulate->type_name("exponential|constant")
      ->check(CLI::IsMember({"exponential", "constant"}).description(""));
  app.add_option("--seed", options.seed, "seed of the simulation")
      ->type_name("NUMBER")
      ->capture_default_str()
      ->needs(simulate);
  auto* const fit = refuse_empty(app.add_option(
      "--fit", options.fit,
      "fit the model to this CSV file with the columns cores and throughput, as corelane scale os --format csv writes"));
  fit->type_name("FILE")->excludes(hand_over)->excludes(cores)->excludes(simulate);
  refuse_empty(app.add_option("--benchmark", options.benchmark, "the benchmark of that file"))
      ->type_name("NAME")
      ->needs(fit);
  add_curve_format(app, options.format);
}

}  // namespace

Action define_scale(CLI::App& app, std::vector<std::string>&) {
  const auto chosen = std::make_shared<Run>();
  app.require_subcommand(1);
  const auto locksim_options = std::make_shared<LocksimOptions>();
  CLI::App* const lock = app.add_subcommand(
      "locksim", "predict the throughput of cores that share one lock, and where it collapses");
  define_locksim(*lock, *locksim_options);
  lock->callback([chosen, locksim_options] { *chosen = [=] { return locksim(*locksim_options, std::cout, std::cerr); }; });
  return [chosen](const ToolSettings&) { return (*chosen)(); };
}

}  // namespace corelane::tool
