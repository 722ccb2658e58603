// Naming contexts as objects, called within their process and from another ORB.
#include "services/nameserver/directory.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "orb/core/client/name_service.h"
#include "orb/core/client/reference.h"
#include "orb/giop/corbaloc.h"
#include "orb/os/fd.h"
#include "tests/orb/transport/kinds.h"
#include "tests/services/nameserver/served.h"
#include "tests/support/peers/bare_server.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

// A server, and its root as this ORB or another one calls it.
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
  // Returns the key of the object that the name is bound to.
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

// A server that accepts calls and never answers. end() breaks the connections to it.
class Silent {
 public:
  Silent() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(socket_.get(), 64) == 0);
    REQUIRE(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    place_ = "corbaloc:iiop:1.2@127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/NameService";
  }
  // Returns a context there, without asking the server whether it is one.
  CORBA::object_reference<CosNaming::NamingContext> context(const QuietOrb& orb) const {
    return core::make_stub<CosNaming::NamingContext>(orb->string_to_object(place_)->_reference());
  }
  void end() { socket_.reset(); }

 private:
  os::Fd socket_;
  std::string place_;
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
  CHECK(raised_by([&] { names.root->bind_context(cos_name("d"), made); }) == "BAD_PARAM");
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

TEST_CASE("the iterator that was not used for longest ends when there are too many") {
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

TEST_CASE("an unused iterator ends by itself") {
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
  Seen names({"-ORBNamingForeignTime", "3600s"});
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
  // If the other server does not answer, the client learns where to continue.
  other.reset();
  CHECK(names.resolve("near/far/c/x") == "CannotProceed c/x");
  CHECK(raised_by([&] { names.root->unbind(cos_name("near/far")); }) == "");
}

TEST_CASE("a context that never answers delays few callers and no others") {
  constexpr int callers = 12, at_once = 2;
  Seen names({"-ORBNamingForeignCalls", std::to_string(at_once), "-ORBNamingForeignTime", "3600s"}, true);
  Silent silent;
  names.root->bind_context(cos_name("far"), silent.context(names.client));
  names.bind("near", "1");
  std::atomic<int> answered{0};
  std::vector<std::string> answers(callers);
  std::vector<std::thread> threads;
  for (std::string& answer : answers)
    threads.emplace_back([&] {
      answer = names.resolve("far/x");
      ++answered;
      answered.notify_one();
    });
  for (int now = answered; now < callers - at_once; now = answered) answered.wait(now);
  CHECK(names.resolve("near") == "1");
  CHECK(names.bind("other", "1") == "");
  silent.end();
  for (std::thread& thread : threads) thread.join();
  for (const std::string& answer : answers) CHECK(answer == "CannotProceed x");
}

TEST_CASE("a call into a context that does not answer ends by itself and the log says so") {
  const CapturedErrors errors;
  Seen names({"-ORBNamingForeignTime", "1ms"});
  const Silent silent;
  names.root->bind_context(cos_name("far"), silent.context(names.client));
  CHECK(names.resolve("far/x/y") == "CannotProceed x/y");
  CHECK(errors.times("a context of another server") == 1);
}

TEST_CASE("a context that forwards calls to the nameserver itself gets none of its rights") {
  const TempDirectory place;
  const std::string socket = "unix:" + (place / "ns.sock");
  ServedNames names({"-ORBEndpointListen", ":0, " + socket});
  const QuietOrb owner, stranger;  // the one calls over the Unix socket, the other one over TCP
  const auto root_at = [&](const QuietOrb& orb, const std::vector<transport::Endpoint>& endpoints) {
    giop::Ior ior{.type_id = names.root()->_reference()->ior().type_id,
                  .profiles = {core::profile_of(endpoints, std::as_bytes(std::span("NameService", 11)))}};
    return core::make_stub<CosNaming::NamingContext>(std::make_shared<core::Reference>(orb.orb.shared(), ior));
  };
  const auto unix_end = *transport::parse_endpoint(socket);
  const auto tcp_end = names.root()->_reference()->address()->endpoints.back();
  REQUIRE(tcp_end.kind == &transport::kinds::tcp);
  const auto owners = root_at(owner, {unix_end}), strangers = root_at(stranger, {tcp_end});
  owners->bind(cos_name("victim"), owner->string_to_object("corbaloc::things.example/1"));
  REQUIRE(raised_by([&] { strangers->unbind(cos_name("victim")); }) == "NO_PERMISSION");
  // The name of a client that calls from the address that the nameserver itself would call from.
  root_at(owner, {{"127.0.0.1", tcp_end.port}})->bind(cos_name("local"), nullptr);

  const auto way = static_cast<std::size_t>(GENERATE(0, 1, 2, 3));
  const transport::Endpoint back = std::vector<transport::Endpoint>{
      unix_end, tcp_end, {"127.0.0.2", tcp_end.port}, {"localhost", tcp_end.port}}[way];
  const giop::Ior to = root_at(stranger, {back})->_reference()->ior();
  StreamHarness<TcpV4> evil;
  std::jthread forwards([&] {
    const auto connection = evil.accepted.take();
    Wire wire(connection);
    while (const auto request = wire.next()) forward(wire, *request, to);  // bound: until the nameserver closes
  });
  strangers->bind_context(cos_name("evil"), root_at(stranger, {evil.listener->endpoint()}));
  CHECK(raised_by([&] { strangers->rebind(cos_name("evil/victim"), nullptr); }) == "CannotProceed victim");
  CHECK(raised_by([&] { strangers->unbind(cos_name("evil/victim")); }) == "CannotProceed victim");
  CHECK(raised_by([&] { strangers->unbind(cos_name("evil/local")); }) == "CannotProceed local");
  CHECK(owners->resolve(cos_name("victim")));
  CHECK(raised_by([&] { owners->resolve(cos_name("local")); }) == "");
  names.orb()->destroy();
}

TEST_CASE("where the nameserver does not go on the client does") {
  Seen names({"-ORBNamingForeignCalls", "0"}, true);
  ServedNames other;
  const auto far = IDL::traits<CosNaming::NamingContext>::narrow(names.client->string_to_object(other.ior()));
  names.root->bind_context(cos_name("far"), far);
  other.root()->bind(cos_name("x"), names.thing("1"));
  CHECK(names.resolve("far/x") == "CannotProceed x");
  const auto by_name = [&](const std::string& name) { return core::resolve_name(names.root, *giop::parse_name(name)); };
  CHECK(by_name("far/x")->_reference()->address()->object_key.size() == 1);
  CHECK_THROWS_WITH(by_name("far/y"), Catch::Contains("'y' is not bound"));
  const Silent silent;
  names.root->bind_context(cos_name("silent"), silent.context(names.client));
  const QuietOrb impatient({"-ORBTimeoutRequest", "10ms"});
  CHECK_THROWS_WITH(core::resolve_name(silent.context(impatient), *giop::parse_name("y")), Catch::Contains("TIMEOUT"));
}

// Errors.

TEST_CASE("a stored reference that cannot be read any more is told with its name and is bound anew") {
  const TempDirectory place;
  const std::string names = "sqlite:" + (place / "names.db");
  {
    const auto store = std::move(*nameserver::open_store(names));
    REQUIRE(store->add(nameserver::root_context, {"lost", ""}, {.reference = "IOR:zz"}));
    const nameserver::Binding nowhere{.type = nameserver::BindingType::context, .reference = "nonsense"};
    REQUIRE(store->add(nameserver::root_context, {"there", ""}, nowhere));
  }
  const CapturedErrors errors;
  ServedNames server({}, names);
  const auto root = server.root();
  const std::string why = "cannot be read", remedy = "bind that name again";
  CHECK(raised_by([&] { root->resolve(cos_name("lost")); }) == "INV_OBJREF");
  CHECK_THROWS_WITH(root->resolve(cos_name("lost")), Catch::Contains("'lost' " + why) && Catch::Contains(remedy));
  CHECK_THROWS_WITH(root->resolve(cos_name("there/x")), Catch::Contains("'there' " + why) && Catch::Contains(remedy));
  CHECK_THROWS_WITH(root->unbind(cos_name("there/x")), Catch::Contains("'there' " + why));
  CHECK_THROWS_WITH(root->describe(cos_name("lost")), Catch::Contains("'lost' " + why));
  CHECK(errors.times("the reference that is bound to 'lost'") == 1);
  CosNaming::BindingList list;
  CORBA::object_reference<CosNaming::BindingIterator> rest;
  root->list(10, list, rest);
  CHECK(text_of_list(list) == "lost there/ ");
  root->rebind(cos_name("lost"), root);
  CHECK(root->resolve(cos_name("lost")));
  CHECK(raised_by([&] { root->unbind(cos_name("there")); }) == "");
}

TEST_CASE("a reference that is too long is refused") {
  Seen names({"-ORBNamingReferenceSize", "1024"}, true);
  CHECK(names.bind("a", std::string(100, 'x')) == "");
  CHECK(names.bind("b", std::string(1000, 'x')) == "IMP_LIMIT");
  CHECK_THROWS_WITH(names.root->bind(cos_name("b"), names.thing(std::string(1000, 'x'))),
                    Catch::Contains("naming.reference_size"));
}

TEST_CASE("a reference that no call could use is not bound") {
  Seen names({}, true);
  giop::Ior ior = giop::to_ior(*giop::parse_corbaloc("corbaloc::things.example/x"));
  ior.profiles.front().data.resize(10);
  const auto thing = core::make_stub<CORBA::Object>(
      std::make_shared<core::Reference>(names.client->string_to_object("corbaloc::h/k")->_reference()->orb(), ior));
  CHECK(raised_by([&] { names.root->bind(cos_name("a"), thing); }) == "BAD_PARAM");
  CHECK(names.bind("a", "x") == "");
}

TEST_CASE("a client that opens more iterators than it may loses its oldest one") {
  Seen names({"-ORBNamingClientIterators", "1"}, true);
  for (const char* name : {"a", "b"}) names.bind(name, "1");
  CosNaming::BindingList list;
  CORBA::object_reference<CosNaming::BindingIterator> first, second;
  CosNaming::Binding one;
  names.root->list(0, list, first);
  names.server.root()->list(0, list, second);  // an iterator of another client
  CHECK(first->next_one(one));
  names.root->list(0, list, second);
  CHECK(raised_by([&] { first->next_one(one); }) == "OBJECT_NOT_EXIST");
  CHECK(second->next_one(one));
}
