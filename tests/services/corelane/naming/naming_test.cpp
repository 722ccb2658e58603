// `corelane ns`: its messages for a naming service's refusals, and its work with Corelane's own nameserver.
#include "services/corelane/naming/naming.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "CorelaneNamingC.h"
#include "orb/core/client/name_service.h"
#include "orb/giop/corbaloc.h"
#include "orb/giop/ior.h"
#include "orb/os/process/child_process.h"
#include "services/corelane/host/listening.h"
#include "services/corelane/naming/nameserver_look.h"
#include "services/corelane/naming/naming_fault.h"
#include "services/corelane/references/calling_orb.h"
#include "services/corelane/references/ior.h"
#include "services/corelane/references/ping.h"
#include "services/corelane/reservation/reserve.h"
#include "services/nameserver/client/cos_name.h"
#include "tests/services/nameserver/stores/etcd/etcd_server.h"
#include "tests/support/peers/stop_process.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::tool;
using Catch::Contains;
using corelane::os::ChildProcess;
using corelane::os::program_beside;
using corelane::testing::stop_process;
using corelane::testing::TempDirectory;
using Context = CosNaming::NamingContext;
using Reason = CosNaming::NamingContext::NotFoundReason;

namespace {

giop::Name name_of(const std::string& text) { return *giop::parse_name(text); }

// Starts a nameserver whose names end with it.
ChildProcess nameserver_in(const std::string& directory, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{program_beside("corelane-nameserver"),
                                 "-ORBRuntimeDirectory",
                                 directory,
                                 "-ORBNamingStore",
                                 "memory",
                                 "-ORBEndpointListen",
                                 "127.0.0.1:0",
                                 "-ORBLogLevel",
                                 "off"};
  words.insert(words.end(), more.begin(), more.end());
  return ChildProcess(words);
}

// Returns why an ORB with these options finds no nameserver. Returns nothing if another process has port 2809.
std::optional<core::NameserverAbsence> absence_of(const std::vector<std::string>& options) {
  const CallingOrb orb("absence", options);
  const auto found = core::nameserver_of_host(orb->shared_from_this());
  return found ? std::nullopt : std::optional(found.error());
}

CosNaming::Name wire_of(const std::string& text) { return naming::cos_name_of(name_of(text)); }

}  // namespace

TEST_CASE("each refusal of a naming service says which component it was and what to do next") {
  const std::string name = "plant/line.1/controller";
  const auto said_of = [&](const std::exception& exception) { return fault_of_naming(exception, name_of(name), true); };
  CHECK(
      said_of(Context::NotFound(Reason::missing_node, wire_of("line.1/controller"))) ==
      "'plant' has no 'line.1'; corelane ns list 'plant' shows what it has, ns bind --parents makes contexts that are "
      "missing");
  CHECK(said_of(Context::NotFound(Reason::missing_node, wire_of("controller"))) ==
        "'plant/line.1' has no 'controller'; corelane ns list 'plant/line.1' shows what it has");
  CHECK(
      said_of(Context::NotFound(Reason::missing_node, wire_of(name))) ==
      "the root context has no 'plant'; corelane ns list shows what it has, ns bind --parents makes contexts that are "
      "missing");
  CHECK(said_of(Context::NotFound(Reason::not_context, wire_of("line.1/controller"))) ==
        "'line.1' in 'plant' is an object and no context, so it holds no names; corelane ns list 'plant' shows what "
        "there is, ns unbind takes that name away, so that it can be a context's");
  CHECK(said_of(Context::NotFound(Reason::not_object, wire_of("controller"))) ==
        "'controller' in 'plant/line.1' is a context and no object; corelane ns list 'plant/line.1/controller' shows "
        "what it holds");
  CHECK(fault_of_naming(Context::NotFound(Reason::missing_node, wire_of(name)), name_of(name)) ==
        "the root context has no 'plant'; corelane ns list shows what it has");
  CHECK_THAT(said_of(Context::NotFound(Reason::missing_node, {})), Contains("is not bound"));
  CHECK_THAT(said_of(Context::CannotProceed(nullptr, wire_of("controller"))), Contains("as far as 'plant/line.1'"));
  CHECK_THAT(said_of(Context::AlreadyBound()), Contains("--replace"));
  CHECK_THAT(said_of(Context::NotEmpty()), Contains("corelane ns list 'plant/line.1/controller'"));
  CHECK_THAT(said_of(Context::InvalidName()), Contains("no name"));
  CHECK(said_of(Corelane::Naming::Refused("because")) == "because");
  CHECK_THAT(said_of(Corelane::Naming::UnknownLease()), Contains("has ended"));
  CHECK(said_of(std::exception()).empty());
}

