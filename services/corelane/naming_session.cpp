#include "services/corelane/naming_session.h"

#include <ostream>
#include <string_view>

#include "services/corelane/listening.h"
#include "services/corelane/text.h"
#include "services/nameserver/client/cos_name.h"
#include "services/nameserver/client/go_on.h"

namespace corelane::tool {
namespace {

constexpr const char* how_to_find_one =
    "; start one with corelane-nameserver, or name another with --service REFERENCE";

int complain(std::ostream& err, const std::string& who, const std::string& what) {
  err << who << ": " << plain(what) << "\n";
  return 1;
}

// Of what the ORB says the part that tells where was looked and what to do, in this command's words.
std::string nobody_text(const std::string& said) {
  constexpr std::string_view head = "no initial reference 'NameService'; ", setting = "naming.service";
  const std::size_t begin = said.find(head), end = said.rfind(setting);
  if (begin == said.npos || end == said.npos || end < begin) return said + how_to_find_one;
  return said.substr(begin + head.size(), end - begin - head.size()) + "--service REFERENCE";
}

}  // namespace

int with_naming(const std::string& who, const NamingOptions& options, NameUse use, std::ostream& err,
                const std::function<int(NamingSession& session)>& work) {
  giop::Name name;
  if (!options.name.empty() || use != NameUse::any) {
    auto parsed = giop::parse_name(options.name);
    if (!parsed) return complain(err, who, parsed.error().text);
    name = std::move(*parsed);
  }
  if (const Listening daemon = listening_at(options.sockets); daemon.stopped)
    return complain(err, who,
                    "the nameserver, " + stopped_text(daemon) + ": " + go_on_command(daemon) +
                        " lets it go on, --service REFERENCE names another one");
  try {
    const CallingOrb orb("corelane-ns", options.orb_options);
    const auto found = orb->resolve_initial_references("NameService");
    NamingSession session{*orb, IDL::traits<CosNaming::NamingContext>::narrow(found), name};
    if (!session.root) return complain(err, who, std::string("what was found is no naming service") + how_to_find_one);
    return work(session);
  } catch (const CORBA::ORB::InvalidName& nobody) {
    return complain(err, who, nobody_text(nobody.what()));
  } catch (const CORBA::UserException& exception) {
    const std::string text = fault_of_naming(exception, name, use == NameUse::to_bind);
    return complain(err, who, text.empty() ? exception.what() : text);
  } catch (const NamingFault& fault) {
    return complain(err, who, fault.what());
  } catch (const CORBA::Exception& exception) {
    return complain(err, who, exception.what());
  }
}

NamingContextRef context_of(const NamingSession& session, const giop::Name& name) {
  if (name.empty()) return session.root;
  const auto object =
      naming::going_on(session.root, naming::cos_name_of(name),
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
