// What doctor reports about a nameserver that is found but does not report its state, such as one of another version.
#include "services/corelane/naming/nameserver_look.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "CorelaneNamingS.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::tool;
using Catch::Contains;
using corelane::testing::TempDirectory;
using corelane::testing::TestOrb;
namespace idl = Corelane::Naming;

namespace {

[[noreturn]] void fail() { throw CORBA::MARSHAL(0, CORBA::COMPLETED_YES); }

class MuteServer : public virtual CORBA::servant_traits<idl::Server>::base_type {
 public:
  idl::LeaseId lease_of(const idl::Process&) override { fail(); }
  idl::LeaseId lease_for(std::uint32_t&) override { fail(); }
  void renew(idl::LeaseId) override { fail(); }
  void end(idl::LeaseId) override { fail(); }
  idl::WatchId watch(const std::string&, CORBA::object_reference<idl::Listener>) override { fail(); }
  void unwatch(idl::WatchId) override { fail(); }
  idl::ChangeList changes(const std::string&, std::uint64_t&, bool&) override { fail(); }
  idl::Status state() override { fail(); }
};

class Root : public virtual CORBA::servant_traits<idl::Directory>::base_type {
 public:
  using Object = CORBA::object_reference<CORBA::Object>;
  using Context = CORBA::object_reference<CosNaming::NamingContext>;
  using Iterator = CORBA::object_reference<CosNaming::BindingIterator>;
  using Name = CosNaming::Name;

  explicit Root(CORBA::object_reference<idl::Server> server) : server_(std::move(server)) {}

  CORBA::object_reference<idl::Server> nameserver() override { return server_; }
  void bind_leased(const Name&, Object, idl::LeaseId, bool) override { fail(); }
  idl::Details describe(const Name&) override { fail(); }
  void bind(const Name&, Object) override { fail(); }
  void rebind(const Name&, Object) override { fail(); }
  void bind_context(const Name&, Context) override { fail(); }
  void rebind_context(const Name&, Context) override { fail(); }
  Object resolve(const Name&) override { fail(); }
  void unbind(const Name&) override { fail(); }
  Context new_context() override { fail(); }
  Context bind_new_context(const Name&) override { fail(); }
  void destroy() override { fail(); }
  void list(std::uint32_t, CosNaming::BindingList&, Iterator&) override { fail(); }
  std::string to_string(const Name&) override { fail(); }
  Name to_name(const std::string&) override { fail(); }
  std::string to_url(const std::string&, const std::string&) override { fail(); }
  Object resolve_str(const std::string&) override { fail(); }

 private:
  const CORBA::object_reference<idl::Server> server_;
};

}  // namespace

TEST_CASE("where there is none doctor names what it takes itself to be told of another") {
  const TempDirectory place;
  const NameserverLook seen = look_for_nameserver({"-ORBNamingSocket", place / "none.sock"});
  if (!seen.answers.empty()) return;  // another process has port 2809
  CHECK_THAT(seen.absence, Contains("-ORBNamingService REFERENCE") && !Contains("--service"));
}

TEST_CASE("a nameserver that does not tell how it is answers all the same, and doctor says why it does not tell") {
  TestOrb orb;
  orb.root()->the_POAManager()->activate();
  const auto server =
      IDL::traits<idl::Server>::narrow(orb.root()->servant_to_reference(CORBA::make_reference<MuteServer>()));
  const auto root = orb.root()->servant_to_reference(CORBA::make_reference<Root>(server));
  const NameserverLook seen = look_for_nameserver({"-ORBNamingService", orb->object_to_string(root)});
  CHECK_THAT(seen.answers, Contains("answers (looked for at "));
  CHECK(seen.absence.empty());
  CHECK_THAT(seen.trouble, Contains("MARSHAL") && Contains("of another version"));
}
