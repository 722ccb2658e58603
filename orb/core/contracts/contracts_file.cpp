#include "orb/core/contracts/contracts_file.h"

#include <algorithm>
#include <limits>

#include "orb/base/settings/overrun_name.h"
#include "orb/core/contracts/contract_backlog.h"
#include "orb/core/text/spelling.h"
#include "orb/core/text/toml_text.h"
#include "orb/os/lock.h"

// The compiled library is linked. The header-only form would compile the parser into every program.
#include <toml++/toml.h>

namespace corelane::core {
namespace {

constexpr Duration shortest{1};

const std::vector<std::string>& keys() {
  static const std::vector<std::string> names{"period",     "deadline",   "budget",    "jitter", "suspension",
                                              "importance", "on_overrun", "intensity", "uses"};
  return names;
}

// Returns whether the text is like "IDL:Plant/Controller:1.0": a format, a colon, and not a C++ name.
bool is_repository_id(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != text.npos && colon > 0 && colon + 1 < text.size() && text.find("::") == text.npos;
}

// Returns the repository id that was probably meant by "Plant::Controller" or "Plant/Controller".
std::string as_repository_id(std::string text) {
  for (std::size_t at = text.find("::"); at != text.npos; at = text.find("::")) text.replace(at, 2, "/");
  std::replace(text.begin(), text.end(), '.', '/');
  return "IDL:" + text + ":1.0";
}

// Returns the table header that was probably meant by [Plant.Controller.step], which TOML reads as nested tables.
std::string as_table(const std::string& first, const toml::node& node) {
  std::string path = first, last;
  const toml::table* table = node.as_table();
  while (table != nullptr && !table->empty() && table->begin()->second.is_table()) {  // bound: the file
    if (!last.empty()) path += '.' + last;
    last = table->begin()->first.str();
    table = table->begin()->second.as_table();
  }
  return "[\"" + as_repository_id(path) + "\"." + (last.empty() ? "OPERATION" : last) + "]";
}

// Returns the end of a fault that says which resource was probably meant by `name`.
std::string resource_question(const std::string& name, const std::vector<std::string>& made) {
  if (made.empty()) return "; none was made at all";
  const std::string best = meant(name, made, "is");
  return best.empty() ? "; made: " + listed(made) : best + " meant?";
}

// Returns the end of a fault that says which interface was probably meant by `id`; empty if none is similar. It allows
// few slips, because all ids resemble each other.
std::string question(const std::string& id, const std::vector<std::string>& known) {
  constexpr std::size_t slips = 2;
  if (known.empty() || distance(id, nearest(id, known)) > slips) return {};
  return "; is " + nearest(id, known) + " meant?";
}

// A line for the log about a place in the file.
using LineAt = std::pair<FilePlace, std::string>;

// Returns the lines in the order of their places.
std::vector<std::string> in_order(std::vector<LineAt> lines) {
  std::ranges::stable_sort(lines, {}, [](const LineAt& line) { return std::pair(line.first.line, line.first.column); });
  std::vector<std::string> texts;
  for (LineAt& line : lines) texts.push_back(std::move(line.second));
  return texts;
}

FilePlace place_of(const toml::source_region& region) {
  return {.line = region.begin.line, .column = region.begin.column};
}

// Returns "deadline 8ms -> 20ms, budget 1500us -> 310us"; "" if nothing changes. `uses`: the text of uses_text().
std::string changes_of(const Contract& before, const Contract& after, const std::string& uses) {
  std::string text;
  const auto add = [&text](const char* term, const std::string& from, const std::string& to) {
    if (from != to) text += (text.empty() ? "" : ", ") + std::string(term) + " " + from + " -> " + to;
  };
  add("period", to_string(before.period), to_string(after.period));
  add("deadline", to_string(before.deadline), to_string(after.deadline));
  add("budget", to_string(before.budget), to_string(after.budget));
  add("jitter", to_string(before.jitter), to_string(after.jitter));
  add("suspension", to_string(before.suspension), to_string(after.suspension));
  add("importance", std::to_string(before.importance), std::to_string(after.importance));
  add("on_overrun", std::string(name_of(before.on_overrun)), std::string(name_of(after.on_overrun)));
  add("intensity", std::to_string(before.intensity), std::to_string(after.intensity));
  if (before.uses != after.uses) text += (text.empty() ? "" : ", ") + uses;
  return text;
}

// Describes the contract of an operation that has none in the IDL.
std::string given_text(const Contract& contract, const std::string& uses) {
  return "period " + to_string(contract.period) + ", deadline " + to_string(contract.deadline) + ", budget " +
         to_string(contract.budget) + " and jitter " + to_string(contract.jitter) +
         (uses_resources(contract) ? ", " + uses : "") + ", where its IDL has no contract";
}

}  // namespace

// Reader reads one file, until its first fault.
class ContractsFile::Reader {
 public:
  explicit Reader(ContractsFile& file) : file_(file) {}