TEST_CASE("a name is the same on the wire and here") {
  const giop::Name name = name_of("a.b/c/.d");
  CHECK(naming::name_of(naming::cos_name_of(name)) == name);
}

TEST_CASE("names are bound, shown, watched and taken away from the command line") {
  const TempDirectory place;
  ChildProcess server = nameserver_in(place.path());
  REQUIRE(server.read_line());
  const NamingOptions start{.orb_options = {"-ORBRuntimeDirectory", place.path()}};
  struct Case {
    int (*work)(const NamingOptions& options, std::ostream& out, std::ostream& err);
    std::function<void(NamingOptions&)> change;
    const char *out, *said;
  };
  const std::string nobody = "corbaloc::127.0.0.1:1/x",
                    listed = "a/  stays until it is unbound\nc/  stays until it is unbound\ng  goes with process " +
                             std::to_string(::getpid()) + "\n";
  const auto with = [](const char* name, const std::optional<std::string>& reference = {}) {
    return [=](NamingOptions& options) { options.name = name, options.reference = reference; };
  };
  const auto context = [](const char* name) {
    return [=](NamingOptions& options) { options.name = name, options.context = true; };
  };
  const Case cases[] = {
      {list_names, with(""), "", ""},
      {bind_name, with("a/b", nobody), "", "corelane ns bind: the root context has no 'a'; "},
      {bind_name, with("a"), "", "corelane ns bind: what is 'a' to mean? Give a REFERENCE, "},
      {bind_name, [&](NamingOptions& o) { with("a", nobody)(o), o.context = true; }, "",
       "corelane ns bind: a new context (--context) has no REFERENCE"},
      {bind_name, context("a"), "", ""},
      {bind_name, with("a/b", nobody), "", ""},
      {bind_name, with("a/b", nobody), "", "corelane ns bind: 'a/b' is bound already; "},
      {bind_name, [&](NamingOptions& o) { with("a/b", nobody)(o), o.replace = true; }, "", ""},
      {bind_name, [&](NamingOptions& o) { with("c/d.e/f", nobody)(o), o.parents = true; }, "", ""},
      {bind_name, [&](NamingOptions& o) { with("g", nobody)(o), o.process = ::getpid(); }, "", ""},
      {bind_name, [&](NamingOptions& o) { with("h", nobody)(o), o.process = 1 << 22; }, "",
       "corelane ns bind: there is no process 4194304 that this user sees\n"},
      {bind_name, with("i", ""), "", "corelane ns bind: an empty word is no reference; give "},
      {bind_name, with("i", "IOR:00"), "", "corelane ns bind: IOR:00 is no reference: at character "},
      {bind_name, with("i", "/proc/version"), "", "corelane ns bind: /proc/version holds no reference: "},
      {bind_name, [&](NamingOptions& o) { context("i")(o), o.process = ::getpid(); }, "",
       "corelane ns bind: a context does not go with a process; "},
      {list_names, [&](NamingOptions& o) { o.recursive = true; }, "a/\na/b\nc/\nc/d.e/\nc/d.e/f\ng\n", ""},
      {list_names, [&](NamingOptions& o) { o.details = true; }, listed.c_str(), ""},
      {list_names, with("c"), "d.e/\n", ""},
      {list_names, with("a/b"), "",
       "corelane ns list: 'a/b' leads to an object that does not answer (if its server is gone for good, corelane ns "
       "unbind 'a/b' takes the name away): TRANSIENT "},
      {resolve_name, with("a/x"), "", "corelane ns resolve: 'a' has no 'x'; corelane ns list 'a' shows what it has\n"},
      {unbind_name, [&](NamingOptions& o) { with("a")(o), o.destroy = true; }, "",
       "corelane ns unbind: 'a' still holds "},
      {unbind_name, with("a"), "", "corelane ns unbind: 'a' means a context, whose names "},
      {unbind_name, with("x"), "", "corelane ns unbind: the root context has no 'x'; "},
      {unbind_name, with("a/b"), "", ""},
      {unbind_name, [&](NamingOptions& o) { with("a")(o), o.destroy = true; }, "", ""},
      {unbind_name, [&](NamingOptions& o) { with("c")(o), o.name_only = true; }, "", ""},
      {list_names, with(""), "g\n", ""},
  };
  for (const Case& c : cases) {
    NamingOptions options = start;
    c.change(options);
    std::ostringstream out, err;
    const int status = c.work(options, out, err);
    CAPTURE(options.name, err.str());
    CHECK(out.str() == c.out);
    CHECK_THAT(err.str(), Catch::StartsWith(c.said));
    const bool is_usage = err.str().ends_with("see corelane ns bind --help\n");
    CHECK(status == (*c.said == '\0' ? 0 : is_usage ? 2 : 1));
  }
}

