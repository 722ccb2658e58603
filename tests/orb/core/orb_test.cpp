// Tests ORB_init, references as text, and initial references.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <thread>
#include <tuple>

#include "orb/base/minor.h"
#include "orb/base/sanitizer.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/core/stop_signals.h"
#include "orb/giop/corbaloc.h"
#include "orb/giop/ior.h"
#include "orb/os/lock.h"
#include "tests/support/peers/in_child.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane::testing;

TEST_CASE("one id is one ORB, until it is destroyed") {
  int argc = 0;
  char* argv[] = {nullptr};
  const auto first = CORBA::ORB_init(argc, argv, "twice");
  CHECK(CORBA::ORB_init(argc, argv, "twice") == first);
  first->destroy();
  const auto second = CORBA::ORB_init(argc, argv, "twice");
  CHECK(second != first);
  second->destroy();
}

TEST_CASE("an unknown option is BAD_PARAM and names the nearest") {
  std::string words[] = {"test", "-ORBPoolCors", "1"};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  int argc = 3;
  try {
    CORBA::ORB_init(argc, argv, "misspelt");
    FAIL("no exception");
  } catch (const CORBA::BAD_PARAM& bad) {
    CHECK(bad.minor() == corelane::minor::bad_option);
    CHECK(std::string(bad.what()).find("-ORBPoolCores") != std::string::npos);
  }
}

TEST_CASE("a reference goes to text and back") {
  ProbeServer server;
  TestOrb client;
  const auto object = client->string_to_object(server.ior());
  CHECK(client->object_to_string(object) == server.ior());
  CHECK(client->object_to_string(nullptr).starts_with("IOR:"));
  CHECK_FALSE(client->string_to_object(client->object_to_string(nullptr)));
}

TEST_CASE("a reference may stand in a file") {
  ProbeServer server;
  const TempDirectory place;
  const std::string path = place / "probe.ior";
  std::ofstream(path) << server.ior() << "\n";
  TestOrb client;
  CHECK(client->string_to_object("file://" + path));
}

TEST_CASE("references that lead to themselves are refused") {
  const std::string path = std::string(P_tmpdir) + "/corelane_orb_cycle_" + std::to_string(::getpid()) + ".ior";
  std::ofstream(path) << "file://" << path;
  TestOrb orb({"-ORBInitRef", "A=corbaloc:rir:/B", "-ORBInitRef", "B=corbaloc:rir:/A"});
  CHECK_THROWS_AS(orb->string_to_object("file://" + path), CORBA::BAD_PARAM);
  CHECK_THROWS_AS(orb->resolve_initial_references("A"), CORBA::BAD_PARAM);
  std::remove(path.c_str());
}

TEST_CASE("initial references come from the command line and from register_initial_reference") {
  ProbeServer server;
  TestOrb client({"-ORBInitRef", "Probe=" + server.ior()});
  const auto probe = IDL::traits<Probing::Probe>::narrow(client->resolve_initial_references("Probe"));
  CHECK(probe->add(1, 2) == 3);
  client->register_initial_reference("Again", probe);
  CHECK(client->resolve_initial_references("Again")->_is_equivalent(probe));
  CHECK(client->string_to_object("corbaloc:rir:/Probe")->_is_equivalent(probe));
  CHECK_THROWS_AS(client->resolve_initial_references("Nothing"), CORBA::ORB::InvalidName);
  CHECK_THROWS_WITH(client->resolve_initial_references("Nothing"),
                    Catch::Contains("no initial reference 'Nothing'") && Catch::Contains("-ORBInitRef"));
}

TEST_CASE("an initial reference is looked for at -ORBDefaultInitRef when no other is named") {
  ProbeServer server;
  TestOrb client({"-ORBInitRef", "Probe=" + server.ior(), "-ORBDefaultInitRef", "corbaloc::names.example"});
  CHECK(IDL::traits<Probing::Probe>::narrow(client->resolve_initial_references("Probe")));
  const auto other = client->resolve_initial_references("Trading/Service");
  CHECK_THAT(client->object_to_string(other), Catch::StartsWith("IOR:"));
  CHECK(other->_is_equivalent(client->string_to_object("corbaloc::names.example/Trading/Service")));
}

