// Reads settings from their sources. Options have precedence over variables, and variables over one file.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ranges>
#include <utility>

#include "orb/base/text/one_line.h"
#include "orb/core/config/orb_options.h"
#include "orb/core/contracts/contracts_file.h"
#include "orb/core/contracts/slowdowns_file.h"
#include "orb/core/settings.h"
#include "orb/core/text/spelling.h"
#include "orb/core/text/toml_text.h"
#include "orb/os/machine/host_key.h"

// Linked as a library: used header-only, it would put the parser into every program.
#include <toml++/toml.h>

namespace corelane::core {
namespace {

constexpr const char* variable_prefix = "CORELANE_";
constexpr const char* config_variable = "CORELANE_CONFIG";

using Fault = Unexpected<SettingsFault>;

// Returns the replacement of a setting that was removed, as an option, variable or key like `name`; otherwise "".
std::string replacement(std::string_view name) {
  struct Replaced {
    std::string_view key, by;
  };
  constexpr Replaced all[] = {{"limits.half_messages", "limits.memory"}, {"limits.backlogs", "limits.memory"}};
  for (const auto& [key, by] : all) {
    if (name == key) return std::string(by);
    if (name == option_of(key)) return option_of(by);
    if (name == variable_of(key)) return variable_of(by);
  }
  return {};
}

std::string unknown(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  const std::string text = "unknown " + std::string(what) + " " + std::string(name);
  if (const std::string by = replacement(name); !by.empty()) return text + "; it was replaced by " + by;
  return text + meant(name, known, "the nearest known is");
}

// For names with too many known ones to list.
std::string unknown_of_all(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  const std::string text = unknown(what, name, known);
  const bool is_near = !meant(name, known, "").empty() || !replacement(name).empty();
  return text + (is_near ? "" : "; docs/configuration.md has them all");
}

std::vector<std::string> spellings(std::string (*spell)(std::string_view), std::vector<std::string> more) {
  for (const SettingsEntry& entry : settings_table()) more.push_back(spell(entry.key));
  return more;
}

const SettingsEntry* entry_of(std::string_view name, std::string (*spell)(std::string_view)) {
  for (const SettingsEntry& entry : settings_table())
    if (spell(entry.key) == name) return &entry;
  return nullptr;
}

// Returns a value as messages show it: shortened, on one line.
std::string shown(std::string_view value) {
  constexpr std::size_t most = 200;
  const std::string text = as_one_line(std::string(value.substr(0, most)));
  return value.size() > most ? text + "... (" + std::to_string(value.size()) + " bytes)" : text;
}

std::optional<SettingsFault> apply(const SettingsEntry& entry, Settings& settings, std::string_view value,
                                   std::string_view where) {
  const std::string expected = entry.apply(settings, value);
  settings.given.insert(entry.key);
  if (expected.empty()) return std::nullopt;
  return SettingsFault{std::string(where) + " = " + shown(value) + ": expected " + as_one_line(expected)};
}

// Returns nothing for a node that is neither text, whole number nor boolean.
std::optional<std::string> word_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return flag->get() ? "on" : "off";
  if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
  return std::nullopt;
}

// A list becomes the text that an option has, with commas: [0, "2-5"] is 0,2-5.
std::optional<std::string> as_text(const toml::node& node) {
  const toml::array* const list = node.as_array();
  if (list == nullptr) return word_of(node);
  std::string text;
  for (const toml::node& item : *list) {
    const auto word = word_of(item);
    if (!word) return std::nullopt;
    text += (text.empty() ? "" : ",") + *word;
  }
  return text;
}

std::string place_of(const std::string& file, const toml::source_region& region) {
  return text_of(file, {.line = region.begin.line, .column = region.begin.column});
}

std::optional<SettingsFault> apply_references(const toml::table& table, Settings& settings, const std::string& file) {
  for (const auto& [name, uri] : table) {
    if (!uri.is_string())
      return SettingsFault{place_of(file, name.source()) + "init_ref." + std::string(name.str()) +
                           ": expected a reference as a string"};
    settings.initial_references[std::string(name.str())] = *word_of(uri);
  }
  return std::nullopt;
}

bool is_section(const std::string& prefix) {
  const auto& table = settings_table();
  return std::any_of(table.begin(), table.end(),
                     [&](const SettingsEntry& entry) { return entry.key.starts_with(prefix); });
}

std::vector<std::string> sections() {
  std::vector<std::string> names{"init_ref"};
  for (const SettingsEntry& entry : settings_table()) {
    std::string name(entry.key.substr(0, entry.key.find('.')));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

std::string unknown_section(const std::string& name) {
  if (entry_of(name, [](std::string_view key) { return std::string(key); }) != nullptr)
    return name + " is no section but a key of one";
  const std::string best = meant(name, sections(), "the nearest known is");
  return "unknown section " + name + (best.empty() ? "; known are " + listed(sections()) : best);
}

std::string unknown_key(const std::string& name, const std::vector<std::string>& known) {
  const std::size_t dot = name.find('.');
  if (dot == name.npos && is_section(name + "."))
    return name + " is a section: write [" + name + "], and its keys below";
  const std::string text = unknown("key", name, known);
  if (dot == name.npos || text.find(';') != text.npos) return text;
  std::vector<std::string> keys;
  for (const std::string& key : known)
    if (key.starts_with(name.substr(0, dot + 1))) keys.push_back(key.substr(dot + 1));
  return text + "; " + name.substr(0, dot) + " has " + listed(keys);
}

std::optional<SettingsFault> apply_table(const toml::table& table, const std::string& prefix, Settings& settings,
                                         const std::string& file) {
  static const auto same = [](std::string_view key) { return std::string(key); };
  for (const auto& [name, node] : table) {
    const std::string key = prefix + std::string(name.str());
    const std::string place = place_of(file, name.source());
    if (const toml::table* inner = node.as_table()) {
      if (key != "init_ref" && !is_section(key + ".")) return SettingsFault{place + unknown_section(key)};
      auto bad =
          key == "init_ref" ? apply_references(*inner, settings, file) : apply_table(*inner, key + ".", settings, file);
      if (bad) return bad;
      continue;
    }
    const SettingsEntry* entry = entry_of(key, same);
    if (entry == nullptr) return SettingsFault{place + unknown_key(key, spellings(same, {}))};
    const auto text = as_text(node);
    if (!text) return SettingsFault{place + key + ": expected text, a whole number, a boolean or a list of these"};
    if (auto bad = apply(*entry, settings, *text, place + key)) return bad;
  }
  return std::nullopt;
}

// Takes out of a tuned file which host it was tuned for.
os::HostKey take_host(toml::table& table) {
  const toml::node_view key = table["tuned"];
  os::HostKey host{.host = key["host"].value_or(std::string()),
                   .kernel = key["kernel"].value_or(std::string()),
                   .processor = key["processor"].value_or(std::string())};
  table.erase("tuned");
  return host;
}

std::optional<SettingsFault> apply_tuned_table(toml::table table, Settings& settings, const std::string& file) {
  if (!table["tuned"].is_table())
    return SettingsFault{file + ": expected [tuned] with the host that it is for; corelane tune writes such a file"};
  const std::string difference = os::difference_of(take_host(table), os::key_of_this_host());
  settings.tuned_elsewhere = !difference.empty();
  if (!settings.tuned_elsewhere) return apply_table(table, "", settings, file);
  settings.tuned_note =
      as_one_line(file + " is ignored: it was tuned " + difference + "; run corelane tune again, or remove the file");
  return std::nullopt;
}

enum class FileKind : std::uint8_t { configuration, tuned };

std::optional<SettingsFault> apply_file(const std::string& file, Settings& settings, FileKind kind) {
  const auto text = read_toml(kind == FileKind::tuned ? "tuned file" : "configuration file", file);
  if (!text) return text.error();
  try {
    toml::table table = toml::parse(*text, file);
    auto bad = kind == FileKind::tuned ? apply_tuned_table(std::move(table), settings, file)
                                       : apply_table(table, "", settings, file);
    if (bad) bad->text = as_one_line(bad->text);  // names in the file are anybody's text
    return bad;
  } catch (const toml::parse_error& error) {
    return SettingsFault{place_of(file, error.source()) +
                         as_one_line(toml_fault(error.description(), *text, error.source().begin.line))};
  }
}

struct Option {
  std::string name;
  std::optional<std::string> value{};  // nothing: no word follows that could be a value
};

// Moves the options with their values out of argv.
std::vector<Option> take_options(int& argc, char* argv[]) {
  std::vector<Option> options;
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    if (i == 0 || !is_orb_option(argv[i])) {
      argv[kept++] = argv[i];
      continue;
    }
    options.push_back({argv[i]});
    if (i + 1 < argc && !is_orb_option(argv[i + 1])) options.back().value = argv[++i];
  }
  argc = kept;
  if (argv != nullptr && kept > 0) argv[kept] = nullptr;
  return options;
}

std::optional<std::string> config_file(const std::vector<Option>& options, const SettingsSources& sources) {
  for (const Option& option : options | std::views::reverse)  // the last one counts, as for every setting
    if (option.name == "-ORBConfig" && option.value) return option.value;
  if (const auto named = sources.variables.find(config_variable);
      named != sources.variables.end() && !named->second.empty())
    return named->second;
  for (const std::string& file : sources.files)
    if (std::error_code ignored; std::filesystem::exists(file, ignored)) return file;
  return std::nullopt;
}

// Returns whether a variable of that name is probably meant as a setting, and not something of the user's own. Its name
// then begins with a section's prefix, or differs from a known name in a letter or two.
bool is_meant_as_setting(std::string_view name, const std::vector<std::string>& known) {
  if (distance(name, nearest(name, known)) <= 2) return true;
  const auto& table = settings_table();
  return std::any_of(table.begin(), table.end(), [&](const SettingsEntry& entry) {
    return name.starts_with(variable_of(entry.key.substr(0, entry.key.find('.') + 1)));
  });
}

std::optional<SettingsFault> apply_variable(const std::string& name, const std::string& value, Settings& settings) {
  if (name == config_variable) return std::nullopt;
  if (const SettingsEntry* entry = entry_of(name, variable_of)) return apply(*entry, settings, value, name);
  const std::vector<std::string> known = spellings(variable_of, {std::string(config_variable)});
  if (!is_meant_as_setting(name, known)) return std::nullopt;
  return SettingsFault{as_one_line(unknown_of_all("variable", name, known))};
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Returns the option of Corelane for an option of another ORB. If none is spelled so, upper and lower case count as
// one.
std::optional<SettingsFault> foreign_option(std::string_view name) {
  struct Habit {
    std::string_view option, of, here;
  };
  constexpr Habit habits[] = {
      {"-ORBEndpoint", "TAO", "-ORBEndpointListen host:port"},
      {"-ORBLogFile", "TAO", "2>FILE, since the log is on standard error"},
      {"-ORBNameServiceIOR", "TAO", "-ORBNamingService REFERENCE"},
      {"-ORBVerboseLogging", "TAO", "-ORBLogLevel debug"},
      {"-ORBInitialHost", "Java IDL", "-ORBNamingService corbaloc::HOST:PORT/NameService"},
      {"-ORBInitialPort", "Java IDL", "-ORBNamingService corbaloc::HOST:PORT/NameService"},
      {"-ORBclientCallTimeOutPeriod", "omniORB", "-ORBTimeoutRequest 5s"},
      {"-ORBclientTransportRule", "omniORB",
       "-ORBClientChannel on or off; the reference says which addresses there are"},
      {"-ORBserverTransportRule", "omniORB", "-ORBChannelAllow and -ORBEndpointUnixMode"},
      {"-ORBListenEndpoints", "TAO", "-ORBEndpointListen host:port"},
      {"-ORBSvcConf", "TAO", "-ORBConfig file.toml"},
      {"-ORBDebugLevel", "TAO", "-ORBLogLevel debug"},
      {"-ORBendPoint", "omniORB", "-ORBEndpointListen host:port"},
      {"-ORBendPointPublish", "omniORB", "-ORBEndpointHost host"},
      {"-ORBconfigFile", "omniORB", "-ORBConfig file.toml"},
      {"-ORBtraceLevel", "omniORB", "-ORBLogLevel debug"},
      {"-ORBgiopMaxMsgSize", "omniORB", "-ORBLimitsMessageSize bytes"},
      {"-ORBmaxGIOPConnectionPerServer", "omniORB", "-ORBClientConnections number"},
  };
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  const Habit* found = std::ranges::find(habits, name, &Habit::option);
  if (found == std::end(habits))
    found = std::ranges::find_if(habits, [&](const Habit& h) { return std::ranges::equal(h.option, name, same); });
  if (found == std::end(habits)) return std::nullopt;
  return SettingsFault{"option " + std::string(name) + " is " + std::string(found->of) + "'s; here it is " +
                       std::string(found->here)};
}

// Reports an option in a wrong notation, such as two dashes or `=`. Returns nothing for an option that is simply
// unknown.
std::optional<SettingsFault> misspelt(std::string_view name, const std::vector<std::string>& known) {
  if (name.starts_with("--"))
    return SettingsFault{"option " + std::string(name) + ": -ORB options begin with one dash: " + nearest(name, known)};
  const std::size_t equals = name.find('=');
  if (equals == name.npos) return std::nullopt;
  const std::string option(name.substr(0, equals)), value(name.substr(equals + 1));
  if (std::find(known.begin(), known.end(), option) == known.end()) return std::nullopt;
  return SettingsFault{"option " + std::string(name) + ": an option and its value are two words: " + option + " " +
                       value};
}

std::optional<SettingsFault> apply_reference(const std::string& text, Settings& settings) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    return SettingsFault{"-ORBInitRef " + text +
                         ": expected NAME=REFERENCE, such as NameService=corbaloc::host:2809/Name"};
  settings.initial_references[text.substr(0, equals)] = text.substr(equals + 1);
  return std::nullopt;
}

std::optional<SettingsFault> apply_option(const Option& option, Settings& settings) {
  const std::vector<std::string> known =
      spellings(option_of, {"-ORBConfig", "-ORBid", "-ORBInitRef", "-ORBDefaultInitRef"});
  if (auto bad = misspelt(option.name, known)) return bad;
  if (std::find(known.begin(), known.end(), option.name) == known.end()) {
    if (auto habit = foreign_option(option.name)) return habit;
    return SettingsFault{as_one_line(unknown_of_all("option", option.name, known))};
  }
  if (!option.value) return SettingsFault{option.name + " needs a value: " + option.name + " VALUE"};
  if (option.name == "-ORBConfig") return std::nullopt;  // config_file() reads it
  if (option.name == "-ORBid") return settings.id = *option.value, std::nullopt;
  if (option.name == "-ORBDefaultInitRef") return settings.default_initial_reference = *option.value, std::nullopt;
  if (option.name == "-ORBInitRef") return apply_reference(*option.value, settings);
  return apply(*entry_of(option.name, option_of), settings, *option.value, option.name);
}

// Checks conditions between several settings.
std::optional<SettingsFault> inconsistency(const Settings& settings) {
  const sched::PlatformLoad& load = settings.executive.platform;
  if (load.period <= Duration::zero())
    return SettingsFault{"platform.period = " + to_string(load.period) + ": expected more than 0"};
  if (load.budget >= load.period)
    return SettingsFault{"platform.budget = " + to_string(load.budget) + ": expected less than platform.period = " +
                         to_string(load.period) + "; nothing would be left for tasks"};
  return std::nullopt;
}

// Applies the configuration file, then the variables, then the options.
std::optional<SettingsFault> apply_sources(const std::vector<Option>& options, const SettingsSources& sources,
                                           Settings& settings) {
  if (const auto file = config_file(options, sources))
    if (auto bad = apply_file(*file, settings, FileKind::configuration)) return bad;
  for (const auto& [name, value] : sources.variables)
    if (auto bad = apply_variable(name, value, settings)) return bad;
  for (const Option& option : options)
    if (auto bad = apply_option(option, settings)) return bad;
  return std::nullopt;
}

std::optional<std::string> tuned_file(const Settings& settings, const SettingsSources& sources) {
  if (settings.tuned_file == "off") return std::nullopt;
  if (!settings.tuned_file.empty()) return settings.tuned_file;
  std::error_code ignored;
  if (sources.tuned.empty() || !std::filesystem::exists(sources.tuned, ignored)) return std::nullopt;
  return sources.tuned;
}

// Begins with the tuned file, and applies all sources again over it.
std::optional<SettingsFault> apply_under(const std::string& tuned, const std::vector<Option>& options,
                                         const SettingsSources& sources, Settings& settings) {
  Settings based;
  if (auto bad = apply_file(tuned, based, FileKind::tuned)) return bad;
  const auto of_file = std::exchange(based.given, {});
  if (auto bad = apply_sources(options, sources, based)) return bad;
  std::string used;
  for (const std::string_view key : of_file)
    if (!based.given.contains(key)) used.append(used.empty() ? "" : ", ").append(key);
  if (!based.tuned_elsewhere)
    based.tuned_note = tuned + ", which corelane tune has written for this host, sets " +
                       (used.empty() ? "nothing that is not set elsewhere" : used);
  settings = std::move(based);
  return std::nullopt;
}

}  // namespace

SettingsSources SettingsSources::of_process() {
  SettingsSources sources{
      .variables = {}, .files = {"./corelane.toml", "/etc/corelane.toml"}, .tuned = "./corelane.tuned.toml"};
  for (char** entry = environ; *entry != nullptr; ++entry) {  // bound: the environment
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (!text.starts_with(variable_prefix) || equals == text.npos) continue;
    sources.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return sources;
}

Expected<Settings, SettingsFault> load_settings(int& argc, char* argv[], const SettingsSources& sources) {
  Settings settings;
  const std::vector<Option> options = take_options(argc, argv);
  for (const Option& option : options)
    if (option.name == "-ORBConfig" && option.value == "")
      return Fault(SettingsFault{"-ORBConfig \"\": expected the name of a configuration file"});
  if (auto bad = apply_sources(options, sources, settings)) return Fault(std::move(*bad));
  if (const auto tuned = tuned_file(settings, sources))
    if (auto bad = apply_under(*tuned, options, sources, settings)) return Fault(std::move(*bad));
  if (auto bad = inconsistency(settings)) return Fault(std::move(*bad));
  if (!settings.contracts_file.empty()) {
    auto contracts = ContractsFile::load(settings.contracts_file);
    if (!contracts) return Fault(contracts.error());
    settings.contracts = std::move(*contracts);
  }
  if (!settings.executive.slowdowns_file.empty()) {
    auto slowdowns = SlowdownsFile::load(settings.executive.slowdowns_file);
    if (!slowdowns) return Fault(slowdowns.error());
    settings.slowdowns = std::move(*slowdowns);
    settings.executive.slowdowns = settings.slowdowns->worst();
  }
  return settings;
}

}  // namespace corelane::core