TEST_CASE("where a nameserver does not go on into another, or may not change names there, the commands do") {
  const std::string calls = GENERATE("0", "16");
  const TempDirectory near_place, far_place;
  const std::string file = far_place / "root.ior";
  ChildProcess near = nameserver_in(near_place.path(), {"-ORBNamingForeignCalls", calls});
  ChildProcess far = nameserver_in(far_place.path(), {"--ior-file", file});
  REQUIRE((near.read_line() && far.read_line()));
  std::ostringstream out, err;
  const auto with = [&](const std::string& name, const std::optional<std::string>& reference = {}) {
    return NamingOptions{.orb_options = {"-ORBRuntimeDirectory", near_place.path()},
                         .name = name,
                         .reference = reference,
                         .context = !reference};
  };
  CHECK(bind_name(with("far", "file://" + file), out, err) == 0);
  CHECK(bind_name(with("far/x", "corbaloc::127.0.0.1:1/x"), out, err) == 0);
  CHECK(bind_name(with("far/c"), out, err) == 0);
  CHECK(list_names(with("far/c"), out, err) == 0);
  NamingOptions ended = with("far/c");
  ended.destroy = true;
  CHECK(unbind_name(ended, out, err) == 0);
  CHECK(list_names(with("far"), out, err) == 0);
  CHECK(out.str() == "x\n");
  CHECK(err.str().empty());
  CHECK(resolve_name(with("far/y"), out, err) == 1);
  CHECK_THAT(err.str(), Contains("'far' has no 'y'"));
}

TEST_CASE("where no nameserver runs it is said once where was looked and what to do") {
  const TempDirectory place;
  const std::string socket = place / "nameserver.sock";
  std::ostringstream out, err;
  NamingOptions options{.orb_options = {"-ORBRuntimeDirectory", place.path()}};
  const auto absence = absence_of(options.orb_options);
  if (!absence) {
    WARN("SKIPPED: a nameserver has port 2809 of this host");
    return;
  }
  CHECK(list_names(options, out, err) == 1);
  CHECK(err.str() == "corelane ns list: " + absence->why + ": " + absence->remedy + " --service REFERENCE\n");
  CHECK_THAT(absence->why, Contains(socket));
}

TEST_CASE("a ping by a name whose object is gone says that the nameserver answers, and what becomes of the name") {
  const TempDirectory place;
  ChildProcess server = nameserver_in(place.path());
  REQUIRE(server.read_line());
  const std::vector<std::string> here{"-ORBRuntimeDirectory", place.path()};
  std::ostringstream out, err;
  REQUIRE(bind_name({.orb_options = here, .name = "a", .reference = "corbaloc::127.0.0.1:1/x"}, out, err) == 0);
  CHECK(ping({.reference = "corbaname:rir:#a", .calls = 1, .options = here}, out, err) == 1);
  CHECK_THAT(err.str(), Contains("The nameserver answers, and this is the object of the name") &&
                            Contains("ns bind --replace") && !Contains("ns status"));
}

