// Services and clients that agree on a name, and a broker that connects them.
#include "services/nameserver/broker/broker.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <thread>

#include "orb/channel/listener.h"
#include "orb/os/clock.h"
#include "services/nameserver/broker/channel_by_name.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/groups.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::nameserver;
using Kind = BrokerFault::Kind;

namespace {

Time in_a_minute() { return os::now() + std::chrono::minutes(1); }

class RunningBroker {
 public:
  struct NotYet {};
  explicit RunningBroker(NotYet) {}  // processes are forked before threads exist
  explicit RunningBroker(BrokerLimits limits = {}) { start(limits); }

  void start(BrokerLimits limits = {}) {
    auto started = Broker::start(path(), limits);
    if (!started) FAIL(started.error());
    broker_ = std::move(*started);
  }
  void stop() { broker_.reset(); }
  std::string path() const { return directory_ / "broker.sock"; }
  const std::string& directory() const { return directory_.path(); }

  Expected<ChannelService, BrokerFault> enlist(const std::string& name, const channel::Options& options = {}) const {
    return ChannelService::enlist(path(), name, options, in_a_minute());
  }
  Expected<Introduced, BrokerFault> open(const std::string& name, const channel::Options& options = {}) const {
    return open_channel(path(), name, options, in_a_minute());
  }

