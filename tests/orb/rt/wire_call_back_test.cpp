// Tests call-backs between processes, with two ORBs in one process. While a task waits for a call over a socket, the
// callee can call that task, and the call runs on the thread that waits.
#include <functional>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "orb/base/minor.h"
#include "orb/core/chains/call_chain.h"
#include "orb/core/client/async_invocation.h"
#include "orb/core/client/reference.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/rt/rt.h"
#include "tests/support/modes.h"
#include "tests/support/peers/bare_server.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

using ProbeReference = CORBA::object_reference<Probing::Probe>;

// The threads that ran requests. Only one thread of a chain runs at a time. Requests of a stranger may run at the same
// time.
class ThreadsSeen {
 public:
  void note() {
    const std::lock_guard lock(mutex_);
    seen_.insert(std::this_thread::get_id());
  }
  std::set<std::thread::id> all() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> seen_;
};

// A servant whose add(n, ...) and paced(n) call the next player with n - 1.
class RemotePlayer final : public ProbeServant {
 public:
  std::int32_t add(std::int32_t depth, std::int32_t last) override {
    threads.note();
    if (depth == 0 && last < 0) throw Probing::Undeclared();
    if (depth == 0 && instead) return instead();
    return depth == 0 ? last : next->add(depth - 1, last) + 1;
  }
  std::int32_t paced(std::int32_t depth) override {
    threads.note();
    return depth == 0 ? 0 : next->paced(depth - 1) + 1;
  }
  void ping() override { pinged ? pinged() : threads.note(); }

  // Sets the next player. The lock publishes it, because a thread sanitizer sees no order in a channel's memory.
  void play_with(const ProbeReference& other) {
    next = other;
    (void)threads.all();
  }

  ProbeReference next;
  std::function<std::int32_t()> instead;  // called instead of returning at once
  std::function<void()> pinged;
  ThreadsSeen threads;
};

struct Side {
  explicit Side(std::vector<std::string> options) : orb(std::move(options)) {
    orb.root()->the_POAManager()->activate();
    text = orb->object_to_string(orb.root()->servant_to_reference(player));
  }
  ~Side() { player->next = another->next = nullptr; }
  ProbeReference join(const CORBA::servant_reference<RemotePlayer>& added) {
    return IDL::traits<Probing::Probe>::narrow(orb.root()->servant_to_reference(added));
  }

  TestOrb orb;
  CORBA::servant_reference<RemotePlayer> player = CORBA::make_reference<RemotePlayer>(),
                                         another = CORBA::make_reference<RemotePlayer>();
  std::string text;
};

// Two players behind sockets. Each has a task for add(), which the other player's ORB has requested.
struct RemoteGame {
  explicit RemoteGame(std::vector<std::string> of_both = {"-ORBDispatchAdmission", "off"})
      : options(in_each_mode(std::move(of_both))) {}
  ProbeReference meet(Side& from, Side& to) { return probe_of(from.orb, to.text); }
  rt::Task admit(const ProbeReference& player) {
    Contract contract = make_contract(10ms, 1ms);
    contract.suspension = 5ms;
    auto task = rt::admit(player, {.operation = "add", .contract = contract});
    REQUIRE(task);
    return std::move(*task);
  }
  void play() {
    first.player->play_with(to_second);
    second.player->play_with(to_first);
  }
  dispatch::TaskReport report(TaskId task) {
    for (const auto& report : rt::report(*first.orb.orb).tasks)
      if (report.task == task) return report;
    FAIL("no such task");
    return {};
  }
  std::size_t threads_of_first() { return first.player->threads.all().size(); }

  std::vector<std::string> options;
  Side first{options}, second{options};
  ProbeReference to_second = meet(first, second), to_first = meet(second, first);
  rt::Task first_task = admit(to_first), second_task = admit(to_second);
};

// A peer without an ORB that sends requests to the first player while one of that player's tasks waits.
class Stranger {
 public:
  explicit Stranger(RemoteGame& game)
      : key_(game.first.orb->string_to_object(game.first.text)->_reference()->address()->object_key),
        wire_(wires_, game.first.orb->endpoints().front()) {}

