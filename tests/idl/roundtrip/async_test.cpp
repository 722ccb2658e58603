// async.idl: calls that return when the request is sent, and whose replies a handler takes.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "asyncAmiC.h"
#include "asyncS.h"
#include "orb/base/minor.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "tests/support/in_time.h"

namespace {

using MachineTraits = CORBA::amic_traits<Async::Machine>;
using HolderRef = IDL::traits<Messaging::ExceptionHolder>::ref_type;

// What is said to it, in order; hear() waits for the next.
class Mailbox {
 public:
  void say(std::string text) {
    const std::lock_guard lock(mutex_);
    said_.push_back(std::move(text));
    changed_.notify_all();
  }
  std::string hear() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !said_.empty(); });
    std::string first = std::move(said_.front());
    said_.erase(said_.begin());
    return first;
  }
  bool is_empty() {
    const std::lock_guard lock(mutex_);
    return said_.empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> said_;
};

class Machine : public virtual CORBA::servant_traits<Async::Machine>::base_type {
 public:
  std::int32_t add(std::int32_t n) override { return sum_ += n; }
  std::string name() override { return "machine"; }
  double compute(double a, Async::Point& p, std::string& text) override {
    if (a < 0) throw Async::Broken("negative", 3);
    p.x(p.x() + 1);
    text = "computed";
    return a * 2;
  }
  std::int32_t level() override { return level_; }
  void level(std::int32_t value) override {
    level_ = value;
    hints.say("level " + std::to_string(value));
  }
  Async::Point where() override { return Async::Point(1, 2); }
  void nothing() override {}
  void nothing_excep() override {}
  void log(const std::string&) override {}
  void sendc_nothing() override {}
  std::int32_t wait_for_release(std::int32_t value) override { return gate.hear(), value; }
  void release() override { gate.say("open"); }
  void hint(const std::string& what) override { hints.say(what); }
  void fail(bool crash) override {
    if (crash) throw std::runtime_error("crash");
    throw CORBA::NO_PERMISSION(7, CORBA::COMPLETED_YES);
  }

  Mailbox gate, hints;

 private:
  std::int32_t sum_ = 0, level_ = 0;
};

std::string text_of(const HolderRef& holder) {
  try {
    holder->raise_exception();
  } catch (const Async::Broken& broken) {
    return "Broken " + broken.why() + " " + std::to_string(broken.code());
  } catch (const CORBA::SystemException& fault) {
    const std::string_view id = fault._rep_id();
    const char* const completed = fault.completed() == CORBA::COMPLETED_NO    ? " no"
                                  : fault.completed() == CORBA::COMPLETED_YES ? " yes"
                                                                              : " maybe";
    return std::string(id.substr(id.rfind('/') + 1)) + completed;
  }
}

class Handler : public virtual MachineTraits::replyhandler_base_type {
 public:
  explicit Handler(Mailbox& to) : to_(to) {}
  void add(std::int32_t sum) override { to_.say(std::to_string(sum)); }
  void add_excep(HolderRef holder) override { to_.say("add: " + text_of(holder)); }
  void compute(double result, const Async::Point& p, const std::string& text) override {
    to_.say(std::to_string(static_cast<int>(result)) + " " + std::to_string(p.x()) + " " + text);
  }
  void compute_excep(HolderRef holder) override { to_.say("compute: " + text_of(holder)); }
  void get_level(std::int32_t value) override { to_.say("level " + std::to_string(value)); }
  void get_level_excep(HolderRef) override {}
  void set_level() override { to_.say("set"); }
  void set_level_excep(HolderRef) override {}
  void get_where(const Async::Point& value) override { to_.say("where " + std::to_string(value.y())); }
  void get_where_excep(HolderRef) override {}
  void name(const std::string& value) override { to_.say(value); }
  void name_excep(HolderRef) override {}
  void nothing() override { to_.say("nothing"); }
  void ami_nothing_excep(HolderRef) override {}
  void nothing_excep() override { to_.say("nothing_excep"); }
  void nothing_excep_excep(HolderRef) override {}
  void sendc_nothing() override { to_.say("sendc_nothing"); }
  void sendc_nothing_excep(HolderRef) override {}
  void wait_for_release(std::int32_t value) override { to_.say("released " + std::to_string(value)); }
  void wait_for_release_excep(HolderRef holder) override { to_.say("wait: " + text_of(holder)); }
  void release() override {}
  void release_excep(HolderRef) override {}
  void log() override {}
  void log_excep(HolderRef) override {}
  void hint() override { to_.say("never"); }
  void hint_excep(HolderRef) override { to_.say("never"); }
  void fail() override {}
  void fail_excep(HolderRef holder) override { to_.say("fail: " + text_of(holder)); }

