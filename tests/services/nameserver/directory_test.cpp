// Naming contexts as objects, called within their process and from another ORB.
#include "services/nameserver/directory.h"

#include <catch2/catch.hpp>

#include "orb/core/reference.h"
#include "tests/services/nameserver/served.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

// A server, and its root as this or another ORB calls it.
class Seen {
 public:
  explicit Seen(const std::vector<std::string>& options = {}, bool remote = GENERATE(false, true))
      : server(options), root(remote ? server.seen_by(client) : server.root()) {}

  CORBA::object_reference<CORBA::Object> thing(const std::string& key) {
    return client->string_to_object("corbaloc::things.example/" + key);
  }
  std::string bind(const std::string& name, const std::string& key) {
    return raised_by([&] { root->bind(cos_name(name), thing(key)); });
  }
  // The key of what a name leads to.
  std::string resolve(const std::string& name) {
    CORBA::object_reference<CORBA::Object> found;
    const std::string raised = raised_by([&] { found = root->resolve(cos_name(name)); });
    if (!raised.empty()) return raised;
    if (!found) return "nil";
    const auto& key = found->_reference()->address()->object_key;
    return {reinterpret_cast<const char*>(key.data()), key.size()};
  }

  QuietOrb client;
  ServedNames server;
  NamingDirectory root;
};

std::string text_of_list(const CosNaming::BindingList& list) {
  std::string text;
  for (const CosNaming::Binding& binding : list) {
    text += giop::to_string(nameserver::name_of(binding.binding_name()));
    text += binding.binding_type() == CosNaming::BindingType::ncontext ? "/ " : " ";
  }
  return text;
}

}  // namespace

TEST_CASE("names are bound, resolved, taken over and unbound") {
  Seen names;
  CHECK(names.bind("a.k", "1") == "");
  CHECK(names.resolve("a.k") == "1");
  CHECK(names.bind("a.k", "2") == "AlreadyBound");
  names.root->rebind(cos_name("a.k"), names.thing("3"));
  CHECK(names.resolve("a.k") == "3");
  CHECK(raised_by([&] { names.root->unbind(cos_name("a.k")); }) == "");
  CHECK(names.resolve("a.k") == "NotFound missing_node a.k");
  names.root->bind(cos_name("nil"), nullptr);
  CHECK(names.resolve("nil") == "nil");
}

TEST_CASE("exceptions say why, and from where on the name was not resolved") {
  Seen names;
  names.root->bind_new_context(cos_name("c"));
  names.bind("c/x", "1");
  const auto context = names.root->new_context();
  CHECK(names.resolve("c/q/r") == "NotFound missing_node q/r");
  CHECK(names.resolve("c/x/r/s") == "NotFound not_context x/r/s");
  CHECK(names.resolve("") == "InvalidName");
  CHECK(names.bind("q/r", "1") == "NotFound missing_node q/r");
  CHECK(raised_by([&] { names.root->unbind(cos_name("c/y")); }) == "NotFound missing_node y");
  CHECK(raised_by([&] { names.root->rebind(cos_name("c"), names.thing("1")); }) == "NotFound not_object c");
  CHECK(raised_by([&] { names.root->rebind_context(cos_name("c/x"), context); }) == "NotFound not_context x");
  CHECK(raised_by([&] { names.root->bind_new_context(cos_name("c/x")); }) == "AlreadyBound");
  CHECK(raised_by([&] { names.root->bind_context(cos_name("n"), nullptr); }) == "BAD_PARAM");
  CHECK(names.bind(std::string(1025, 'x'), "1") == "InvalidName");
}

TEST_CASE("contexts are objects that several names may lead to") {
  Seen names;
  const auto made = names.root->new_context();
  made->bind(cos_name("x"), names.thing("1"));
  names.root->bind_context(cos_name("a"), made);
  names.root->rebind_context(cos_name("a"), made);
  names.root->bind_context(cos_name("b"), made);
  CHECK(names.resolve("a/x") == "1");
  CHECK(names.root->describe(cos_name("b")).owner().empty());
  CHECK(made->_is_equivalent(names.root->resolve(cos_name("b"))));
  CHECK(raised_by([&] { made->destroy(); }) == "NotEmpty");
  names.root->unbind(cos_name("a/x"));
  made->destroy();
  CHECK(raised_by([&] { made->bind(cos_name("x"), nullptr); }) == "OBJECT_NOT_EXIST");
  CHECK(names.resolve("b/x") == "CannotProceed x");

  CHECK(names.resolve("b").starts_with("NameService/"));
  CHECK(raised_by([&] { names.root->destroy(); }) == "NO_PERMISSION");
}