TEST_CASE("the state of a nameserver's store is shown, as a table and as JSON") {
  const TempDirectory place;
  ChildProcess server = nameserver_in(place.path());
  REQUIRE(server.read_line());
  NamingOptions options{.orb_options = {"-ORBRuntimeDirectory", place.path()}, .name = "a", .context = true};
  std::ostringstream table, json, err;
  REQUIRE(bind_name(options, table, err) == 0);
  options.name = "";
  CHECK(show_naming_status(options, table, err) == 0);
  CHECK(table.str() ==
        "store      memory\nstate      fresh\nnames      1, in the root and 1 other context\n"
        "clients    0 leases, 0 watches, 0 iterators\n");
  options.format = Format::json;
  CHECK(show_naming_status(options, json, err) == 0);
  const auto shown = nlohmann::json::parse(json.str());
  CHECK(shown["store"] == "memory");
  CHECK(shown["stale"] == false);
  CHECK(shown["stale_ms"] == 0);
  CHECK(shown["names"] == 1);
  CHECK(err.str().empty());
}

TEST_CASE("while the store is away every answer says so, and what to do") {
  if (nameserver::testing::lacks_etcd()) return;
  nameserver::testing::EtcdServer etcd;
  const TempDirectory place;
  ChildProcess server = nameserver_in(place.path(), {"-ORBNamingStore", etcd.url()});
  REQUIRE(server.read_line());
  NamingOptions options{.orb_options = {"-ORBRuntimeDirectory", place.path()}, .name = "a", .context = true};
  const auto said_by = [&](auto work, int status) {
    std::ostringstream out, err;
    CHECK(work(options, out, err) == status);
    return err.str();
  };
  CHECK(said_by(bind_name, 0).empty());
  options.context = false;
  CHECK(said_by(resolve_name, 0).empty());
  etcd.kill();
  std::ostringstream ignored;
  nameserver::testing::until([&] { return show_naming_status(options, ignored, ignored) == 1; });
  for (const auto work : {list_names, resolve_name}) {
    const std::string said = said_by(work, 0);
    CHECK_THAT(said, Contains(" the nameserver has not heard of its store (etcd http://127.0.0.1:"));
    CHECK_THAT(said, Catch::EndsWith("; see corelane ns status\n"));
    CHECK(std::ranges::count(said, '\n') == 1);
  }
  CHECK_THAT(said_by(show_naming_status, 1), Contains("the nameserver tries again every 3 s"));
  options.reference = "corbaloc::127.0.0.1:1/x", options.name = "x", options.process = ::getpid();
  CHECK_THAT(said_by(bind_name, 1), Contains("TRANSIENT") && Contains("; corelane ns status says which store it is"));
  std::ostringstream json;
  options.format = Format::json;
  CHECK(show_naming_status(options, json, ignored) == 1);
  const auto shown = nlohmann::json::parse(json.str());
  CHECK(shown["stale"] == true);
  CHECK(shown["stale_ms"] > 0);
  CHECK(shown["leases"] == 0);  // the lease of the refused bind is gone
}

TEST_CASE("doctor finds the nameserver that a setting names, and that of port or socket, as programs do") {
  const TempDirectory place, elsewhere;
  const std::string reference = place / "root.ior";
  ChildProcess server = nameserver_in(place.path(), {"--ior-file", reference});
  REQUIRE(server.read_line());
  const NameserverLook named =
      look_for_nameserver({"-ORBRuntimeDirectory", elsewhere.path(), "-ORBNamingService", "file://" + reference});
  CHECK(named.is_named);
  CHECK_THAT(named.answers, Contains("names are in memory, fresh"));
  const NameserverLook here = look_for_nameserver({"-ORBRuntimeDirectory", place.path()});
  CHECK_FALSE(here.is_named);
  CHECK_THAT(here.answers, Contains("names are in memory, fresh"));
  const NameserverLook lost = look_for_nameserver({"-ORBNamingService", "corbaloc::127.0.0.1:1/NameService"});
  CHECK(lost.is_named);
  CHECK(lost.answers.empty());
  CHECK_FALSE(lost.absence.empty());
}

TEST_CASE("contexts that hold each other are listed once") {
  const TempDirectory place;
  ChildProcess server = nameserver_in(place.path());
  REQUIRE(server.read_line());
  NamingOptions options{.orb_options = {"-ORBRuntimeDirectory", place.path()}, .name = "a", .context = true};
  std::ostringstream reference, out, err;
  REQUIRE(bind_name(options, out, err) == 0);
  options.context = false;
  REQUIRE(resolve_name(options, reference, err) == 0);
  options.reference = reference.str().substr(0, reference.str().find('\n'));
  for (const char* ring : {"a/x", "a/y"}) {
    options.name = ring;
    REQUIRE(bind_name(options, out, err) == 0);
  }
  options.name = "";
  options.recursive = true;
  REQUIRE(list_names(options, out, err) == 0);
  CHECK(out.str() == "a/\na/x/\na/y/\n");
  CHECK(err.str().empty());
}