 private:
  Mailbox& to_;
};

class Taken : public virtual CORBA::servant_traits<Async::TakenAgain>::base_type {
 public:
  std::int32_t y() override { return 1; }
  void y(std::int32_t) override {}
  std::int32_t get_y(std::int32_t n) override { return n; }
  std::int32_t set_y_excep() override { return 3; }
  std::string sum(std::int32_t& ami_return_val, std::int32_t n) override {
    ami_return_val += n;
    return "sum";
  }
  void ami_get_y(const std::string&) override {}
};

using TakenTraits = CORBA::amic_traits<Async::TakenAgain>;

class TakenHandler : public virtual TakenTraits::replyhandler_base_type {
 public:
  explicit TakenHandler(Mailbox& to) : to_(to) {}
  void get_y(std::int32_t n) override { to_.say("get_y " + std::to_string(n)); }
  void get_y_excep(HolderRef) override {}
  void set_y_excep(std::int32_t n) override { to_.say("set_y_excep " + std::to_string(n)); }
  void set_y_excep_excep(HolderRef) override {}
  void sum(const std::string& ami_ami_return_val, std::int32_t n) override {
    to_.say(ami_ami_return_val + " " + std::to_string(n));
  }
  void sum_excep(HolderRef) override {}
  void ami_get_y(std::int32_t value) override { to_.say("y " + std::to_string(value)); }
  void ami_get_y_excep(HolderRef) override {}
  void set_y() override { to_.say("y is set"); }
  void ami_set_y_excep(HolderRef) override {}
  void ami_ami_get_y() override { to_.say("ami_get_y"); }
  void ami_ami_get_y_excep(HolderRef) override {}

 private:
  Mailbox& to_;
};

class Boilerhouse : public virtual CORBA::servant_traits<Async::Boilerhouse>::base_type {
 public:
  std::string name() override { return "boilerhouse"; }
  std::int32_t open(std::int32_t degrees) override { return degrees; }
};

using HouseTraits = CORBA::amic_traits<Async::Boilerhouse>;

class HouseHandler : public virtual HouseTraits::replyhandler_base_type {
 public:
  explicit HouseHandler(Mailbox& to) : to_(to) {}
  void name(const std::string& value) override { to_.say(value); }
  void name_excep(HolderRef) override {}
  void open(std::int32_t degrees) override { to_.say("open " + std::to_string(degrees)); }
  void open_excep(HolderRef) override {}

 private:
  Mailbox& to_;
};

class Orb {
 public:
  explicit Orb(const std::string& id, std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"async", "-ORBRuntimeLedger", "off"});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    orb = CORBA::ORB_init(count, arguments.data(), id);
    poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
    poa->the_POAManager()->activate();
  }
  ~Orb() { orb->destroy(); }

  template <typename Servant>
  CORBA::object_reference<CORBA::Object> activate(const Servant& servant) {
    return poa->id_to_reference(poa->activate_object(servant));
  }

  CORBA::object_reference<CORBA::ORB> orb;
  CORBA::object_reference<PortableServer::POA> poa;
};

// A server, and a client with a handler.
class Session {
 public:
  explicit Session(std::vector<std::string> client_words = {}) : client("async-client", std::move(client_words)) {
    machine = stub_of(server.orb->object_to_string(server.activate(servant)));
    handler = handler_in(client);
  }

