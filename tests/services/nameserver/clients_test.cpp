// Which clients may change names.
#include "services/nameserver/clients.h"

#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "orb/os/fd.h"
#include "orb/os/machine/host.h"
#include "tests/services/nameserver/served.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;
using nameserver::Writers;
using transport::PeerCredentials;

namespace {

constexpr std::uint32_t unknown = 4'000'001;

nameserver::NameserverSettings settings_for(
    const channel::Access& writers,
    nameserver::NameserverSettings::Unknown network = nameserver::NameserverSettings::Unknown::automatic) {
  nameserver::NameserverSettings settings;
  settings.writers = writers;
  settings.network_writers = network;
  return settings;
}

// Binds a name as a user with that supplementary group, at the reference that is read from `hear`. Returns 0 if it is
// bound, 2 if it may not.
int binds_as(gid_t group, const os::Fd& hear) {
  std::string root;
  std::array<char, 1024> part;
  for (ssize_t got = 0; (got = ::read(hear.get(), part.data(), part.size())) > 0;)
    root.append(part.data(), static_cast<std::size_t>(got));
  if (setgroups(1, &group) != 0 || setgid(unknown) != 0 || setuid(unknown) != 0) return 1;
  const QuietOrb client;
  const auto names = IDL::traits<CosNaming::NamingContext>::narrow(client->string_to_object(root));
  const std::string raised = raised_by([&] { names->bind_new_context(cos_name("n")); });
  return raised == "" ? 0 : raised == "NO_PERMISSION" ? 2 : 3;
}

}  // namespace

TEST_CASE("only clients on the access list may change names") {
  using Unknown = nameserver::NameserverSettings::Unknown;
  struct Row {
    channel::Access writers;
    Unknown network;
    std::optional<PeerCredentials> client;
    std::vector<gid_t> groups;
    bool may;
  };
  const Row rows[] = {
      {{.anyone = true}, Unknown::automatic, PeerCredentials{1, unknown}, {unknown}, true},
      {{.anyone = true}, Unknown::automatic, std::nullopt, {}, true},
      {{.anyone = true}, Unknown::off, std::nullopt, {}, false},
      {{}, Unknown::automatic, PeerCredentials{1, unknown}, {unknown}, false},
      {{}, Unknown::automatic, PeerCredentials{1, 0}, {0}, true},
      {{}, Unknown::automatic, PeerCredentials{1, geteuid()}, {unknown}, true},
      {{}, Unknown::automatic, std::nullopt, {}, false},
      {{}, Unknown::on, std::nullopt, {}, true},
      {{.users = {unknown}}, Unknown::automatic, PeerCredentials{1, unknown}, {1}, true},
      {{.users = {unknown}}, Unknown::automatic, PeerCredentials{1, unknown + 1}, {unknown}, false},
      {{.groups = {unknown}}, Unknown::automatic, PeerCredentials{1, unknown + 1}, {unknown}, true},
      {{.groups = {unknown}}, Unknown::automatic, PeerCredentials{1, unknown + 1}, {1, 2, unknown}, true},
      {{.groups = {unknown}}, Unknown::automatic, PeerCredentials{1, unknown}, {1, 2}, false},
      {{.groups = {unknown}}, Unknown::automatic, PeerCredentials{1, unknown}, {}, false},
  };
  for (const Row& row : rows) {
    CAPTURE(&row - rows);
    CHECK(Writers(settings_for(row.writers, row.network)).admits(row.client, row.groups).has_value() == row.may);
  }
}

TEST_CASE("a client may change names because of its supplementary group") {
  if (geteuid() != 0) {
    WARN("SKIPPED: only root may be another user");
    return;
  }
  const gid_t operators = unknown + 2;
  for (const gid_t group : {operators, operators + 1}) {
    const TempDirectory place;
    REQUIRE(chmod(place.path().c_str(), 0755) == 0);
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    os::Fd hear(ends[0]), tell(ends[1]);
    const pid_t child = fork();  // before threads exist
    REQUIRE(child >= 0);
    if (child == 0) {
      tell.reset();
      _exit(binds_as(group, hear));
    }
    ServedNames names({"-ORBNamingWriters", "@" + std::to_string(operators), "-ORBEndpointListen",
                       "unix:" + place / "names.sock", "-ORBEndpointUnixMode", "0666"});
    const std::string root = names.ior();
    REQUIRE(::write(tell.get(), root.data(), root.size()) == static_cast<ssize_t>(root.size()));
    tell.reset();
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == (group == operators ? 0 : 2));
  }
}

