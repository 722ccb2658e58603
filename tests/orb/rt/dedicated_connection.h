// Helpers for tests of tasks' own connections: a server whose tasks have them, and bare connections that ask for them.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "orb/base/minor.h"
#include "orb/core/client/reference.h"
#include "orb/core/client/task_binding.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/rt/rt.h"
#include "tests/support/peers/bare_wire.h"
#include "tests/support/probe_servant.h"

namespace corelane::testing::dedicated_connection {

// The name gives T; C is 100 us.
inline const Contract ten_ms = make_contract(std::chrono::milliseconds{10}, std::chrono::microseconds{100});
inline const Contract one_ms = make_contract(std::chrono::milliseconds{1}, std::chrono::microseconds{100});

inline constexpr Error unknown{ErrorKind::bad_param, Completion::no, minor::unknown_task};
inline constexpr Error bound{ErrorKind::bad_inv_order, Completion::no, minor::connection_bound};

struct Served {
  explicit Served(std::vector<std::string> options = {"-ORBDispatchMode", "direct"}) : server(std::move(options)) {}
  std::optional<dispatch::TaskReport> report(TaskId task) {
    for (const auto& report : rt::report(*server.orb.orb).tasks)
      if (report.task == task) return report;
    return std::nullopt;
  }
  // Bound: the server's threads, which carry out departures.
  void wait_until_gone(TaskId task) {
    while (!report(task)->gone) std::this_thread::yield();
  }
  // Bound: the task's thread, which notices the end of its connection.
  void wait_until_shared(TaskId task) {
    while (report(task)->dedicated_connection) std::this_thread::yield();
  }

  ProbeServer server;
  std::vector<std::byte> key = server.key();
  Wires wires;
};

// One bare connection.
class Peer {
 public:
  explicit Peer(Served& served) : served_(served), wire_(served.wires, served.server.orb->endpoints().front()) {}

  struct Grant {
    TaskId task;
    std::uint64_t token;
  };
  // Admits a task for add().
  Grant admit() {
    const auto grant = admit_while_open();
    REQUIRE(grant);
    return *grant;
  }
  // Returns nothing if the connection has ended.
  std::optional<Grant> admit_while_open() {
    auto reply =
        try_ask("_corelane_admit", {.contract = ten_ms}, [](cdr::Writer& writer) { writer.write_string("add"); });
    if (!reply) return std::nullopt;
    REQUIRE(reply->header.status == giop::ReplyStatus::no_exception);
    std::int16_t core = 0;
    std::int32_t priority = 0;
    std::uint64_t response = 0, token = 0;
    REQUIRE((reply->body.read(core) && reply->body.read(priority) && reply->body.read(response) &&
             reply->body.read(token)));
    return Grant{giop::decode_contract(*reply->header.contexts.find(giop::context::contract))->task, token};
  }
  Error bind(const Grant& grant) {
    const auto answer = bind_while_open(grant);
    REQUIRE(answer);
    return *answer;
  }
  // Returns nothing if the connection has ended.
  std::optional<Error> bind_while_open(const Grant& grant) {
    const auto reply = try_ask("_corelane_bind", {}, [&](cdr::Writer& writer) {
      writer.write(grant.task.value);
      writer.write(grant.token);
    });
    return reply ? std::optional(outcome(*reply)) : std::nullopt;
  }
  // Asks for another token for the task. If it is refused, returns nothing, and the error is in `refused`.
  std::optional<Grant> offer(TaskId task) {
    auto reply = ask("_corelane_offer", {}, [&](cdr::Writer& writer) { writer.write(task.value); });
    if (reply.header.status != giop::ReplyStatus::no_exception) return refused = outcome(reply), std::nullopt;
    std::uint64_t token = 0;
    REQUIRE(reply.body.read(token));
    return Grant{task, token};
  }
  Error refused{};
  Error admit_again() {
    return outcome(
        ask("_corelane_admit", {.contract = ten_ms}, [](cdr::Writer& writer) { writer.write_string("add"); }));
  }
  // Calls add(20, 22) as a job of the task.
  Error add(TaskId task) {
    auto reply = ask("add", {.task = task, .job = JobId{1}, .contract = {}}, [](cdr::Writer& writer) {
      writer.write(std::int32_t{20});
      writer.write(std::int32_t{22});
    });
    if (reply.header.status != giop::ReplyStatus::no_exception) return outcome(reply);
    std::int32_t sum = 0;
    CHECK(reply.body.read(sum));
    CHECK(sum == 42);
    return {};
  }
  // Returns false if the connection has ended.
  bool is_answered(TaskId task) {
    write_request("ping", {.task = task, .job = JobId{1}, .contract = {}}, [](cdr::Writer&) {});
    if (!wire_.send(writer_)) return false;
    message_ = wire_.next();
    return message_ && !closes(*message_);
  }
  Error ping(TaskId task = no_task) {
    return outcome(ask("ping", {.task = task, .job = JobId{1}, .contract = {}}, [](cdr::Writer&) {}));
  }
  void depart(TaskId task) {
    CHECK(outcome(ask("_corelane_depart", {}, [&](cdr::Writer& writer) { writer.write(task.value); })) == Error{});
  }
  void send_bytes(std::string_view text) { REQUIRE(wire_.send(std::as_bytes(std::span(text)))); }
  void send_half_a_request() {
    write_request("ping", {}, [](cdr::Writer&) {});
    REQUIRE(giop::finish(writer_));
    REQUIRE(wire_.send(writer_.bytes().first(20)));
  }
  std::optional<giop::Message> next() { return wire_.next(); }
  bool closed_by_server() { return wire_.closed_by_peer(); }
  void close() { wire_.close(); }

