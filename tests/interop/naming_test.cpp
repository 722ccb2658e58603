// Tests the Naming Service with omniORB: omniORB's client nameclt calls corelane-nameserver, and our client calls
// omniNames.
#include <catch2/catch.hpp>

#include "CosNamingC.h"
#include "orb/corba/init_orb.h"
#include "orb/os/process/child_process.h"
#include "tests/support/system/temp_directory.h"

using corelane::os::ChildProcess;
using corelane::os::program_beside;
using corelane::testing::TempDirectory;

namespace {

bool lacks_omniorb() {
  if (CORELANE_OMNIORB) return false;
  WARN("SKIPPED: omniORB and omniidl were not there when this was configured");
  return true;
}

CosNaming::Name name_of_ids(const std::vector<std::string>& ids) {
  CosNaming::Name name;
  for (const std::string& id : ids) name.emplace_back(id, "");
  return name;
}

}  // namespace

TEST_CASE("nameclt binds, lists, resolves and unbinds at our nameserver") {
  if (lacks_omniorb()) return;
  ChildProcess server({program_beside("corelane-nameserver"), "-ORBEndpointListen", "127.0.0.1:0", "-ORBNamingSocket",
                       "off", "-ORBNamingStore", "memory", "-ORBNamingNetworkWriters", "on"});
  const std::string root = "NameService=" + server.read_line().value();
  const auto nameclt = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"nameclt", "-advanced", "-ORBInitRef", root, "-ORBclientCallTimeOutPeriod", "60000"});
    ChildProcess client(words, {.joins_errors = true});
    std::string text = client.read_all().value();
    client.wait();
    return text;
  };
  const std::string object = "corbaloc::things.example/x";
  CHECK_THAT(nameclt({"bind_new_context", "plant"}), Catch::StartsWith("IOR:"));
  CHECK(nameclt({"bind", "plant/x.k", object}).empty());
  CHECK(nameclt({"list"}) == "plant/\n");
  CHECK(nameclt({"list", "plant"}) == "x.k\n");
  CHECK_THAT(nameclt({"resolve", "plant/x.k"}), Catch::StartsWith("IOR:"));
  CHECK_THAT(nameclt({"bind", "plant/x.k", object}), Catch::Contains("AlreadyBound"));
  CHECK(nameclt({"rebind", "plant/x.k", object}) == "");
  CHECK_THAT(nameclt({"resolve", "plant/y"}), Catch::Contains("NotFound exception: missing node"));
  CHECK_THAT(nameclt({"resolve", "plant/x.k/y"}), Catch::Contains("NotFound exception: not context"));
  CHECK_THAT(nameclt({"remove_context", "plant"}), Catch::Contains("NotEmpty"));
  CHECK(nameclt({"unbind", "plant/x.k"}).empty());
  CHECK(nameclt({"remove_context", "plant"}).empty());
  CHECK(nameclt({"list"}).empty());
}

TEST_CASE(
    "nameclt only looks names up where network_writers is off, and the log names that setting to omniORB's users") {
  if (lacks_omniorb()) return;
  ChildProcess server({"/bin/sh", "-c",
                       "exec " + program_beside("corelane-nameserver") +
                           " -ORBEndpointListen 127.0.0.1:0 -ORBNamingSocket off -ORBNamingStore memory 2>&1"});
  std::string url;  // the URL comes between lines of the log
  while (!url.starts_with("corbaloc:")) url = server.read_line().value();
  const auto nameclt = [&](const std::string& words) {
    ChildProcess client({"/bin/sh", "-c", "nameclt -advanced -ORBInitRef NameService=" + url + " " + words},
                        {.joins_errors = true});
    std::string text = client.read_all().value();
    client.wait();
    return text;
  };
  CHECK_THAT(nameclt("bind_new_context plant"), Catch::Contains("NO_PERMISSION"));
  CHECK(nameclt("list").empty());
  std::string line;
  while (line.find("may not change names") == line.npos) line = server.read_line().value();
  CHECK_THAT(line, Catch::Contains("-ORBNamingNetworkWriters on"));
}

