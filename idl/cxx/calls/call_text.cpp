#include "idl/cxx/calls/call_text.h"

#include <vector>

#include "idl/cxx/spelling/deprecated.h"

namespace corelane::idl::cxx {

void write_raises(const Spelling& spelling, const Call& call, Text& out) {
  if (call.raises.empty()) return;
  std::vector<std::string> entries;
  for (const DefId id : call.raises)
    entries.push_back(fill("::corelane::core::raises<$0>()", {spelling.qualified(id)}));
  out.list(fill("constexpr ::corelane::core::RaisesEntry $0_raises[] = {", {internal_name(call)}), entries, "};");
}

void declare_pure(const Spelling& spelling, const Call& call, Text& out) {
  write_attribute(call.attribute, out);
  out.list(fill("$0$1 $2(", {call.overrides ? "" : "virtual ", result_type(spelling, call), call.name}),
           parameters(spelling, call), call.overrides ? ") override = 0;" : ") = 0;");
}

std::string manner_of(const Call& call) {
  return fill(".oneway = $0, .raises = $1",
              {call.oneway ? "true" : "false", call.raises.empty() ? "{}" : internal_name(call) + "_raises"});
}

}  // namespace corelane::idl::cxx
