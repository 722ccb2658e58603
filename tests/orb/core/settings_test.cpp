#include "orb/core/settings.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include "orb/base/text/one_line.h"
#include "orb/core/config/setting_values.h"
#include "orb/core/runtime.h"
#include "orb/os/machine/host_key.h"
#include "tests/support/modes.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::core;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

class Start {
 public:
  Start& option(const char* name, const char* value) { return word(name).word(value); }
  Start& word(const char* word) {
    words_.emplace_back(word);
    return *this;
  }
  Start& variable(const char* name, const char* value) {
    variables_[name].assign(value);
    return *this;
  }
  Start& file(const std::string& text) {
    directory_ = std::make_shared<corelane::testing::TempDirectory>();
    file_ = *directory_ / "corelane.toml";
    std::ofstream(file_) << text;
    return *this;
  }
  // `values` follow the key of the host.
  Start& tuned(const os::HostKey& host, const std::string& values) {
    tuned_directory_ = std::make_shared<corelane::testing::TempDirectory>();
    tuned_ = *tuned_directory_ / "corelane.tuned.toml";
    std::ofstream(tuned_) << "[tuned]\nhost = \"" << host.host << "\"\nkernel = \"" << host.kernel
                          << "\"\nprocessor = \"" << host.processor << "\"\n"
                          << values;
    return *this;
  }
  std::string fault() {
    const auto settings = load();
    return settings ? "" : settings.error().text;
  }
  Expected<Settings, SettingsFault> load() {
    std::vector<char*> argv;
    for (std::string& word : words_) argv.push_back(word.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(words_.size());
    auto settings = load_settings(argc, argv.data(), {.variables = variables_, .files = {file_}, .tuned = tuned_});
    left.clear();
    for (int i = 0; i < argc; ++i) left.append(argv[static_cast<std::size_t>(i)]).append(" ");
    return settings;
  }

  std::string left;  // the words that were not options, each followed by a blank

 private:
  std::vector<std::string> words_{"program"};
  std::map<std::string, std::string> variables_;
  std::string file_ = "/nowhere.toml", tuned_;
  std::shared_ptr<corelane::testing::TempDirectory> directory_, tuned_directory_;  // hold the files; copies share them
};

}  // namespace

TEST_CASE("without sources every setting has its default") {
  const auto settings = Start().load();
  REQUIRE(settings);
  CHECK(settings->executive.queue_capacity == 1024);
  CHECK(settings->listen == std::vector{transport::Endpoint{"127.0.0.1", 0}});
  CHECK(settings->local);
}

TEST_CASE("every default of the table is taken and changes nothing") {
  const Settings fresh;
  Settings settings;
  for (const SettingsEntry& entry : settings_table()) {
    INFO(entry.key);
    CHECK(entry.apply(settings, entry.fallback) == "");
  }
  CHECK(settings.executive.queue_capacity == fresh.executive.queue_capacity);
  CHECK(settings.executive.max_tasks == fresh.executive.max_tasks);
  CHECK(settings.executive.best_effort_threads == fresh.executive.best_effort_threads);
  CHECK(settings.executive.best_effort_waiting == fresh.executive.best_effort_waiting);
  CHECK(settings.giop.message_size == fresh.giop.message_size);
  CHECK(settings.connections.connections == fresh.connections.connections);
  CHECK(settings.connections.backlog == fresh.connections.backlog);
  CHECK(settings.connections.backlog_timeout == fresh.connections.backlog_timeout);
  CHECK(settings.connections.header_timeout == fresh.connections.header_timeout);
  CHECK(settings.request_timeout == fresh.request_timeout);
  CHECK(settings.connect_timeout == fresh.connect_timeout);
  CHECK(settings.listen == fresh.listen);
}

TEST_CASE("no duration is so long that adding it to a time may overflow") {
  int durations = 0;
  for (const SettingsEntry& entry : settings_table()) {
    Settings settings;
    if (entry.apply(settings, "12abc").find("duration") == std::string::npos) continue;  // another type of setting
    INFO(entry.key);
    ++durations;
    for (const char* wrong : {"31622401s", "9223372036854775807ns", "9223372036s"})
      CHECK(entry.apply(settings, wrong).find("366 days") != std::string::npos);
  }
  CHECK(durations > 15);
}