TEST_CASE("the Naming Service is the one that is configured") {
  const std::string place = GENERATE(as<std::string>{}, "-ORBInitRef", "-ORBNamingService");
  const std::string prefix = place == "-ORBInitRef" ? "NameService=" : "";
  TestOrb client({place, prefix + "corbaloc::names.example/Key"});
  const auto named = client->string_to_object("corbaloc::names.example/Key");
  CHECK(client->resolve_initial_references("NameService")->_is_equivalent(named));
  CHECK(client->string_to_object("corbaname:rir:")->_is_equivalent(named));
  CHECK(client->string_to_object("corbaname::names.example/Key")->_is_equivalent(named));
}

TEST_CASE("a malformed name is refused before any server is asked") {
  TestOrb client;
  CHECK_THROWS_WITH(client->string_to_object("corbaname::names.example#a//b"),
                    Catch::Contains("'a//b' is no name: a component is empty"));
  CHECK_THROWS_AS(client->string_to_object("corbaname:names.example#a"), CORBA::BAD_PARAM);
}

TEST_CASE("text that is no reference is BAD_PARAM") {
  TestOrb client;
  for (const char* text : {"", "IOR:zz", "http://x", "corbaloc:", "file:///does/not/exist"})
    CHECK_THROWS_AS(client->string_to_object(text), CORBA::BAD_PARAM);
}

TEST_CASE("a file that is missing, or named without file://, is told so") {
  const Quiet quiet;
  const TempDirectory place;
  const std::string path = place / "reference";
  TestOrb client;
  CHECK_THROWS_WITH(client->string_to_object("file://" + path),
                    Catch::EndsWith("): file://" + path + " does not exist"));
  CHECK_THROWS_WITH(client->string_to_object(path), Catch::EndsWith(": " + path));
  std::ofstream(path) << "IOR:";
  CHECK_THROWS_WITH(client->string_to_object(path), Catch::Contains("this is not a reference: expected IOR:HEX") &&
                                                        Catch::EndsWith("; is the file meant? write file://" + path));
  CHECK_THROWS_WITH(client->string_to_object("corbaname:rir:tank/pump"),
                    Catch::EndsWith("the name follows a #: corbaname:rir:#tank/pump"));
}

TEST_CASE("text of a reference that no call could use is BAD_PARAM") {
  namespace giop = corelane::giop;
  namespace minor = corelane::minor;
  TestOrb client({"-ORBLimitsMessageSize", "4096"});
  const std::string longest(4096 - 256, 'x');
  CHECK(client->string_to_object("corbaloc::h/" + longest));
  giop::Ior cut = giop::to_ior(*giop::parse_corbaloc("corbaloc::h/k"));
  cut.profiles.front().data.resize(10);
  const auto [text, code] = GENERATE_COPY(std::pair{"corbaloc::h/" + longest + "x", minor::key_too_long},
                                          std::pair{"corbaname::h/" + longest + "x", minor::key_too_long},
                                          std::pair{giop::to_string(cut), minor::truncated});
  try {
    client->string_to_object(text);
    FAIL("no exception");
  } catch (const CORBA::BAD_PARAM& bad) {
    CHECK(bad.minor() == code);
    CHECK_THAT(bad.what(), Catch::Contains(text.substr(0, 50)));
  }
}

TEST_CASE("equivalent references hash alike") {
  ProbeServer server;
  TestOrb client;
  const auto a = client->string_to_object(server.ior()), b = client->string_to_object(server.ior());
  CHECK(a != b);
  CHECK(a->_is_equivalent(b));
  CHECK(a->_hash(1000) == b->_hash(1000));
  CHECK(a->_hash(1000) <= 1000);
  CHECK(a->_hash(0) == 0);
}

