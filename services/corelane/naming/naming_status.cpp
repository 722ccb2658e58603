// `corelane ns status` shows the state of a nameserver and of its store, and what to do if they have a fault.
#include <nlohmann/json.hpp>
#include <ostream>

#include "orb/base/text/counted.h"
#include "services/corelane/naming/naming_session.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

// Returns what is wrong and what to do; "" if nothing is wrong.
std::string trouble_of(const NamingStatus& state) {
  if (state.stale())
    return stale_text(state) +
           ". Start that store, or repair the connection to it: the nameserver tries again every 3 s, and then has the "
           "store's names";
  return state.remark();
}

const char* word_of(const NamingStatus& state) {
  if (state.stale()) return "stale";
  return state.remark().empty() ? "fresh" : "fresh, but it cannot be written";
}

nlohmann::ordered_json json_of(const NamingStatus& state) {
  return {{"store", state.store()},         {"place", state.place()},    {"stale", state.stale()},
          {"stale_ms", state.stale_for()},  {"remark", state.remark()},  {"names", state.names()},
          {"contexts", state.contexts()},   {"leases", state.leases()},  {"watches", state.watches()},
          {"iterators", state.iterators()}, {"to_do", trouble_of(state)}};
}

std::string table_of(const NamingStatus& state) {
  return "store      " + plain(state.store() + (state.place().empty() ? "" : " " + state.place())) + "\n" +
         "state      " + word_of(state) + "\n" + "names      " + std::to_string(state.names()) + ", in the root and " +
         counted(state.contexts(), "other context") + "\nclients    " + counted(state.leases(), "lease") + ", " +
         counted(state.watches(), "watch", "watches") + ", " + counted(state.iterators(), "iterator") + "\n";
}

}  // namespace

int show_naming_status(const NamingOptions& options, std::ostream& out, std::ostream& err) {
  return with_naming("corelane ns status", options, NameUse::any, err, [&](NamingSession& session) {
    const auto directory = directory_of(session.root);
    if (!directory) throw NamingFault("this naming service is not Corelane's, so its state is not known; it answers");
    const NamingStatus state = directory->nameserver()->state();
    const std::string trouble = trouble_of(state);
    if (options.format == Format::json)
      out << json_lines(json_of(state));
    else
      out << table_of(state);
    if (!trouble.empty()) err << "corelane ns status: " << plain(trouble) << "\n";
    return trouble.empty() ? 0 : 1;
  });
}

}  // namespace corelane::tool
