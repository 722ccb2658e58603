#include "orb/core/requests/server_request.h"

#include "orb/base/minor.h"
#include "orb/core/exception.h"

namespace corelane::core {

void ServerRequest::raise_bad_arguments() const { raise(arguments_.error()); }

void ServerRequest::raise_trailing_bytes() {
  arguments_.fail(minor::trailing_bytes);
  raise_bad_arguments();
}

}  // namespace corelane::core