TEST_CASE("a duration may be a year") {
  Start start;
  const auto settings = start.option("-ORBTimeoutHeader", "31622400s").load();
  REQUIRE(settings);
  CHECK(settings->connections.header_timeout == 366 * 24h);
}

TEST_CASE("connecting takes time, so none is refused") {
  Settings settings;
  const auto& table = settings_table();
  const auto entry = std::find_if(table.begin(), table.end(), [](const auto& e) { return e.key == "timeout.connect"; });
  REQUIRE(entry != table.end());
  CHECK(entry->apply(settings, "0s") == "a duration of more than 0s, such as 500ms");
  CHECK(entry->apply(settings, "20ms") == "");
  CHECK(settings.connect_timeout == 20ms);
}

TEST_CASE("the users and groups that may use channels are given by name or by number") {
  Settings settings;
  const auto& table = settings_table();
  const auto entry = std::find_if(table.begin(), table.end(), [](const auto& e) { return e.key == "channel.allow"; });
  REQUIRE(entry != table.end());
  CHECK(entry->apply(settings, "root, 1001 @root,@44") == "");
  CHECK(settings.channel.access == channel::Access{.users = {0, 1001}, .groups = {0, 44}});
  CHECK(entry->apply(settings, "anyone") == "");
  CHECK(settings.channel.access == channel::Access{.anyone = true});
  CHECK(entry->apply(settings, "none") == "");
  CHECK(settings.channel.access == channel::Access{});
  CHECK(entry->apply(settings, "no-such-user-here") ==
        "anyone, users of this host, or groups of it as @name; it has no user no-such-user-here");
  CHECK(entry->apply(settings, "4294967295") ==
        "anyone, users of this host, or groups of it as @name; it has no user 4294967295");
  CHECK(entry->apply(settings, "@no-such-group-here") == "groups of this host; it has no group no-such-group-here");
}

TEST_CASE("an option beats a variable and a variable beats the file") {
  Start start;
  start.file("[dispatch]\nqueue_capacity = 1\n[limits]\ntasks = 2\n[timeout]\nrequest = \"3ms\"\n");
  start.variable("CORELANE_DISPATCH_QUEUE_CAPACITY", "10").variable("CORELANE_LIMITS_TASKS", "20");
  start.option("-ORBDispatchQueueCapacity", "100");
  const auto settings = start.load();
  REQUIRE(settings);
  CHECK(settings->executive.queue_capacity == 100);
  CHECK(settings->executive.max_tasks == 20);
  CHECK(settings->request_timeout == 3ms);
}

TEST_CASE("options are taken out of argv and the rest stays in order") {
  Start start;
  start.word("a").option("-ORBid", "x").word("-b").option("-ORBInitRef", "N=corbaloc::h/k");
  const auto settings = start.load();
  REQUIRE(settings);
  CHECK(start.left == "program a -b ");
  CHECK(settings->id == "x");
  CHECK(settings->initial_references.at("N") == "corbaloc::h/k");
}

TEST_CASE("cores are numbers and ranges") {
  const auto settings = Start().option("-ORBPoolCores", "0,2-4").load();
  REQUIRE(settings);
  CHECK(settings->executive.lease.cores == std::vector<CoreId>{CoreId{0}, CoreId{2}, CoreId{3}, CoreId{4}});
}

TEST_CASE("the documentation names all three spellings") {
  const std::string text = settings_documentation();
  CHECK(text.find("| `dispatch.queue_capacity` | `-ORBDispatchQueueCapacity` | `CORELANE_DISPATCH_QUEUE_CAPACITY` |") !=
        text.npos);
}

TEST_CASE("the documentation has each setting once") {
  const std::string text = settings_documentation();
  for (const SettingsEntry& entry : settings_table()) {
    INFO(entry.key);
    const std::string row = "| `" + std::string(entry.key) + "` | ";
    CHECK(text.find(row) != text.npos);
    CHECK(text.find(row) == text.rfind(row));
  }
}

