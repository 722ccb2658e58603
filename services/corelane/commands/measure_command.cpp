#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "services/corelane/commands/command.h"
#include "services/corelane/evaluate/interrupt.h"
#include "services/corelane/measure/measure.h"
#include "services/corelane/measure/measurement.h"
#include "services/corelane/measure/shared_cache.h"
#include "services/corelane/references/ior.h"

namespace corelane::tool {
namespace {

struct Options : MeasureOptions {
  Duration budget{};  // 0: a quarter of the smaller of period and deadline
};

// Returns false after a complaint.
bool finish(Options& options, const ToolSettings& settings) {
  const GivenTerms& given = options.given;
  const Duration period = given.period.value_or(std::chrono::milliseconds{20});
  const Duration budget =
      options.budget > Duration::zero() ? options.budget : std::min(period, given.deadline.value_or(period)) / 4;
  options.call.contract = make_contract(period, budget, given.deadline, given.jitter);
  options.call.operation = options.operation;
  options.call.options = settings.orb_options;
  options.directory = settings.runtime_directory;
  if (options.call.reference.empty()) return true;
  const auto reference = read_reference("measure", options.call.reference, std::cin, std::cerr);
  if (reference) options.call.reference = *reference;
  return reference.has_value();
}

// Defines the options for calls beside other work. They need the option `call`.
void define_beside(CLI::App& app, Options& options, CLI::Option* call) {
  auto* const beside =
      refuse_empty(app.add_option("--beside", options.beside,
                                  "then make the calls once more, while this command runs on another core of the same "
                                  "last-level cache: how much longer do they take? May be given several times"))
          ->type_name("COMMAND")
          ->allow_extra_args(false)
          ->needs(call);
  refuse_empty(
      app.add_option("--beside-task", options.beside_tasks,
                     "the label of the task whose work the command does; one for each --beside, in their order"))
      ->type_name("LABEL")
      ->check(fault_of_label)
      ->allow_extra_args(false)
      ->needs(beside);
  refuse_empty(app.add_option("--task", options.task, "the label of the task whose work the operation does"))
      ->type_name("LABEL")
      ->check(fault_of_label)
      ->needs(beside);
  refuse_empty(app.add_option("--slowdowns", options.slowdowns,
                              "add the slowdowns to this TOML file, such as a scenario, and compare the metrics in it"))
      ->type_name("FILE")
      ->needs(beside);
}

// Defines the options for calls that the command makes. Returns the option that names the object to call.
CLI::Option* define_calls(CLI::App& app, Options& options, CLI::Option* operation) {
  auto* const call =
      app.add_option("--call", options.call.reference,
                     "call the --operation of this object: IOR:..., corbaloc:..., a file that holds one, or -")
          ->type_name("REFERENCE")
          ->needs(operation);
  refuse_empty(call);
  app.add_option(
         "--argument", options.call.arguments,
         "with this argument, such as double:1.5; in the IDL's order; nothing compares them with the IDL. Types: " +
             argument_types())
      ->type_name("TYPE:VALUE")
      ->needs(call);
  app.add_option("--calls", options.call.calls, "number of calls")
      ->type_name("COUNT")
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->capture_default_str()
      ->needs(call);
  define_beside(app, options, call);
  add_duration(app, "--period", options.given.period,
               "admitted with this period: the server begins the calls so far apart [20ms]")
      ->needs(call);
  add_duration(app, "--budget", options.budget,
               "admitted with this budget [a quarter of the smaller of period and deadline]")
      ->needs(call);
  add_duration(app, "--deadline", options.given.deadline, "admitted with this deadline [the period]", Duration{1})
      ->needs(call);
  add_duration(app, "--jitter", options.given.jitter,
               "admitted with this release jitter [a tenth of the smaller of period and deadline]")
      ->needs(call);
  return call;
}

}  // namespace

Action define_measure(CLI::App& app, std::vector<std::string>& orb_options) {
  const auto options = std::make_shared<Options>();
  app.footer(
      "Execution times are those of a server on this host, from its recorder. What was measured is no bound.\n"
      "The table of an operation that was called keeps the period, deadline and jitter that the server has for it; "
      "those given here stand above them. Where the server shows none the defaults are taken, and the output says so.\n"
      "Exit status: 0 measured; 1 not, or an operation is TOO LONG for its deadline, or the file does not have all of "
      "it; 2 the command line was wrong.");
  auto* const files = refuse_empty(app.add_option("FILE", options->files, "traces that servers have written"));
  files->type_name("");
  auto* const request = add_pid(app, "--request", options->request, "let this server write a trace now");
  request->excludes(files);
  refuse_empty(
      app.add_option("--run", options->run, "run this command, which makes the calls, before the server is asked"))
      ->type_name("COMMAND")
      ->needs(request);
  auto* const operation =
      refuse_empty(app.add_option("--operation", options->operation, "measure only this operation"));
  operation->type_name("NAME");
  define_calls(app, *options, operation)->excludes(files);
  app.add_option("--margin", options->margin, "percentage to add to the longest time")
      ->type_name("PERCENT")
      ->check(CLI::Range(0, 1000).description(""))
      ->capture_default_str();
  app.add_option("--interface", options->interface,
                 "measure only jobs of this interface; its version goes into the table")
      ->type_name("REPOSITORY-ID")
      ->check(fault_of_repository_id);
  refuse_empty(app.add_option("--write", options->write, "add the table to this contracts file"))->type_name("FILE");
  add_format(app, options->format);
  add_directory(app, orb_options);
  return [options, files, request](const ToolSettings& settings) {
    if (files->count() + request->count() == 0 && options->call.reference.empty()) {
      std::cerr << "corelane measure: name a FILE, a server with --request PID, or calls with --call REFERENCE; see "
                   "corelane measure --help\n";
      return 2;
    }
    if (!options->beside_tasks.empty() && options->beside_tasks.size() != options->beside.size()) {
      std::cerr << "corelane measure: there are " << options->beside.size() << " --beside and "
                << options->beside_tasks.size() << " --beside-task; give one --beside-task for each --beside\n";
      return 2;
    }
    if (!finish(*options, settings)) return 1;
    std::optional<Interrupt> interrupt;
    if (!options->beside.empty()) {  // otherwise nothing outlives this process
      interrupt.emplace();
      options->is_to_stop = &Interrupt::asked;
    }
    return measure(*options, std::cout, std::cerr);
  };
}

}  // namespace corelane::tool
