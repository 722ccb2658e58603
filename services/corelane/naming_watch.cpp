#include <nlohmann/json.hpp>
#include <ostream>

#include "orb/os/clock.h"
#include "services/corelane/naming_session.h"
#include "services/corelane/text.h"

namespace corelane::tool {
namespace {

using Corelane::Naming::Change;
using Corelane::Naming::ChangeKind;

constexpr std::uint64_t from_now_on = 0xffff'ffff'ffff'ffff;

const char* word_of_change(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::bound:
      return "bound";
    case ChangeKind::rebound:
      return "rebound";
    default:
      return "unbound";
  }
}

std::string line_of(const Change& change, Format shown_as) {
  const bool context = change.type() == CosNaming::BindingType::ncontext;
  const bool ephemeral = change.lives() == Corelane::Naming::Lifetime::ephemeral;
  if (shown_as == Format::table)
    return format("%-8s ", word_of_change(change.kind())) + plain(change.name()) + (context ? "/" : "") +
           (ephemeral ? "  (goes with its process)" : "");
  const nlohmann::ordered_json json{{"number", change.number()},
                                    {"change", word_of_change(change.kind())},
                                    {"name", change.name()},
                                    {"type", context ? "context" : "object"},
                                    {"lives", ephemeral ? "ephemeral" : "persistent"}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

int watch_names(const NamingOptions& options, std::ostream& out, std::ostream& err) {
  return with_naming("corelane ns watch", options, false, err, [&](NamingSession& session) {
    const auto directory = directory_of(session.root);
    if (!directory) {
      err << "corelane ns watch: this naming service is not Corelane's, and tells no changes; corelane ns list "
             "--recursive shows what there is\n";
      return 1;
    }
    const auto server = directory->nameserver();
    std::uint64_t since = from_now_on;
    bool lost = false;
    server->changes(options.pattern, since, lost);
    err << "watching " << plain(options.pattern) << "\n";
    for (int told = 0; out && (options.changes == 0 || told < options.changes);) {  // until the user ends it
      const auto changes = server->changes(options.pattern, since, lost);
      if (lost)
        err << "corelane ns watch: more changed than the nameserver remembers; corelane ns list shows what is\n";
      for (const Change& change : changes)
        if (options.changes == 0 || told++ < options.changes) out << line_of(change, options.format) << std::endl;
      if (changes.empty()) os::sleep_until(os::now() + options.interval);
    }
    return 0;
  });
}

}  // namespace corelane::tool
