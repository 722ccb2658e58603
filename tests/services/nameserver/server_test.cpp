// Leases, changes, and how clients find a nameserver.
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>

#include "CorelaneNamingS.h"
#include "orb/cdr/codec.h"
#include "orb/core/client/reference.h"
#include "orb/core/settings.h"
#include "orb/os/machine/host.h"
#include "orb/os/process/child_process.h"
#include "orb/os/socket_path.h"
#include "tests/services/nameserver/served.h"
#include "tests/support/peers/stop_process.h"
#include "tests/support/system/other_users_socket.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

class Beyond {
 public:
  explicit Beyond(const std::vector<std::string>& options = {})
      : names(options), root(names.seen_by(client)), server(root->nameserver()) {}

  static Corelane::Naming::Process process(const os::ProcessIdentity& identity) {
    const os::HostIdentity& here = os::this_host();
    return Corelane::Naming::Process(here.boot_id, here.pid_namespace, identity.pid, identity.start_ticks);
  }
  std::string bind_leased(const std::string& name, Corelane::Naming::LeaseId lease, bool replace = false) {
    return raised_by([&] { root->bind_leased(cos_name(name), root, lease, replace); });
  }
  std::string resolve(const std::string& name) {
    return raised_by([&] { root->resolve(cos_name(name)); });
  }
  // Returns when the name is gone. If it never goes, the test's timeout ends the test.
  void await_end_of(const std::string& name) {
    while (resolve(name).empty()) std::this_thread::yield();
  }

  QuietOrb client;
  ServedNames names;
  NamingDirectory root;
  CORBA::object_reference<Corelane::Naming::Server> server;
};

// A server at a port of this host whose queue of connections is full: further connections neither succeed nor fail.
class Unreachable {
 public:
  Unreachable() : server_(tcp_socket(0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(server_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(server_.get(), 0) == 0);
    REQUIRE(::getsockname(server_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    for (os::Fd& client : clients_) {
      client = tcp_socket(SOCK_NONBLOCK);
      (void)::connect(client.get(), reinterpret_cast<sockaddr*>(&address), size);
    }
  }
  // Returns whether the last connection succeeded. Then this system's queues are longer than requested.
  bool takes_connections() const {
    pollfd last{.fd = std::end(clients_)[-1].get(), .events = POLLOUT, .revents = 0};
    return ::poll(&last, 1, 0) != 0;
  }
  std::string place() const { return "corbaloc:iiop:1.2@127.0.0.1:" + std::to_string(port_) + "/Listener"; }

 private:
  static os::Fd tcp_socket(int flags) { return os::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)); }

  const os::Fd server_;
  os::Fd clients_[4];
  std::uint16_t port_ = 0;
};

class ListenerServant final : public virtual CORBA::servant_traits<Corelane::Naming::Listener>::base_type {
 public:
  void changed(const Corelane::Naming::ChangeList& changes, bool) override {
    const std::lock_guard lock(mutex_);
    for (const auto& change : changes) heard_.insert(change.name());
    came_.notify_all();
  }
  // Waits for these names in any order: oneway calls may overtake each other.
  void await(const std::set<std::string>& names) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return heard_ == names; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::set<std::string> heard_;
};

}  // namespace

TEST_CASE("a nameserver listens once all that it has can be found") {
  QuietOrb orb;
  nameserver::Nameserver server(orb.orb, std::move(*nameserver::open_store("memory")),
                                orb->settings().services.of<nameserver::NameserverSettings>());
  CHECK(orb->endpoints().empty());
  server.open();
  CHECK_FALSE(orb->endpoints().empty());
}

