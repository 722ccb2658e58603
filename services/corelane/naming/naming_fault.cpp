#include "services/corelane/naming/naming_fault.h"

#include <algorithm>
#include <iterator>

#include "CorelaneNamingC.h"

namespace corelane::tool {
namespace {

using Context = CosNaming::NamingContext;
using enum CosNaming::NamingContext::NotFoundReason;

// Returns how many components were resolved before the rest.
std::size_t resolved(const giop::Name& name, const CosNaming::Name& rest) {
  return name.size() - std::min(name.size(), rest.size());
}

std::string context_before(const giop::Name& name, std::size_t index) {
  return index == 0
             ? "the root context"
             : "'" + giop::to_string(giop::Name(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(index))) + "'";
}

std::string list_command(const giop::Name& name, std::size_t index) {
  const giop::Name context(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(index));
  return "corelane ns list" + (context.empty() ? "" : " '" + giop::to_string(context) + "'");
}

std::string not_found_text(const Context::NotFound& fault, const giop::Name& name, bool binds) {
  const std::size_t index = resolved(name, fault.rest_of_name());
  if (index >= name.size()) return "'" + giop::to_string(name) + "' is not bound; corelane ns list shows what is";
  const std::string component = "'" + giop::to_string(name[index]) + "'", before = context_before(name, index);
  switch (fault.why()) {
    case missing_node:
      return before + " has no " + component + "; " + list_command(name, index) + " shows what it has" +
             (binds && index + 1 < name.size() ? ", ns bind --parents makes contexts that are missing" : "");
    case not_context:
      return component + " in " + before + " is an object and no context, so it holds no names; " +
             list_command(name, index) + " shows what there is" +
             (binds ? ", ns unbind takes that name away, so that it can be a context's" : "");
    default:
      return component + " in " + before + " is a context and no object; " + list_command(name, index + 1) +
             " shows what it holds";
  }
}

}  // namespace

std::string fault_of_naming(const std::exception& exception, const giop::Name& name, bool binds) {
  constexpr std::size_t readable = 100;
  std::string whole = "'" + giop::to_string(name);
  whole = whole.size() <= readable ? whole + "'" : whole.substr(0, readable) + "...'";
  if (const auto* const fault = dynamic_cast<const Context::NotFound*>(&exception))
    return not_found_text(*fault, name, binds);
  if (const auto* const fault = dynamic_cast<const Context::CannotProceed*>(&exception))
    return "the nameserver got as far as " + context_before(name, resolved(name, fault->rest_of_name())) +
           ", a context of another server that does not answer it; is that one running?";
  if (dynamic_cast<const Context::InvalidName*>(&exception) != nullptr)
    return "the nameserver takes " + whole + " for no name: it may be too long, or deeper than it allows";
  if (dynamic_cast<const Context::AlreadyBound*>(&exception) != nullptr)
    return whole + " is bound already; corelane ns resolve shows the object, --replace binds the name to this one";
  if (dynamic_cast<const Context::NotEmpty*>(&exception) != nullptr)
    return whole + " still holds names; corelane ns list " + whole + " shows them, ns unbind removes each";
  if (const auto* const fault = dynamic_cast<const Corelane::Naming::Refused*>(&exception)) return fault->reason();
  if (dynamic_cast<const Corelane::Naming::UnknownLease*>(&exception) != nullptr)
    return "the process has ended meanwhile, and its names with it";
  return {};
}

}  // namespace corelane::tool
