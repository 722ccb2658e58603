// Tests how an ORB ends, on any thread and while other threads use it.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "orb/base/errors.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/os/lock.h"
#include "orb/rt/rt.h"
#include "tests/support/modes.h"
#include "tests/support/probe_servant.h"

namespace end_of_orb_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// The times are so short that each job is late and none is early. Admission is off.
constexpr Contract always_late{.period = 1ns, .deadline = 5ns, .budget = 1ns, .jitter = 3ns};

// A servant whose add() runs the body that the test sets.
class Scripted : public ProbeServant {
 public:
  std::int32_t add(std::int32_t a, std::int32_t b) override {
    if (body) body();
    return a + b;
  }
  std::function<void()> body;
};

struct ScriptedServer {
  explicit ScriptedServer(std::vector<std::string> options = {}) : orb(std::move(options)) {
    orb.root()->the_POAManager()->activate();
    probe = IDL::traits<Probing::Probe>::narrow(orb.root()->servant_to_reference(servant));
  }
  std::string ior() { return orb->object_to_string(probe); }

  TestOrb orb;
  CORBA::servant_reference<Scripted> servant = CORBA::make_reference<Scripted>();
  CORBA::object_reference<Probing::Probe> probe;
};

// Returns whether the call raises BAD_INV_ORDER with OMG minor 3. The standard prescribes it when a thread waits for
// itself.
template <typename Call>
bool would_deadlock(Call&& call) {
  try {
    call();
    return false;
  } catch (const CORBA::BAD_INV_ORDER& refused) {
    return refused.minor() == (minor::omg | 3) && std::string(refused.what()).ends_with("let another thread wait");
  }
}

// Returns how many of the five ways to wait for the end of requests are refused on this thread.
int refused_waits(TestOrb& orb) {
  const auto root = orb.root();
  return would_deadlock([&] { orb->shutdown(true); }) + would_deadlock([&] { orb->destroy(); }) +
         would_deadlock([&] { root->destroy(true, true); }) +
         would_deadlock([&] { root->the_POAManager()->hold_requests(true); }) +
         would_deadlock([&] { root->the_POAManager()->deactivate(true, true); });
}

rt::Task task_of(const CORBA::object_reference<Probing::Probe>& probe) {
  auto task = rt::admit(probe, {.operation = "add", .contract = always_late});
  REQUIRE(task);
  return std::move(*task);
}

}  // namespace

TEST_CASE("a servant cannot wait for its own end, from whichever caller its call came") {
  const std::string mode = GENERATE(every_mode());
  const bool is_local = GENERATE(false, true);
  const bool has_task = GENERATE(false, true);
  ScriptedServer server({"-ORBDispatchMode", mode, "-ORBDispatchAdmission", "off"});
  TestOrb client;
  const auto probe = is_local ? server.probe : probe_of(client, server.ior());
  std::optional<rt::Task> task;
  if (has_task) task.emplace(task_of(probe));
  int refused = 0;
  server.servant->body = [&] { refused = refused_waits(server.orb); };
  CHECK(probe->add(1, 2) == 3);
  CHECK(refused == 5);
  CHECK(probe->add(2, 2) == 4);
}

TEST_CASE("the handler of a task's event cannot wait for the end of its ORB") {
  const std::string mode = GENERATE(every_mode());
  ScriptedServer server({"-ORBDispatchMode", mode, "-ORBDispatchAdmission", "off"});
  const auto task = task_of(server.probe);
  std::promise<bool> refused;
  std::atomic<bool> told{false};
  rt::on_miss(*server.orb.orb, [&](const rt::TaskEvent&) {
    if (told.exchange(true)) return;
    const bool first = would_deadlock([&] { server.orb->shutdown(true); });
    refused.set_value(first && would_deadlock([&] { server.orb->destroy(); }));
  });
  CHECK(server.probe->add(1, 2) == 3);
  CHECK(refused.get_future().get());
  CHECK(server.probe->add(2, 2) == 4);
  rt::on_miss(*server.orb.orb, {});
}

bool is_destroyed(const TestOrb& server) {
  core::Orb::State& state = server.orb->state();
  const os::LockGuard lock(state.mutex);
  return state.phase == core::Orb::State::Phase::destroyed && state.ended;
}

TEST_CASE("several threads may destroy one ORB, and each returns when it is destroyed") {
  ScriptedServer server;
  std::atomic<int> too_early{0};
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i)
      callers.emplace_back([&] {
        server.orb->destroy();
        if (!is_destroyed(server.orb)) ++too_early;
      });
  }
  CHECK(too_early == 0);
}

TEST_CASE("a servant that ends with its ORB may destroy that in its destructor") {
  struct Last : ProbeServant {
    explicit Last(CORBA::object_reference<CORBA::ORB> its) : orb(std::move(its)) {}
    ~Last() override { orb->destroy(); }
    CORBA::object_reference<CORBA::ORB> orb;
  };
  TestOrb server;
  server.root()->the_POAManager()->activate();
  server.root()->activate_object(CORBA::make_reference<Last>(server.orb));
  server->destroy();
  CHECK(is_destroyed(server));
}