TEST_CASE("leader-followers is refused by a build without ACE, which says what to do") {
  Settings settings;
  CHECK_THAT(values::mode(settings, "leader-followers", false),
             Catch::StartsWith("manager or direct, because this Corelane was built without ACE") &&
                 Catch::Contains("libace-dev") && Catch::Contains("-DCORELANE_WITH_ACE=ON"));
  CHECK(settings.executive.mode == dispatch::DispatchMode::manager);
  CHECK(values::mode(settings, "direct", false).empty());
  CHECK(values::mode(settings, "leader-followers", true).empty());
  CHECK(settings.executive.mode == dispatch::DispatchMode::leader_followers);
}

TEST_CASE("a build has leader-followers if it has ACE") {
  const auto loaded = Start().option("-ORBDispatchMode", "leader-followers").load();
  CHECK(loaded.has_value() == has_followers);
  if (!loaded)
    CHECK_THAT(loaded.error().text,
               Catch::StartsWith("-ORBDispatchMode = leader-followers: expected manager or direct"));
}

TEST_CASE("settings that leader-followers does not look at are named") {
  if (!can_follow()) return;
  const auto unused = [](Start start) { return unused_settings(*start.load()); };
  CHECK(unused(Start().option("-ORBRecorderSize", "64")).empty());
  const Start followers = Start().option("-ORBDispatchMode", "leader-followers").option("-ORBPoolCores", "0");
  CHECK(unused(followers).empty());
  CHECK(
      unused(
          Start(followers).option("-ORBFollowersPlacement", "allocated").option("-ORBDispatchAllocation", "first-fit"))
          .empty());
  CHECK(unused(Start(followers).option("-ORBRecorderSize", "64").option("-ORBDispatchAdmission", "off")) ==
        "dispatch.mode = leader-followers does not look at dispatch.admission, recorder.size");
}

// Error paths.

TEST_CASE("an unknown option is refused with the nearest known one") {
  const auto settings = Start().option("-ORBDispatchQueueCapcity", "1").load();
  REQUIRE_FALSE(settings);
  CHECK(settings.error().text ==
        "unknown option -ORBDispatchQueueCapcity; the nearest known is -ORBDispatchQueueCapacity");
}

