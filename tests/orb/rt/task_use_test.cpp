// Tests which peers may run which operations under which task, with a server and bare peers.
#include <thread>

#include "orb/base/minor.h"
#include "orb/core/client/reference.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/rt/rt.h"
#include "tests/support/modes.h"
#include "tests/support/peers/bare_wire.h"
#include "tests/support/probe_servant.h"

namespace task_use_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// A server with two objects.
struct Served {
  std::size_t tasks_present() {
    std::size_t count = 0;
    for (const auto& task : rt::report(*server.orb.orb).tasks) count += task.gone ? 0 : 1;
    return count;
  }
  // Each of the two objects has one shared task, for paced().
  static constexpr std::size_t shared = 2;
  TaskId shared_task_of(const std::string& label) {
    for (const auto& task : rt::report(*server.orb.orb).tasks)
      if (task.label == label && !task.gone) return task.task;
    return no_task;
  }

  ProbeServer server{in_each_mode()};
  CORBA::servant_reference<ProbeServant> other = CORBA::make_reference<ProbeServant>();
  CORBA::object_reference<CORBA::Object> other_reference = server.orb.root()->servant_to_reference(other);
  std::vector<std::byte> key = server.key();
  std::vector<std::byte> other_key = other_reference->_reference()->address()->object_key;
  Wires wires;
};

class Peer {
 public:
  explicit Peer(Served& served) : key_(served.key), wire_(served.wires, served.server.orb->endpoints().front()) {}

  void ask(const giop::ContractContext& content, std::string_view operation, Bytes key) {
    const auto context = giop::encode_contract(content);
    const giop::ServiceContext contexts[] = {{giop::context::contract, context}};
    begin_request(writer_, ++id_, key, operation, giop::giop_1_2, native_order, contexts);
  }
  void send_admit(std::string_view operation) {
    ask({.contract = make_contract(10ms, 100us)}, "_corelane_admit", key_);
    writer_.write_string(operation);
    REQUIRE(wire_.send(writer_));
  }
  void cancel_last() {
    giop::write_cancel_request(writer_, id_);
    REQUIRE(wire_.send(writer_.bytes()));
  }
  TaskId admit(std::string_view operation) {
    send_admit(operation);
    const auto reply = last_reply();
    REQUIRE(reply->header.status == giop::ReplyStatus::no_exception);
    return giop::decode_contract(*reply->header.contexts.find(giop::context::contract))->task;
  }
  // Calls add(20, 22) or paced(42) as a job of the task.
  Error call(TaskId task, std::string_view operation, Bytes key) {
    ask({.task = task, .job = JobId{1}, .contract = {}}, operation, key);
    if (operation == "add") writer_.write(std::int32_t{20}), writer_.write(std::int32_t{22});
    if (operation == "paced") writer_.write(std::int32_t{42});
    REQUIRE(wire_.send(writer_));
    auto reply = last_reply();
    if (reply->header.status == giop::ReplyStatus::system_exception) return *giop::decode_system_exception(reply->body);
    std::int32_t result = 0;
    CHECK(reply->body.read(result));
    CHECK(result == 42);
    return {};
  }
  Error depart(TaskId task) {
    begin_request(writer_, ++id_, key_, "_corelane_depart");
    writer_.write(task.value);
    REQUIRE(wire_.send(writer_));
    auto reply = last_reply();
    return reply->header.status == giop::ReplyStatus::no_exception ? Error{}
                                                                   : *giop::decode_system_exception(reply->body);
  }
  Error call(TaskId task, std::string_view operation) { return call(task, operation, key_); }
  void close() { wire_.close(); }

 private:
  using Reply = giop::Parsed<giop::ReplyHeader>;
  // Returns the reply to the last request. Replies come in any order: the reply to an earlier admission may come before
  // it.
  Expected<Reply> last_reply() {
    for (;;) {
      message_ = wire_.next();
      REQUIRE(message_);
      auto reply = giop::parse_reply(*message_, {});
      REQUIRE(reply);
      if (reply->header.request_id == id_) return reply;
    }
  }

  const std::vector<std::byte> key_;
  Wire wire_;
  cdr::Writer writer_;
  std::uint32_t id_ = 0;
  std::optional<giop::Message> message_;
};

constexpr Error foreign{ErrorKind::bad_param, Completion::no, minor::unknown_task};

}  // namespace

TEST_CASE("a peer's own task runs the operation it was admitted for") {
  Served served;
  Peer peer(served);
  CHECK(peer.call(peer.admit("add"), "add") == Error{});
}

TEST_CASE("the shared task of an operation may be named for that operation") {
  Served served;
  Peer peer(served);
  const TaskId shared = served.shared_task_of("Probing/Probe.paced");
  REQUIRE(shared != no_task);
  CHECK((peer.call(shared, "paced", served.key) == Error{} || peer.call(shared, "paced", served.other_key) == Error{}));
}

TEST_CASE("a client that gives up its admission leaves no task behind") {
  Served served;
  Peer peer(served);
  peer.send_admit("add");
  peer.cancel_last();
  const TaskId kept = peer.admit("add");  // the server handles the requests of a connection in order
  while (served.tasks_present() != Served::shared + 1) std::this_thread::yield();
  CHECK(peer.call(kept, "add") == Error{});
}

TEST_CASE("a client that goes while its admission is decided leaves no task behind") {
  Served served;
  for (int i = 0; i < 20; ++i) {
    Peer peer(served);
    peer.send_admit("add");
    if (i % 2 == 0) (void)peer.call(no_task, "add");
    peer.close();
  }
  while (served.tasks_present() != Served::shared) std::this_thread::yield();
  Peer peer(served);
  CHECK(peer.call(peer.admit("add"), "add") == Error{});
}

// Error paths.

TEST_CASE("a guessed id of a shared task runs no other operation") {
  Served served;
  Peer peer(served);
  CHECK(peer.call(served.shared_task_of("Probing/Probe.paced"), "add") == foreign);
}

TEST_CASE("the task of one connection is none of another's") {
  Served served;
  Peer owner(served), other(served);
  const TaskId task = owner.admit("add");
  CHECK(other.call(task, "add") == foreign);
  CHECK(owner.call(task, "add") == Error{});
}

TEST_CASE("only the connection that a task was admitted on can end it, and only once") {
  Served served;
  Peer owner(served), other(served);
  const TaskId task = owner.admit("add");
  CHECK(other.depart(task) == foreign);
  CHECK(other.depart(served.shared_task_of("Probing/Probe.paced")) == foreign);
  CHECK(other.depart(TaskId{987654321}) == foreign);
  CHECK(other.depart(no_task) == foreign);
  CHECK(owner.call(task, "add") == Error{});
  CHECK(owner.depart(task) == Error{});
  CHECK(owner.depart(task) == foreign);
}

TEST_CASE("a task is used for no other operation and no other object") {
  Served served;
  Peer peer(served);
  const TaskId task = peer.admit("add");
  CHECK(peer.call(task, "paced") == foreign);
  CHECK(peer.call(task, "add", served.other_key) == foreign);
  CHECK(peer.call(task, "add") == Error{});
}

TEST_CASE("a task that was never admitted is BAD_PARAM and nothing ran") {
  Served served;
  Peer peer(served);
  CHECK(peer.call(TaskId{987654321}, "ping") == foreign);
  CHECK(served.server.servant->pings == 0);
}

}  // namespace task_use_test