  void send(std::string_view operation, const giop::ChainContext& chain, TaskId task = no_task,
            std::uint8_t flags = giop::response::with_target) {
    const auto waits = giop::encode_chain(chain);
    const auto contract = giop::encode_contract({.task = task, .job = JobId{1}, .contract = {}});
    const giop::ServiceContext contexts[] = {{giop::context::chain, waits}, {giop::context::contract, contract}};
    giop::RequestHeader header;
    header.request_id = ++id_;
    header.response_flags = flags;
    header.target.object_key = key_;
    header.operation = operation;
    giop::begin_request(writer_, header, contexts, giop::giop_1_2);
    if (operation != "ping") writer_.write(std::int32_t{0}), writer_.write(std::int32_t{7});
    REQUIRE(wire_.send(writer_));
  }
  Error answer() {
    message_ = wire_.next(60s);
    REQUIRE(message_);
    auto reply = giop::parse_reply(*message_, {});
    REQUIRE(reply);
    if (reply->header.status == giop::ReplyStatus::no_exception) return {};
    return *giop::decode_system_exception(reply->body);
  }

 private:
  Wires wires_;
  std::vector<std::byte> key_;
  Wire wire_;
  cdr::Writer writer_;
  std::uint32_t id_ = 0;
  std::optional<giop::Message> message_;
};

// Answers the question whether the object has the type.
void say_yes(Wire& wire) {
  const auto message = wire.next(60s);
  cdr::Writer writer;
  begin_reply_to(message.value(), writer);
  writer.write(true);
  wire.send(writer);
}

// Calls add(0, number) over a socket, without waiting for the sum.
std::future<std::int32_t> add_asynchronously(const ProbeReference& to, std::int32_t number) {
  static constexpr core::Operation add{.name = "add"};
  auto sum = std::make_shared<std::promise<std::int32_t>>();
  core::AsyncInvocation call(*to, add);
  call.marshal(std::int32_t{0}, number);
  call.send([sum](core::AsyncReply& reply) {
    std::int32_t result = 0;
    reply.unmarshal(result) ? sum->set_value(result) : sum->set_exception(reply.exception());
  });
  return sum->get_future();
}

// Returns how many of `calls` calls in quick succession had the right result.
int right_of(int calls, const ProbeReference& player) {
  int right = 0;
  for (int i = 0; i < calls; ++i) right += player->add(0, i) == i;
  return right;
}

giop::ChainContext chain_here() { return *core::ServedChain::current(); }

giop::ChainContext forged_chain() {
  giop::ChainContext chain;
  for (std::uint64_t guess = 1; chain.push(guess);) ++guess;
  return chain;
}

}  // namespace

TEST_CASE("tasks that call each other back over sockets run on their own threads, however deep") {
  RemoteGame game;
  game.play();
  for (const int depth : {1, 2, 3, 8}) CHECK(game.to_first->add(depth, 10) == 10 + depth);
  CHECK(game.threads_of_first() == 1);
  CHECK(game.second.player->threads.all().size() == 1);
  CHECK(game.first.player->threads.all() != game.second.player->threads.all());
}

TEST_CASE("call-backs over sockets are parts of the job that waits, which is suspended meanwhile") {
  RemoteGame game;
  game.play();
  CHECK(game.to_first->add(4, 10) == 14);
  const TaskId task = game.first_task.id();
  game.first_task.depart();
  // Bound: the server's threads. They count the end of a job after its reply.
  while (!game.report(task).gone) std::this_thread::yield();
  CHECK(game.report(task).jobs == 1);
}

TEST_CASE("a task's calls over a channel are answered beside plain ones on it") {
  const TempDirectory directory;
  RemoteGame game({"-ORBDispatchAdmission", "off", "-ORBRuntimeDirectory", directory.path(), "-ORBEndpointListen",
                   "channel:", "-ORBClientWait", GENERATE(as<std::string>{}, "park", "spin-then-park", "adaptive")});
  game.play();
  for (int i = 0; i < 20; ++i) {
    CHECK(game.to_second->add(0, i) == i);
    CHECK(game.to_first->add(3, i) == 3 + i);
  }
}

TEST_CASE("a task that all callers share is called back on its thread") {
  RemoteGame game;
  game.play();
  for (const int depth : {1, 2, 5}) CHECK(game.to_first->paced(depth) == depth);
  CHECK(game.threads_of_first() == 1);
}

TEST_CASE("a call-back without a contract runs on the thread that waits") {
  RemoteGame game;
  game.first.player->next = game.meet(game.first, game.second);  // the call runs in no task
  const auto plain = game.meet(game.second, game.first);
  game.second.player->instead = [&] {
    for (int i = 0; i < 500; ++i) plain->ping();  // each one as soon as the last one is answered
    return 5;
  };
  CHECK(game.to_first->add(1, 0) == 6);
  CHECK(game.threads_of_first() == 1);
}