TEST_CASE("a name that was bound with a lease goes with it") {
  Beyond beyond;
  std::uint32_t requested = 60'000;
  const auto lease = beyond.server->lease_for(requested);
  CHECK(requested == 60'000);
  CHECK(beyond.bind_leased("a", lease) == "");
  CHECK(beyond.bind_leased("a", lease) == "AlreadyBound");
  CHECK(beyond.bind_leased("a", lease, true) == "");
  beyond.root->bind(cos_name("b"), nullptr);
  CHECK(beyond.root->describe(cos_name("a")).lives() == Corelane::Naming::Lifetime::ephemeral);
  CHECK(beyond.root->describe(cos_name("b")).lives() == Corelane::Naming::Lifetime::persistent);
  beyond.server->renew(lease);
  CHECK(beyond.server->state().leases() == 1);
  beyond.server->end(lease);
  CHECK(beyond.resolve("a") == "NotFound missing_node a");
  CHECK(beyond.resolve("b") == "");
  CHECK(beyond.bind_leased("a", lease) == "UnknownLease");
  CHECK(raised_by([&] { beyond.server->renew(lease); }) == "UnknownLease");
  CHECK(raised_by([&] { beyond.server->end(lease); }) == "UnknownLease");
}

TEST_CASE("a lease that is not renewed ends") {
  Beyond beyond;
  std::uint32_t shortest = 1;
  const auto lease = beyond.server->lease_for(shortest);
  CHECK(shortest == 100);
  if (beyond.bind_leased("a", lease).empty()) beyond.await_end_of("a");  // fails if the machine stalls
  CHECK(raised_by([&] { beyond.server->renew(lease); }) == "UnknownLease");
}

TEST_CASE("a name goes with the process that it belongs to") {
  Beyond beyond;
  std::optional<os::ChildProcess> child(std::in_place, std::vector<std::string>{"cat"});
  const auto identity = os::identity_of(child->pid());
  REQUIRE(identity);
  const auto lease = beyond.server->lease_of(Beyond::process(*identity));
  CHECK(beyond.bind_leased("theirs", lease) == "");
  CHECK(beyond.bind_leased("mine", beyond.server->lease_of(Beyond::process(os::this_process()))) == "");
  child.reset();  // kills the process
  beyond.await_end_of("theirs");
  CHECK(beyond.resolve("mine") == "");
  CHECK(beyond.bind_leased("theirs", lease) == "UnknownLease");
}

TEST_CASE("a lease is refused with the reason") {
  Beyond beyond({"-ORBNamingLeases", "0"});
  const auto reason = [&](const Corelane::Naming::Process& process) {
    try {
      beyond.server->lease_of(process);
      return std::string();
    } catch (const Corelane::Naming::Refused& refused) {
      return refused.reason();
    }
  };
  Corelane::Naming::Process process = Beyond::process(os::this_process());
  CHECK_THAT(reason(process), Catch::Contains("naming.leases"));
  process.pid_namespace(process.pid_namespace() + 1);
  CHECK_THAT(reason(process), Catch::Contains("another process namespace") && Catch::Contains("lease_for()"));
  process.boot_id("x");
  CHECK_THAT(reason(process), Catch::Contains("another host"));
}

TEST_CASE("a client of the first version understands the beginning of a nameserver's state") {
  Corelane::Naming::Status state;
  state.store("etcd"), state.place("http://a"), state.stale(true), state.remark("away");
  state.leases(1), state.watches(2), state.iterators(3);
  cdr::Writer writer;
  encode(writer, state);
  cdr::Reader reader(writer.bytes());
  std::string store, place, remark;
  bool stale = false;
  std::uint32_t leases = 0, watches = 0, iterators = 0;
  CHECK((cdr::decode(reader, store) && cdr::decode(reader, place) && cdr::decode(reader, stale)));
  CHECK((cdr::decode(reader, remark) && reader.read(leases) && reader.read(watches) && reader.read(iterators)));
  CHECK((store == "etcd" && place == "http://a" && stale && remark == "away"));
  CHECK((leases == 1 && watches == 2 && iterators == 3));
}

TEST_CASE("changes are read from a number on") {
  Beyond beyond;
  std::uint64_t since = ~std::uint64_t{0};
  bool lost = true;
  CHECK(beyond.server->changes("**", since, lost).empty());
  CHECK((since == 0 && !lost));
  beyond.root->bind_new_context(cos_name("plant"));
  beyond.root->bind(cos_name("plant/x.k"), nullptr);
  beyond.root->unbind(cos_name("plant/x.k"));
  const auto changes = beyond.server->changes("plant/**", since, lost);
  REQUIRE(changes.size() == 3);
  CHECK(changes[0].type() == CosNaming::BindingType::ncontext);
  CHECK(changes[1].name() == "plant/x.k");
  CHECK(changes[1].kind() == Corelane::Naming::ChangeKind::bound);
  CHECK(changes[2].kind() == Corelane::Naming::ChangeKind::unbound);
  CHECK(changes[2].number() == since);
  CHECK(beyond.server->changes("**", since, lost).empty());
  CHECK(raised_by([&] { beyond.server->changes("", since, lost); }) == "Refused");
}

TEST_CASE("a listener hears of the names that it wants to hear of, until it does not want to") {
  Beyond beyond;
  const auto poa = IDL::traits<PortableServer::POA>::narrow(beyond.client->resolve_initial_references("RootPOA"));
  poa->the_POAManager()->activate();
  const auto servant = CORBA::make_reference<ListenerServant>();
  const auto listener = IDL::traits<Corelane::Naming::Listener>::narrow(poa->servant_to_reference(servant));
  const auto id = beyond.server->watch("a*", listener);
  beyond.root->bind(cos_name("b"), nullptr);
  beyond.root->bind(cos_name("a1"), nullptr);
  beyond.root->bind(cos_name("a2"), nullptr);
  servant->await({"a1", "a2"});
  CHECK(beyond.server->state().watches() == 1);
  beyond.server->unwatch(id);
  CHECK(beyond.server->state().watches() == 0);
  CHECK(raised_by([&] { beyond.server->watch("a", nullptr); }) == "Refused");
}

TEST_CASE("the nameserver calls a Unix socket only for the user whose process listens there") {
  const TempDirectory place;
  const auto socket = transport::unix_endpoint(place / "ns.sock");
  ServedNames names({"-ORBEndpointListen", "127.0.0.1:0, " + transport::to_string(socket)});
  QuietOrb local({"-ORBEndpointListen", "unix:" + (place / "client.sock")}), remote;
  const auto reference_at = [](const QuietOrb& orb, const transport::Endpoint& at, std::span<const std::byte> key) {
    giop::Ior ior{.type_id = "", .profiles = {core::profile_of({at}, key)}};
    return std::make_shared<core::Reference>(orb.orb.shared(), std::move(ior));
  };
  const auto server = names.root()->nameserver()->_reference();
  const auto as_server = core::make_stub<Corelane::Naming::Server>;
  const auto over_unix = as_server(reference_at(local, socket, server->address()->object_key));
  const auto over_tcp =
      as_server(reference_at(remote, server->address()->endpoints.back(), server->address()->object_key));
  const auto listener_at = [&](const std::string& path) {
    const auto endpoint = transport::unix_endpoint(path);
    return core::make_stub<Corelane::Naming::Listener>(reference_at(local, endpoint, std::as_bytes(std::span("key"))));
  };
  const os::Fd secret = listening_socket(place / "secret");
  CHECK(raised_by([&] { over_tcp->watch("**", listener_at(place / "secret")); }) == "Refused");
  std::optional<os::Fd> others;
  if (::geteuid() == 0) {
    others = other_users_socket(place / "others");
    over_unix->watch("**", listener_at(place / "others"));
    CHECK(over_unix->state().watches() == 1);
  }
  const auto poa = IDL::traits<PortableServer::POA>::narrow(local->resolve_initial_references("RootPOA"));
  poa->the_POAManager()->activate();
  const auto servant = CORBA::make_reference<ListenerServant>();
  over_unix->watch("**", IDL::traits<Corelane::Naming::Listener>::narrow(poa->servant_to_reference(servant)));
  names.root()->bind(cos_name("a"), nullptr);
  servant->await({"a"});
  while (over_unix->state().watches() > 1) std::this_thread::yield();  // the other user's listener is removed
  pollfd called{.fd = secret.get(), .events = POLLIN, .revents = 0};
  CHECK(::poll(&called, 1, 0) == 0);
}

TEST_CASE("a listener that is gone is forgotten") {
  Beyond beyond({"-ORBTimeoutConnect", "100ms"});
  {
    QuietOrb passing;
    const auto poa = IDL::traits<PortableServer::POA>::narrow(passing->resolve_initial_references("RootPOA"));
    poa->the_POAManager()->activate();
    const auto listener = poa->servant_to_reference(CORBA::make_reference<ListenerServant>());
    beyond.server->watch("**", IDL::traits<Corelane::Naming::Listener>::narrow(listener));
  }
  while (beyond.server->state().watches() > 0)  // the first change may be sent before the server notices the end
    beyond.root->rebind(cos_name("x"), nullptr);
  CHECK(beyond.server->state().store() == "memory");
}

TEST_CASE("a listener whose host takes no connection is forgotten and delays nobody for long") {
  Beyond beyond({"-ORBTimeoutConnect", "3600s", "-ORBTimeoutRequest", "3600s"});
  const Unreachable nowhere;
  if (nowhere.takes_connections()) {
    WARN("SKIPPED: a full queue of connections takes more");
    return;
  }
  const auto poa = IDL::traits<PortableServer::POA>::narrow(beyond.client->resolve_initial_references("RootPOA"));
  poa->the_POAManager()->activate();
  const auto servant = CORBA::make_reference<ListenerServant>();
  const auto at = beyond.client->string_to_object(nowhere.place());
  beyond.server->watch("**", core::make_stub<Corelane::Naming::Listener>(at->_reference()));
  beyond.server->watch("**", IDL::traits<Corelane::Naming::Listener>::narrow(poa->servant_to_reference(servant)));
  beyond.root->bind(cos_name("a"), nullptr);
  servant->await({"a"});
  beyond.root->bind(cos_name("b"), nullptr);
  servant->await({"a", "b"});
  while (beyond.server->state().watches() > 1) std::this_thread::yield();
}

TEST_CASE("a client finds this host's nameserver by itself, and names by their URL") {
  const TempDirectory place;
  const std::string path = place / "nameserver.sock";
  ServedNames names({"-ORBEndpointListen", "unix:" + path});
  const QuietOrb client({"-ORBNamingSocket", path});
  names.root()->bind_new_context(cos_name("plant"));
  names.root()->bind(cos_name("plant/controller.k"), names.root());
  const auto found =
      IDL::traits<CosNaming::NamingContextExt>::narrow(client->resolve_initial_references("NameService"));
  REQUIRE(found);
  for (const char* url : {"corbaname::#plant/controller.k", "corbaname:rir:#plant/controller.k",
                          "corbaname::/NameService#plant/controller%2ek"})
    CHECK(client->string_to_object(url)->_is_a(Corelane::Naming::Directory::_id));
  CHECK(client->string_to_object("corbaname::")->_is_equivalent(client->string_to_object("corbaloc::/NameService")));
  CHECK(client->string_to_object(found->to_url("rir:", "plant/controller.k")));
  CHECK_THROWS_WITH(client->string_to_object("corbaname::#plant/x/y"),
                    Catch::Contains("the name leads nowhere: 'x' is not bound; corelane ns list shows the names"));
  CHECK_THROWS_WITH(client->string_to_object("corbaname::#plant/controller.k/y"),
                    Catch::Contains("'controller.k' is no context"));
}

TEST_CASE("a nameserver of another user is left alone and the client is told whose it is") {
  if (geteuid() != 0) {
    WARN("SKIPPED: only root can be another user");
    return;
  }
  const TempDirectory place;
  const std::string path = place / "nameserver.sock";
  const os::Fd theirs = other_users_socket(path);
  const QuietOrb client({"-ORBNamingSocket", path, "-ORBTimeoutConnect", "1s", "-ORBTimeoutRequest", "1s"});
  try {
    client->resolve_initial_references("NameService");
    FAIL("the stranger's, or port 2809 instead");
  } catch (const CORBA::ORB::InvalidName& why) {
    CHECK_THAT(why.what(),
               Catch::Contains("is run by user " + std::to_string(another_user)) && Catch::Contains("naming.trusted"));
  }
  const QuietOrb trusting(
      {"-ORBNamingSocket", path, "-ORBNamingTrusted", std::to_string(another_user), "-ORBTimeoutRequest", "10ms"});
  CHECK_THROWS_WITH(trusting->resolve_initial_references("NameService"), Catch::Contains("does not answer in time"));
}

TEST_CASE("a client that has as many listeners as it may is told so") {
  Beyond beyond({"-ORBNamingClientWatches", "1"});
  const auto listener = core::make_stub<Corelane::Naming::Listener>(
      beyond.client->string_to_object("corbaloc::127.0.0.1:1/Listener")->_reference());
  beyond.server->watch("a", listener);
  try {
    beyond.server->watch("a", listener);
    FAIL("a second one");
  } catch (const Corelane::Naming::Refused& refused) {
    CHECK_THAT(refused.reason(), Catch::Contains("naming.client_watches"));
  }
}

TEST_CASE("where no nameserver runs a client is told so, and what to do") {
  const TempDirectory place;
  const QuietOrb client({"-ORBNamingSocket", place / "nameserver.sock", "-ORBTimeoutConnect", "1s"});
  try {
    client->resolve_initial_references("NameService");
    WARN("SKIPPED: something answers at this host's port 2809");
  } catch (const CORBA::ORB::InvalidName& why) {
    CHECK_THAT(why.what(), Catch::Contains("no nameserver runs on this host") && Catch::Contains(place.path()) &&
                               Catch::Contains("corelane-nameserver") && Catch::Contains("naming.service"));
  }
}

TEST_CASE("a nameserver that is stopped is named, and what lets it go on") {
  const TempDirectory place;
  const std::string socket = place / "nameserver.sock";
  os::ChildProcess server({os::program_beside("corelane-nameserver"), "-ORBRuntimeDirectory", place.path(),
                           "-ORBNamingStore", "memory", "-ORBEndpointListen", "unix:" + socket, "-ORBLogLevel", "off"});
  REQUIRE(server.read_line(os::now() + std::chrono::minutes{1}));
  REQUIRE(stop_process(server.pid()));
  const std::string pid = std::to_string(server.pid());
  const QuietOrb client({"-ORBNamingSocket", socket, "-ORBTimeoutConnect", "100ms"});
  try {
    client->resolve_initial_references("NameService");
    FAIL("a stopped process answers");
  } catch (const CORBA::ORB::InvalidName& why) {
    CHECK_THAT(why.what(), Catch::Contains("process " + pid + " listens at " + socket + ", but it is stopped") &&
                               Catch::Contains("kill -CONT " + pid + " lets it go on, or name another with"));
  }
  REQUIRE(::kill(server.pid(), SIGCONT) == 0);
}

TEST_CASE("a program that holds the nameserver's address and says nothing is found out, long before timeout.request") {
  const TempDirectory place;
  auto path = os::SocketPath::claim(place / "nameserver.sock");
  REQUIRE(path);
  const auto mute = path->listen(0600);
  REQUIRE(mute);
  const QuietOrb client({"-ORBNamingSocket", path->path(), "-ORBTimeoutConnect", "100ms", "-ORBTimeoutRequest", "0s"});
  try {
    client->resolve_initial_references("NameService");
    FAIL("nobody answers there");
  } catch (const CORBA::ORB::InvalidName& why) {
    CHECK_THAT(why.what(), Catch::Contains("does not answer in time") && Catch::Contains("ss -l") &&
                               Catch::Contains(path->path()) && !Catch::Contains("start corelane-nameserver"));
  }
}