 private:
  corelane::testing::TempDirectory directory_;
  std::unique_ptr<Broker> broker_;
};

bool write_text(channel::Channel& channel, std::string_view text) {
  return channel.write(std::as_bytes(std::span{text.data(), text.size()}), in_a_minute()).has_value();
}
std::string read_text(channel::Channel& channel) {
  std::array<std::byte, 64> buffer;
  const auto size = channel.read(buffer, in_a_minute());
  return size ? std::string(reinterpret_cast<const char*>(buffer.data()), *size) : std::string(text_of(size.error()));
}

// Forks a process that registers the name, answers its only client and waits to be killed.
pid_t fork_answering_service(const std::string& broker, const std::string& name) {
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto service = ChannelService::enlist(broker, name, {}, in_a_minute());
  while (!service && service.error().kind == Kind::unreachable)
    service = ChannelService::enlist(broker, name, {}, in_a_minute());
  auto met = service ? service->accept(in_a_minute()) : BrokerFault{};
  if (!met) _exit(1);
  write_text(met->channel, "I am " + name + ", you said " + read_text(met->channel));
  while (true) pause();
}

void end_process(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

// Opens the name; retries until the service, another process, has registered it.
Introduced open_soon(const RunningBroker& broker, const std::string& name) {
  while (true) {
    auto met = broker.open(name);
    if (met) return std::move(*met);
    if (met.error().kind != Kind::unknown_name) FAIL(met.error().text);
  }
}

constexpr gid_t operators = 30001;

// Returns 0 if a user with another name is refused everything that it should be refused.
int what_a_stranger_is_refused(const RunningBroker& broker) {
  auto denied = broker.open("own", {.access = {.users = {0}}});
  while (!denied && (denied.error().kind == Kind::unreachable || denied.error().kind == Kind::unknown_name))
    denied = broker.open("own", {.access = {.users = {0}}});
  if (denied || denied.error().kind != Kind::denied) return 2;
  const auto stranger = broker.open("open");  // the service runs as root, which this client does not allow
  if (stranger || stranger.error().kind != Kind::denied) return 3;
  return broker.open("open", {.access = {.groups = {operators}}}) ? 0 : 4;  // the service has this group
}

// A connection whose packets the test sends and receives itself.
class RawClient {
 public:
  explicit RawClient(const RunningBroker& broker)
      : socket_(std::move(channel::connect_socket(broker.path(), in_a_minute()).value())) {}
  void say(const std::string& text) const { REQUIRE(send_message(socket_, text)); }
  // Waits until there is an answer, and does not receive it.
  void await_answer() const {
    pollfd answered{socket_.get(), POLLIN, 0};
    REQUIRE(poll(&answered, 1, -1) == 1);
  }
  // Returns the next message to this client, without the number of a refusal; "closed" at the end.
  std::string told() const {
    const auto message = receive_message(socket_, in_a_minute());
    if (!message) return "closed";
    std::string text = message->words[0];
    if (text == "refused")
      for (std::size_t i = 2; i < message->words.size(); ++i) text += " " + message->words[i];
    return text;
  }
  std::string ask(const std::string& text) const {
    say(text);
    return told();
  }
  // Keeps the socket open, and leaves received data unread.
  void shut_both_ways() const { REQUIRE(shutdown(socket_.get(), SHUT_RDWR) == 0); }

 private:
  const os::Fd socket_;
};

template <typename T>
std::string refusal(const Expected<T, BrokerFault>& result, Kind kind) {
  if (result) return "not refused";
  CHECK(result.error().kind == kind);
  return result.error().text;
}

}  // namespace

TEST_CASE("two processes that know a name have a channel, and the broker is out of the way") {
  RunningBroker broker{RunningBroker::NotYet()};
  const pid_t service = fork_answering_service(broker.path(), "plant/controller");
  broker.start();
  Introduced met = open_soon(broker, "plant/controller");
  CHECK(met.peer.process == service);
  CHECK(met.peer.user == geteuid());
  broker.stop();
  REQUIRE(write_text(met.channel, "hello"));
  CHECK(read_text(met.channel) == "I am plant/controller, you said hello");
  end_process(service);
  CHECK(read_text(met.channel) == text_of(channel::Fault::peer_died));
}

TEST_CASE("each client of a service has a channel of its own") {
  const RunningBroker broker;
  auto service = broker.enlist("many");
  REQUIRE(service);
  for (const char* text : {"first", "second"}) {
    std::optional<Expected<Introduced, BrokerFault>> client;
    std::jthread asking([&] { client = broker.open("many"); });
    auto met = service->accept(in_a_minute());
    asking.join();
    REQUIRE(met);
    REQUIRE(client->has_value());
    CHECK(met->peer.process == getpid());
    REQUIRE(write_text(client->value().channel, text));
    CHECK(read_text(met->channel) == text);
  }
}

TEST_CASE("a name goes with its process, and the next one may have it") {
  RunningBroker broker{RunningBroker::NotYet()};
  const pid_t first = fork_answering_service(broker.path(), "mine");
  broker.start();
  { const Introduced met = open_soon(broker, "mine"); }
  CHECK(
      refusal(broker.enlist("mine"), Kind::name_taken).find("'mine' is the name of process " + std::to_string(first)) ==
      0);
  end_process(first);
  auto second = broker.enlist("mine");
  while (!second)
    second = broker.enlist("mine");  // the kernel has closed its descriptors already; the broker notices this later
  CHECK(second->is_enlisted());
}

TEST_CASE("malformed names are refused before any server is asked") {
  for (const std::string& name :
       {std::string(), std::string("two words"), std::string("umlaut\xc3\xa4"), std::string(101, 'x')}) {
    CHECK(refusal(open_channel("/nowhere", name, {}, in_a_minute()), Kind::bad_name).find("printable ASCII") !=
          std::string::npos);
    refusal(ChannelService::enlist("/nowhere", name, {}, in_a_minute()), Kind::bad_name);
  }
  const RunningBroker broker;
  CHECK(broker.enlist(std::string(100, 'x')));
}

TEST_CASE("an unknown name is refused with what to do") {
  const RunningBroker broker;
  CHECK(refusal(broker.open("nobody"), Kind::unknown_name) ==
        "no service is called 'nobody': start it, or see its name");
}

TEST_CASE("without a broker the error says what to start") {
  const corelane::testing::TempDirectory directory;
  const std::string text = refusal(open_channel(directory / "none.sock", "a", {}, in_a_minute()), Kind::unreachable);
  INFO(text);
  CHECK(text.find("no broker of channels at " + directory.path()) == 0);
  CHECK(text.find("start corelane-nameserver") != std::string::npos);
}

TEST_CASE("a service that loses its broker is told, keeps its channels, and may register again") {
  RunningBroker broker;
  auto service = broker.enlist("lasting");
  REQUIRE(service);
  broker.stop();
  CHECK(refusal(service->accept(in_a_minute()), Kind::unreachable) == "the broker is gone: enlist the name again");
  CHECK_FALSE(service->is_enlisted());
  broker.start();
  CHECK(broker.enlist("lasting"));
}

TEST_CASE("more services than there is room for are refused") {
  const RunningBroker broker({.services = 1});
  const auto first = broker.enlist("first");
  REQUIRE(first);
  CHECK(refusal(broker.enlist("second"), Kind::no_room) == "the broker has 1 service, and no room for more: end some");
  CHECK(refusal(broker.open("second"), Kind::unknown_name).size() > 0);
}

TEST_CASE("a user that has its share of services is refused another one, and others are not") {
  const RunningBroker broker({.services_of_a_user = 1});
  const auto first = broker.enlist("first");
  REQUIRE(first);
  const std::string user = std::to_string(::geteuid());
  CHECK(refusal(broker.enlist("second"), Kind::no_room) ==
        "user " + user + " has 1 service, as many as one user may have: end some");
  if (::geteuid() != 0) return;  // only root can be somebody else
  std::filesystem::permissions(broker.directory(), std::filesystem::perms(0755));
  const pid_t child = fork();
  if (child == 0) _exit(::setuid(65534) == 0 && broker.enlist("third", {.access = {.users = {0}}}) ? 0 : 1);
  int status = 1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("more processes than there is room for are refused") {
  const RunningBroker broker({.connections_of_a_user = 1});
  const auto first = broker.enlist("first");
  REQUIRE(first);
  refusal(broker.enlist("second"), Kind::no_room);
}

TEST_CASE("clients of a service that accepts none are refused when its queue is full") {
  const RunningBroker broker({.connections_of_a_user = 100'000});
  const auto service = broker.enlist("busy");
  REQUIRE(service);
  std::vector<os::Fd> sockets;
  std::string last;
  // Bound: the number of packets that the kernel keeps for a socket.
  while (last.find("refused") != 0 && sockets.size() < 10'000) {
    sockets.push_back(std::move(channel::connect_socket(broker.path(), in_a_minute()).value()));
    REQUIRE(send_message(sockets.back(), "open busy own"));
    const auto answer = receive_message(sockets.back(), in_a_minute());
    REQUIRE(answer);
    last = answer->words[0] == "refused" ? "refused " + answer->words[1] : answer->words[0];
    sockets.clear();
  }
  CHECK(last == "refused " + std::to_string(static_cast<int>(Kind::no_room)));
}

TEST_CASE("a service may leave so many channels unaccepted, and then the next is refused until it accepts one") {
  const RunningBroker broker({.unaccepted_of_service = 2});
  const RawClient service(broker), client(broker);
  REQUIRE(service.ask("register busy own") == "registered");
  CHECK(client.ask("open busy own") == "channel");
  CHECK(client.ask("open busy own") == "channel");
  CHECK_THAT(client.ask("open busy own"), Catch::Contains("'busy' has not accepted 2 channels") &&
                                              Catch::Contains("process " + std::to_string(getpid())));
  CHECK(service.told() == "channel");
  CHECK(client.ask("open busy own") == "channel");
  CHECK_THAT(client.ask("open busy own"), Catch::Contains("has not accepted 2 channels"));
}

TEST_CASE("a user may leave so many ends of channels unaccepted, and then gets no more of any service") {
  const RunningBroker broker({.unaccepted_of_user = 4});
  const RawClient one(broker), other(broker), client(broker);
  REQUIRE(one.ask("register one own") == "registered");
  REQUIRE(other.ask("register other own") == "registered");
  const std::array<RawClient, 2> silent{RawClient(broker), RawClient(broker)};
  for (const RawClient& each : silent) {
    each.say("open one own");
    each.await_answer();
  }
  CHECK_THAT(client.ask("open other own"), Catch::Contains("4 ends are not accepted, as many as one user may"));
  CHECK(one.told() == "channel");
  CHECK(client.ask("open other own") == "channel");
  CHECK_THAT(client.ask("open other own"), Catch::Contains("as many as one user may"));
  CHECK(silent[0].told() == "channel");
  CHECK(client.ask("open other own") == "channel");
}

TEST_CASE("channel ends that a closed peer has not received count until it receives them or ends") {
  const RunningBroker broker({.unaccepted_of_user = 1});
  const RawClient service(broker), client(broker);
  REQUIRE(service.ask("register calm own") == "registered");
  std::optional<RawClient> silent(std::in_place, broker);
  silent->say("open calm own");
  silent->await_answer();
  REQUIRE(service.told() == "channel");
  silent->say("nonsense");
  const bool receives = GENERATE(true, false);
  CHECK_THAT(client.ask("open calm own"), Catch::Contains("1 end is not accepted"));
  if (receives) {
    CHECK(silent->told() == "channel");
    CHECK(silent->told() == "closed");
  }
  silent.reset();
  std::string answer = client.ask("open calm own");
  while (answer != "channel") answer = client.ask("open calm own");  // the broker notices an end when it checks
}

TEST_CASE("a peer that shut its socket counts with the ends that it has not received until it ends") {
  const RunningBroker broker({.unaccepted_of_user = 1});
  const RawClient service(broker), client(broker);
  REQUIRE(service.ask("register calm own") == "registered");
  std::optional<RawClient> silent(std::in_place, broker);
  silent->say("open calm own");
  silent->await_answer();
  REQUIRE(service.told() == "channel");
  silent->shut_both_ways();
  for (int i = 0; i < 5; ++i)  // the broker checks again each time
    CHECK_THAT(client.ask("open calm own"), Catch::Contains("1 end is not accepted"));
  silent.reset();
  std::string answer = client.ask("open calm own");
  while (answer != "channel") answer = client.ask("open calm own");  // the broker notices an end when it checks
}

TEST_CASE("a service that lost its name and ends late does not take the name from the next service") {
  const RunningBroker broker;
  std::optional<RawClient> first(std::in_place, broker);
  const RawClient next(broker), client(broker);
  REQUIRE(first->ask("register sought own") == "registered");
  REQUIRE(client.ask("open sought own") == "channel");
  first->say("nonsense");
  first->await_answer();
  while (next.ask("register sought own") != "registered") {
  }  // until the broker has read the nonsense
  first.reset();
  for (int i = 0; i < 5; ++i) CHECK(RawClient(broker).ask("open sought own") == "channel");
  CHECK_THAT(client.ask("register sought own"), Catch::Contains("'sought' is the name of process"));
}

TEST_CASE("a client that gives up is a channel less and no more") {
  const RunningBroker broker;
  auto service = broker.enlist("patient");
  REQUIRE(service);
  {
    const auto socket = channel::connect_socket(broker.path(), in_a_minute()).value();
    REQUIRE(send_message(socket, "open patient own"));
    REQUIRE(receive_message(socket, in_a_minute()));
  }
  refusal(service->accept(in_a_minute()), Kind::no_channel);
  CHECK(service->is_enlisted());
  std::jthread asking([&] { CHECK(broker.open("patient").has_value()); });
  CHECK(service->accept(in_a_minute()).has_value());
}

TEST_CASE("a peer that breaks the protocol is disconnected, and no other peer is") {
  const RunningBroker broker;
  auto service = broker.enlist("calm");
  REQUIRE(service);
  for (const char* text :
       {"", "open", "open a", "open a own c", "register a", "register a b c", "GET / HTTP/1.1", "registered"}) {
    const auto socket = channel::connect_socket(broker.path(), in_a_minute()).value();
    send(socket.get(), text, std::strlen(text), MSG_NOSIGNAL);
    CHECK_FALSE(receive_message(socket, in_a_minute()));
  }
  for (const char* text : {"register two;words u1x", "register a x", "open a x", "register \x01 own"}) {
    const auto socket = channel::connect_socket(broker.path(), in_a_minute()).value();
    REQUIRE(send_message(socket, text));
    const auto answer = receive_message(socket, in_a_minute());
    REQUIRE(answer);
    CHECK(answer->words[0] == "refused");
  }
  std::jthread asking([&] { CHECK(broker.open("calm").has_value()); });
  CHECK(service->accept(in_a_minute()).has_value());
}

TEST_CASE("users that a service does not name are refused by the broker") {
  if (geteuid() != 0) {
    WARN("SKIPPED: only root may be another user");
    return;
  }
  RunningBroker broker{RunningBroker::NotYet()};
  std::filesystem::permissions(std::filesystem::path(broker.path()).parent_path(), std::filesystem::perms(0755));
  const pid_t child = fork();
  if (child == 0) {
    const gid_t groups[] = {operators - 1, operators - 2};
    const bool is_other = setgroups(2, groups) == 0 && setgid(65534) == 0 && setuid(65534) == 0;
    _exit(is_other ? what_a_stranger_is_refused(broker) : 1);
  }
  broker.start();
  const corelane::testing::OtherGroups root({operators});
  auto open = broker.enlist("open", {.access = {.groups = {operators - 2}}});
  const auto own = broker.enlist("own", {.access = {.groups = {operators}}});
  REQUIRE(open);
  REQUIRE(own);
  const auto met = open->accept(in_a_minute());
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
  REQUIRE(met);
  CHECK(met->peer.user == 65534);
}

TEST_CASE("an access list that the broker cannot be told is refused with what to do") {
  const RunningBroker broker;
  const channel::Options many{.access = {.users = std::vector<uid_t>(100, 65534)}};
  CHECK_THAT(refusal(broker.enlist("crowded", many), Kind::bad_name), Catch::Contains("name a group"));
  const auto service = broker.enlist("own");
  REQUIRE(service);
  CHECK_THAT(refusal(broker.open("own", many), Kind::bad_name), Catch::Contains("name a group"));
}

TEST_CASE("an access list is read as it was written") {
  for (const channel::Access& access :
       {channel::Access{}, channel::Access{.anyone = true}, channel::Access{.users = {0, 1000}, .groups = {33}}})
    CHECK(parse_access(access_text(access)) == access);
  for (const char* wrong : {"", ",", "u", "u1,", "x1", "u-1", "u1x", "u99999999999", "anyone"})
    CHECK_FALSE(parse_access(wrong));
}

TEST_CASE("a broker whose socket or directory was removed is there again, with the services that it had") {
  const RunningBroker broker;
  const auto service = broker.enlist("plant");
  REQUIRE(service);
  for (const bool with_directory : {false, true}) {
    std::filesystem::remove(broker.path() + ".lock");
    std::filesystem::remove(broker.path());
    std::error_code ignored;  // the broker may remove it first
    if (with_directory) std::filesystem::remove(broker.directory(), ignored);
    auto other = broker.enlist("other");  // unreachable until the broker is there again
    while (!other && other.error().kind == Kind::unreachable) other = broker.enlist("other");
    CHECK(other);
    const auto again = broker.enlist("plant");
    CHECK((!again && again.error().kind == Kind::name_taken));
  }
}

TEST_CASE("a broker whose directory was a file for a while is there again when it is not") {
  const corelane::testing::CapturedErrors errors;
  const RunningBroker broker;
  const auto remove = [&] { std::filesystem::remove_all(broker.directory()); };
  for (remove(); !std::ofstream(broker.directory()); remove()) continue;  // the broker may make it again first
  while (errors.times("was removed and cannot be made again") == 0) std::this_thread::yield();
  std::filesystem::remove(broker.directory());
  auto service = broker.enlist("plant");  // unreachable until the broker is there again
  while (!service && service.error().kind == Kind::unreachable) service = broker.enlist("plant");
  CHECK(service);
}
