#include "services/corelane/reproductions/reproduction_file.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "orb/base/settings/setting_values.h"
#include "orb/core/config/spelling.h"
#include "orb/eval/scenario/node.h"
#include "orb/eval/scenario/toml_nodes.h"

namespace corelane::tool::reproductions {
namespace {

using eval::Node;
using FileFault = std::optional<eval::ScenarioFault>;

constexpr Duration shortest_run = std::chrono::milliseconds{10}, longest_run = std::chrono::hours{1};

const Experiment* experiment_named(std::string_view name) {
  for (const Experiment* const experiment : experiments())
    if (experiment->name == name) return experiment;
  return nullptr;
}

std::vector<std::string> experiment_names() {
  std::vector<std::string> names;
  for (const Experiment* const experiment : experiments()) names.emplace_back(experiment->name);
  return names;
}

// ReproductionReader reads the tables of a file, and stops at the first fault.
class ReproductionReader {
 public:
  explicit ReproductionReader(const std::string& path) : path_(path) {}

  FileFault read(const Node& root, ReproductionFile& file) const {
    if (FileFault fault = check_keys(root, {"name", "source", "reproduction"})) return fault;
    if (FileFault fault = read_text(root, "name", file.name)) return fault;
    if (FileFault fault = read_text(root, "source", file.source)) return fault;
    const Node* const list = root.find("reproduction");
    if (list == nullptr || list->kind != Node::Kind::list || list->children.empty())
      return fault_at(list == nullptr ? root : *list, "expected tables [[reproduction]], each with an experiment");
    for (const Node& table : list->children)
      if (FileFault fault = read_entry(table, file)) return fault;
    return std::nullopt;
  }

 private:
  FileFault fault_at(const Node& node, const std::string& text) const {
    return eval::ScenarioFault{core::text_of(path_, node.at) + text};
  }

  FileFault check_keys(const Node& table, const std::vector<std::string>& known) const {
    for (const Node& child : table.children) {
      if (std::ranges::find(known, child.key) != known.end()) continue;
      const std::string best = core::meant(child.key, known, "the nearest is");
      return eval::ScenarioFault{core::text_of(path_, child.key_at) + "there is no " + child.key +
                                 (best.empty() ? "; there are " + core::listed(known) : best)};
    }
    return std::nullopt;
  }

  FileFault read_text(const Node& table, std::string_view key, std::string& out) const {
    const Node* const value = table.find(key);
    if (value == nullptr) return std::nullopt;
    if (value->kind != Node::Kind::text)
      return fault_at(*value, std::string(key) + ": expected a text; found " + eval::shown(*value));
    out = value->text;
    return std::nullopt;
  }

  FileFault read_entry(const Node& table, ReproductionFile& file) const {
    if (table.kind != Node::Kind::table) return fault_at(table, "expected a table; found " + eval::shown(table));
    if (FileFault fault = check_keys(table, {"experiment", "length", "published"})) return fault;
    std::string name;
    if (FileFault fault = read_text(table, "experiment", name)) return fault;
    const Experiment* const experiment = experiment_named(name);
    if (experiment == nullptr)
      return fault_at(table, "experiment: expected one of " + core::listed(experiment_names()) +
                                 (name.empty() ? "" : "; found \"" + name + "\""));
    ReproductionFile::Entry entry{
        .experiment = experiment,
        .length = experiment->length,
        .published = ExperimentValues(experiment->rows.size(), std::vector<std::string>(experiment->columns.size()))};
    if (const Node* const length = table.find("length"))
      if (FileFault fault = read_length(*length, entry)) return fault;
    if (const Node* const published = table.find("published"))
      if (FileFault fault = read_published(*published, entry)) return fault;
    file.entries.push_back(std::move(entry));
    return std::nullopt;
  }

  FileFault read_length(const Node& value, ReproductionFile::Entry& entry) const {
    if (entry.length == Duration::zero())
      return fault_at(value, "length: " + std::string(entry.experiment->name) + " has a fixed length; leave it out");
    Duration length{};
    const bool is_time = value.kind == Node::Kind::text && parse::span_of_time(value.text, length).empty();
    if (!is_time || length < shortest_run || length > longest_run)
      return fault_at(value, "length: expected a time from 10ms to 1h, such as \"2s\"; found " + eval::shown(value));
    entry.length = length;
    return std::nullopt;
  }

  FileFault read_published(const Node& table, ReproductionFile::Entry& entry) const {
    const std::vector<std::string> rows(entry.experiment->rows.begin(), entry.experiment->rows.end());
    if (table.kind != Node::Kind::table)
      return fault_at(table, "published: expected a list of values for each row; found " + eval::shown(table));
    if (FileFault fault = check_keys(table, rows)) return fault;
    for (std::size_t row = 0; row < rows.size(); ++row)
      if (const Node* const values = table.find(rows[row]))
        if (FileFault fault = read_values(*values, entry.published[row])) return fault;
    return std::nullopt;
  }

  FileFault read_values(const Node& list, std::vector<std::string>& out) const {
    if (list.kind != Node::Kind::list || list.children.size() != out.size())
      return fault_at(list, list.key + ": expected " + std::to_string(out.size()) +
                                " texts in brackets, one for each column, \"\" where nothing was published; found " +
                                eval::shown(list));
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (list.children[i].kind != Node::Kind::text)
        return fault_at(list.children[i], list.key + ": expected a text; found " + eval::shown(list.children[i]));
      out[i] = list.children[i].text;
    }
    return std::nullopt;
  }

  const std::string& path_;
};

}  // namespace

bool is_reproduction_file(std::string_view text) {
  const auto root = eval::parse_toml(text, "");
  return root && root->find("reproduction") != nullptr;
}

Expected<ReproductionFile, eval::ScenarioFault> parse_reproductions(std::string_view text, const std::string& path) {
  const auto root = eval::parse_toml(text, path);
  if (!root) return root.error();
  ReproductionFile file;
  if (FileFault fault = ReproductionReader(path).read(*root, file)) return *fault;
  return file;
}

}  // namespace corelane::tool::reproductions
