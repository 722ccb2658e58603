// ClientParts is what the client side uses of its ORB. Orb::State implements it, so the code of calls does not depend
// on the ORB's other parts.
//
// Threads: any.
#pragma once

#include <memory>
#include <span>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/core/connections/address.h"
#include "orb/core/connections/connection_cache.h"
#include "orb/dispatch/executive.h"
#include "orb/transport/transport.h"

namespace corelane::core {

class AsyncCalls;
class Reopener;

class ClientParts {
 public:
  // Returns a connection of the calling thread to one of the addresses, and makes one if there is none. BAD_INV_ORDER
  // after destroy().
  virtual Expected<ConnectionCache::Found> connect(std::span<const Address> addresses, Time deadline,
                                                   const ConnectionCache::Requirements& required) = 0;
  virtual Expected<std::shared_ptr<transport::Transport>> transport() = 0;
  // Returns null if this process serves nothing, or does so no longer.
  virtual std::shared_ptr<dispatch::Executive> runtime_executive() = 0;
  virtual ConnectionCache& cache() noexcept = 0;
  virtual AsyncCalls& calls_in_background() noexcept = 0;
  virtual Reopener& reopener_of_tasks() noexcept = 0;

 protected:
  ~ClientParts() = default;
};

}  // namespace corelane::core