TEST_CASE("a context that cannot be looked into hides no other name") {
  const TempDirectory place;
  ChildProcess server = nameserver_in(place.path());
  REQUIRE(server.read_line());
  NamingOptions options{.orb_options = {"-ORBRuntimeDirectory", place.path()}, .name = "hole"};
  options.reference =
      giop::to_string(giop::Ior{.type_id = std::string(CosNaming::NamingContext::_id),
                                .profiles = giop::to_ior(*giop::parse_corbaloc("corbaloc::127.0.0.1:1/x")).profiles});
  std::ostringstream out, err;
  REQUIRE(bind_name(options, out, err) == 0);
  options.name = "z", options.reference.reset(), options.context = true;
  REQUIRE(bind_name(options, out, err) == 0);
  options.name = "", options.recursive = true;
  CHECK(list_names(options, out, err) == 1);
  CHECK(out.str() == "hole/\nz/\n");
  CHECK_THAT(err.str(), Catch::StartsWith("corelane ns list: 'hole' was not looked into: "));
}

TEST_CASE("a watch tells of a name that is bound") {
  const TempDirectory place;
  ChildProcess server = nameserver_in(place.path());
  REQUIRE(server.read_line());
  ChildProcess watch({program_beside("corelane"), "ns", "watch", "plant/*", "--changes", "1", "--interval", "10ms",
                      "-ORBRuntimeDirectory", place.path()},
                     {.joins_errors = true});
  CHECK(watch.read_line() == "watching plant/*");
  std::ostringstream out, err;
  NamingOptions options{.orb_options = {"-ORBRuntimeDirectory", place.path()}, .name = "other", .context = true};
  CHECK(bind_name(options, out, err) == 0);
  options.context = false;
  options.name = "plant/controller";
  options.reference = "corbaloc::127.0.0.1:1/x";
  options.parents = true;
  CHECK(bind_name(options, out, err) == 0);
  CHECK(watch.read_line().value_or("") == "bound    plant/controller");
  CHECK(watch.wait()->ok());
}

TEST_CASE("a watch goes on with a nameserver that is started again") {
  const TempDirectory place;
  const std::string reference = place / "root.ior";  // no other nameserver is asked while it is away
  std::optional<ChildProcess> server(nameserver_in(place.path(), {"--ior-file", reference}));
  REQUIRE(server->read_line());
  ChildProcess watch(
      {program_beside("corelane"), "ns", "watch", "--changes", "1", "--interval", "10ms", "-ORBNamingService",
       "file://" + reference, "-ORBRuntimeDirectory", place.path(), "-ORBLogLevel", "off"},
      {.joins_errors = true});
  CHECK(watch.read_line() == "watching **");
  ::kill(server->pid(), SIGKILL);
  CHECK_THAT(watch.read_line().value_or(""), Contains("does not answer, waiting until it does"));
  server.emplace(nameserver_in(place.path()));
  REQUIRE(server->read_line());
  CHECK_THAT(watch.read_line().value_or(""), Contains("answers again, but does not report what changed"));
  std::ostringstream out, err;
  CHECK(bind_name({.orb_options = {"-ORBRuntimeDirectory", place.path()}, .name = "plant", .context = true}, out,
                  err) == 0);
  CHECK(watch.read_line() == "bound    plant/");
  CHECK(watch.wait()->ok());
}

// Errors.

TEST_CASE("a reference is read from a file that holds one, and never an empty one") {
  const TempDirectory place;
  const std::string file = place.path() + "/reference";
  for (const char* text : {"", " \n", "corbaloc::h/x\n"}) {
    std::ofstream(file) << text;
    std::istringstream in(text);
    std::ostringstream err;
    const auto from_file = read_reference("ior", file, in, err), from_input = read_reference("ior", "-", in, err);
    CAPTURE(text, err.str());
    CHECK(from_file == from_input);
    CHECK(from_file.has_value() == err.str().empty());
    if (!from_file) CHECK_THAT(err.str(), Contains(file + " is empty") && Contains("standard input held no reference"));
  }
}