  MachineTraits::ref_type stub_of(const std::string& reference) {
    return MachineTraits::narrow(client.orb->string_to_object(reference));
  }
  MachineTraits::replyhandler_ref_type handler_in(Orb& orb) {
    return MachineTraits::replyhandler_traits::narrow(orb.activate(CORBA::make_reference<Handler>(mailbox)));
  }

  Mailbox mailbox;
  CORBA::servant_reference<Machine> servant = CORBA::make_reference<Machine>();
  Orb server{"async-server"};
  Orb client;
  MachineTraits::ref_type machine;
  MachineTraits::replyhandler_ref_type handler;
};

// Listens; takes one connection and what comes first over it, and closes both.
class Quitter {
 public:
  Quitter() {
    REQUIRE(listen(socket_, 1) == 0);
    sockaddr_in address{};
    socklen_t size = sizeof address;
    REQUIRE(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port = ntohs(address.sin_port);
  }
  ~Quitter() {
    if (thread_.joinable()) thread_.join();
    close(socket_);
  }
  void serve_one() {
    thread_ = std::thread([this] { (void)quit(); });
  }
  // Until the listener is shut.
  void serve_all() {
    thread_ = std::thread([this] {
      while (quit()) {
      }
    });
  }
  void shut() { shutdown(socket_, SHUT_RDWR); }
  std::string reference() const { return "corbaloc:iiop:127.0.0.1:" + std::to_string(port) + "/machine"; }
  std::uint16_t port = 0;

 private:
  bool quit() {
    const int connection = accept(socket_, nullptr, nullptr);
    if (connection < 0) return false;
    char bytes[64];
    (void)!read(connection, bytes, sizeof bytes);
    return close(connection), true;
  }

  const int socket_ = socket(AF_INET, SOCK_STREAM, 0);
  std::thread thread_;
};

MachineTraits::ref_type unchecked(const CORBA::object_reference<CORBA::Object>& object) {
  return corelane::core::make_stub<MachineTraits::ref_type::element_type>(object->_reference());
}

}  // namespace

TEST_CASE("a reply handler hears the result, inout and out values") {
  Session session;
  session.machine->sendc_compute(session.handler, 2.0, Async::Point(4, 5));
  CHECK(session.mailbox.hear() == "4 5 computed");
  session.machine->sendc_add(session.handler, 3);
  CHECK(session.mailbox.hear() == "3");
  session.machine->sendc_name(session.handler);
  CHECK(session.mailbox.hear() == "machine");
}

TEST_CASE("attributes are set and read asynchronously") {
  Session session;
  session.machine->sendc_set_level(session.handler, 9);
  CHECK(session.mailbox.hear() == "set");
  session.machine->sendc_get_level(session.handler);
  CHECK(session.mailbox.hear() == "level 9");
  session.machine->sendc_get_where(session.handler);
  CHECK(session.mailbox.hear() == "where 2");
}

TEST_CASE("operations named like those of the implied IDL have asynchronous stubs too") {
  Session session;
  session.machine->sendc_ami_nothing(session.handler);
  CHECK(session.mailbox.hear() == "nothing");
  session.machine->sendc_nothing_excep(session.handler);
  CHECK(session.mailbox.hear() == "nothing_excep");
  session.machine->sendc_sendc_nothing(session.handler);
  CHECK(session.mailbox.hear() == "sendc_nothing");
}

TEST_CASE("an operation named like the accessor of an attribute is called asynchronously beside it") {
  Session session;
  const auto taken = TakenTraits::narrow(session.client.orb->string_to_object(
      session.server.orb->object_to_string(session.server.activate(CORBA::make_reference<Taken>()))));
  const auto handler = TakenTraits::replyhandler_traits::narrow(
      session.client.activate(CORBA::make_reference<TakenHandler>(session.mailbox)));
  taken->sendc_get_y(handler, 7);
  CHECK(session.mailbox.hear() == "get_y 7");
  taken->sendc_ami_get_y(handler);
  CHECK(session.mailbox.hear() == "y 1");
  taken->sendc_ami_ami_get_y(handler, "text");
  CHECK(session.mailbox.hear() == "ami_get_y");
  taken->sendc_set_y_excep(handler);
  CHECK(session.mailbox.hear() == "set_y_excep 3");
  taken->sendc_set_y(handler, 2);
  CHECK(session.mailbox.hear() == "y is set");
  taken->sendc_sum(handler, 4, 5);
  CHECK(session.mailbox.hear() == "sum 9");
}