 private:
  using Reply = giop::Parsed<giop::ReplyHeader>;

  template <typename Arguments>
  void write_request(std::string_view operation, const giop::ContractContext& content, Arguments arguments) {
    const auto context = giop::encode_contract(content);
    const giop::ServiceContext contexts[] = {{giop::context::contract, context}};
    begin_request(writer_, ++id_, served_.key, operation, giop::giop_1_2, native_order, contexts);
    arguments(writer_);
  }
  template <typename Arguments>
  Reply ask(std::string_view operation, const giop::ContractContext& content, Arguments arguments) {
    auto reply = try_ask(operation, content, arguments);
    REQUIRE(reply);
    return *reply;
  }
  // Returns nothing if the connection has ended.
  template <typename Arguments>
  std::optional<Reply> try_ask(std::string_view operation, const giop::ContractContext& content, Arguments arguments) {
    write_request(operation, content, arguments);
    if (!wire_.send(writer_)) return std::nullopt;
    message_ = wire_.next();
    if (!message_ || closes(*message_)) return std::nullopt;
    auto reply = giop::parse_reply(*message_, {});
    REQUIRE(reply);
    REQUIRE(reply->header.request_id == id_);
    return *reply;
  }
  static bool closes(const giop::Message& message) {
    return message.header.type == giop::MessageType::close_connection;
  }
  static Error outcome(Reply reply) {
    if (reply.header.status == giop::ReplyStatus::no_exception) return {};
    return *giop::decode_system_exception(reply.body);
  }

  Served& served_;
  Wire wire_;
  cdr::Writer writer_;
  std::uint32_t id_ = 0;
  std::optional<giop::Message> message_;
};

// A task with its two connections.
struct Bound : Served {
  explicit Bound(std::vector<std::string> options = {}) : Served(direct(std::move(options))) {
    REQUIRE(own.bind(grant) == Error{});
  }
  static std::vector<std::string> direct(std::vector<std::string> options) {
    options.insert(options.end(), {"-ORBDispatchMode", "direct"});
    return options;
  }

  Peer owner{*this}, own{*this};
  Peer::Grant grant = owner.admit();
};

// A client in its own ORB.
struct Client {
  explicit Client(Served& served, std::vector<std::string> options = {})
      : orb(std::move(options)), probe(probe_of(orb, served.server.ior())) {}
  rt::Task admit() {
    auto task = rt::admit(probe, {.operation = "add", .contract = one_ms});
    REQUIRE(task);
    return std::move(*task);
  }

  std::shared_ptr<core::TaskBinding> binding() { return probe->_reference()->binding_of("add"); }
  // Returns another binding of the same task, which no Reopener handles.
  std::shared_ptr<core::TaskBinding> unwatched_binding(const rt::Task& task) {
    return std::make_shared<core::TaskBinding>(probe->_reference(), "add", task.id(), binding()->connection(true),
                                               one_ms);
  }
  bool has_own() { return binding()->connection() != binding()->connection(true); }
  // Calls until the task has its own connection. Bound: the pause between two attempts.
  void call_until_it_has_own() {
    do {
      CHECK(probe->add(1, 2) == 3);
      std::this_thread::yield();
    } while (!has_own());
  }

  TestOrb orb;
  CORBA::object_reference<Probing::Probe> probe;
};

}  // namespace corelane::testing::dedicated_connection
