#include "services/nameserver/change_log.h"

#include <catch2/catch.hpp>

#include "orb/giop/name_text.h"
#include "services/nameserver/stores/open_store.h"

using namespace corelane;
using namespace corelane::nameserver;

namespace {

Name path_of_text(const std::string& text) { return *giop::parse_name(text); }

// A store whose changes go into a log.
class Logged {
 public:
  explicit Logged(std::size_t kept = 100) : log(kept) {
    store->on_change([this](const Change& change) { log.record(change); });
  }
  ContextId context(const std::string& name) { return *tree.bind_new_context(root_context, path_of_text(name)); }
  void bind(const std::string& name, IfBound if_bound = IfBound::refuse) {
    REQUIRE(tree.bind(root_context, path_of_text(name), {BindingType::object, "x"}, if_bound));
  }
  void unbind(const std::string& name) { REQUIRE(tree.unbind(root_context, path_of_text(name))); }
  // Returns the changes as text such as "+a ~a -a", with a leading question mark if some are lost.
  std::string read(const std::string& pattern, std::uint64_t since = 0, std::size_t most = 100) {
    const auto reading = log.read(NamePattern(pattern), since, most);
    until = reading.until;
    std::string text = reading.lost ? "? " : "";
    for (const NamedChange& change : reading.changes)
      text += std::string(1, "+~-"[static_cast<int>(change.kind)]) + giop::to_string(change.path) + " ";
    return text;
  }

  std::unique_ptr<Store> store = std::move(*open_store("memory"));
  NameTree tree{*store, {}};
  ChangeLog log;
  std::uint64_t until = 0;
};

}  // namespace

TEST_CASE("changes of the longest names are kept and read by their bytes and not by their number alone") {
  constexpr std::size_t changes = 300;
  const std::string part(1024, 'x');
  Logged names(changes);
  ContextId deepest = root_context;
  for (std::size_t depth = 1; depth < NameLimits{}.depth; ++depth)
    deepest = names.store->add_context(deepest, {part, part}).value();
  for (std::size_t i = 0; i < changes; ++i)
    REQUIRE(names.store->replace(deepest, {part, part}, {BindingType::object, "x"}));
  constexpr std::size_t bytes = NameLimits{}.depth * 2 * 1024;  // the size of one of them
  std::size_t kept = 0, readings = 0;
  for (std::uint64_t since = 0;; ++readings) {
    const auto reading = names.log.read(NamePattern("**"), since, 1000);
    CHECK(reading.lost == (since == 0));
    if (reading.changes.empty()) break;
    CHECK(reading.changes.size() <= ChangeLog::most_bytes_read / bytes + 1);
    kept += reading.changes.size();
    since = reading.until;
  }
  CHECK(kept <= ChangeLog::most_bytes / bytes);
  CHECK(kept >= 100);
  CHECK(readings >= 10);
}

TEST_CASE("a pattern stands for names by their components") {
  struct Row {
    const char *pattern, *path;
    bool matches;
  };
  const Row rows[] = {
      {"a", "a", true},          {"a", "b", false},       {"a", "a/b", false},      {"*", "a", true},
      {"*", "a/b", false},       {"a/*", "a/b", true},    {"a/*", "a", false},      {"**", "a", true},
      {"**", "a/b/c", true},     {"a/**", "a", true},     {"a/**", "a/b/c", true},  {"a/**", "b/a", false},
      {"**/c", "c", true},       {"**/c", "a/b/c", true}, {"**/c", "a/c/b", false}, {"a/**/c", "a/c", true},
      {"a/**/c", "a/b/c", true}, {"**/**", "a", true},    {"p*t", "plant", true},   {"p*t", "plan", false},
      {"*.k", "a.k", true},      {"*.k", "a", false},     {"a*b*c", "axbxc", true}, {"a*b*c", "axcxb", false},
      {"a*a", "a", false},       {"a*a", "aa", true},     {"*ab", "aab", true},     {"*ab*", "xaab", true},
      {"a**b", "ab", true},      {"*a*ab", "aab", true},  {"*a*ab", "ab", false},   {R"(a\/b)", R"(a\/b)", true},
      {R"(a\/b)", "a/b", false}, {"", "a", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.pattern, row.path);
    CHECK(NamePattern(row.pattern).matches(path_of_text(row.path)) == row.matches);
  }
}