TEST_CASE("what comes from an abstract interface by two bases is called by its name") {
  Session session;
  const auto reference =
      session.server.orb->object_to_string(session.server.activate(CORBA::make_reference<Boilerhouse>()));
  const auto house = HouseTraits::narrow(session.client.orb->string_to_object(reference));
  const auto handler = HouseTraits::replyhandler_traits::narrow(
      session.client.activate(CORBA::make_reference<HouseHandler>(session.mailbox)));
  CHECK(house->name() == "boilerhouse");
  house->sendc_name(handler);
  CHECK(session.mailbox.hear() == "boilerhouse");
  house->sendc_open(handler, 30);
  CHECK(session.mailbox.hear() == "open 30");
  CORBA::amic_traits<Async::Boiler>::narrow(house)->sendc_name(handler);
  CHECK(session.mailbox.hear() == "boilerhouse");
}

TEST_CASE("an asynchronous stub makes ordinary calls as well") {
  Session session;
  CHECK(session.machine->add(2) == 2);
  session.machine->sendc_hint(session.handler, "faster");
  CHECK(session.servant->hints.hear() == "faster");
}

TEST_CASE("200 calls under way at once are answered once each") {
  Session session;
  for (int i = 0; i < 200; ++i) session.machine->sendc_compute(session.handler, i, Async::Point(i, 0));
  std::vector<bool> heard(200);
  for (int i = 0; i < 200; ++i) {
    const auto result = static_cast<std::size_t>(std::stoi(session.mailbox.hear()));
    REQUIRE(result % 2 == 0);
    REQUIRE_FALSE(heard.at(result / 2));
    heard[result / 2] = true;
  }
  CHECK(session.mailbox.is_empty());
}

TEST_CASE("a reply that comes late holds up neither other replies nor callers that wait") {
  Session session;
  session.machine->sendc_wait_for_release(session.handler, 1);
  session.machine->sendc_add(session.handler, 5);
  CHECK(session.mailbox.hear() == "5");
  CHECK(session.machine->add(1) == 6);
  session.machine->release();
  CHECK(session.mailbox.hear() == "released 1");
}

TEST_CASE("several threads send over one connection") {
  Session session;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          session.machine->sendc_nothing_excep(session.handler);
          session.machine->nothing();
        }
      });
  }
  for (int i = 0; i < 150; ++i) CHECK(session.mailbox.hear() == "nothing_excep");
}

TEST_CASE("a nil handler hears nothing, and the call is made") {
  Session session;
  session.machine->sendc_set_level(nullptr, 4);
  CHECK(session.servant->hints.hear() == "level 4");
}

TEST_CASE("an object of the same ORB is called asynchronously as well") {
  Session session;
  const auto local = MachineTraits::narrow(session.client.activate(CORBA::make_reference<Machine>()));
  local->sendc_add(session.handler, 8);
  CHECK(session.mailbox.hear() == "8");
}

// Error paths.

TEST_CASE("a handler hears the exceptions of the operation and of the system") {
  Session session;
  session.machine->sendc_compute(session.handler, -1, Async::Point());
  CHECK(session.mailbox.hear() == "compute: Broken negative 3");
  session.machine->sendc_fail(session.handler, false);
  CHECK(session.mailbox.hear() == "fail: NO_PERMISSION:1.0 yes");
  session.machine->sendc_fail(session.handler, true);
  CHECK(session.mailbox.hear() == "fail: UNKNOWN:1.0 maybe");
}