TEST_CASE("a call back to a caller without a contract runs on the waiting thread, so one thread a chain is enough") {
  const std::vector<std::string> options = {"-ORBBestEffortThreads", "1"};
  Side first(options), second(options);
  first.player->next = probe_of(first.orb, second.text);
  second.player->next = probe_of(second.orb, first.text);
  TestOrb client;
  const ProbeReference player = probe_of(client, first.text);
  for (const int depth : {1, 2, 3, 8, 30}) {
    const std::size_t at_first = first.player->threads.all().size(), at_second = second.player->threads.all().size();
    CHECK(player->add(depth, 10) == 10 + depth);
    CHECK(first.player->threads.all().size() <= at_first + 1);
    CHECK(second.player->threads.all().size() <= at_second + 1);
  }
}

TEST_CASE("a chain goes on through a process that has no task in it") {
  RemoteGame game;
  game.first.player->next = game.meet(game.first, game.second);
  game.second.player->next = game.to_first;
  for (const int depth : {2, 3, 4}) CHECK(game.to_first->add(depth, 10) == 10 + depth);
  CHECK(game.threads_of_first() == 1);
}

TEST_CASE("a call-back that reaches its task by way of another task of the process runs on the thread that waits") {
  RemoteGame game;
  Side third(game.options);
  game.first.player->next = game.to_second;
  const auto to_third = game.meet(game.second, third);
  const auto third_task = game.admit(to_third);
  game.second.player->instead = [&] { return to_third->paced(1) + 1; };
  third.player->next = game.meet(third, game.first);
  CHECK(game.to_first->add(1, 0) == 3);
}

TEST_CASE("a callee may call back again as soon as it has the answer to its first call") {
  RemoteGame game;
  game.first.player->next = game.to_second;
  game.second.player->instead = [&] { return right_of(500, game.to_first); };
  for (int i = 0; i < 10; ++i) CHECK(game.to_first->add(1, 0) == 501);
  CHECK(game.threads_of_first() == 1);
}

TEST_CASE("a task that waits for another process is called back by its own process again and again") {
  RemoteGame game;
  const auto local = game.first.join(game.first.player);
  const auto local_task = game.admit(local);
  const auto to_another =
      probe_of(game.second.orb, game.first.orb->object_to_string(game.first.join(game.first.another)));
  game.first.player->next = game.to_second;
  game.second.player->instead = [&] { return to_another->add(0, 0); };
  game.first.another->instead = [&] { return right_of(500, local); };
  for (int i = 0; i < 10; ++i) CHECK(local->add(1, 0) == 501);
  CHECK(game.threads_of_first() == 1);
}

TEST_CASE("a servant that is called asynchronously can call back the object that waits for its caller") {
  RemoteGame game;
  Side third(game.options);
  const auto to_third = game.meet(game.second, third);
  game.first.player->next = game.to_second;
  third.player->instead = [&] { return game.to_first->add(0, 7); };
  game.second.player->instead = [&] { return add_asynchronously(to_third, 0).get(); };
  CHECK(game.to_first->add(1, 0) == 8);
  CHECK(game.threads_of_first() == 1);
}

TEST_CASE("call-backs of a task that come at once take turns on the thread that waits") {
  RemoteGame game;
  Side third(game.options);
  const auto to_third = game.meet(game.second, third);
  game.first.player->next = game.to_second;
  third.player->instead = [&] { return right_of(50, game.to_first); };
  game.second.player->instead = [&] {
    auto meanwhile = add_asynchronously(to_third, 0);
    const int right = right_of(50, game.to_first);
    return right + meanwhile.get();
  };
  for (int i = 0; i < 10; ++i) CHECK(game.to_first->add(1, 0) == 101);
  CHECK(game.threads_of_first() == 1);
}

TEST_CASE("an exception of a call back over a socket reaches its caller, and the tasks go on") {
  RemoteGame game;
  game.play();
  for (const int depth : {1, 2, 5}) CHECK_THROWS_AS(game.to_first->add(depth, -1), CORBA::UNKNOWN);
  CHECK(game.to_first->add(2, 10) == 12);
}

// Edges.

