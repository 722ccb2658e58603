// The rules of CosNaming, without an ORB.
#include "services/nameserver/name_tree.h"

#include <catch2/catch.hpp>

#include "orb/giop/name_text.h"
#include "services/nameserver/stores/open_store.h"

using namespace corelane;
using namespace corelane::nameserver;

namespace {

// Returns a text such as "not_found missing_node at 1" or "bound".
std::string text_of_fault(const NameFault& fault) {
  static const char* const kinds[] = {"invalid_name", "not_found", "already_bound", "not_empty", "elsewhere",
                                      "gone",         "dead_end",  "no_target",     "not_owner", "client_full",
                                      "full",         "no_space",  "unavailable"};
  static const char* const reasons[] = {"missing_node", "not_context", "not_object"};
  std::string text = kinds[static_cast<std::size_t>(fault.kind)];
  if (fault.kind == NameFaultKind::not_found) text += std::string(" ") + reasons[static_cast<std::size_t>(fault.why)];
  if (fault.at > 0) text += " at " + std::to_string(fault.at);
  if (!fault.reference.empty()) text += " " + fault.reference;
  return text;
}

class Names {
 public:
  std::string bind(const std::string& name, const std::string& reference, IfBound if_bound = IfBound::refuse) {
    return said(tree_.bind(root_context, parsed(name), {BindingType::object, reference}, if_bound));
  }
  std::string bind_context(const std::string& name, ContextId context, IfBound if_bound = IfBound::refuse) {
    return said(tree_.bind(root_context, parsed(name), {.type = BindingType::context, .context = context}, if_bound));
  }
  std::string bind_foreign(const std::string& name, const std::string& reference) {
    return said(tree_.bind(root_context, parsed(name), {BindingType::context, reference}, IfBound::refuse));
  }
  std::string resolve(const std::string& name) {
    const auto found = tree_.resolve(root_context, parsed(name));
    if (!found) return text_of_fault(found.error());
    return found->type == BindingType::context && found->reference.empty() ? "context" : found->reference;
  }
  std::string unbind(const std::string& name) { return said(tree_.unbind(root_context, parsed(name))); }
  ContextId context(const std::string& name) { return *tree_.bind_new_context(root_context, parsed(name)); }
  std::string destroy(ContextId context) { return said(tree_.destroy(context)); }
  std::string list(ContextId context = root_context) {
    std::string text;
    const auto entries = tree_.list(context, nullptr, 100);
    for (const Entry& entry : *entries) text += giop::to_string(entry.name) + " ";
    return text;
  }
  NameTree& operator*() { return tree_; }

 private:
  static Name parsed(const std::string& text) { return text.empty() ? Name{} : *giop::parse_name(text); }
  static std::string said(const Expected<void, NameFault>& done) { return done ? "" : text_of_fault(done.error()); }

  std::unique_ptr<Store> store_ = std::move(*open_store("memory", {.limits = {.contexts = 8, .bindings = 16}}));
  NameTree tree_{*store_, {.depth = 4, .length = 8}};
};

}  // namespace

TEST_CASE("a name leads through contexts to what was bound") {
  Names tree;
  tree.context("a");
  tree.context("a/b.k");
  CHECK(tree.bind("a/b.k/c", "x") == "");
  CHECK(tree.resolve("a/b.k/c") == "x");
  CHECK(tree.resolve("a/b.k") == "context");
  CHECK(tree.bind("c", "y") == "");
  CHECK(tree.resolve("c") == "y");
  CHECK(tree.list() == "a c ");
  CHECK(tree.unbind("a/b.k/c") == "");
  CHECK(tree.resolve("a/b.k/c") == "not_found missing_node at 2");
}

TEST_CASE("id and kind both tell names apart, and may be empty") {
  Names tree;
  for (const char* name : {"a", "a.k", ".k", ".", R"(a\.k)", R"(a\/b)", R"(\\)"}) {
    CHECK(tree.bind(name, name) == "");
    CHECK(tree.resolve(name) == name);
  }
  CHECK(tree.list() == R"(. .k \\ a a.k a\.k a\/b )");
}