TEST_CASE("a name with an accent is the same one for nameclt by reference and by corbaloc, and for our client") {
  if (lacks_omniorb()) return;
  ChildProcess server({program_beside("corelane-nameserver"), "-ORBEndpointListen", "127.0.0.1:0", "-ORBNamingSocket",
                       "off", "-ORBNamingStore", "memory", "-ORBNamingNetworkWriters", "on"});
  const std::string root = server.read_line().value();
  REQUIRE_THAT(root, Catch::StartsWith("corbaloc:"));
  const auto nameclt = [](const std::string& at, const std::string& own_code_set, std::vector<std::string> words) {
    words.insert(words.begin(), {"nameclt", "-ORBInitRef", "NameService=" + at, "-ORBnativeCharCodeSet", own_code_set,
                                 "-ORBclientCallTimeOutPeriod", "60000"});
    ChildProcess client(words, {.joins_errors = true});
    std::string text = client.read_all().value();
    client.wait();
    return text;
  };
  std::string context = nameclt(root, "ISO-8859-1", {"bind_new_context", "plant"});
  context.erase(context.find_last_not_of('\n') + 1);
  REQUIRE_THAT(context, Catch::StartsWith("IOR:"));
  const std::string object = "corbaloc::things.example/x", utf_8 = "caf\xc3\xa9", iso = "caf\xe9";
  // nameclt uses the context by its reference, which names code sets, and the root by corbaloc, which does not.
  CHECK(nameclt(context, "UTF-8", {"bind", utf_8, object}).empty());
  CHECK_THAT(nameclt(context, "ISO-8859-1", {"resolve", iso}), Catch::StartsWith("IOR:"));
  CHECK_THAT(nameclt(root, "ISO-8859-1", {"resolve", "plant/" + iso}), Catch::StartsWith("IOR:"));
  CHECK_THAT(nameclt(root, "UTF-8", {"resolve", "plant/" + utf_8}), Catch::StartsWith("IOR:"));
  CHECK(nameclt(context, "UTF-8", {"list"}) == utf_8 + "\n");
  CHECK(nameclt(root, "ISO-8859-1", {"list", "plant"}) == iso + "\n");
  const auto orb =
      corelane::corba::init_orb({"-ORBRuntimeLedger", "off", "-ORBInitRef", "NameService=" + root}, "accents");
  CHECK(orb->string_to_object("corbaname:rir:#plant/caf%c3%a9"));
  const auto plant = IDL::traits<CosNaming::NamingContextExt>::narrow(orb->string_to_object(context));
  REQUIRE(plant);
  CHECK(plant->resolve(name_of_ids({utf_8})));
  plant->rebind(name_of_ids({"\xe2\x82\xac"}), plant);
  CHECK(plant->resolve(name_of_ids({"\xe2\x82\xac"})));
  // This works by corbaloc beyond ISO 8859-1, too, because the nameserver is Corelane's.
  CHECK(orb->string_to_object("corbaname:rir:#plant/%e2%82%ac"));
  orb->destroy();
}

TEST_CASE("our client uses omniNames, by reference and by URL") {
  if (lacks_omniorb()) return;
  const TempDirectory place;
  ChildProcess server(
      {"omniNames", "-start", "-ignoreport", "-datadir", place.path(), "-ORBendPoint", "giop:tcp:127.0.0.1:"},
      {.joins_errors = true});
  std::string reference;
  while (const auto line = server.read_line())
    if (const auto at = line->find("IOR:"); at != line->npos) {
      reference = line->substr(at);
      break;
    }
  REQUIRE_FALSE(reference.empty());
  const auto orb =
      corelane::corba::init_orb({"-ORBRuntimeLedger", "off", "-ORBInitRef", "NameService=" + reference}, "omninames");
  const auto root = IDL::traits<CosNaming::NamingContextExt>::narrow(orb->resolve_initial_references("NameService"));
  REQUIRE(root);
  const auto plant = root->bind_new_context(name_of_ids({"plant"}));
  plant->bind(name_of_ids({"x"}), root);
  CHECK(root->to_string(name_of_ids({"a/b", "c.d"})) == R"(a\/b/c\.d)");
  CHECK(root->resolve_str("plant/x")->_is_equivalent(root));
  CHECK(orb->string_to_object("corbaname:rir:#plant/x")->_is_equivalent(root));
  CHECK_THROWS_AS(root->resolve(name_of_ids({"plant", "y"})), CosNaming::NamingContext::NotFound);
  CHECK_THROWS_WITH(orb->string_to_object("corbaname:rir:#plant/y"), Catch::Contains("'y' is not bound"));
  CHECK_THROWS_AS(plant->destroy(), CosNaming::NamingContext::NotEmpty);
  for (int i = 0; i < 3; ++i) plant->bind(name_of_ids({std::to_string(i)}), nullptr);
  CosNaming::BindingList list;
  CORBA::object_reference<CosNaming::BindingIterator> rest;
  plant->list(1, list, rest);
  CHECK(list.size() == 1);
  REQUIRE(rest);
  CHECK(rest->next_n(10, list));
  CHECK(list.size() == 3);
  rest->destroy();
  orb->destroy();
}