TEST_CASE("an object knows its ORB and is part of no component") {
  ProbeServer server;
  TestOrb client;
  const auto object = client->string_to_object(server.ior());
  CHECK(object->_get_orb()->id() == client->id());
  CHECK(object->_get_component() == nullptr);
  const auto local = client->resolve_initial_references("RootPOA");
  CHECK_THROWS_AS(local->_get_orb(), CORBA::NO_IMPLEMENT);
  CHECK_THROWS_AS(local->_get_component(), CORBA::NO_IMPLEMENT);
}

TEST_CASE("perform_work() waits for no longer than it is told") {
  TestOrb orb;
  orb->perform_work(std::chrono::milliseconds{1});
  orb->shutdown(false);
  orb->perform_work(std::chrono::hours{1});
}

TEST_CASE("perform_work() for the longest span waits until the ORB is shut down") {
  using corelane::Duration;
  const Duration span = GENERATE(Duration::max(), Duration::max() - std::chrono::hours{1});
  TestOrb orb;
  std::atomic<bool> shut_down{false};
  std::atomic<bool> waited{false};
  std::jthread main_loop([&] {
    orb->perform_work(span);
    waited = shut_down.load();
  });
  orb->perform_work(std::chrono::milliseconds{20});  // time for the other thread to return too early
  shut_down = true;
  orb->shutdown(false);
  main_loop.join();
  CHECK(waited.load());
}

TEST_CASE("an exception whose kind is not known prints what it says") {
  const CORBA::BAD_PARAM bad;
  std::ostringstream out;
  out << static_cast<const CORBA::Exception&>(bad) << "|" << static_cast<const CORBA::Exception&>(Probing::Refused());
  CHECK(out.str().starts_with("BAD_PARAM"));
  CHECK(out.str().find("|") != out.str().size() - 1);
}

TEST_CASE("every system exception says its kind, its numbers and the cause") {
  using namespace corelane;
  for (int kind = 0; kind < error_kinds; ++kind) {
    const Error error{static_cast<ErrorKind>(kind), Completion::maybe, minor::connection_lost};
    try {
      core::raise(error, "beside the point");
    } catch (const CORBA::SystemException& exception) {
      const std::string text = exception.what();
      CHECK(exception.error() == error);
      CHECK(text.starts_with(name_of(error.kind)));
      CHECK(text.find("COMPLETED_MAYBE") != text.npos);
      CHECK(text.find(minor::text(error.minor)) != text.npos);
      CHECK(text.find("beside the point") != text.npos);
      CHECK(exception._rep_id() == "IDL:omg.org/CORBA/" + std::string(name_of(error.kind)) + ":1.0");
    }
  }
}

TEST_CASE("a text that came with an exception and holds the cause is not said twice") {
  using namespace corelane;
  const Error error{ErrorKind::unknown, Completion::maybe, minor::servant_threw};
  const std::string cause(minor::text(error.minor));
  try {
    core::raise(error, cause);
  } catch (const CORBA::UNKNOWN& exception) {
    CHECK_THAT(exception.what(), Catch::EndsWith("COMPLETED_MAYBE): " + cause));
  }
}

TEST_CASE("an exception's text and its minor code's text do not repeat each other") {
  using namespace corelane;
  const auto what = [](const Error& error, const std::string& text) {
    try {
      core::raise(error, text);
    } catch (const CORBA::SystemException& exception) {
      return std::string(exception.what());
    }
  };
  const Error bad_option{ErrorKind::bad_param, Completion::no, minor::bad_option};
  CHECK_THAT(what(bad_option, "-ORBPool is unknown"), Catch::EndsWith("COMPLETED_NO): -ORBPool is unknown"));
  CHECK_THAT(what(bad_option, ""), Catch::EndsWith(std::string(minor::text(bad_option))));
  const Error policy{ErrorKind::bad_param, Completion::no, minor::overrun_policy};
  CHECK_THAT(what(policy, "nobody watches budgets: use report"),
             Catch::EndsWith("COMPLETED_NO): nobody watches budgets: use report"));
  const Error refused{ErrorKind::no_resources, Completion::no, minor::not_schedulable};
  CHECK_THAT(what(refused, "a deadline would be missed on every core; closest is core 0"),
             Catch::EndsWith("COMPLETED_NO): a deadline would be missed on every core; closest is core 0"));
  const Error waiting{ErrorKind::transient, Completion::no, minor::job_waiting};
  CHECK_THAT(what(waiting, "a job of this task waits already"), Catch::EndsWith(std::string(minor::text(waiting))));
}

