#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>

#include "orb/base/contract.h"
#include "services/corelane/commands/command.h"
#include "services/corelane/host/host_files.h"
#include "services/corelane/reservation/reserve.h"

namespace corelane::tool {
namespace {

using Corelane::Reservation::CoreList;
using Corelane::Reservation::Nearness;
using Corelane::Reservation::SiblingRule;

ReservationPlace place_of(const ToolSettings& settings) {
  return {settings.orb_options, settings.reservation_sockets, settings.start_options()};
}

void read_these(ReserveOptions& options, const std::string& text) {
  const CoreSet cores = parse_core_set(text);
  if (cores.empty()) throw CLI::ValidationError("--out-of", "'" + text + "' is no list of cores; write 2-3,6");
  options.cores.these(CoreList(cores.begin(), cores.end()));
}

// "" means without a limit.
void read_wait(ReserveOptions& options, const std::string& text) {
  constexpr Duration longest = std::chrono::hours{24 * 365};
  options.waits = true;
  if (text.empty()) return;
  options.longest_wait = parse_duration(text);
  if (!options.longest_wait || *options.longest_wait < Duration::zero() || *options.longest_wait > longest)
    throw CLI::ValidationError(
        "--wait", "'" + text + "' is no time to wait; write 500ms or 10s, or nothing for as long as it takes");
}

void read_share(ReserveOptions& options, const std::string& text) {
  const auto share = parse_share(text);
  if (!share) throw CLI::ValidationError("--share", share.error());
  options.share = *share;
}

template <typename Choice>
CLI::Option* add_choice(CLI::App& app, const std::string& name, const std::map<std::string, Choice>& choices,
                        std::function<void(Choice)> take, const std::string& help) {
  std::string type;
  for (const auto& [word, choice] : choices) type += (type.empty() ? "" : "|") + word;
  return app
      .add_option_function<std::string>(
          name, [take, choices](const std::string& word) { take(choices.at(word)); }, help)
      ->type_name(type)
      ->check(CLI::IsMember(choices).description(""));
}

void define_wishes(CLI::App& app, ReserveOptions& options) {
  auto* const cores = app.add_option_function<std::uint16_t>(
      "--cores", [&options](std::uint16_t count) { options.cores.count(count); }, "number of whole cores");
  cores->type_name("COUNT")->check(CLI::Range(1, 4096).description(""));
  auto* const share = app.add_option_function<std::string>(
      "--share", [&options](const std::string& text) { read_share(options, text); },
      "share of a core: BUDGET/PERIOD, such as 2ms/10ms");
  share->type_name("TIME/TIME")->excludes(cores);
  app.add_flag("--thread", options.one_thread,
               "give the share only to the first thread (SCHED_DEADLINE) [to the program and all that it starts]")
      ->needs(share);
  auto* const out_of = app.add_option_function<std::string>(
      "--out-of", [&options](const std::string& text) { read_these(options, text); }, "take only these cores");
  out_of->type_name("CORES");
  // The daemon chooses the cores of a share itself.
  const auto of_cores = [&](CLI::Option* option) { option->excludes(share); };
  of_cores(out_of);
  of_cores(add_choice<Nearness>(
      app, "--near",
      {{"any", Nearness::anywhere},
       {"near", Nearness::near},
       {"cache", Nearness::one_cache},
       {"node", Nearness::one_node}},
      [&options](Nearness placement) { options.cores.placement(placement); },
      "how near each other: as near as there are, or in one cache or memory node or not at all [any]"));
  of_cores(add_choice<SiblingRule>(
      app, "--siblings",
      {{"idle", SiblingRule::siblings_idle},
       {"mine", SiblingRule::siblings_mine},
       {"others", SiblingRule::siblings_others}},
      [&options](SiblingRule rule) { options.cores.siblings(rule); },
      "what becomes of a core's other hardware threads [idle]"));
}

void add_resource(CLI::App& app, const std::string& name, const std::string& resource, const std::string& type,
                  const std::string& help, ReserveOptions& options,
                  const std::function<Expected<std::uint64_t, std::string>(const std::string&)>& parse) {
  app.add_option_function<std::string>(
         name,
         [&options, name, resource, parse](const std::string& text) {
           const auto amount = parse(text);
           if (!amount) throw CLI::ValidationError(name, amount.error());
           options.also.push_back(Corelane::Reservation::ResourceWanted(resource, *amount, false));
         },
         help)
      ->type_name(type);
}

Expected<std::uint64_t, std::string> parse_count(const std::string& text, const char* wrong) {
  std::uint64_t count = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (fault == std::errc{} && end == text.data() + text.size() && count > 0) return count;
  return "'" + text + "' is " + wrong;
}

void define_resources(CLI::App& app, ReserveOptions& options) {
  add_resource(app, "--memory", "memory", "SIZE", "so much memory, such as 256MiB, that others cannot take", options,
               parse_bytes);
  add_resource(app, "--cache", "cache", "WAYS", "so many ways of the last-level cache that no other process fills",
               options, [](const std::string& text) { return parse_count(text, "no number of ways; write 2"); });
  add_resource(app, "--disk-weight", "disk", "WEIGHT", "from 1 to 1000, of a busy disk, where others have 100", options,
               [](const std::string& text) { return parse_count(text, "no weight; write 500"); });
  app.add_flag("--best-effort", options.best_effort, "accept memory, cache and disk that this host cannot guarantee");
}

}  // namespace

Action define_reserve(CLI::App& app, std::vector<std::string>& orb_options) {
  const auto options = std::make_shared<ReserveOptions>();
  app.footer(
      "As in: corelane reserve --cores 1 -- ./app    corelane reserve --share 2ms/10ms -- ./app\n"
      "      corelane reserve --cores 1 --memory 256MiB -- ./app\n"
      "The program takes this process's place, so its exit status and signals are its own; the reservation ends with "
      "it. Exit status before that: 125 nothing was reserved, 126 the program cannot be run, 127 there is none, 2 the "
      "command line was wrong.");
  define_wishes(app, *options);
  define_resources(app, *options);
  app.add_option_function<std::string>(
         "--wait", [options](const std::string& text) { read_wait(*options, text); },
         "if there is no room, wait for it, at most TIME [without limit]")
      ->expected(0, 1)
      ->type_name("[TIME]");
  app.add_option("--note", options->note, "purpose of the reservation, which corelane cores shows [the program]")
      ->type_name("TEXT");
  app.add_flag("-q,--quiet", options->quiet, "print only errors on standard error, not the waiting or the result");
  add_format(app, options->format);
  add_directory(app, orb_options);
  app.add_option("COMMAND", options->command, "the program and its arguments, after --")->type_name("");
  return [options](const ToolSettings& settings) {
    if (options->cores.count() == 0 && !options->share && options->cores.these().empty()) {
      std::cerr << "corelane reserve: how much? --cores COUNT or --share TIME/TIME; see corelane reserve --help\n";
      return 2;
    }
    options->command.insert(options->command.end(), settings.program.begin(), settings.program.end());
    if (options->command.empty()) {
      std::cerr << "corelane reserve: name the program after --; see corelane reserve --help\n";
      return 2;
    }
    options->place = place_of(settings);
    return reserve(*options, std::cerr);
  };
}

Action define_cores(CLI::App& app, std::vector<std::string>& orb_options) {
  const auto options = std::make_shared<CoresOptions>();
  app.footer("Exit status: 0 shown, 1 no reservation daemon answers, 2 the command line was wrong.");
  app.add_flag("-l,--long", options->details, "also show what this host cannot promise, one line each");
  add_format(app, options->format);
  add_directory(app, orb_options);
  return [options](const ToolSettings& settings) {
    return show_cores(place_of(settings), *options, std::cout, std::cerr);
  };
}

}  // namespace corelane::tool