TEST_CASE("every call to an ORB while it is destroyed gets an answer") {
  const std::string mode = GENERATE(every_mode());
  for (int round = 0; round < 5; ++round) {
    ScriptedServer server({"-ORBDispatchMode", mode, "-ORBDispatchAdmission", "off"});
    const CORBA::object_reference<CORBA::ORB> orb = server.orb.orb;
    const auto root = server.orb.root();
    std::atomic<bool> ended{false};
    std::atomic<int> began{0};
    const auto ask = [&](auto question) {
      for (bool first = true; !ended; first = false) {
        try {
          question();
        } catch (const CORBA::Exception&) {  // the ORB ends, or has ended
        }
        if (first) ++began;
      }
    };
    std::vector<std::jthread> others;
    for (int i = 0; i < 2; ++i)
      others.emplace_back([&] {
        ask([&] {
          const auto task = rt::admit(server.probe, {.operation = "add", .contract = always_late});
          if (task) server.probe->add(1, 2);
        });
      });
    others.emplace_back([&] { ask([&] { rt::report(*orb); }); });
    others.emplace_back([&] { ask([&] { rt::on_miss(*orb, [](const rt::TaskEvent&) {}); }); });
    others.emplace_back([&] {
      ask([&] {
        const auto servant = CORBA::make_reference<ProbeServant>();  // its interface has an operation with a contract
        root->deactivate_object(root->activate_object(servant));
      });
    });
    while (began < static_cast<int>(others.size())) std::this_thread::yield();  // bound: each thread asks once
    orb->destroy();
    ended = true;
    others.clear();
  }
}

// The caller's thread.

namespace {

// Runs the body on a thread that may be cancelled, and tells whether the thread ended by cancellation.
class Cancellable {
 public:
  explicit Cancellable(std::function<void()> body) : body_(std::move(body)) {
    pthread_create(&thread_, nullptr, run, this);
  }
  void cancel() { pthread_cancel(thread_); }
  bool was_cancelled() {
    void* result = nullptr;
    pthread_join(thread_, &result);
    return result == PTHREAD_CANCELED;
  }

 private:
  static void* run(void* self) {
    static_cast<Cancellable*>(self)->body_();
    return nullptr;
  }
  const std::function<void()> body_;
  pthread_t thread_{};
};

}  // namespace

TEST_CASE("a thread that is cancelled in a call ends when the call is over") {
  ProbeServer server(in_each_mode());
  TestOrb client;
  const bool is_local = GENERATE(false, true);
  const auto probe = is_local ? server.reference : probe_of(client, server.ior());
  std::optional<rt::Task> task;
  if (GENERATE(false, true)) {
    auto admitted = rt::admit(probe, {.operation = "block", .contract = make_contract(10ms, 1ms)});
    REQUIRE(admitted);
    task.emplace(std::move(*admitted));
  }
  std::atomic<bool> returned{false}, went_on{false};
  Cancellable caller([&] {
    probe->block();
    returned = true;
    pthread_testcancel();
    went_on = true;
  });
  server.servant->wait_until_blocked();
  caller.cancel();
  server.servant->release();
  CHECK(caller.was_cancelled());
  CHECK(returned == (!is_local || task));  // without a task, the local servant runs on this thread and ends with it
  CHECK_FALSE(went_on);
  CHECK(probe->add(1, 2) == 3);
}

TEST_CASE("an object that a thread keeps may call when the thread ends") {
  struct CallsAtEnd {
    ~CallsAtEnd() { *sum = probe->add(1, 2); }
    CORBA::object_reference<Probing::Probe> probe;
    std::int32_t* sum = nullptr;
  };
  ScriptedServer server({"-ORBDispatchAdmission", "off"});
  TestOrb client;
  const auto probe = GENERATE(false, true) ? server.probe : probe_of(client, server.ior());
  std::optional<rt::Task> task;
  if (GENERATE(false, true)) task.emplace(task_of(probe));
  std::int32_t first = 0, last = 0;
  std::thread([&] {
    // Lives longer than the thread-local objects that the first call makes.
    thread_local std::optional<CallsAtEnd> kept;
    kept.emplace().probe = probe;
    kept->sum = &last;
    first = probe->add(2, 2);
  }).join();
  CHECK(first == 4);
  CHECK(last == 3);
}

TEST_CASE("a caller's thread may end in a servant of its own process") {
  ScriptedServer server;
  server.servant->body = [] { pthread_exit(PTHREAD_CANCELED); };
  Cancellable caller([&] { server.probe->add(1, 2); });
  CHECK(caller.was_cancelled());
  server.servant->body = {};
  CHECK(server.probe->add(1, 2) == 3);
  server.orb.root()->the_POAManager()->hold_requests(true);  // no request is inside any more
}

TEST_CASE("a servant that cancels the ORB's thread does not end it") {
  ScriptedServer server(in_each_mode({"-ORBDispatchAdmission", "off"}));
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  std::optional<rt::Task> task;
  if (GENERATE(false, true)) task.emplace(task_of(probe));
  server.servant->body = [] {
    pthread_cancel(pthread_self());
    pthread_testcancel();
  };
  for (int i = 0; i < 3; ++i) CHECK(probe->add(i, 2) == i + 2);
}

// Another process.

TEST_CASE("a child that was forked from a process with an ORB is told that it has none") {
  ScriptedServer server;
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  CHECK(probe->add(1, 2) == 3);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int told = 0;
    const auto ask = [&told](auto question) {
      try {
        question();
      } catch (const CORBA::BAD_INV_ORDER& refused) {
        told += refused.minor() == minor::forked;
      }
    };
    ask([&] { probe->add(1, 2); });
    ask([&] { client->run(); });
    ask([&] { server.orb->shutdown(false); });
    ask([&] { server.orb->destroy(); });
    ask([&] { rt::report(*server.orb.orb); });
    ask([] { TestOrb another; });
    _exit(told);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 6);
  CHECK(probe->add(2, 2) == 4);
}

}  // namespace end_of_orb_test
