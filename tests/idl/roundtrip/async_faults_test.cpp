// async.idl: what a reply handler receives when there is no result.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "tests/idl/roundtrip/async_fixture.h"
#include "tests/support/await.h"
#include "tests/support/in_time.h"
#include "tests/support/system/captured_errors.h"

using namespace corelane::test::async;

namespace {

// Listens. Accepts a connection, reads its first bytes and closes it. The destructor closes the listener.
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
  // Serves connections until shut() closes the listener.
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

TEST_CASE("a handler hears the exceptions of the operation and of the system") {
  Session session;
  session.machine->sendc_compute(session.handler, -1, Async::Point());
  CHECK(session.mailbox.hear() == "compute: Broken negative 3");
  session.machine->sendc_fail(session.handler, false);
  CHECK(session.mailbox.hear() == "fail: NO_PERMISSION:1.0 yes");
  session.machine->sendc_fail(session.handler, true);
  CHECK(session.mailbox.hear() == "fail: UNKNOWN:1.0 maybe");
}

TEST_CASE("a reply that a handler's inactive adapter refuses is logged as one that was not delivered") {
  Session session;
  session.client.poa->the_POAManager()->discard_requests(false);
  const corelane::testing::CapturedErrors log;
  session.machine->sendc_add(session.handler, 1);
  corelane::testing::await("the log says of the reply that nobody heard it",
                           [&] { return log.text().find("warning: a reply") != std::string::npos; });
  CHECK(log.times("warning: a reply was not delivered") == 1);
  CHECK(session.mailbox.is_empty());
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

TEST_CASE("a fault that keeps a request from being sent is raised at once") {
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

TEST_CASE("a value that cannot be marshaled raises at once, and an ORB with nothing else under way ends") {
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

TEST_CASE("calls over connections that are lost one after the other all end, whichever thread sends and hears") {
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
            sent.fetch_add(1, std::memory_order_relaxed);  // relaxed: read after the threads have ended
          } catch (const CORBA::SystemException&) {        // the call was not sent
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
    Orb listener("async-listener");  // handlers outlive the ORB of the caller
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

TEST_CASE("an ORB that ends tells handlers that are its own objects, each once") {
  Mailbox mailbox;
  const auto servant = CORBA::make_reference<Machine>();
  const bool serves_itself = GENERATE(false, true);
  Orb server("async-server");
  constexpr int calls = 20;
  {
    Orb client("async-client");
    Orb& serving = serves_itself ? client : server;
    const std::string text = serving.orb->object_to_string(serving.activate(servant));
    const auto machine = MachineTraits::narrow(client.orb->string_to_object(text));
    std::vector<MachineTraits::replyhandler_ref_type> handlers;
    for (int i = 0; i < calls; ++i) {
      handlers.push_back(
          MachineTraits::replyhandler_traits::narrow(client.activate(CORBA::make_reference<Handler>(mailbox))));
      machine->sendc_wait_for_release(handlers.back(), i);
    }
    std::jthread releases([&] {  // an ORB first waits for its own servants
      for (int i = 0; serves_itself && i < calls; ++i) servant->release();
    });
    client.orb->destroy();
  }
  int ends = 0;
  for (; !mailbox.is_empty(); ++ends) {
    const std::string said = mailbox.hear();
    CHECK((said.starts_with("wait: ") || said.starts_with("released ")));
  }
  CHECK(ends == calls);
  for (int i = 0; i < calls; ++i) servant->release();
}