TEST_CASE("without a naming service a command says how to come by one") {
  std::ostringstream out, err;
  const NamingOptions options{.orb_options = {"-ORBNamingService", "corbaloc::127.0.0.1:1/NameService"}, .name = "a"};
  CHECK(resolve_name(options, out, err) == 1);
  CHECK(out.str().empty());
  CHECK_THAT(err.str(), Catch::StartsWith("corelane ns resolve: ") && Contains("127.0.0.1:1"));
}

TEST_CASE("a daemon that is stopped is named, and what lets it go on") {
  const TempDirectory place;
  ChildProcess daemon = nameserver_in(place.path());
  REQUIRE(daemon.read_line(os::now() + std::chrono::minutes{1}));
  const std::string socket = place / "nameserver.sock", pid = std::to_string(daemon.pid());
  CHECK_FALSE(listening_at({"/nowhere", socket}).stopped);
  REQUIRE(stop_process(daemon.pid()));
  const std::string said =
      "process " + pid + " listens at " + socket + ", but it is stopped: kill -CONT " + pid + " lets it go on";
  std::ostringstream out, err;
  CHECK(list_names({.sockets = {socket}}, out, err) == 1);
  CHECK(show_cores({.sockets = {socket}}, {}, out, err) == 1);
  CHECK_THAT(err.str(), Contains("the nameserver, " + said) && Contains("the reservation daemon, " + said));
  REQUIRE(::kill(daemon.pid(), SIGCONT) == 0);
  CHECK(list_names({.orb_options = {"-ORBRuntimeDirectory", place.path()}, .sockets = {socket}}, out, err) == 0);
}

TEST_CASE("a text that is no name is refused before any server is asked") {
  std::ostringstream out, err;
  CHECK(unbind_name({.name = "a//b"}, out, err) == 1);
  CHECK_THAT(err.str(), Catch::StartsWith("corelane ns unbind: 'a//b' is no name: "));
}

TEST_CASE("names and texts of others are shown without what a terminal obeys") {
  const TempDirectory place;
  ChildProcess server = nameserver_in(place.path());
  REQUIRE(server.read_line());
  const NamingOptions start{.orb_options = {"-ORBRuntimeDirectory", place.path()}};
  // Contains a cursor movement in seven and in eight bits, DEL, a newline, and a character that reverses text. The
  // letters must stay.
  const std::string hostile =
                        "a\x1b[2J\xc2\x9b"
                        "b\x7f\nc\xe2\x80\xae"
                        "d\xc3\xa9",
                    shown = "a?[2J?b??c?d\xc3\xa9";
  const auto is_plain = [](const std::string& text) {
    return std::ranges::none_of(text, [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == '\x7f'; }) &&
           text.find("\xc2\x9b") == text.npos && text.find("\xe2\x80\xae") == text.npos;
  };
  std::ostringstream out, err;
  NamingOptions options = start;
  options.name = hostile, options.context = true;
  REQUIRE(bind_name(options, out, err) == 0);
  options = start;
  CHECK(list_names(options, out, err) == 0);
  CHECK(out.str() == shown + "/\n");
  options.recursive = options.details = true;
  CHECK(list_names(options, out, err) == 0);
  options = start, options.format = Format::json;
  std::ostringstream json;
  CHECK(list_names(options, json, err) == 0);
  CHECK(nlohmann::json::parse(json.str())[0]["name"] == hostile);
  options = start, options.name = hostile + "/x";
  CHECK(resolve_name(options, out, err) == 1);
  CHECK(unbind_name(options, out, err) == 1);
  options.name = hostile;
  CHECK(unbind_name(options, out, err) == 1);
  options.context = true;
  CHECK(bind_name(options, out, err) == 1);
  options.context = false;
  CHECK(bind_name(options, out, err) == 2);
  CAPTURE(out.str(), err.str(), json.str());
  CHECK_THAT(err.str(), Contains(shown));
  CHECK(is_plain(out.str()));
  CHECK(is_plain(err.str()));
  CHECK(is_plain(json.str()));
}