TEST_CASE("calls that call each other back without end are refused, and the tasks go on") {
  RemoteGame game;
  game.play();
  try {
    game.to_first->add(10'000, 0);
    FAIL("no exception");
  } catch (const CORBA::IMP_LIMIT& limit) {
    CHECK(limit.minor() == minor::chain_too_deep);
    CHECK_THAT(std::string(minor::text(limit.minor())), Catch::Contains(std::to_string(giop::ChainContext::most)));
  }
  CHECK(game.to_first->add(30, 10) == 40);
}

TEST_CASE("a oneway call-back does not run on the thread that waits") {
  RemoteGame game;
  Stranger stranger(game);
  std::promise<std::thread::id> ran;
  std::thread::id runner;
  game.first.player->pinged = [&] { ran.set_value(std::this_thread::get_id()); };
  game.first.player->next = game.to_second;
  game.second.player->instead = [&] {
    stranger.send("ping", chain_here(), no_task, giop::response::none);
    return runner = ran.get_future().get(), 5;
  };
  CHECK(game.to_first->add(1, 0) == 6);
  CHECK(game.first.player->threads.all().count(runner) == 0);
}

// Error paths: a peer that lies, or ends.

TEST_CASE("made-up numbers get no call onto a waiting thread") {
  RemoteGame game;
  Stranger stranger(game);
  game.first.player->next = game.to_second;
  game.second.player->instead = [&] {
    stranger.send("ping", forged_chain());
    CHECK(stranger.answer() == Error{});
    return 5;
  };
  CHECK(game.to_first->add(1, 0) == 6);
  CHECK(game.threads_of_first() == 2);
}

TEST_CASE("a peer that knows a task's number still cannot use a task of another peer") {
  RemoteGame game;
  Stranger stranger(game);
  game.first.player->next = game.to_second;
  game.second.player->instead = [&] {
    stranger.send("add", chain_here(), game.first_task.id());
    CHECK(stranger.answer() == Error{ErrorKind::bad_param, Completion::no, minor::unknown_task});
    return 5;
  };
  CHECK(game.to_first->add(1, 0) == 6);
  CHECK(game.threads_of_first() == 1);
}

TEST_CASE("the number of a wait that is over is worth nothing") {
  RemoteGame game;
  Stranger stranger(game);
  giop::ChainContext old;
  game.first.player->next = game.to_second;
  game.second.player->instead = [&] { return old = chain_here(), 5; };
  CHECK(game.to_first->add(1, 0) == 6);
  game.second.player->instead = [&] {
    stranger.send("ping", old);
    CHECK(stranger.answer() == Error{});
    return 5;
  };
  CHECK(game.to_first->add(1, 0) == 6);
  CHECK(game.threads_of_first() == 2);
}

TEST_CASE("a call back whose peer is gone before the answer harms no other call") {
  RemoteGame game;
  game.first.player->next = game.to_second;
  game.second.player->instead = [&] {
    Stranger passing(game);
    passing.send("ping", chain_here());
    return 5;
  };
  for (int i = 0; i < 3; ++i) CHECK(game.to_first->add(1, 0) == 6);
}

TEST_CASE("a task whose callee dies fails that call, and is called back no more") {
  RemoteGame game({"-ORBDispatchAdmission", "off", "-ORBClientConnections", "1"});
  Wires wires;
  std::promise<std::shared_ptr<transport::Connection>> accepted;
  auto listener =
      wires.tcp.listen({"127.0.0.1", 0}, [&](auto connection) { accepted.set_value(std::move(connection)); });
  REQUIRE(listener);
  giop::ChainContext chain;
  std::jthread dying([&] {
    Wire wire(accepted.get_future().get());
    say_yes(wire);
    const auto message = wire.next(60s);
    const auto request = giop::parse_request(message.value(), {});
    chain = *giop::decode_chain(*request->header.contexts.find(giop::context::chain));
    wire.close();
  });
  const auto address = "corbaloc::127.0.0.1:" + std::to_string((*listener)->endpoint().port) + "/dying";
  game.first.player->next = IDL::traits<Probing::Probe>::narrow(game.first.orb->string_to_object(address));
  CHECK_THROWS_AS(game.to_first->add(1, 0), CORBA::COMM_FAILURE);
  dying.join();
  Stranger stranger(game);
  stranger.send("ping", chain);
  CHECK(stranger.answer() == Error{});
  CHECK(game.threads_of_first() == 2);
}

TEST_CASE("a malformed chain is refused") {
  RemoteGame game;
  Stranger stranger(game);
  stranger.send("ping", {});
  CHECK(stranger.answer().kind == ErrorKind::marshal);
}
