#include "services/corelane/reproductions/reproduction_file.h"

#include <cstddef>
#include <optional>

#include "orb/base/settings/setting_values.h"
#include "orb/core/text/spelling.h"
#include "orb/eval/scenario/node.h"
#include "orb/eval/scenario/node_reader.h"
#include "orb/eval/scenario/toml_nodes.h"

namespace corelane::tool::reproductions {
namespace {

using eval::Node;
using eval::NodeFault;

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
  explicit ReproductionReader(const std::string& path) : nodes_(path) {}

  NodeFault read(const Node& root, ReproductionFile& file) const {
    if (NodeFault fault = nodes_.check_keys(root, "", {"name", "source", "reproduction"})) return fault;
    if (NodeFault fault = nodes_.read_text(root, "name", file.name)) return fault;
    if (NodeFault fault = nodes_.read_text(root, "source", file.source)) return fault;
    return nodes_.read_tables(root, "reproduction", "an experiment",
                              [&](const Node& table) { return read_entry(table, file); });
  }

 private:
  NodeFault read_entry(const Node& table, ReproductionFile& file) const {
    if (NodeFault fault = nodes_.check_keys(table, "reproduction", {"experiment", "length", "published"})) return fault;
    std::string name;
    if (NodeFault fault = nodes_.read_text(table, "experiment", name)) return fault;
    const Experiment* const experiment = experiment_named(name);
    if (experiment == nullptr)
      return nodes_.fault_at(table, "experiment: expected one of " + core::listed(experiment_names()) +
                                        (name.empty() ? "" : "; found \"" + name + "\""));
    ReproductionFile::Entry entry{
        .experiment = experiment,
        .length = experiment->length,
        .published = ExperimentValues(experiment->rows.size(), std::vector<std::string>(experiment->columns.size()))};
    if (const Node* const length = table.find("length"))
      if (NodeFault fault = read_length(*length, entry)) return fault;
    if (const Node* const published = table.find("published"))
      if (NodeFault fault = read_published(*published, entry)) return fault;
    file.entries.push_back(std::move(entry));
    return std::nullopt;
  }

  NodeFault read_length(const Node& value, ReproductionFile::Entry& entry) const {
    if (entry.length == Duration::zero())
      return nodes_.fault_at(value,
                             "length: " + std::string(entry.experiment->name) + " has a fixed length; leave it out");
    Duration length{};
    const bool is_time = value.kind == Node::Kind::text && parse::span_of_time(value.text, length).empty();
    if (!is_time || length < shortest_run || length > longest_run)
      return nodes_.fault_at(value,
                             "length: expected a time from 10ms to 1h, such as \"2s\"; found " + eval::shown(value));
    entry.length = length;
    return std::nullopt;
  }

  NodeFault read_published(const Node& table, ReproductionFile::Entry& entry) const {
    const std::vector<std::string> rows(entry.experiment->rows.begin(), entry.experiment->rows.end());
    if (table.kind != Node::Kind::table)
      return nodes_.fault_at(table, "published: expected a list of values for each row; found " + eval::shown(table));
    if (NodeFault fault = nodes_.check_keys(table, "published", rows)) return fault;
    for (std::size_t row = 0; row < rows.size(); ++row)
      if (const Node* const values = table.find(rows[row]))
        if (NodeFault fault = read_values(*values, entry.published[row])) return fault;
    return std::nullopt;
  }

  NodeFault read_values(const Node& list, std::vector<std::string>& out) const {
    if (list.kind != Node::Kind::list || list.children.size() != out.size())
      return nodes_.fault_at(list,
                             list.key + ": expected " + std::to_string(out.size()) +
                                 " texts in brackets, one for each column, \"\" where nothing was published; found " +
                                 eval::shown(list));
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (list.children[i].kind != Node::Kind::text)
        return nodes_.fault_at(list.children[i],
                               list.key + ": expected a text; found " + eval::shown(list.children[i]));
      out[i] = list.children[i].text;
    }
    return std::nullopt;
  }

  const eval::NodeReader nodes_;
};

}  // namespace

bool is_reproduction_file(std::string_view text) { return eval::has_top_level_key(text, "reproduction"); }

Expected<ReproductionFile, eval::ScenarioFault> parse_reproductions(std::string_view text, const std::string& path) {
  const auto root = eval::parse_toml(text, path);
  if (!root) return root.error();
  ReproductionFile file;
  if (NodeFault fault = ReproductionReader(path).read(*root, file)) return *fault;
  return file;
}

}  // namespace corelane::tool::reproductions