TEST_CASE("no refusal says its cause twice, nor does a call that failed with it inside a servant") {
  using namespace corelane;
  std::uint32_t number = 1;
  for (; sched::name_of(sched::RefusalCode{number}) != "unknown"; ++number) {  // bound: the codes
    const sched::Refusal bare{.code = sched::RefusalCode{number}};
    sched::Refusal numbered = bare;
    numbered.closest = CoreId{1}, numbered.response = Duration{12}, numbered.deadline = Duration{10};
    numbered.peer_tasks = 2, numbered.peer_may = 500'000, numbered.takes_none = true;
    for (const sched::Refusal& refusal : {bare, numbered}) {
      const Error error = error_of(refusal);
      const std::string sentence = text_of(refusal), cause(minor::text(error));
      INFO(sentence);
      const std::string once = cause.starts_with(sentence) ? cause : sentence;
      try {
        core::raise(error, core::Detail{sentence, refusal});
      } catch (const CORBA::SystemException& refused) {
        CHECK_THAT(refused.what(), Catch::EndsWith("COMPLETED_NO): " + once));
        const std::string nested = core::text_of_nested(refused);
        try {
          core::raise(core::error_of_nested(refused), nested);
        } catch (const CORBA::SystemException& failed) {
          CHECK_THAT(failed.what(), Catch::EndsWith("COMPLETED_MAYBE): " + nested));
        }
      }
    }
  }
  CHECK(number > static_cast<std::uint32_t>(sched::RefusalCode::ended));
}

TEST_CASE("an address that cannot be listened on is named with what to change") {
  ProbeServer first;
  const auto taken = first.orb->endpoints().front();
  const auto [endpoint, what] = GENERATE_COPY(
      std::pair{to_string(taken), to_string(taken) + " is taken: `ss -lptn 'sport = :" + std::to_string(taken.port) +
                                      "'` shows which process has it, and -ORBEndpointListen " + taken.host +
                                      ":0 takes a free port"},
      std::pair{std::string("192.0.2.1:0"),
                std::string("cannot listen on 192.0.2.1:0: the address is none of this host; choose another with "
                            "-ORBEndpointListen or endpoint.listen")});
  const CapturedErrors log;
  TestOrb second({"-ORBEndpointListen", endpoint});
  try {
    second.root()->the_POAManager()->activate();
    FAIL("no exception");
  } catch (const CORBA::SystemException& refused) {
    CHECK(std::string(refused.detail()) == what);
    CHECK_THAT(refused.what(), Catch::EndsWith("COMPLETED_NO): " + what));
  }
  CHECK(log.times("error:") == 0);  // the exception carries the text, so the log does not repeat it
}

TEST_CASE("a server that cannot be reached is named") {
  std::string gone;
  {
    const ProbeServer server;
    gone = to_string(server.orb->endpoints().front());
  }
  TestOrb client;
  const auto object = client->string_to_object("corbaloc::" + gone + "/key");
  try {
    object->_non_existent();
    FAIL("no exception");
  } catch (const CORBA::TRANSIENT& failure) {
    CHECK(std::string(failure.detail()) ==
          "cannot connect to " + gone + ": nothing answers; is the server running, and is its address reachable?");
  }
}

