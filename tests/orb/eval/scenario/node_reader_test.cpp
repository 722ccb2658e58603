#include "orb/eval/scenario/node_reader.h"

#include <catch2/catch.hpp>
#include <string>

#include "orb/eval/scenario/toml_nodes.h"

namespace node_reader_test {
namespace {

using namespace corelane::eval;

// Reads a file with the keys `name` and `[[row]]`, and joins the labels of the rows.
NodeFault read(const std::string& text, std::string& name, std::string& labels) {
  const NodeReader reader("f.toml");
  const auto root = parse_toml(text, "f.toml");
  REQUIRE(root);
  if (NodeFault fault = reader.check_keys(*root, "", {"name", "row"})) return fault;
  if (NodeFault fault = reader.read_text(*root, "name", name)) return fault;
  return reader.read_tables(*root, "row", "a label", [&](const Node& table) {
    std::string label;
    const NodeFault fault = reader.read_text(table, "label", label);
    labels += label;
    return fault;
  });
}

std::string fault_of(const std::string& text) {
  std::string name, labels;
  const NodeFault fault = read(text, name, labels);
  return fault ? fault->text : "";
}

}  // namespace

TEST_CASE("a reader of nodes gives texts and tables in their order") {
  std::string name, labels;
  CHECK_FALSE(read("name = \"n\"\n[[row]]\nlabel = \"a\"\n[[row]]\nlabel = \"b\"\n", name, labels));
  CHECK(name == "n");
  CHECK(labels == "ab");
}

TEST_CASE("a reader of nodes names the place of a fault, and stops there") {
  CHECK(fault_of("nam = \"n\"\n").starts_with("f.toml:1:1: there is no nam"));
  CHECK(fault_of("name = 7\n") == "f.toml:1:8: name: expected a text; found 7");
  CHECK(fault_of("row = 7\n") == "f.toml:1:7: expected tables [[row]], each with a label");
  CHECK(fault_of("row = [7]\n") == "f.toml:1:8: expected a table; found 7");
  CHECK(fault_of("name = \"n\"\n").ends_with("expected tables [[row]], each with a label"));
  std::string name, labels;
  CHECK(read("[[row]]\nlabel = \"a\"\n[[row]]\nlabel = 1\n[[row]]\nlabel = \"c\"\n", name, labels));
  CHECK(labels == "a");
}

TEST_CASE("a reader of nodes names an unknown key with its table, and the nearest key or all of them") {
  const NodeReader reader("f.toml");
  const auto root = parse_toml("[row]\nlabel = 1\nlabl = 2\n", "f.toml");
  REQUIRE(root);
  const Node& row = *root->find("row");
  CHECK(reader.check_keys(row, "row", {"label"})->text == "f.toml:3:1: there is no row.labl; the nearest is label");
  CHECK(reader.check_keys(row, "", {"labl", "size"})->text == "f.toml:2:1: there is no label; the nearest is labl");
  CHECK(reader.check_keys(row, "row", {"x", "y"})->text == "f.toml:2:1: there is no row.label; there are x and y");
  CHECK_FALSE(reader.check_keys(row, "row", {"labl", "label"}));
}

TEST_CASE("a key at the top level tells the kind of a file") {
  CHECK(has_top_level_key("[[row]]\nlabel = 1\n", "row"));
  CHECK_FALSE(has_top_level_key("[[row]]\nlabel = 1\n", "label"));
  CHECK_FALSE(has_top_level_key("no TOML", "row"));
}

}  // namespace node_reader_test