TEST_CASE("a context may have several names, and lives without any") {
  Names tree;
  const ContextId shared = tree.context("a");
  CHECK(tree.bind_context("b", shared) == "");
  CHECK(tree.bind("a/x", "1") == "");
  CHECK(tree.resolve("b/x") == "1");
  CHECK((tree.unbind("a") + tree.unbind("b")).empty());
  CHECK(tree.list(shared) == "x ");
  CHECK(tree.bind_context("c", shared) == "");
  CHECK(tree.resolve("c/x") == "1");
  CHECK(tree.bind_context("c/up", root_context) == "");
  CHECK(tree.resolve("c/up/c/x") == "1");
}

TEST_CASE("rebind takes the place of a binding of its type alone") {
  Names tree;
  const ContextId context = tree.context("c");
  CHECK(tree.bind("x", "1") == "");
  CHECK(tree.bind("x", "2") == "already_bound");
  CHECK(tree.bind_context("x", context) == "already_bound");
  CHECK(tree.bind("x", "3", IfBound::replace) == "");
  CHECK(tree.resolve("x") == "3");
  CHECK(tree.bind("c", "4", IfBound::replace) == "not_found not_object");
  CHECK(tree.bind_context("x", context, IfBound::replace) == "not_found not_context");
  CHECK(tree.bind_context("c", tree.context("d"), IfBound::replace) == "");
  CHECK(tree.bind("c/x", "5", IfBound::replace) == "");
  CHECK(tree.resolve("d/x") == "5");
}

TEST_CASE("a foreign context is where to go on, and with what") {
  Names tree;
  tree.context("a");
  CHECK(tree.bind_foreign("a/far", "IOR:far") == "");
  CHECK(tree.resolve("a/far") == "IOR:far");
  CHECK(tree.resolve("a/far/x") == "elsewhere at 2 IOR:far");
  CHECK(tree.bind("a/far/x/y", "1") == "elsewhere at 2 IOR:far");
  CHECK(tree.unbind("a/far") == "");
}

// Edge cases and errors.

TEST_CASE("a fault tells from which component on the name could not be resolved") {
  Names tree;
  tree.context("a");
  tree.bind("a/x", "1");
  struct Row {
    const char *name, *resolve, *bind;
  };
  const Row rows[] = {
      {"q", "not_found missing_node", ""},
      {"b/c", "not_found missing_node", "not_found missing_node"},
      {"a/b/c", "not_found missing_node at 1", "not_found missing_node at 1"},
      {"a/x/c", "not_found not_context at 1", "not_found not_context at 1"},
      {"a/x/c/d", "not_found not_context at 1", "not_found not_context at 1"},
      {"a/y", "not_found missing_node at 1", ""},
      {"", "invalid_name", "invalid_name"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(tree.resolve(row.name) == row.resolve);
    CHECK(tree.unbind(row.name) == row.resolve);
    CHECK(tree.bind(row.name, "2") == row.bind);
  }
}

TEST_CASE("a context is destroyed only when it is empty, and what leads there leads nowhere then") {
  Names tree;
  const ContextId context = tree.context("a");
  tree.bind("a/x", "1");
  CHECK(tree.destroy(context) == "not_empty");
  CHECK(tree.unbind("a/x") == "");
  CHECK(tree.destroy(context) == "");
  CHECK(tree.destroy(context) == "gone");
  CHECK(tree.resolve("a") == "context");
  CHECK(tree.resolve("a/x") == "dead_end at 1");
  CHECK(text_of_fault((*tree).resolve(context, {{"x", ""}}).error()) == "gone");
  CHECK(tree.unbind("a") == "");
}

TEST_CASE("names have a length and a depth, and the tree has room for so many") {
  Names tree;
  CHECK(tree.bind("12345678.12345678", "1") == "");
  CHECK(tree.bind("123456789", "1") == "invalid_name");
  CHECK(tree.bind(".123456789", "1") == "invalid_name");
  CHECK(tree.resolve("a/b/c/d") == "not_found missing_node");
  CHECK(tree.resolve("a/b/c/d/e") == "invalid_name");
  for (int i = 0; i < 8; ++i) CHECK((*tree).make_context());
  CHECK(text_of_fault((*tree).make_context().error()) == "full");
  for (int i = 1; i < 16; ++i) CHECK(tree.bind("n" + std::to_string(i), "1") == "");
  CHECK(tree.bind("one", "1") == "full");
  CHECK(tree.bind("n1", "2", IfBound::replace) == "");
}