TEST_CASE("a server that listens everywhere is not called by a wildcard") {
  TestOrb orb({"-ORBEndpointListen", "0.0.0.0:0"});
  orb.root()->the_POAManager()->activate();
  CHECK(orb->endpoints().front().host != "0.0.0.0");
  TestOrb named({"-ORBEndpointListen", "[::]:0", "-ORBEndpointHost", "here.example"});
  named.root()->the_POAManager()->activate();
  CHECK(named->endpoints().front().host == "here.example");
}

TEST_CASE("a reference names the hosts and ports where clients reach the server, in their order") {
  ProbeServer server({"-ORBEndpointListen", "127.0.0.1:0", "-ORBEndpointLocal", "off"});
  const auto behind = std::to_string(server.orb->endpoints().front().port);
  // This server advertises the address where the other server listens, as a server behind a NAT does.
  TestOrb named({"-ORBEndpointListen", "127.0.0.1:0", "-ORBEndpointLocal", "off", "-ORBEndpointHost",
                 "127.0.0.1:1, 127.0.0.1:" + behind + ", [::1]"});
  named.root()->the_POAManager()->activate();
  const auto told = named->endpoints();
  REQUIRE(told.size() == 3);
  CHECK(told[0] == corelane::transport::Endpoint{.host = "127.0.0.1", .port = 1});
  CHECK(to_string(told[1]) == "127.0.0.1:" + behind);
  CHECK(told[2].host == "::1");
  CHECK(told[2].port > 1);
  // Nothing listens at the first address. At the second one the other server answers, which does not know this object.
  const auto servant = CORBA::make_reference<corelane::testing::ProbeServant>();
  const std::string ior = named->object_to_string(named.root()->servant_to_reference(servant));
  TestOrb client;
  CHECK(client->string_to_object(ior)->_non_existent());
}

TEST_CASE("the first ORB of a process is the default one or the one that was initialized first") {
  const auto init = [](const std::string& id) {
    int argc = 0;
    char* argv[] = {nullptr};
    return CORBA::ORB_init(argc, argv, id);
  };
  const auto first_id = [] { return corelane::core::Orb::first_of_process()->id(); };
  const auto b = init("b"), a = init("a"), c = init("c");
  CHECK(first_id() == "b");
  b->destroy();
  CHECK(first_id() == "a");
  const auto unnamed = init("");
  CHECK(first_id().empty());
  unnamed->destroy();
  const auto again = init("b");
  CHECK(first_id() == "a");
  a->destroy();
  CHECK(first_id() == "c");
  c->destroy();
  CHECK(first_id() == "b");
  again->destroy();
  CHECK(corelane::core::Orb::first_of_process() == nullptr);
}

TEST_CASE("a second ORB whose settings of the process differ is refused and told which") {
  const auto [option, value, key] = GENERATE(table<std::string, std::string, std::string>({
      {"-ORBBestEffortThreads", "3", "best_effort.threads"},
      {"-ORBPoolWait", "adaptive", "pool.wait"},
      {"-ORBPoolSpin", "7us", "pool.spin"},
  }));
  ProbeServer first;
  TestOrb second({option, value});
  try {
    second.root()->the_POAManager()->activate();
    FAIL("no exception");
  } catch (const CORBA::BAD_PARAM& bad) {
    CHECK(bad.minor() == corelane::minor::bad_option);
    CHECK(std::string(bad.detail()).find(key) == 0);
  }
  TestOrb third;
  third.root()->the_POAManager()->activate();
  CHECK(first.reference->add(1, 2) == 3);
}

TEST_CASE("a server of best effort or a reader's budget that makes no sense is refused") {
  const char* option = GENERATE("-ORBBestEffortBudget", "-ORBIoBudget");
  TestOrb orb({"-ORBBestEffortServer", "sporadic", option, "2s"});
  CHECK_THROWS_AS(orb.root()->the_POAManager()->activate(), CORBA::BAD_PARAM);
}