TEST_CASE("a handler in another process hears the exception as bytes") {
  Session session;
  const auto far = MachineTraits::replyhandler_traits::narrow(
      session.client.orb->string_to_object(session.server.orb->object_to_string(session.handler_in(session.server))));
  session.machine->sendc_compute(far, 3, Async::Point(1, 1));
  CHECK(session.mailbox.hear() == "6 2 computed");
  session.machine->sendc_fail(far, false);
  CHECK(session.mailbox.hear() == "fail: NO_PERMISSION:1.0 yes");
  session.machine->sendc_compute(far, -1, Async::Point());
  CHECK(session.mailbox.hear() == "compute: UNKNOWN:1.0 yes");
}

TEST_CASE("what keeps a request from being sent is raised at once") {
  Session session;
  std::string reference;
  {
    const Quitter quitter;
    reference = quitter.reference();
  }
  const auto nobody = unchecked(session.client.orb->string_to_object(reference));
  CHECK_THROWS_AS(nobody->sendc_add(session.handler, 1), CORBA::TRANSIENT);
  CHECK(session.mailbox.is_empty());
}

TEST_CASE("what cannot be marshalled is raised at once, and an ORB with nothing else under way ends") {
  Session session;
  CHECK_THROWS_AS(session.machine->sendc_log(session.handler, std::string("a\0b", 3)), CORBA::SystemException);
  session.client.orb->destroy();
  CHECK(session.mailbox.is_empty());
}

TEST_CASE("when the connection is lost all handlers hear of it") {
  Session session;
  Quitter quitter;
  quitter.serve_one();
  const auto machine = unchecked(session.client.orb->string_to_object(quitter.reference()));
  machine->sendc_add(session.handler, 1);
  CHECK(session.mailbox.hear() == "add: COMM_FAILURE:1.0 maybe");
}

TEST_CASE("calls over connections that are lost one after the other all end, whoever sends and hears") {
  Session session;
  std::array<Quitter, 2> quitters;
  std::atomic<int> sent = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const auto machine = unchecked(session.client.orb->string_to_object(quitters[t % 2].reference()));
        for (int i = 0; i < 50; ++i) {
          try {
            machine->sendc_add(session.handler, i);
            sent.fetch_add(1, std::memory_order_relaxed);  // relaxed: read after the threads
          } catch (const CORBA::SystemException&) {        // nothing was sent
          }
        }
      });
    for (Quitter& quitter : quitters) quitter.serve_all();
  }
  for (int i = 0; i < sent.load(std::memory_order_relaxed); ++i)  // relaxed: see above
    CHECK(session.mailbox.hear().starts_with("add: "));
  CHECK(session.mailbox.is_empty());
  for (Quitter& quitter : quitters) quitter.shut();
}

TEST_CASE("a reply that does not come in time is TIMEOUT") {
  Session session({"-ORBTimeoutRequest", "20ms"});
  corelane::testing::in_time([&] { session.machine->nothing(); });  // connects
  session.machine->sendc_wait_for_release(session.handler, 1);
  CHECK(session.mailbox.hear() == "wait: TIMEOUT:1.0 maybe");
  session.servant->release();
}

TEST_CASE("an ORB that ends tells the handlers of all calls under way") {
  Mailbox mailbox;
  const auto servant = CORBA::make_reference<Machine>();
  Orb server("async-server");
  {
    Orb client("async-client");
    Orb listener("async-listener");  // handlers outlive the ORB that calls
    const auto machine =
        MachineTraits::narrow(client.orb->string_to_object(server.orb->object_to_string(server.activate(servant))));
    const auto handler =
        MachineTraits::replyhandler_traits::narrow(listener.activate(CORBA::make_reference<Handler>(mailbox)));
    machine->sendc_wait_for_release(handler, 1);
    machine->sendc_wait_for_release(handler, 2);
    client.orb->destroy();
    CHECK(mailbox.hear() == "wait: COMM_FAILURE:1.0 maybe");
    CHECK(mailbox.hear() == "wait: COMM_FAILURE:1.0 maybe");
    CHECK_THROWS_AS(machine->sendc_add(handler, 1), CORBA::BAD_INV_ORDER);
  }
  servant->release();
  servant->release();
}
