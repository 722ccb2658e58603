// Tests admission over the wire and within the ORB, on the cores that the machine has, without SCHED_FIFO.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "orb/base/minor.h"
#include "orb/core/client/async_invocation.h"
#include "orb/core/client/reference.h"
#include "orb/rt/rt.h"
#include "tests/support/modes.h"
#include "tests/support/peers/stop_process.h"
#include "tests/support/peers/task_peer.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// A server, and a client of it in another ORB.
struct Plant {
  explicit Plant(std::vector<std::string> options = {}) : server(in_each_mode(std::move(options))) { connect(); }
  void connect() {
    client = std::make_unique<TestOrb>();
    probe = probe_of(*client, server.ior());
  }
  std::size_t tasks_present() {
    std::size_t count = 0;
    for (const auto& task : rt::report(*server.orb.orb).tasks) count += task.gone ? 0 : 1;
    return count;
  }
  // Bound: the server's threads, which carry out departures.
  void wait_for_tasks(std::size_t count) {
    while (tasks_present() != count) std::this_thread::yield();
  }
  std::optional<dispatch::TaskReport> task(TaskId id) {
    for (const auto& report : rt::report(*server.orb.orb).tasks)
      if (report.task == id) return report;
    return std::nullopt;
  }

  ProbeServer server;
  std::unique_ptr<TestOrb> client;
  CORBA::object_reference<Probing::Probe> probe;
};

rt::TaskSpec small(const std::string& operation = "add") {
  return {.operation = operation, .contract = make_contract(10ms, 100us)};
}
// Returns a task whose budget does not fit on any core beside the platform load.
rt::TaskSpec too_big() { return {.operation = "add", .contract = make_contract(10ms, 9990us)}; }