TEST_CASE("calls pass a best-effort server and a reader with a budget") {
  ProbeServer server({"-ORBBestEffortServer", GENERATE("sporadic", "deferrable"), "-ORBIoBudget", "100us"});
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  for (int i = 0; i < 200; ++i) CHECK(probe->add(i, 2) == i + 2);
}

TEST_CASE("a client may differ from the server of its process") {
  ProbeServer server;
  TestOrb client({"-ORBBestEffortThreads", "3"});
  CHECK(probe_of(client, server.ior())->add(1, 2) == 3);
}

namespace {
bool asked_to_stop(const TestOrb& server) {
  corelane::core::Orb::State& state = server.orb->state();
  const corelane::os::LockGuard lock(state.mutex);
  return state.stop_asked;
}

bool children_can_be_watched() {
  constexpr bool can = CORELANE_THREAD_SANITIZER == 0;
  if (!can) std::cout << "SKIPPED: in a child of fork() the thread sanitizer knows no threads and delays signals\n";
  return can;
}

std::size_t open_eventfds() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed;  // the iterator's own descriptor
    count += std::filesystem::read_symlink(entry.path(), closed) == "anon_inode:[eventfd]" ? 1 : 0;
  }
  return count;
}
}  // namespace

TEST_CASE("a stop signal ends a child of fork() and leaves its parent's server alone") {
  if (!children_can_be_watched()) return;
  TestOrb server;
  const corelane::core::StopSignals stop(*server.orb);
  for (const int signal : {SIGTERM, SIGINT}) {
    const int status = in_child([&] { return raise(signal) == 0; });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
  }
  CHECK_FALSE(asked_to_stop(server));
}

TEST_CASE("a child of fork() that destroys its parent's StopSignals leaves the parent's alone") {
  if (!children_can_be_watched()) return;
  TestOrb server;
  std::optional<corelane::core::StopSignals> stop(std::in_place, *server.orb);
  const int status = in_child([&] {
    stop.reset();
    return true;
  });
  CHECK(status == 0);
  raise(SIGTERM);
  while (!asked_to_stop(server)) std::this_thread::yield();  // bound: the thread of StopSignals
  server->run();
}

TEST_CASE("the descriptor that a stop signal's handler writes to stays open, and is the only one") {
  TestOrb server;
  std::optional<corelane::core::StopSignals> stop(std::in_place, *server.orb);
  const std::size_t open = open_eventfds();
  stop.reset();
  CHECK(open_eventfds() == open);
  stop.emplace(*server.orb);
  CHECK(open_eventfds() == open);
}

TEST_CASE("StopSignals says what to do if the system gives it no descriptor") {
  TestOrb server;
  const corelane::core::StopSignals stop(*server.orb);
  const int status = in_child([&] {  // which has no descriptor for signals yet
    const rlimit none{};
    setrlimit(RLIMIT_NOFILE, &none);
    try {
      const corelane::core::StopSignals second(*server.orb);
    } catch (const CORBA::NO_RESOURCES& fault) {
      return std::string(fault.what()).find("ulimit -n") != std::string::npos;
    }
    return false;
  });
  CHECK(status == 0);
}

TEST_CASE("StopSignals does not touch the action of a signal that the process ignores") {
  TestOrb server;
  const auto before = signal(SIGINT, SIG_IGN);
  std::optional<corelane::core::StopSignals> stop(std::in_place, *server.orb);
  raise(SIGINT);
  const auto own = [](int) {};
  CHECK(signal(SIGINT, own) == SIG_IGN);
  stop.reset();
  CHECK(signal(SIGINT, before) == static_cast<void (*)(int)>(own));
}

TEST_CASE("a signal that comes while a program prepares its server ends run() and nothing before") {
  TestOrb server;
  const corelane::core::StopSignals stop(*server.orb);
  raise(SIGTERM);
  raise(SIGTERM);  // twice, as timeout(1) sends it: to the process, and to its group
  while (!asked_to_stop(server)) std::this_thread::yield();  // bound: the thread of StopSignals
  CHECK(server->resolve_initial_references("RootPOA"));
  server->run();
}
