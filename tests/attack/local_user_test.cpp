// Tests another user of the host: what it cannot take from servers of root and of a third user.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "CosNamingC.h"
#include "orb/os/process/child_process.h"
#include "tests/attack/attack.h"
#include "tests/attack/attacked_server.h"
#include "tests/attack/requests.h"
#include "tests/support/system/other_users_socket.h"
#include "tests/support/system/temp_directory.h"

namespace corelane::attack {
namespace {

using namespace corelane::testing;
using transport::TransportKind;
namespace kinds = transport::kinds;
using Words = std::vector<std::string>;

constexpr uid_t victim = another_user - 1;

bool can_be_others() {
  if (::geteuid() == 0) return true;
  WARN("SKIPPED: only root can be another user");
  return false;
}

Words as_user(uid_t user, Words command) {
  const std::string id = std::to_string(user);
  command.insert(command.begin(), {"setpriv", "--reuid=" + id, "--regid=" + id, "--clear-groups", "--"});
  return command;
}

// Returns bytes that are not a message, or that only begin like one.
std::vector<std::byte> garbage(bool looks_like_giop) {
  std::vector<std::byte> bytes(4096);
  std::minstd_rand random(7);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random());
  const auto magic = test::wire("'GIOP' 010200");
  if (looks_like_giop) std::copy(magic.begin(), magic.end(), bytes.begin());
  return bytes;
}

// Returns a copy of the program that another user may run, wherever the original lies.
std::string copy_for_others(const TempDirectory& directory) {
  REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);
  const std::string program = directory / "attack-server";
  std::filesystem::copy_file(os::program_beside("corelane-attack-server"), program);
  REQUIRE(::chmod(program.c_str(), 0755) == 0);
  return program;
}

CosNaming::Name named(const std::string& id) { return {CosNaming::NameComponent(id, "")}; }

}  // namespace

TEST_CASE("another user does not get to a server's sockets unless it is let in and floods by TCP keep no client out") {
  if (!can_be_others()) return;
  AttackedServer server;
  {
    const auto call = several(request(server.key, "ping"), 64);
    const Attack by_unix(server.endpoint(&kinds::unix_socket), {.bytes = call, .user = another_user});
    const Attack by_channel(server.endpoint(&kinds::channel), {.bytes = call, .user = another_user});
    const Attack by_tcp(server.endpoint(&kinds::tcp), {.bytes = call, .user = another_user});
    CHECK(server.serves(good_calls() / 2));
    CHECK(by_unix.sent() == 0);
    CHECK(by_tcp.sent() > 0);
  }
  CHECK(server.recovers());
}

TEST_CASE("clients are served while another user fills a socket's connections with half headers or garbage") {
  if (!can_be_others()) return;
  const auto [bytes, connections] = GENERATE(table<std::vector<std::byte>, std::size_t>(
      {{test::wire("'GIOP' 0102"), 600}, {garbage(false), 8}, {garbage(true), 8}}));
  AttackedServer server({"-ORBEndpointUnixMode", "0666", "-ORBChannelAllow", std::to_string(another_user)});
  {
    const Attack::Plan plan{
        .bytes = bytes, .repeats = connections < 100, .connections = connections, .user = another_user};
    const Attack by_unix(server.endpoint(&kinds::unix_socket), plan);
    const Attack by_channel(server.endpoint(&kinds::channel), plan);
    const Attack by_tcp(server.endpoint(&kinds::tcp), plan);
    CHECK(server.serves(good_calls() / 2));
    CHECK(by_unix.sent() > 0);
  }
  CHECK(server.recovers());
}

TEST_CASE("a server starts and serves although another user has made the directory that it would use") {
  if (!can_be_others()) return;
  const std::string taken = "/tmp/corelane-" + std::to_string(victim);
  if (!std::filesystem::create_directory(taken)) {
    WARN("SKIPPED: there is a " << taken << " already");
    return;
  }
  struct Removal {
    const std::string& path;
    ~Removal() { std::filesystem::remove_all(path); }
  } const removal{taken};
  REQUIRE(::chown(taken.c_str(), another_user, another_user) == 0);
  REQUIRE(::chmod(taken.c_str(), 0777) == 0);
  const TempDirectory directory;
  const std::string program = copy_for_others(directory), home = directory / "home";
  std::filesystem::create_directory(home);
  REQUIRE(::chown(home.c_str(), victim, victim) == 0);
  ServerProcess server(
      as_user(victim, {"env", "-u", "XDG_RUNTIME_DIR", "HOME=" + home, program, "serve", "-ORBLogLevel", "off"}));
  for (const auto kind : {&kinds::unix_socket, &kinds::channel})
    CHECK_FALSE(server.endpoint(kind).path.starts_with(taken));
  CHECK(std::filesystem::is_empty(taken));
  GoodOrb client;
  const auto probe = server.probe_at(client, &kinds::tcp);
  for (int i = 0; i < 10; ++i) CHECK(probe->add(i, 1) == i + 1);
}

TEST_CASE("another user changes no names at a nameserver with default settings") {
  if (!can_be_others()) return;
  const TempDirectory directory;
  const std::string program = copy_for_others(directory), reference = directory / "names.ior";
  os::ChildProcess nameserver({os::program_beside("corelane-nameserver"), "-ORBRuntimeDirectory", directory / "run",
                               "-ORBNamingStore", "memory", "-ORBEndpointListen",
                               "127.0.0.1:0, unix:" + directory / "names.sock", "-ORBEndpointUnixMode", "0666",
                               "-ORBLogLevel", "off", "--ior-file", reference});
  REQUIRE(nameserver.read_line());
  std::string ior;
  std::getline(std::ifstream(reference) >> std::ws, ior);
  GoodOrb client;
  const auto names = IDL::traits<CosNaming::NamingContext>::narrow(client->string_to_object(ior));
  names->bind(named("plant"), names);
  os::ChildProcess usurper(as_user(another_user, {program, "usurp", ior, "plant"}));
  while (const auto line = usurper.read_line()) CHECK(*line == "0");
  CHECK(usurper.wait()->ok());
  CHECK(names->resolve(named("plant"))->_is_equivalent(names));
}

}  // namespace corelane::attack
