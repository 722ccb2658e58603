// A nameserver in the test's own process, with a store in memory or another one, and ORBs that call it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "CorelaneNamingC.h"
#include "orb/corba/init_orb.h"
#include "orb/core/settings.h"
#include "orb/giop/name_text.h"
#include "services/nameserver/nameserver.h"
#include "services/nameserver/stores/open_store.h"

namespace corelane::testing {

using ContextExt = CORBA::object_reference<CosNaming::NamingContextExt>;
using NamingDirectory = CORBA::object_reference<Corelane::Naming::Directory>;

// An ORB without SCHED_FIFO and without the host's ledger. It has no Unix sockets unless the options say otherwise.
class QuietOrb {
 public:
  explicit QuietOrb(const std::vector<std::string>& more = {}) {
    static int made = 0;
    std::vector<std::string> options{"-ORBPoolRealTime",  "off", "-ORBRuntimeLedger",     "off",
                                     "-ORBEndpointLocal", "off", "-ORBEndpointListen",    "127.0.0.1:0",
                                     "-ORBNamingSocket",  "off", "-ORBBestEffortThreads", "4"};
    options.insert(options.end(), more.begin(), more.end());
    orb = corba::init_orb(options, "naming" + std::to_string(++made));
  }
  ~QuietOrb() { orb->destroy(); }
  CORBA::ORB* operator->() const { return orb.get(); }

  CORBA::object_reference<CORBA::ORB> orb;
};

class ServedNames {
 public:
  // Clients of the tests use TCP, and may change names unless the options say otherwise.
  explicit ServedNames(const std::vector<std::string>& options = {}, const std::string& store = "memory",
                       const nameserver::StoreOptions& store_options = {})
      : orb_(with_writers(options)),
        server_(orb_.orb, std::move(*nameserver::open_store(store, store_options)),
                orb_->settings().services.of<nameserver::NameserverSettings>()) {
    server_.open();
  }
  ~ServedNames() {
    server_.stop();
    orb_->destroy();
  }
  NamingDirectory root() { return IDL::traits<Corelane::Naming::Directory>::narrow(server_.root()); }
  std::string ior() { return orb_->object_to_string(server_.root()); }
  QuietOrb& orb() { return orb_; }
  // Returns the same root, as another ORB sees it.
  NamingDirectory seen_by(const QuietOrb& client) {
    return IDL::traits<Corelane::Naming::Directory>::narrow(client->string_to_object(ior()));
  }

 private:
  static std::vector<std::string> with_writers(const std::vector<std::string>& options) {
    std::vector<std::string> all{"-ORBNamingNetworkWriters", "on"};
    all.insert(all.end(), options.begin(), options.end());
    return all;
  }

  QuietOrb orb_;
  nameserver::Nameserver server_;
};

inline CosNaming::Name cos_name(const std::string& text) {
  return text.empty() ? CosNaming::Name{} : nameserver::cos_name_of(*giop::parse_name(text));
}

// Returns the exception that a call raises as text, such as "NotFound missing_node b/c" or "OBJECT_NOT_EXIST"; "" for
// none.
template <typename Call>
std::string raised_by(Call call) {
  using Context = CosNaming::NamingContext;
  static const char* const reasons[] = {"missing_node", "not_context", "not_object"};
  const auto rest = [](const CosNaming::Name& name) { return " " + giop::to_string(nameserver::name_of(name)); };
  try {
    call();
    return "";
  } catch (const Context::NotFound& e) {
    return std::string("NotFound ") + reasons[static_cast<std::size_t>(e.why())] + rest(e.rest_of_name());
  } catch (const Context::CannotProceed& e) {
    return std::string("CannotProceed") + (e.cxt() ? "" : " nil") + rest(e.rest_of_name());
  } catch (const CORBA::Exception& e) {
    const std::string id = e._rep_id();
    const auto from = id.find_last_of('/') + 1;
    return id.substr(from, id.rfind(':') - from);
  }
}

}  // namespace corelane::testing
