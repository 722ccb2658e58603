#include "services/corelane/naming/naming_session.h"

#include <ostream>
#include <utility>

#include "orb/base/minor.h"
#include "orb/core/client/name_service.h"
#include "services/corelane/host/listening.h"
#include "services/corelane/output/text.h"
#include "services/nameserver/client/cos_name.h"
#include "services/nameserver/client/follow_contexts.h"

namespace corelane::tool {
namespace {

constexpr const char* how_to_find_one =
    "; start one with corelane-nameserver, or name another with --service REFERENCE";

int complain(std::ostream& err, const std::string& who, const std::string& what) {
  err << who << ": " << plain(what) << "\n";
  return 1;
}

}  // namespace

CORBA::object_reference<CORBA::Object> naming_service_of(CORBA::ORB& orb, const std::string& option) {
  if (core::names_a_service(orb.settings())) return orb.resolve_initial_references("NameService");
  auto found = core::nameserver_of_host(orb.shared_from_this());
  if (!found) throw NamingFault(found.error().why + ": " + found.error().remedy + " " + option);
  return std::move(*found);
}

std::string stale_text(const NamingStatus& state) {
  const auto since = std::chrono::floor<std::chrono::seconds>(std::chrono::milliseconds(state.stale_for()));
  return (since.count() == 0 ? "for less than a second" : "for " + to_string(since)) +
         " the nameserver has not heard of its store (" + state.store() + " " + state.place() +
         "), so names may be out of date and none can be bound: " + state.remark();
}

void warn_if_stale(const std::string& who, const NamingSession& session, std::ostream& err) try {
  const auto directory = directory_of(session.root);
  if (!directory) return;
  if (const auto state = directory->nameserver()->state(); state.stale())
    err << who << ": " << plain(stale_text(state)) << "; see corelane ns status\n";
} catch (const CORBA::Exception&) {
  // The command's own result is complete without this.
}

int with_naming(const std::string& who, const NamingOptions& options, NameUse use, std::ostream& err,
                const std::function<int(NamingSession& session)>& work) {
  giop::Name name;
  if (!options.name.empty() || use != NameUse::any) {
    auto parsed = giop::parse_name(options.name);
    if (!parsed) return complain(err, who, parsed.error().text);
    name = std::move(*parsed);
  }
  const Listening daemon = listening_at(options.sockets, options.trusted);
  if (daemon && daemon.stopped)
    return complain(err, who,
                    "the nameserver, " + stopped_text(daemon) + ": " + go_on_command(daemon) +
                        " lets it go on, --service REFERENCE names another one");
  // An untrusted process. If only the connection was refused, the ORB tries other sockets.
  if (!daemon.fault.empty() && daemon.pid != 0)
    return complain(
        err, who, fault_text(daemon) + "; name another with --service REFERENCE, or trust that user (naming.trusted)");
  try {
    const CallingOrb orb("corelane-ns", options.orb_options);
    const auto found = naming_service_of(*orb);
    NamingSession session{*orb, IDL::traits<CosNaming::NamingContext>::narrow(found), name};
    if (!session.root)
      return complain(err, who, std::string("the object that was found is no naming service") + how_to_find_one);
    return work(session);
  } catch (const CORBA::ORB::InvalidName& nobody) {
    return complain(err, who, nobody.what() + std::string(how_to_find_one));
  } catch (const CORBA::UserException& exception) {
    const std::string text = fault_of_naming(exception, name, use == NameUse::to_bind);
    return complain(err, who, text.empty() ? exception.what() : text);
  } catch (const NamingFault& fault) {
    return complain(err, who, fault.what());
  } catch (const CORBA::SystemException& exception) {
    const bool is_stuck = exception.minor() == minor::names_unavailable;
    return complain(
        err, who,
        exception.what() + std::string(is_stuck ? "; corelane ns status says which store it is, and what to do" : ""));
  } catch (const CORBA::Exception& exception) {
    return complain(err, who, exception.what());
  }
}

NamingContextRef context_of(const NamingSession& session, const giop::Name& name) {
  if (name.empty()) return session.root;
  const auto object = naming::follow_contexts(
      session.root, naming::cos_name_of(name),
      [](const NamingContextRef& at, const CosNaming::Name& rest) { return at->resolve(rest); });
  try {
    if (auto found = IDL::traits<CosNaming::NamingContext>::narrow(object)) return found;
  } catch (const CORBA::SystemException& exception) {
    const std::string text = "'" + giop::to_string(name) + "'";
    throw NamingFault(text +
                      " leads to an object that does not answer (if its server is gone for good, corelane ns unbind " +
                      text + " takes the name away): " + exception.what());
  }
  const giop::Name last(name.end() - 1, name.end());
  throw CosNaming::NamingContext::NotFound(CosNaming::NamingContext::NotFoundReason::not_context,
                                           naming::cos_name_of(last));
}

}  // namespace corelane::tool