TEST_CASE("the addresses of an IPv6 host count as one") {
  const std::pair<const char*, const char*> rows[] = {{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
                                                      {"2001:db8:1:2::", "2001:db8:1:2::/64"},
                                                      {"2001:db8:1:3::1", "2001:db8:1:3::/64"},
                                                      {"fe80::1%eth0", "fe80::%eth0/64"},
                                                      {"::1", "::1"},
                                                      {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
                                                      {"192.0.2.1", "192.0.2.1"},
                                                      {"", ""}};
  for (const auto& [host, network] : rows) CHECK(nameserver::network_of(host) == network);
}

TEST_CASE("a client that may not change names may still look them up") {
  ServedNames names({"-ORBNamingNetworkWriters", "auto"});
  names.root()->bind_new_context(cos_name("c"));  // the nameserver's own process may do this
  const QuietOrb client;
  const auto root = names.seen_by(client);  // over TCP
  CHECK(raised_by([&] { root->resolve(cos_name("c")); }) == "");
  CosNaming::BindingList list;
  CORBA::object_reference<CosNaming::BindingIterator> rest;
  root->list(0, list, rest);
  CHECK(rest->next_n(5, list));
  const auto context = CosNaming::Name(cos_name("n"));
  std::uint32_t milliseconds = 1000;
  const auto server = root->nameserver();
  const std::string answers[] = {
      raised_by([&] { root->bind(context, nullptr); }),
      raised_by([&] { root->rebind(context, nullptr); }),
      raised_by([&] { root->bind_context(context, root); }),
      raised_by([&] { root->rebind_context(context, root); }),
      raised_by([&] { root->unbind(cos_name("c")); }),
      raised_by([&] { root->new_context(); }),
      raised_by([&] { root->bind_new_context(context); }),
      raised_by([&] { root->destroy(); }),
      raised_by([&] { root->bind_leased(context, nullptr, 1, true); }),
      raised_by([&] { server->lease_for(milliseconds); }),
      raised_by([&] { server->lease_of({}); }),
  };
  for (const std::string& answer : answers) CHECK(answer == "NO_PERMISSION");
  const CapturedErrors errors;
  CHECK_THROWS_WITH(root->unbind(cos_name("c")), Catch::Contains("naming.network_writers on"));
}

TEST_CASE("the log says at intervals which user was refused and which setting would allow it") {
  const CapturedErrors errors;
  ServedNames names({"-ORBNamingNetworkWriters", "auto"});
  const QuietOrb client;
  const auto root = names.seen_by(client);
  for (int i = 0; i < 5; ++i) CHECK(raised_by([&] { root->bind(cos_name("n"), nullptr); }) == "NO_PERMISSION");
  CHECK(errors.times("naming: a change was refused (host 127.0.0.1): a client over TCP may not change names") == 1);
  CHECK(errors.times("-ORBNamingNetworkWriters on") == 1);
}

TEST_CASE("by default names are changed over local sockets alone, by root and the user of the nameserver") {
  const TempDirectory place;
  ServedNames names({"-ORBNamingNetworkWriters", "auto", "-ORBEndpointListen", "127.0.0.1:0,unix:" + place / "n.sock"});
  const QuietOrb by_socket({"-ORBEndpointLocal", "off"});
  const auto root = names.seen_by(by_socket);  // it uses the Unix socket of its host
  CHECK(raised_by([&] { root->bind(cos_name("x"), root); }) == "");
  CHECK(raised_by([&] { root->rebind(cos_name("x"), root); }) == "");
  CHECK(raised_by([&] { root->unbind(cos_name("x")); }) == "");
}

TEST_CASE("a name that one user has bound is not changed by another and says whose it is") {
  if (geteuid() != 0) {
    WARN("SKIPPED: only root may be another user");
    return;
  }
  const TempDirectory place;
  REQUIRE(chmod(place.path().c_str(), 0755) == 0);
  // Each child waits for the reference, does its part and exits with its result: 0 is correct.
  const auto part_of = [&](uid_t user, const std::function<int(const NamingDirectory&)>& part) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    struct Child {
      pid_t pid;
      os::Fd tell;
    };
    os::Fd hear(ends[0]), tell(ends[1]);
    const pid_t child = fork();  // before threads exist
    REQUIRE(child >= 0);
    if (child == 0) {
      tell.reset();
      std::string root;
      for (char c = 0; ::read(hear.get(), &c, 1) == 1 && c != '\n';) root += c;
      if (setgroups(0, nullptr) != 0 || setgid(user) != 0 || setuid(user) != 0) _exit(100);
      const QuietOrb client;
      _exit(part(IDL::traits<Corelane::Naming::Directory>::narrow(client->string_to_object(root))));
    }
    return Child{child, std::move(tell)};
  };
  const auto process_of = [](std::int32_t pid) {
    const auto& here = os::this_host();
    const auto identity = os::identity_of(pid).value();
    return Corelane::Naming::Process(here.boot_id, here.pid_namespace, identity.pid, identity.start_ticks);
  };
  const std::int32_t parent = getpid();
  auto first = part_of(unknown, [&](const NamingDirectory& root) {
    if (raised_by([&] { root->bind(cos_name("annas"), root); }) != "") return 1;
    if (raised_by([&] { root->bind_new_context(cos_name("context")); }) != "") return 2;
    if (raised_by([&] { root->bind(cos_name("context/inner"), root); }) != "") return 3;
    // This client may have only these three names.
    if (raised_by([&] { root->bind(cos_name("fourth"), root); }) != "IMP_LIMIT") return 4;
    // It may not have a lease of root's process, but it may have one of its own process.
    if (raised_by([&] { root->nameserver()->lease_of(process_of(parent)); }) != "Refused") return 5;
    return raised_by([&] { root->nameserver()->lease_of(process_of(getpid())); }) == "" ? 0 : 6;
  });
  auto second = part_of(unknown + 1, [&](const NamingDirectory& root) {
    const std::string not_mine = "NO_PERMISSION";
    if (raised_by([&] { root->rebind(cos_name("annas"), root); }) != not_mine) return 1;
    if (raised_by([&] { root->unbind(cos_name("annas")); }) != not_mine) return 2;
    if (raised_by([&] { root->unbind(cos_name("roots")); }) != "") return 3;  // no owner: the server's program bound it
    if (raised_by([&] { root->unbind(cos_name("context")); }) != not_mine) return 4;
    if (raised_by([&] { root->rebind_context(cos_name("context"), root); }) != not_mine) return 5;
    const auto context = IDL::traits<CosNaming::NamingContext>::narrow(root->resolve(cos_name("context")));
    if (raised_by([&] { context->unbind(cos_name("inner")); }) != not_mine) return 6;
    if (raised_by([&] { context->destroy(); }) != not_mine) return 7;
    std::uint32_t milliseconds = 60'000;
    const auto lease = root->nameserver()->lease_for(milliseconds);
    if (raised_by([&] { root->bind_leased(cos_name("annas"), root, lease, true); }) != not_mine) return 8;
    try {
      root->unbind(cos_name("annas"));
    } catch (const CORBA::NO_PERMISSION& refused) {
      const std::string text = refused.what();
      return text.find("'annas' belongs to user " + std::to_string(unknown)) != text.npos ? 0 : 9;
    }
    return 10;
  });
  auto third = part_of(0, [&](const NamingDirectory& root) {
    if (raised_by([&] { root->rebind(cos_name("annas"), root); }) != "") return 1;
    return raised_by([&] { root->unbind(cos_name("context/inner")); }) == "" ? 0 : 2;
  });
  nameserver::StoreOptions options{.limits = {.bindings_of_client = 3, .privileged = nameserver::privileged_clients()}};
  ServedNames names({"-ORBNamingWriters", "anyone", "-ORBEndpointListen", "unix:" + place / "names.sock",
                     "-ORBEndpointUnixMode", "0666"},
                    "memory", options);
  names.root()->bind(cos_name("roots"), nullptr);
  const std::string root = names.ior() + "\n";  // a newline ends it, because children hold the pipes of others open
  for (auto* child : {&first, &second, &third}) {
    REQUIRE(::write(child->tell.get(), root.data(), root.size()) == static_cast<ssize_t>(root.size()));
    child->tell.reset();
    int status = 0;
    REQUIRE(waitpid(child->pid, &status, 0) == child->pid);
    CAPTURE(child - &first);
    CHECK(WEXITSTATUS(status) == 0);
  }
}

TEST_CASE("a test that becomes another user has a directory where that one gets to, wherever TMPDIR is") {
  const char* const usual = std::getenv("TMPDIR");
  const std::optional<std::string> before = usual != nullptr ? std::optional<std::string>(usual) : std::nullopt;
  const TempDirectory closed;  // with mode 0700
  setenv("TMPDIR", closed.path().c_str(), 1);
  const TempDirectory inner;
  if (before)
    setenv("TMPDIR", before->c_str(), 1);
  else
    unsetenv("TMPDIR");
  CHECK(inner.path().starts_with(closed.path()) == (geteuid() != 0));
}