void write_line(int fd, const std::string& text) {
  const std::string line = text + "\n";
  if (::write(fd, line.data(), line.size()) < 0) std::abort();
}
std::string read_line(int fd) {
  std::string line;
  for (char c = 0; ::read(fd, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

// A client in its own process, which is killed at the end. Create it before the server, so that it starts its ORB in a
// process without threads. The body then waits for the server's reference.
class ForkedClient {
 public:
  using Body = void (*)(const std::string& ior, int to_server);

  explicit ForkedClient(Body body) {
    if (::pipe(to_client_) != 0 || ::pipe(to_server_) != 0) throw std::runtime_error("no pipe");
    client_ = ::fork();
    if (client_ < 0) throw std::runtime_error("no process");
    if (client_ == 0) run(body);
  }
  ~ForkedClient() {
    kill();
    for (const int fd : {to_client_[0], to_client_[1], to_server_[0], to_server_[1]}) ::close(fd);
  }
  ForkedClient(const ForkedClient&) = delete;
  ForkedClient& operator=(const ForkedClient&) = delete;

  void tell(const std::string& ior) { write_line(to_client_[1], ior); }
  std::string says() { return read_line(to_server_[0]); }
  bool stops() {
    int status = 0;
    return ::waitpid(client_, &status, WUNTRACED) == client_ && WIFSTOPPED(status);
  }
  void resume() { ::kill(client_, SIGCONT); }
  void kill() {
    if (client_ <= 0) return;
    ::kill(client_, SIGKILL);
    ::waitpid(client_, nullptr, 0);
    client_ = 0;
  }

 private:
  [[noreturn]] void run(Body body) noexcept {
    ::alarm(60);  // ends this process whatever happens to its parent
    body(read_line(to_client_[0]), to_server_[1]);
    ::_exit(0);
  }

  int to_client_[2] = {-1, -1}, to_server_[2] = {-1, -1};
  pid_t client_ = 0;
};

// Returns the outcome of a call of the task; "lost": the task has left.
std::string outcome_of_call(Probing::Probe& probe) try {
  return probe.add(20, 22) == 42 ? "answered" : "wrong";
} catch (const CORBA::COMM_FAILURE&) {  // the connection ended
  return "lost";
} catch (const CORBA::TRANSIENT& closed) {  // the server sent CloseConnection
  return closed.minor() == minor::peer_closed ? "lost" : closed.what();
} catch (const CORBA::BAD_PARAM& gone) {  // the call went over a new connection
  return gone.minor() == minor::unknown_task ? "lost" : gone.what();
}

// A client that stops itself once its task is admitted. When it continues, it calls the task, and asks for admission
// again if the task has left.
void call_after_stop(const std::string& ior, int to_server) {
  TestOrb orb;
  const auto probe = probe_of(orb, ior);
  const auto task = rt::admit(probe, small());
  write_line(to_server, task ? "admitted" : "refused");
  ::raise(SIGSTOP);
  const std::string outcome = outcome_of_call(*probe);
  write_line(to_server, outcome);
  if (outcome == "lost") write_line(to_server, rt::admit(probe, small()) ? "admitted" : "refused");
  ::pause();
}

}  // namespace

TEST_CASE("an admitted task's calls run as its jobs") {
  Plant plant;
  const auto task = rt::admit(plant.probe, small());
  REQUIRE(task);
  CHECK(task->id() != no_task);
  CHECK(plant.probe->add(1, 2) == 3);
  CHECK(plant.probe->add(2, 2) == 4);
  const auto report = plant.task(task->id());
  REQUIRE(report);
  CHECK(report->jobs >= 1);  // the server counts the last job after its reply
  CHECK(report->core != no_core);
}

TEST_CASE("a task departs with its handle") {
  Plant plant;
  const std::size_t before = plant.tasks_present();
  {
    const auto task = rt::admit(plant.probe, small());
    REQUIRE(task);
    CHECK(plant.tasks_present() == before + 1);
  }
  plant.wait_for_tasks(before);
  CHECK(plant.probe->add(1, 1) == 2);
}

TEST_CASE("after a task has departed calls are those of a caller without one") {
  Plant plant;
  auto task = rt::admit(plant.probe, small("paced"));
  REQUIRE(task);
  const TaskId own = task->id();
  CHECK(plant.probe->paced(1) == 1);
  task->depart();
  CHECK(task->id() == no_task);
  CHECK(plant.probe->paced(2) == 2);
  while (!plant.task(own)->gone) std::this_thread::yield();
  const auto shared_jobs = [&] {
    std::uint64_t jobs = 0;
    for (const auto& report : rt::report(*plant.server.orb.orb).tasks)
      if (report.label.ends_with(".paced") && report.task != own) jobs += report.jobs;
    return jobs;
  };
  while (shared_jobs() == 0) std::this_thread::yield();  // bound: the server counts the job after its reply
  CHECK(plant.task(own)->jobs == 1);
}

TEST_CASE("a task leaves when the connection that owns it does") {
  Plant plant;
  const std::size_t before = plant.tasks_present();
  auto task = rt::admit(plant.probe, small());
  REQUIRE(task);
  const TaskId id = task->id();
  CHECK(plant.tasks_present() == before + 1);
  plant.probe = nullptr;
  plant.client->orb->destroy();
  plant.wait_for_tasks(before);
  const auto gone = plant.task(id);
  REQUIRE(gone);
  CHECK(gone->gone);
}

TEST_CASE("a client whose server was killed is told what to do, and of its task only if it has one") {
  const Quiet quiet;
  const TempDirectory place;
  TestOrb client;
  const auto text_after_kill = [&](bool with_task) -> std::string {
    const TaskServer server({"-ORBEndpointListen", "unix:" + (place / "s")});
    const auto probe = probe_of(client, server.said);
    std::optional<decltype(rt::admit(probe, small()))> task;
    if (with_task && !task.emplace(rt::admit(probe, small()))) return "not admitted";
    if (probe->add(20, 22) != 42 || !stop_process(server.pid())) return "the server does not serve";
    const std::jthread killer([&] { ::kill(server.pid(), SIGKILL); });
    try {
      (void)probe->add(1, 1);
    } catch (const CORBA::COMM_FAILURE& lost) {
      return lost.what();
    }
    return "answered";
  };
  const auto of_task = Catch::Contains("the task of the call ended with the connection: destroy its handle");
  const auto of_server = Catch::Contains("If the server has ended, wait until it runs again and get a new reference");
  CHECK_THAT(text_after_kill(true), of_task && of_server);
  CHECK_THAT(text_after_kill(false), !of_task && of_server);
}

TEST_CASE("a client that is killed leaves no task behind") {
  ForkedClient client([](const std::string& ior, int to_server) {
    TestOrb orb;
    const auto task = rt::admit(probe_of(orb, ior), small());
    write_line(to_server, task ? "admitted" : "refused");
    ::pause();
  });
  Plant plant;
  const std::size_t before = plant.tasks_present();
  client.tell(plant.server.ior());
  CHECK(client.says() == "admitted");
  CHECK(plant.tasks_present() == before + 1);
  client.kill();
  plant.wait_for_tasks(before);
}

TEST_CASE("requests of a client that is gone are run or given up, and its oneway requests are run") {
  ForkedClient client([](const std::string& ior, int to_server) {
    TestOrb orb;
    const auto probe = probe_of(orb, ior);
    static constexpr core::Operation block{.name = "block"}, ping{.name = "ping"};
    core::AsyncInvocation(*probe, block).send([](core::AsyncReply&) {});
    for (int i = 0; i < 3; ++i) core::AsyncInvocation(*probe, ping).send([](core::AsyncReply&) {});
    probe->note("last words");
    const auto task = rt::admit(probe, small());  // when the server answers this, it has read everything before it
    write_line(to_server, task ? "admitted" : "refused");
    ::pause();
  });
  Plant plant({"-ORBBestEffortParallel", "1"});
  const std::size_t before = plant.tasks_present();
  client.tell(plant.server.ior());
  plant.server.servant->wait_until_blocked();
  CHECK(client.says() == "admitted");
  client.kill();
  plant.wait_for_tasks(before);
  plant.server.servant->release();
  // A client that has ended looks the same as one that has only ended its own direction, until the server sends to it.
  const auto settled = [&] {
    return static_cast<std::uint64_t>(plant.server.servant->pings) +
           rt::report(*plant.server.orb.orb).abandoned_requests;
  };
  while (settled() < 3 || plant.server.servant->notes().empty()) std::this_thread::yield();
  CHECK(settled() == 3);
  CHECK(plant.server.servant->notes() == std::vector<std::string>{"last words"});
}

TEST_CASE("a client that is stopped delays no other client, and its task continues with it") {
  ForkedClient client(call_after_stop);
  Plant plant;
  client.tell(plant.server.ior());
  CHECK(client.says() == "admitted");
  REQUIRE(client.stops());
  const std::size_t with_it = plant.tasks_present();
  auto mine = rt::admit(plant.probe, small());
  REQUIRE(mine);
  for (int i = 0; i < 20; ++i) CHECK(plant.probe->add(i, 1) == i + 1);
  mine->depart();
  plant.wait_for_tasks(with_it);
  client.resume();
  CHECK(client.says() == "answered");
}

TEST_CASE("a client that is stopped for longer than timeout.idle loses its task, is told so and may ask again") {
  ForkedClient client(call_after_stop);
  Plant plant({"-ORBTimeoutIdle", "300ms"});
  const std::size_t before = plant.tasks_present();
  client.tell(plant.server.ior());
  CHECK(client.says() == "admitted");
  REQUIRE(client.stops());
  plant.wait_for_tasks(before);
  client.resume();
  CHECK(client.says() == "lost");
  CHECK(client.says() == "admitted");
}

TEST_CASE(
    "a client that calls nothing for timeout.idle loses its task, is told so by its next call and may ask again") {
  Plant plant({"-ORBTimeoutIdle", "300ms"});
  const std::size_t before = plant.tasks_present();
  const auto task = rt::admit(plant.probe, small());
  REQUIRE(task);
  plant.wait_for_tasks(before);
  CHECK(outcome_of_call(*plant.probe) == "lost");
  CHECK(rt::admit(plant.probe, small()));
}

TEST_CASE("a refusal comes as a value with its numbers and its text") {
  Plant plant({"-ORBLimitsPeerUtilization", "0"});
  const auto task = rt::admit(plant.probe, too_big());
  REQUIRE_FALSE(task);
  CHECK(task.error().reason.code == sched::RefusalCode::not_schedulable);
  CHECK(task.error().reason.closest != no_core);
  CHECK(task.error().reason.deadline == 10ms);
  CHECK_FALSE(task.error().text.empty());
}

TEST_CASE("a deadline that spans more periods than jobs may wait is refused with what would do") {
  Plant plant;
  const bool is_local = GENERATE(false, true);
  const auto task = rt::admit(is_local ? plant.server.reference : plant.probe,
                              {.operation = "add", .contract = make_contract(20ms, 100us, 200ms)});
  REQUIRE_FALSE(task);
  CHECK(task.error().reason.code == sched::RefusalCode::backlog);
  CHECK(task.error().text ==
        "deadline D = 200ms and jitter J = 2ms span 11 periods of T = 20ms, and at most 8 jobs of a task may wait: use "
        "T >= 25317us or D <= 158ms");
}

TEST_CASE("without admission everything is admitted") {
  Plant plant({"-ORBDispatchAdmission", "off"});
  CHECK(rt::admit(plant.probe, too_big()));
}

TEST_CASE("an operation with a contract in its IDL is served to callers without a task") {
  Plant plant;
  CHECK(plant.probe->paced(7) == 7);
  CHECK(plant.tasks_present() == 1);
}

TEST_CASE("a collocated task's calls run on its thread with results and exceptions") {
  Plant plant;
  const auto& local = plant.server.reference;
  REQUIRE(local->_reference()->is_local());
  const auto task = rt::admit(local, small());
  const auto other = rt::admit(local, small("fail"));
  REQUIRE(task);
  REQUIRE(other);
  CHECK(local->add(1, 2) == 3);
  CHECK_THROWS_AS(local->fail(declared), Probing::Refused);
  CHECK_THROWS_AS(local->fail(not_corba), CORBA::UNKNOWN);
}

TEST_CASE("a task may be asked for one operation and the others stay as they are") {
  Plant plant;
  const auto task = rt::admit(plant.probe, small("echo"));
  REQUIRE(task);
  CHECK(plant.probe->add(1, 2) == 3);
  CHECK(plant.probe->echo("x") == "x");
}

// Error paths.

TEST_CASE("admission for an operation that is not there is BAD_OPERATION") {
  Plant plant;
  CHECK_THROWS_AS(rt::admit(plant.probe, small("missing")), CORBA::BAD_OPERATION);
  CHECK_THROWS_AS(rt::admit(plant.server.reference, small("missing")), CORBA::BAD_OPERATION);
  for (const auto& object : {plant.probe, plant.server.reference}) {
    try {
      (void)rt::admit(object, small("ecko"));
      FAIL("it was admitted");
    } catch (const CORBA::BAD_OPERATION& refused) {
      CHECK_THAT(std::string(refused.what()), Catch::EndsWith("has no operation ecko; the nearest is echo"));
    }
  }
}

TEST_CASE("an unsound contract is BAD_PARAM") {
  Plant plant;
  CHECK_THROWS_AS(rt::admit(plant.probe, {.operation = "add", .contract = {}}), CORBA::BAD_PARAM);
}

TEST_CASE("admission through nil is INV_OBJREF") {
  CHECK_THROWS_AS(rt::admit(CORBA::object_reference<CORBA::Object>(), small()), CORBA::INV_OBJREF);
}

TEST_CASE("an operation whose contract was refused answers NO_RESOURCES with the reason") {
  ProbeServer server({"-ORBLimitsTasks", "1"});
  const auto second = CORBA::make_reference<ProbeServant>();  // the table has no room for its shared task
  const auto reference = server.orb->object_to_string(server.orb.root()->servant_to_reference(second));
  TestOrb client;
  const auto probe = probe_of(client, reference);
  CHECK(probe->add(1, 2) == 3);
  try {
    probe->paced(1);
    FAIL("no exception");
  } catch (const CORBA::NO_RESOURCES& refused) {
    CHECK(refused.completed() == CORBA::COMPLETED_NO);
    CHECK(refused.minor() == minor::too_many_tasks);
    REQUIRE(refused.refusal() != nullptr);
    CHECK(refused.refusal()->code == sched::RefusalCode::too_many_tasks);
    CHECK_FALSE(refused.detail().empty());
  }
}

TEST_CASE("a server that admits no task refuses each and serves plain calls") {
  const std::string mode = GENERATE(every_mode());
  ProbeServer server({"-ORBLimitsTasks", "0", "-ORBDispatchMode", mode});
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  for (int i = 0; i < 2; ++i) {
    CHECK(probe->add(1, 2) == 3);
    const auto task = rt::admit(probe, small());
    REQUIRE_FALSE(task);
    CHECK(task.error().reason.code == sched::RefusalCode::too_many_tasks);
    CHECK_THROWS_AS(probe->paced(1), CORBA::NO_RESOURCES);
    CHECK_THROWS_WITH(probe->paced(1), Catch::Contains("this server takes no tasks (limits.tasks = 0)"));
    CHECK_FALSE(rt::admit(server.reference, small()));
  }
}