TEST_CASE("a pattern of many stars takes no long time") {
  std::string pattern, path;
  for (int i = 0; i < 200; ++i) pattern += "**/*a*a*a/";
  for (int i = 0; i < 64; ++i) path += (i == 0 ? "" : "/") + std::string(200, 'a');
  CHECK_FALSE(NamePattern(pattern + "b").matches(path_of_text(path)));
}

TEST_CASE("changes are told as paths from the root") {
  Logged names;
  names.bind("x");
  const ContextId context = names.context("a");
  names.context("a/b");
  names.bind("a/b/y");
  names.bind("a/b/y", IfBound::replace);
  names.unbind("x");
  CHECK(names.read("**") == "+x +a +a/b +a/b/y ~a/b/y -x ");
  CHECK(names.read("a/**") == "+a +a/b +a/b/y ~a/b/y ");
  CHECK(names.read("**", 3) == "+a/b/y ~a/b/y -x ");
  names.unbind("a");
  CHECK(names.store->add(context, {"hidden", ""}, {BindingType::object, "x"}));
  CHECK(names.read("**", names.until) == "-a ");
  REQUIRE(names.tree.bind(root_context, path_of_text("c"), {.type = BindingType::context, .context = context},
                          IfBound::refuse));
  names.bind("c/z");
  CHECK(names.read("**", names.until) == "+c +c/z ");
}

TEST_CASE("contexts that contain each other have paths, too") {
  Logged names;
  const ContextId a = names.context("a");
  const ContextId b = names.context("a/b");
  REQUIRE(names.store->add(b, {"back", ""}, {.type = BindingType::context, .context = a}));
  names.bind("a/b/back/b/x");
  CHECK(names.read("**/x") == "+a/b/x ");
  names.unbind("a");
  REQUIRE(names.store->add(b, {"y", ""}, {BindingType::object, "1"}));
  CHECK(names.read("**/y") == "");
}

TEST_CASE("names below more contexts than a name has components are not listed") {
  Logged names;
  ContextId context = root_context;
  for (int i = 0; i < 3000; ++i) context = names.store->add_context(context, {"c", ""}).value();
  const auto reading = names.log.read(NamePattern("**"), 0, 100);
  CHECK(reading.changes.size() == NameLimits{}.depth);
  CHECK(reading.changes.back().path.size() == NameLimits{}.depth);
  CHECK_FALSE(reading.lost);
}

TEST_CASE("a context that is bound twice has the shorter path") {
  Logged names;
  names.context("a");
  const ContextId deep = names.context("a/b");
  REQUIRE(names.store->add(root_context, {"c", ""}, {.type = BindingType::context, .context = deep}));
  names.bind("a/b/x");
  CHECK(names.read("**/x") == "+c/x ");
}

TEST_CASE("a log that comes later knows the paths of what is there") {
  Logged names;
  names.context("a");
  names.context("a/b");
  ChangeLog later(10);
  later.learn(*names.store);
  names.store->on_change([&](const Change& change) { later.record(change); });
  names.bind("a/b/x");
  const auto reading = later.read(NamePattern("**"), 0, 10);
  REQUIRE(reading.changes.size() == 1);
  CHECK(giop::to_string(reading.changes[0].path) == "a/b/x");
}

TEST_CASE("reading goes on where it ended, and tells what it has missed") {
  Logged names(3);
  CHECK(names.log.read(NamePattern("**"), ChangeLog::latest, 9).until == 0);
  for (const char* name : {"a", "b", "c"}) names.bind(name);
  CHECK(names.read("**", 0, 2) == "+a +b ");
  CHECK(names.read("**", names.until, 2) == "+c ");
  CHECK(names.read("**", names.until, 2) == "");
  names.bind("d");
  CHECK(names.read("**", 1) == "+b +c +d ");
  CHECK(names.read("**", 0) == "? +b +c +d ");
  CHECK(names.read("**", 77) == "? +b +c +d ");
  CHECK(names.until == 4);
}