TEST_CASE("a bad value is shown in a line however long it is and whatever it holds") {
  const std::string fault = Start().option("-ORBPoolCores", std::string(100'000, 'x').c_str()).fault();
  CHECK(fault.size() < 500);
  CHECK(fault.find("xxx... (100000 bytes): expected") != std::string::npos);
  CHECK(Start().option("-ORBPoolCores", "\x1b[2J\n1").fault().starts_with("-ORBPoolCores = ?[2J?1: expected all"));
}

TEST_CASE("an unknown key of the file is refused with the nearest known one") {
  const auto settings = Start().file("[pool]\ncore = \"0\"\n").load();
  REQUIRE_FALSE(settings);
  CHECK(settings.error().text.find("unknown key pool.core; the nearest known is pool.cores") != std::string::npos);
}

TEST_CASE("a setting that was replaced is refused with the one in its place") {
  CHECK(Start().option("-ORBLimitsBacklogs", "100000").fault() ==
        "unknown option -ORBLimitsBacklogs; it was replaced by -ORBLimitsMemory");
  CHECK(Start().variable("CORELANE_LIMITS_HALF_MESSAGES", "100000").fault() ==
        "unknown variable CORELANE_LIMITS_HALF_MESSAGES; it was replaced by CORELANE_LIMITS_MEMORY");
  CHECK_THAT(Start().file("[limits]\nhalf_messages = 100000\n").fault(),
             Catch::EndsWith("unknown key limits.half_messages; it was replaced by limits.memory"));
}

TEST_CASE("peers may make a process hold 64 MiB or four of the largest messages where nothing else is said") {
  const auto bounds_with = [](std::vector<std::pair<const char*, const char*>> options) {
    Start start;
    for (const auto& [name, value] : options) start.option(name, value);
    return core::memory_bounds_of(start.load().value());
  };
  constexpr std::size_t mebibyte = 1024 * 1024;
  CHECK(bounds_with({}).all == 64 * mebibyte);
  CHECK(bounds_with({}).of_peer == 16 * mebibyte);
  CHECK(bounds_with({{"-ORBLimitsMessageSize", "1048576"}}).all == 64 * mebibyte);
  CHECK(bounds_with({{"-ORBLimitsMessageSize", "67108864"}}).all == 256 * mebibyte);
  CHECK(bounds_with({{"-ORBLimitsMemory", "1000000"}}).all == 1'000'000);
  CHECK(bounds_with({{"-ORBLimitsMemory", "1000000"}}).of_peer == 16 * mebibyte);
}

TEST_CASE("an unknown variable is refused with the nearest known one") {
  CHECK(Start().variable("CORELANE_POOL_CORE", "0").fault() ==
        "unknown variable CORELANE_POOL_CORE; the nearest known is CORELANE_POOL_CORES");
  CHECK(Start().variable("CORELANE_POL_CORES", "0").fault() ==
        "unknown variable CORELANE_POL_CORES; the nearest known is CORELANE_POOL_CORES");
  CHECK(Start().variable("CORELANE_CONFG", "x").fault() ==
        "unknown variable CORELANE_CONFG; the nearest known is CORELANE_CONFIG");
  CHECK_THAT(Start().variable("CORELANE_BEST_EFFORT_PRIORITY", "1").fault(), Catch::StartsWith("unknown variable"));
}

TEST_CASE("a variable that cannot be meant as a setting is ignored") {
  CHECK(Start().variable("CORELANE_HOME", "/opt").variable("CORELANE_UPDATE_DOCS", "1").load());
}

TEST_CASE("an option of another ORB is refused with our spelling") {
  const auto [option, answer] = GENERATE(
      std::pair{"-ORBEndpoint", "option -ORBEndpoint is TAO's; here it is -ORBEndpointListen host:port"},
      std::pair{"-ORBListenEndpoints", "option -ORBListenEndpoints is TAO's; here it is -ORBEndpointListen host:port"},
      std::pair{"-ORBSvcConf", "option -ORBSvcConf is TAO's; here it is -ORBConfig file.toml"},
      std::pair{"-ORBtraceLevel", "option -ORBtraceLevel is omniORB's; here it is -ORBLogLevel debug"},
      std::pair{"-ORBgiopMaxMsgSize", "option -ORBgiopMaxMsgSize is omniORB's; here it is -ORBLimitsMessageSize bytes"},
      std::pair{"-ORBmaxGIOPConnectionPerServer",
                "option -ORBmaxGIOPConnectionPerServer is omniORB's; here it is -ORBClientConnections number"},
      std::pair{"-ORBTraceLevel", "option -ORBTraceLevel is omniORB's; here it is -ORBLogLevel debug"},
      std::pair{"-ORBInitialHost",
                "option -ORBInitialHost is Java IDL's; here it is -ORBNamingService corbaloc::HOST:PORT/NameService"},
      std::pair{
          "-ORBclientTransportRule",
          "option -ORBclientTransportRule is omniORB's; here it is -ORBClientChannel on or off; the reference says "
          "which addresses there are"},
      std::pair{"-ORBendPoint", "option -ORBendPoint is omniORB's; here it is -ORBEndpointListen host:port"});
  CHECK(Start().option(option, "giop:tcp::2809").fault() == answer);
}

TEST_CASE("a directory that other processes look into begins with a slash") {
  const auto option = GENERATE("-ORBRuntimeDirectory", "-ORBRecorderDirectory");
  CHECK(Start().option(option, "run").fault() == std::string(option) + " = run: expected a path that begins with /");
  CHECK(Start().option(option, "/run").fault().empty());
}

TEST_CASE("a name in the configuration cannot control the terminal") {
  const auto [text, name] =
      GENERATE(table<std::string, std::string>({{"\"a\\u001b[2Jb\" = 1\n", "a?[2Jb"},
                                                {"[\"a\\u001b[2Jb\"]\nx = 1\n", "a?[2Jb"},
                                                {"[pool]\n\"a\\nb\" = 1\n", "a?b"},
                                                {"[init_ref]\n\"a\\u001b[2Jb\" = 1\n", "a?[2Jb"}}));
  const std::string fault = Start().file(text.c_str()).fault();
  CHECK_THAT(fault, Catch::Contains(name));
  CHECK(fault == as_one_line(fault));
  const std::string option = Start().option("-ORBa\x1b[2J", "1").fault();
  CHECK_THAT(option, Catch::Contains("-ORBa?[2J"));
}

TEST_CASE("a bad value is refused with what was expected") {
  const auto [option, value] =
      GENERATE(std::pair{"-ORBTimeoutRequest", "5 s"}, std::pair{"-ORBDispatchAdmission", "maybe"},
               std::pair{"-ORBLimitsTasks", "-1"}, std::pair{"-ORBPoolCores", "4-2"},
               std::pair{"-ORBEndpointListen", "nowhere"}, std::pair{"-ORBDispatchMode", "fast"});
  const auto settings = Start().option(option, value).load();
  REQUIRE_FALSE(settings);
  CHECK(settings.error().text.find("expected") != std::string::npos);
}

TEST_CASE("a setting in bytes takes units of 1024 bytes, and says so") {
  const auto memory = [](const char* text) { return Start().option("-ORBLimitsMemory", text).load().value().memory; };
  CHECK(memory("67108864") == 67'108'864);
  CHECK(memory("65536KiB") == 67'108'864);
  CHECK(memory("64MiB") == 67'108'864);
  CHECK(memory("1024GiB") == std::size_t{1} << 40);
  CHECK(Start().file("[pool]\nstack = \"512KiB\"\n").load().value().executive.task_stack == 524'288);
  const std::string bad =
      GENERATE(as<std::string>{}, "64MB", "64 MiB", "MiB", "-1MiB", "1025GiB", "1.5GiB", "17179869185GiB", "");
  CHECK(Start().option("-ORBLimitsMemory", bad.c_str()).fault() ==
        "-ORBLimitsMemory = " + bad +
            ": expected a number of bytes, such as 64KiB, 64MiB or 1GiB, from 0 to 1099511627776");
}

TEST_CASE("a peer's limit is given in per cent or parts per million of a core") {
  const auto limit = [](const char* text) {
    return Start().option("-ORBLimitsPeerUtilization", text).load().value().executive.peer_limit;
  };
  CHECK(limit("50%") == 500'000);
  CHECK(limit("150%") == 1'500'000);
  CHECK(limit("50") == 50);
  CHECK(limit("0") == 0);
  CHECK_FALSE(limit("by-user"));
  const std::string bad = GENERATE(as<std::string>{}, "half", "%", "-1%", "0.5%", "100001%");
  CHECK(Start().option("-ORBLimitsPeerUtilization", bad.c_str()).fault() ==
        "-ORBLimitsPeerUtilization = " + bad +
            ": expected by-user, a share of one core such as 50%, or a number of parts per million of one from 0 to "
            "1000000000");
}

TEST_CASE("an option that is not written as options are is refused with how it is written") {
  const auto [words, answer] = GENERATE(table<std::vector<const char*>, const char*>({
      {{"-ORBid"}, "-ORBid needs a value: -ORBid VALUE"},
      {{"-ORBPoolCores", "-ORBid", "x"}, "-ORBPoolCores needs a value: -ORBPoolCores VALUE"},
      {{"-ORBConfig"}, "-ORBConfig needs a value: -ORBConfig VALUE"},
      {{"-ORBConfig", ""}, "-ORBConfig \"\": expected the name of a configuration file"},
      {{"-ORBPoolCores", ""}, "-ORBPoolCores = : expected all, or hardware threads such as 0,2-5"},
      {{"-ORBPoolCors"}, "unknown option -ORBPoolCors; the nearest known is -ORBPoolCores"},
      {{"-ORBHelp"}, "unknown option -ORBHelp; docs/configuration.md has them all"},
      {{"-ORBPoolCores=0,1"}, "option -ORBPoolCores=0,1: an option and its value are two words: -ORBPoolCores 0,1"},
      {{"--ORBPoolCores", "0"}, "option --ORBPoolCores: -ORB options begin with one dash: -ORBPoolCores"},
      {{"-ORBInitRef", "Name"}, "-ORBInitRef Name: expected NAME=REFERENCE, such as"},
      {{"-ORBInitRef", "=x"}, "-ORBInitRef =x: expected NAME=REFERENCE, such as"},
      {{"-ORBLogLevel", "loud"}, "-ORBLogLevel = loud: expected debug, info, warn, error or off"},
      {{"-ORBEndpointHost", "h:x"},
       "-ORBEndpointHost = h:x: expected hosts, each with a port where that is another one"},
      {{"-ORBEndpointHost", "plant.example, 0.0.0.0"},
       "-ORBEndpointHost = plant.example, 0.0.0.0: expected hosts that clients can call"},
      {{"-ORBEndpointHost", "[::]:2809"}, "-ORBEndpointHost = [::]:2809: expected hosts that clients can call"},
      {{"-ORBTimeoutRequest", "5 s"},
       "-ORBTimeoutRequest = 5 s: expected a duration such as 500ms (a whole number and ns, us, ms or s); a duration "
       "has no blank and no fraction: write 5s"},
      {{"-ORBContractsFile", "/nowhere.toml"}, "contracts file /nowhere.toml does not exist"},
      {{"-ORBDispatchSlowdowns", "/nowhere.toml"}, "file of slowdowns /nowhere.toml does not exist"},
  }));
  Start start;
  for (const char* word : words) start.word(word);
  CHECK_THAT(start.fault(), Catch::StartsWith(answer));
}

TEST_CASE("a file named as configuration that is none is refused at once") {
  const std::string folder = std::filesystem::temp_directory_path();
  const std::string pipe = folder + "/corelane_pipe_" + std::to_string(::getpid());
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string huge = pipe + ".toml";
  std::ofstream(huge) << std::string(1024 * 1024 + 1, '#');
  CHECK(Start().option("-ORBConfig", pipe.c_str()).fault() == "configuration file " + pipe + " is no plain file");
  CHECK(Start().option("-ORBContractsFile", pipe.c_str()).fault() == "contracts file " + pipe + " is no plain file");
  CHECK(Start().option("-ORBConfig", huge.c_str()).fault() ==
        "configuration file " + huge + " is longer than 1048576 bytes");
  std::string deep = "# fine\n";
  for (int level = 0; level < 200'000; ++level) deep += "a.";
  std::ofstream(huge) << deep << "b = 1\n";
  CHECK(Start().option("-ORBConfig", huge.c_str()).fault() ==
        huge + ":2: more than 1000 dots in a line; tables are not nested that deep");
  CHECK(Start().option("-ORBConfig", "/dev/zero").fault() == "configuration file /dev/zero is no plain file");
  ::unlink(pipe.c_str()), ::unlink(huge.c_str());
}

TEST_CASE("a file that is no TOML is refused with its line") {
  const auto settings = Start().file("[dispatch\n").load();
  REQUIRE_FALSE(settings);
  CHECK(settings.error().text.find(":1:") != std::string::npos);
}

TEST_CASE("a line of the file that lacks quotes is told with them") {
  const auto [line, hint] = GENERATE(table<const char*, std::string>({
      {"mode = direct", "mode = \"direct\""},
      {"  a.mode=leader-followers   # which", "a.mode = \"leader-followers\""},
      {"listen = 127.0.0.1:0\r", "listen = \"127.0.0.1:0\""},
      {"cores = 2,4-5", "cores = \"2,4-5\""},
      {"request = 10ms", "request = \"10ms\""},
      {"[IDL:Plant/Controller:1.0.step]", "[\"IDL:Plant/Controller:1.0\".step]"},
      {"[IDL:Plant/Controller:1.0]  # all", "[\"IDL:Plant/Controller:1.0\"]"},
      {"[IDL:Plant]", "[\"IDL:Plant\"]"},
      {"request = 1.5ms", "request = \"1.5ms\"; a duration has no blank and no fraction: write 1500us"},
  }));
  CHECK_THAT(Start().file(std::string("\n") + line + "\n").fault(),
             Catch::Contains(".toml:2:") && Catch::EndsWith("; quotes are missing: " + hint));
}

TEST_CASE("a line of the file that lacks something else is not told to lack quotes") {
  const std::string line = GENERATE(
      "mode = 'direct", "mode =", "mode", "mode direct", "[dispatch", "[", "[]", "a b = 1 2", "uses = { bus = 1",
      "[a]\n[a]", "x = 1\nx = 2", "cores = [0, 1", "cores = [0, 1\nmode = a", "cores = [0,\nmode = a", "a = True",
      "a = 0x1G", ".a=b", "a. = b", "a = \"\"\"\nmode = a", "priority = 07", "big = 99999999999999999999", "low = -1-",
      "=5", "a==5", "b! = 5x", "b = 5 5x", "b = a\\q", "b = \x1b[31mred", "b = \xff\xfe", "b = 10ms,", "[IDL:P/C:1.0.]",
      "[IDL:P/C:1.0.a.b]", "[IDL:P/C:1.0.step/x]", "[IDL:P/C:1.0 . step]", "[.:]");
  CHECK_THAT(Start().file(line + "\n").fault(), Catch::Contains(".toml:") && !Catch::Contains("quotes"));
}

TEST_CASE("a platform load that leaves nothing or has no period is refused") {
  CHECK(Start().option("-ORBPlatformPeriod", "0ms").fault() == "platform.period = 0ns: expected more than 0");
  CHECK(Start().option("-ORBPlatformBudget", "1ms").fault() ==
        "platform.budget = 1ms: expected less than platform.period = 1ms; nothing would be left for tasks");
  CHECK(Start().option("-ORBPlatformBudget", "999us").load());
}

TEST_CASE("the last of two configuration files counts") {
  const corelane::testing::TempDirectory directory;
  const std::string one = directory / "one.toml", two = directory / "two.toml";
  std::ofstream(one) << "[limits]\ntasks = 1\n";
  std::ofstream(two) << "[limits]\ntasks = 2\n";
  const auto settings = Start().option("-ORBConfig", one.c_str()).option("-ORBConfig", two.c_str()).load();
  REQUIRE(settings);
  CHECK(settings->executive.max_tasks == 2);
}

TEST_CASE("a configuration file that is absent or a folder is named") {
  CHECK(Start().option("-ORBConfig", "/nowhere/c.toml").fault() == "configuration file /nowhere/c.toml does not exist");
  CHECK(Start().option("-ORBConfig", "/tmp").fault() == "configuration file /tmp is a folder");
  CHECK(Start().variable("CORELANE_CONFIG", "").load());
}

TEST_CASE("a section that does not exist is refused even when it is empty") {
  CHECK_THAT(Start().file("[dispach]\n").fault(), Catch::Contains("unknown section dispach"));
}

TEST_CASE("a list in the file is what an option says with commas") {
  const auto settings =
      Start().file("[pool]\ncores = [0, \"2-3\"]\n[endpoint]\nlisten = [\"[::1]:7\", \"unix:/a\"]\n").load();
  REQUIRE(settings);
  CHECK(settings->executive.lease.cores == std::vector{CoreId{0}, CoreId{2}, CoreId{3}});
  CHECK(to_string(settings->listen) == "[::1]:7, unix:/a");
  CHECK_THAT(Start().file("[best_effort]\nthreads = [1, 2]\n").fault(),
             Catch::Contains("best_effort.threads = 1,2: expected a number from 0 to 256"));
  CHECK_THAT(Start().file("[pool]\ncores = []\n").fault(), Catch::Contains("expected all, or hardware threads"));
}

TEST_CASE("a fault of the file is told with its line") {
  const auto [text, answer] = GENERATE(table<const char*, const char*>({
      {"[dispatch]\n\nqueue_capacity = [1.5]\n",
       ":3:1: dispatch.queue_capacity: expected text, a whole number, a boolean or a list of these"},
      {"[dispatch]\nqueue_capacity = 1.5\n",
       ":2:1: dispatch.queue_capacity: expected text, a whole number, a boolean or a list of these"},
      {"[dispatch]\nqueue_capacity = -1\n", ":2:1: dispatch.queue_capacity = -1: expected a number from 1 to 1000000"},
      {"[dispatch.mode]\n", ":1:11: dispatch.mode is no section but a key of one"},
      {"[dispach]\n", ":1:2: unknown section dispach; the nearest known is dispatch"},
      {"[nosuch]\n", ":1:2: unknown section nosuch; known are init_ref, "},
      {"dispatch = 3\n", ":1:1: dispatch is a section: write [dispatch], and its keys below"},
      {"[log]\nverbosity = 3\n", ":2:1: unknown key log.verbosity; log has level"},
      {"[init_ref]\nA = 3\n", ":2:1: init_ref.A: expected a reference as a string"},
      {"\n[pool]\ncore = \"0\"\n", ":3:1: unknown key pool.core; the nearest known is pool.cores"},
      {"[pool]\ncores = \"0\"\ncores = \"1\"\n", ":3:9: "},
      {"[log]\nlevel = true\n", ":2:1: log.level = on: expected debug, info, warn, error or off"},
      {"\xff\xfe", ":1:1: "},
  }));
  CHECK_THAT(Start().file(text).fault(), Catch::StartsWith("/") && Catch::Contains(".toml" + std::string(answer)));
}

TEST_CASE("the reader's budget is the platform's unless it is given one of its own") {
  const auto by_default = Start().load();
  REQUIRE(by_default);
  CHECK(by_default->io_within_platform);
  CHECK(by_default->executive.reader.budget == 0us);
  const auto given = Start().option("-ORBIoBudget", "200us").load();
  REQUIRE(given);
  CHECK_FALSE(given->io_within_platform);
  CHECK(given->executive.reader.budget == 200us);
  const auto unlimited = Start().option("-ORBIoBudget", "0us").load();
  REQUIRE(unlimited);
  CHECK_FALSE(unlimited->io_within_platform);
  CHECK(unlimited->executive.reader.budget == 0us);
  const auto again = Start().variable("CORELANE_IO_BUDGET", "200us").option("-ORBIoBudget", "platform").load();
  REQUIRE(again);
  CHECK(again->io_within_platform);
  CHECK(again->executive.reader.budget == 0us);
  CHECK_THAT(Start().option("-ORBIoBudget", "half").fault(), Catch::Contains("platform, or "));
}

TEST_CASE("the values of a file that was tuned for this host count where nothing else sets them") {
  const auto settings = Start()
                            .tuned(os::key_of_this_host(), "[client]\nspin = \"7us\"\n[best_effort]\nspin = \"8us\"\n")
                            .file("[best_effort]\nspin = \"9us\"\n")
                            .load();
  REQUIRE(settings);
  CHECK(settings->wait.spin == 7us);
  CHECK(settings->executive.best_effort_wait.spin == 9us);
  CHECK_THAT(settings->tuned_note, Catch::EndsWith("has written for this host, sets client.spin"));
  CHECK_FALSE(settings->tuned_elsewhere);
  CHECK(settings->given == std::set<std::string_view>{"best_effort.spin"});
}

TEST_CASE("a file that was tuned for another host is ignored, and the note says in what they differ") {
  os::HostKey other = os::key_of_this_host();
  other.processor = "Z80";
  const auto settings = Start().tuned(other, "[client]\nspin = \"7us\"\n").load();
  REQUIRE(settings);
  CHECK(settings->wait.spin == Settings().wait.spin);
  CHECK(settings->tuned_elsewhere);
  CHECK_THAT(settings->tuned_note, Catch::Contains("was tuned on the processor 'Z80', and here it is"));
}

TEST_CASE("a tuned file can be switched off or named, and its faults are those of a configuration file") {
  const os::HostKey here = os::key_of_this_host();
  const auto off = Start().tuned(here, "[client]\nspin = \"7us\"\n").option("-ORBRuntimeTuned", "off").load();
  REQUIRE(off);
  CHECK(off->wait.spin == Settings().wait.spin);
  CHECK(off->tuned_note.empty());
  CHECK_THAT(Start().option("-ORBRuntimeTuned", "/nowhere/tuned.toml").fault(), Catch::Contains("/nowhere/tuned.toml"));
  CHECK_THAT(Start().tuned(here, "[client]\nspan = \"7us\"\n").fault(), Catch::Contains("client.spin"));
}