TEST_CASE("a long list comes in pieces") {
  Seen names;
  names.root->bind_new_context(cos_name("c"));
  for (const char* name : {"e", "a.k", "b", "d"}) names.bind(name, "1");
  CosNaming::BindingList list;
  CORBA::object_reference<CosNaming::BindingIterator> rest;
  names.root->list(5, list, rest);
  CHECK(text_of_list(list) == "a.k b c/ d e ");
  CHECK_FALSE(rest);
  names.root->list(2, list, rest);
  CHECK(text_of_list(list) == "a.k b ");
  REQUIRE(rest);
  CosNaming::Binding one;
  CHECK(rest->next_one(one));
  CHECK(text_of_list({one}) == "c/ ");
  CHECK(rest->next_n(9, list));
  CHECK(text_of_list(list) == "d e ");
  CHECK_FALSE(rest->next_n(9, list));
  CHECK(list.empty());
  CHECK_FALSE(rest->next_one(one));
  CHECK(raised_by([&] { rest->next_n(0, list); }) == "BAD_PARAM");
  rest->destroy();
  CHECK(raised_by([&] { rest->next_one(one); }) == "OBJECT_NOT_EXIST");
  names.root->list(0, list, rest);
  CHECK(list.empty());
  CHECK(rest->next_one(one));
  CHECK(text_of_list({one}) == "a.k ");
}

TEST_CASE("an iterator goes when there are too many, and nobody used it for longest") {
  Seen names({"-ORBNamingIterators", "2"});
  for (const char* name : {"a", "b", "c"}) names.bind(name, "1");
  CosNaming::BindingList list;
  CORBA::object_reference<CosNaming::BindingIterator> iterators[3];
  CosNaming::Binding one;
  names.root->list(1, list, iterators[0]);
  names.root->list(1, list, iterators[1]);
  CHECK(iterators[0]->next_one(one));
  names.root->list(1, list, iterators[2]);
  CHECK(raised_by([&] { iterators[1]->next_one(one); }) == "OBJECT_NOT_EXIST");
  CHECK(iterators[0]->next_one(one));
  CHECK(iterators[2]->next_one(one));
  CHECK(names.root->nameserver()->state().iterators() == 2);
}

TEST_CASE("an iterator that nobody uses goes by itself") {
  Seen names({"-ORBNamingIteratorAge", "1ms"});
  names.bind("a", "1");
  CosNaming::BindingList list;
  CORBA::object_reference<CosNaming::BindingIterator> iterator;
  names.root->list(0, list, iterator);
  while (names.root->nameserver()->state().iterators() > 0) std::this_thread::yield();
  CosNaming::Binding one;
  CHECK(raised_by([&] { iterator->next_one(one); }) == "OBJECT_NOT_EXIST");
}

TEST_CASE("names and their text stand for each other") {
  Seen names;
  names.root->bind_new_context(cos_name("plant"));
  names.bind(R"(plant/a\/b\.c.k)", "1");
  const auto& root = names.root;
  CHECK(root->to_string(cos_name(R"(a\/b/.k)")) == R"(a\/b/.k)");
  CHECK(nameserver::name_of(root->to_name(R"(a\/b/.)")) == nameserver::Name{{"a/b", ""}, {"", ""}});
  CHECK(root->to_url(":host:7/Key", "a b/c") == "corbaname::host:7/Key#a%20b/c");
  CHECK(root->to_url("rir:", "a") == "corbaname:rir:#a");
  CHECK(root->resolve_str(R"(plant/a\/b\.c.k)"));
  CHECK(raised_by([&] { root->to_string({}); }) == "InvalidName");
  for (const char* text : {"", "a//b", "a.b.c", "a\\"}) {
    CHECK(raised_by([&] { root->to_name(text); }) == "InvalidName");
    CHECK(raised_by([&] { root->resolve_str(text); }) == "InvalidName");
  }
  CHECK(raised_by([&] { root->to_url(":host", "a//b"); }) == "InvalidName");
  for (const char* address : {"", "host", ":h:0"})
    CHECK(raised_by([&] { root->to_url(address, "a"); }) == "InvalidAddress");
}

TEST_CASE("a name leads on into the context of another server") {
  Seen names;
  auto other = std::make_unique<ServedNames>();
  const auto far = IDL::traits<CosNaming::NamingContext>::narrow(names.client->string_to_object(other->ior()));
  names.root->bind_new_context(cos_name("near"));
  names.root->bind_context(cos_name("near/far"), far);
  names.root->bind_new_context(cos_name("near/far/c"));
  CHECK(names.bind("near/far/c/x", "1") == "");
  CHECK(names.resolve("near/far/c/x") == "1");
  CHECK(other->root()->resolve(cos_name("c/x")));
  CHECK(names.bind("near/far/c/x", "1") == "AlreadyBound");
  CHECK(names.resolve("near/far/c/y/z") == "NotFound missing_node y/z");
  names.root->rebind(cos_name("near/far/c/x"), names.thing("2"));
  names.root->bind_context(cos_name("near/far/c/root"), far);
  names.root->rebind_context(cos_name("near/far/c/root"), far);
  CHECK(names.resolve("near/far/c/root/c/x") == "2");
  names.root->unbind(cos_name("near/far/c/x"));
  CHECK(raised_by([&] { other->root()->resolve(cos_name("c/x")); }) == "NotFound missing_node x");
  // Where it does not answer the client is told where to go on.
  other.reset();
  CHECK(names.resolve("near/far/c/x") == "CannotProceed c/x");
  CHECK(raised_by([&] { names.root->unbind(cos_name("near/far")); }) == "");
}
