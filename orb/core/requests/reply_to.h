// ReplyTo identifies the request that a reply answers.
#pragma once

#include <cstdint>
#include <string_view>

#include "orb/giop/code_sets.h"
#include "orb/giop/headers.h"

namespace corelane::core {

struct ReplyTo {
  std::uint32_t request_id = 0;
  giop::Version version;
  bool expected = true;
  cdr::CodeSets code_sets{};     // of the request, and therefore of its reply
  std::uint32_t hooks = 0;       // the hooks that have a note about the request, see HookNotes::mask
  std::string_view operation{};  // for the log, read only if no reply is expected; lasts as long as the request
};

}  // namespace corelane::core
