#include <CLI/CLI.hpp>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "orb/os/machine/core_list.h"
#include "services/corelane/commands/command.h"
#include "services/corelane/reservation/reserve.h"
#include "services/corelane/scale/locksim.h"
#include "services/corelane/scale/scale_os.h"
#include "services/corelane/scale/scale_report.h"

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
      "the others. Exit status: 0 shown, 1 too few measurements to test a prediction, 2 the command line or the file "
      "was wrong.");
  add_duration(app, "--tncs", options.outside, "mean time outside of the lock between two critical sections",
               Duration{1});
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
  simulate->type_name("exponential|constant")->check(CLI::IsMember({"exponential", "constant"}).description(""));
  app.add_option("--seed", options.seed, "seed of the simulation")
      ->type_name("NUMBER")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000'000'000'000}).description(""))
      ->capture_default_str()
      ->needs(simulate);
  auto* const fit = refuse_empty(app.add_option("--fit", options.fit,
                                                "fit the model to this CSV file with the columns cores and throughput, "
                                                "as corelane scale os --format csv writes"));
  fit->type_name("FILE")->excludes(hand_over)->excludes(cores)->excludes(simulate);
  refuse_empty(app.add_option("--benchmark", options.benchmark, "the benchmark of that file"))
      ->type_name("NAME")
      ->needs(fit);
  add_curve_format(app, options.format);
}

void define_os(CLI::App& app, ScaleOsOptions& options) {
  std::string names;
  for (const std::string& name : names_of_os_benchmarks()) names += (names.empty() ? "" : "|") + name;
  app.footer(
      "Each benchmark runs in as many processes as cores, each bound to a core of its own.\n"
      "speed-up: units of work beside those of one core in the same time (fixed-time speed-up). serial share: s in "
      "Gustafson's law, speed-up = n - s (n - 1). kernel/unit: CPU time in the kernel for a unit of work. Throughput "
      "collapses if the median falls by more than 5 % when cores are added, and falls beyond the spread of the rounds: "
      "each round is slower than each round at the highest median. From 10 rounds on, a few rounds at both ends do not "
      "count. One round does not show a collapse.\n"
      "Exit status: 0 measured, 1 a benchmark failed or a file cannot be written (the reason is printed), 2 the "
      "command line was wrong.");
  app.add_option("--only", options.only, "measure only this benchmark; may be given several times")
      ->type_name(names)
      ->check(CLI::IsMember(names_of_os_benchmarks()).description(""));
  add_counts(app, options.cores, "numbers of cores, such as 1-8,16 [1 to all that this process may use]");
  app.add_option_function<double>(
         "--seconds",
         [&options](double seconds) { options.time = Duration(static_cast<Duration::rep>(seconds * 1e9)); },
         "time of each run [0.5]")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, 3600.0).description(""));
  app.add_option("--rounds", options.rounds, "runs of each number of cores, of which the median is shown")
      ->type_name("COUNT")
      ->check(CLI::Range(1, 1000).description(""))
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--file-size",
         [&options](const std::string& text) {
           const auto size = parse_bytes(text);
           if (!size) throw CLI::ValidationError("--file-size", size.error());
           options.file_size = *size;
         },
         "size of the file of the benchmark mmap [500MiB]")
      ->type_name("SIZE");
  refuse_empty(app.add_option("--html", options.html, "also write a page with the curves"))->type_name("FILE");
  add_curve_format(app, options.format);
}

void define_report(CLI::App& app, ScaleReportOptions& options) {
  app.footer(
      "As in: corelane scale report --one one.csv --many many.csv --work-one 1000 --work-many 16000\n"
      "A profile is CSV with the columns time and function, in this order if functions have commas in their names. "
      "docs/scalability.md shows how perf makes one. Or it is a trace of a server's recorder: then the functions are "
      "the stages of its tasks' jobs, and the unit of work is a job. value: time for a unit of work on many cores less "
      "that on one core, "
      "highest first. weight: share in the sum of all values above 0. Exit status: 0 shown, 2 the command line or a "
      "file was wrong.");
  refuse_empty(app.add_option("--one", options.one, "profile of the run on one core"))->type_name("FILE")->required();
  refuse_empty(app.add_option("--many", options.many, "profile of the run on many cores"))
      ->type_name("FILE")
      ->required();
  const auto add_work = [&app](const std::string& name, double& work, const std::string& help) {
    app.add_option(name, work, help)
        ->type_name("UNITS")
        ->check([](const std::string& text) {
          double units = 0;
          const bool is_good = CLI::detail::lexical_cast(text, units) && units > 0 && units <= 1e18;
          return is_good ? std::string{} : text + " is no number above 0, at most 1e18";
        })
        ->capture_default_str();
  };
  add_work("--work-one", options.work_one, "units of work of the run on one core, such as calls");
  add_work("--work-many", options.work_many, "units of work of the run on many cores");
  app.add_option("--most", options.most, "number of functions to show; 0: all")
      ->type_name("COUNT")
      ->check(CLI::Range(0, 1'000'000).description(""))
      ->capture_default_str();
  add_curve_format(app, options.format);
}

// Adds a part of the command with options of its own.
template <typename Options>
void add_scale_part(CLI::App& app, const std::shared_ptr<Run>& chosen, const char* name, const char* summary,
                    void (*define)(CLI::App& app, Options& options),
                    int (*run)(const Options& options, std::ostream& out, std::ostream& err)) {
  const auto options = std::make_shared<Options>();
  CLI::App* const part = app.add_subcommand(name, summary);
  define(*part, *options);
  part->callback([chosen, options, run] { *chosen = [options, run] { return run(*options, std::cout, std::cerr); }; });
}

}  // namespace

Action define_scale(CLI::App& app, std::vector<std::string>&) {
  const auto chosen = std::make_shared<Run>();
  app.require_subcommand(1);
  add_scale_part(app, chosen, "os", "measure how services of the kernel scale with the number of cores", &define_os,
                 &scale_os);
  add_scale_part(app, chosen, "report", "name the functions that keep a program from scaling, from two profiles",
                 &define_report, &scale_report);
  add_scale_part(app, chosen, "locksim", "predict the throughput of cores that share one lock, and where it collapses",
                 &define_locksim, &locksim);
  return [chosen](const ToolSettings&) { return (*chosen)(); };
}

}  // namespace corelane::tool
