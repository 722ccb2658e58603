#include "orb/core/chains/inside_servant.h"

namespace corelane::core {

constinit thread_local int InsideServant::nested_ = 0;
constinit thread_local int InsideRequest::nested_ = 0;

bool inside_request() noexcept { return InsideRequest::nested_ > 0; }

bool inside_servant() noexcept { return InsideServant::nested_ > 0; }

}  // namespace corelane::core