  std::optional<std::string> read(const toml::table& root) {
    for (const auto& [id, node] : root) {
      const std::string name(id.str());
      at_ = place_of(id.source());
      if (!is_repository_id(name))
        return fault("\"" + name + "\" is no repository id; is " + as_table(name, node) + " meant?");
      const toml::table* operations = node.as_table();
      if (operations == nullptr) return fault(name + ": expected a table for each operation: [\"" + name + "\".step]");
      if (auto bad = read_interface(name, *operations)) return bad;
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> fault(const std::string& text) const { return file_.at(at_) + text; }

  std::optional<std::string> read_interface(const std::string& id, const toml::table& operations) {
    for (const auto& [name, node] : operations) {
      at_ = place_of(name.source());
      const toml::table* fields = node.as_table();
      if (fields == nullptr)
        return fault(id + ": \"" + std::string(name.str()) + "\" stands where an operation is expected: [\"" + id +
                     "\".step], its contract below");
      Entry entry{};
      entry.at = place_of(node.source());
      for (const auto& [key, value] : *fields)
        if (auto bad = read_field(key, value, entry)) return bad;
      at_ = entry.at;
      if (auto bad = hopeless(entry)) return fault(id + " " + std::string(name.str()) + ": " + *bad);
      file_.interfaces_[id].emplace(name.str(), entry);
    }
    return std::nullopt;
  }

  std::optional<std::string> read_field(const toml::key& name, const toml::node& value, Entry& entry) {
    const std::string key(name.str());
    at_ = place_of(name.source());
    if (key == "period") return duration(key, value, entry.period);
    if (key == "deadline") return duration(key, value, entry.deadline);
    if (key == "budget") return duration(key, value, entry.budget);
    if (key == "jitter") return duration(key, value, entry.jitter);
    if (key == "suspension") return duration(key, value, entry.suspension);
    if (key == "importance") return number(key, value, entry.importance);
    if (key == "on_overrun") return policy(value, entry);
    if (key == "intensity") return number(key, value, entry.intensity);
    if (key == "uses") return uses(value, entry);
    const std::string best = meant(key, keys(), "the nearest known is");
    return fault("unknown key " + key + (best.empty() ? "; known are " + listed(keys()) : best));
  }

  std::optional<std::string> duration(const std::string& key, const toml::node& value, std::optional<Duration>& out) {
    const auto* const text = value.as_string();
    if (text != nullptr) out = parse_duration(text->get());
    if (out) return std::nullopt;
    return fault(key + ": expected a duration such as \"10ms\" (a whole number and ns, us, ms or s), in quotes" +
                 (text != nullptr ? duration_hint(text->get()) : ""));
  }

  template <typename Number>
  std::optional<std::string> number(const std::string& key, const toml::node& value, std::optional<Number>& out) {
    constexpr std::int64_t least = std::numeric_limits<Number>::min(), most = std::numeric_limits<Number>::max();
    const auto* const given = value.as_integer();
    if (given == nullptr || given->get() < least || given->get() > most)
      return fault(key + ": expected a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    out = static_cast<Number>(given->get());
    return std::nullopt;
  }

  std::optional<std::string> policy(const toml::node& value, Entry& entry) {
    const auto* const text = value.as_string();
    const std::string name = text == nullptr ? "" : text->get();
    if (const auto named = overrun_policy_of(name)) return entry.on_overrun = *named, std::nullopt;
    return fault("on_overrun: expected \"report\", \"demote\" or \"cancel\"");
  }

  std::optional<std::string> uses(const toml::node& value, Entry& entry) {
    const toml::table* const table = value.as_table();
    if (table == nullptr || table->size() > max_uses)
      return fault("uses: expected at most four resources with their longest sections, such as { bus = \"200us\" }");
    entry.uses.emplace();
    std::size_t count = 0;
    for (const auto& [name, longest] : *table) {
      at_ = place_of(name.source());
      std::optional<Duration> length;
      if (auto bad = duration("uses." + std::string(name.str()), longest, length)) return bad;
      entry.resources.push_back({.name = std::string(name.str()), .at = place_of(name.source())});
      (*entry.uses)[count++] = use_of(name.str(), *length);
    }
    return std::nullopt;
  }

  // Returns the fault of an entry that no IDL can make sound, whatever values it has for the keys that are left out.
  static std::optional<std::string> hopeless(const Entry& entry) {
    const Contract best = {.period = entry.period.value_or(longest_period),
                           .deadline = entry.deadline.value_or(longest_period),
                           .budget = entry.budget.value_or(shortest),
                           .jitter = entry.jitter.value_or(Duration::zero()),
                           .suspension = entry.suspension.value_or(Duration::zero())};
    if (auto bad = corelane::fault_of(best)) return bad;
    return entry.period && entry.deadline ? backlog_fault_of(best) : std::nullopt;
  }

  ContractsFile& file_;
  FilePlace at_;  // the place that is being read
};

Expected<std::shared_ptr<const ContractsFile>, SettingsFault> ContractsFile::load(const std::string& path) {
  const auto text = read_toml("contracts file", path);
  if (!text) return text.error();
  return parse(*text, path);
}

Expected<std::shared_ptr<const ContractsFile>, SettingsFault> ContractsFile::parse(std::string_view text,
                                                                                   const std::string& path) {
  const auto file = std::make_shared<ContractsFile>();
  file->path_ = path;
  try {
    if (auto bad = Reader(*file).read(toml::parse(text, path))) return SettingsFault{*bad};
  } catch (const toml::parse_error& error) {
    const FilePlace place = place_of(error.source());
    return SettingsFault{file->at(place) + toml_fault(error.description(), text, place.line)};
  }
  return std::shared_ptr<const ContractsFile>(file);
}

Contract ContractsFile::merged(const Entry& entry, const Contract* declared) {
  Contract contract = declared != nullptr ? *declared : make_contract({}, {});
  const bool of_period = contract.deadline == contract.period;
  const bool is_default_jitter =
      contract.jitter == make_contract(contract.period, contract.budget, contract.deadline).jitter;
  contract.period = entry.period.value_or(contract.period);
  contract.budget = entry.budget.value_or(contract.budget);
  contract.deadline = entry.deadline.value_or(of_period ? contract.period : contract.deadline);
  if (is_default_jitter) contract.jitter = make_contract(contract.period, contract.budget, contract.deadline).jitter;
  contract.jitter = entry.jitter.value_or(contract.jitter);
  contract.suspension = entry.suspension.value_or(contract.suspension);
  contract.importance = entry.importance.value_or(contract.importance);
  contract.on_overrun = entry.on_overrun.value_or(contract.on_overrun);
  contract.intensity = entry.intensity.value_or(contract.intensity);
  contract.uses = entry.uses.value_or(contract.uses);
  return contract;
}

// Replaces "uses[0]" and the like in a text with the name that the file gives the resource.
std::string ContractsFile::with_names(std::string text, const Entry& entry) {
  for (std::size_t i = 0; i < entry.resources.size(); ++i) {
    const std::string number = "uses[" + std::to_string(i) + "]", name = "uses." + entry.resources[i].name;
    for (std::size_t at = 0; (at = text.find(number, at)) != text.npos; at += name.size())
      text.replace(at, number.size(), name);
  }
  return text;
}

// Returns why no server admits the entry's contract, or nothing.
std::optional<std::string> ContractsFile::fault_of_merged(const Entry& entry, const Contract& contract) {
  if (const auto bad = corelane::fault_of(contract)) return with_names(*bad, entry);
  if (contract.budget > contract.period)
    return "budget " + to_string(contract.budget) + " exceeds period " + to_string(contract.period) +
           ", so no core ever has room for it";
  return backlog_fault_of(contract);
}

// Returns "uses bus for 200us and log for 1ms".
std::string ContractsFile::uses_text(const Entry& entry) {
  std::string text;
  for (std::size_t i = 0; i < entry.resources.size(); ++i)
    text += (i == 0 ? "" : " and ") + entry.resources[i].name + " for " + to_string((*entry.uses)[i].longest);
  return "uses " + (text.empty() ? "nothing" : text);
}

// Returns the operation's entry in the most derived interface that has one.
const ContractsFile::Entry* ContractsFile::find(const Skeleton& skeleton, std::string_view operation) const {
  for (const char* id : skeleton.ids) {
    const auto found = interfaces_.find(std::string_view(id));
    if (found == interfaces_.end()) continue;
    if (const auto entry = found->second.find(operation); entry != found->second.end()) return &entry->second;
  }
  return nullptr;
}

std::optional<std::string> ContractsFile::fault_of(const Operations& operations, const Skeleton& skeleton) const {
  for (const auto& [name, entry] : operations)
    if (skeleton.find(name) == nullptr) return at(entry.at) + unknown_operation(skeleton, name);
  return std::nullopt;
}

Expected<OperationContracts, SettingsFault> ContractsFile::contracts_of(const Skeleton& skeleton) const {
  for (const char* id : skeleton.ids) {
    const auto found = interfaces_.find(std::string_view(id));
    if (found == interfaces_.end()) continue;
    if (auto bad = fault_of(found->second, skeleton)) return SettingsFault{*bad};
  }
  note(skeleton);
  OperationContracts contracts = declared_contracts(skeleton);
  for (std::size_t i = 0; i < skeleton.upcalls.size(); ++i) {
    const Upcall& upcall = skeleton.upcalls[i];
    const Entry* entry = find(skeleton, upcall.name);
    if (entry == nullptr) continue;
    const std::string where = at(entry->at) + skeleton.ids.front() + " " + std::string(upcall.name) + ": ";
    if (upcall.contract == nullptr && (!entry->period || !entry->budget))
      return SettingsFault{where + "its IDL has no contract, so period and budget are both required"};
    const Contract contract = merged(*entry, upcall.contract);
    const std::string rest = upcall.contract ? "; fields that the file leaves out are those of the IDL" : "";
    if (const auto bad = fault_of_merged(*entry, contract)) return SettingsFault{where + *bad + rest};
    contracts.resize(skeleton.upcalls.size());
    contracts[i] = contract;
  }
  return contracts;
}

Expected<std::vector<ContractsFile::Task>, SettingsFault> ContractsFile::tasks() const {
  std::vector<Task> tasks;
  for (const auto& [id, operations] : interfaces_)
    for (const auto& [name, entry] : operations) {
      const std::string where = at(entry.at) + id + " " + name + ": ";
      if (!entry.period || !entry.budget)
        return SettingsFault{where + "period and budget are both required where no IDL is read; add " +
                             (entry.period ? "budget" : "period")};
      const Contract contract = merged(entry, nullptr);
      if (const auto bad = fault_of_merged(entry, contract)) return SettingsFault{where + *bad};
      tasks.push_back({.repository_id = id, .operation = name, .contract = contract, .at = entry.at});
    }
  std::ranges::sort(tasks, {}, [](const Task& task) { return std::pair(task.at.line, task.at.column); });
  return tasks;
}

void ContractsFile::note(const Skeleton& skeleton) const {
  const os::LockGuard lock(mutex_);
  asked_.insert(skeleton.ids.begin(), skeleton.ids.end());
  for (const Upcall& upcall : skeleton.upcalls)
    if (upcall.contract != nullptr)
      for (const ResourceUse& use : upcall.contract->uses) declared_.insert(use.resource);
}

std::vector<std::string> ContractsFile::untold_changes(const Skeleton& skeleton,
                                                       const OperationContracts& contracts) const {
  {
    const os::LockGuard lock(mutex_);
    if (!told_changes_.insert(skeleton.ids.front()).second) return {};
  }
  std::vector<LineAt> lines;
  for (std::size_t i = 0; i < contracts.size(); ++i) {
    const Upcall& upcall = skeleton.upcalls[i];
    const Entry* const entry = find(skeleton, upcall.name);
    if (entry == nullptr) continue;
    const std::string uses = uses_text(*entry);
    const std::string text =
        upcall.contract ? changes_of(*upcall.contract, *contracts[i], uses) : given_text(*contracts[i], uses);
    if (!text.empty())
      lines.emplace_back(entry->at,
                         at(entry->at) + skeleton.ids.front() + " " + std::string(upcall.name) + ": " + text);
  }
  return in_order(std::move(lines));
}

std::vector<std::string> ContractsFile::unused(Look look) const {
  const bool running = look == Look::running;
  const std::string activated = running ? " was activated so far" : " was activated";
  std::vector<LineAt> lines;
  const os::LockGuard lock(mutex_);
  auto& told = running ? told_running_ : told_ended_;
  for (const auto& [id, operations] : interfaces_)
    if (!asked_.contains(id) && !operations.empty() && told.insert(id).second)
      lines.emplace_back(operations.begin()->second.at, at(operations.begin()->second.at) + "no object of " + id +
                                                            activated + ": its contracts are not used" +
                                                            question(id, {asked_.begin(), asked_.end()}));
  return in_order(std::move(lines));
}

// Covers activated interfaces only; unused() reports the others.
std::vector<std::string> ContractsFile::unknown_resources(Look look, const std::vector<std::string>& made) const {
  const bool running = look == Look::running;
  std::vector<LineAt> lines;
  const os::LockGuard lock(mutex_);
  auto& told = running ? told_running_ : told_ended_;
  const auto is_known = [&](const std::string& name) CORELANE_REQUIRES(mutex_) {
    return declared_.contains(resource_named(name)) || std::ranges::find(made, name) != made.end();
  };
  for (const auto& [id, operations] : interfaces_)
    for (const auto& [operation, entry] : operations)
      for (const Resource& resource : entry.resources)
        if (asked_.contains(id) && !is_known(resource.name) && told.insert(at(resource.at)).second)
          lines.emplace_back(resource.at, at(resource.at) + id + " " + operation + " uses " + resource.name +
                                              ", but no corelane::rt::Resource of that name was made" +
                                              (running ? " so far: unless one comes, what" : ": what") +
                                              " it locks is not in its contract" +
                                              resource_question(resource.name, made));
  return in_order(std::move(lines));
}

}  // namespace corelane::core
