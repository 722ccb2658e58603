// CallTarget is where one remote call goes: a reference, one of its addresses, and a connection to there. It follows
// forwards of servers. If a forward leads nowhere, the call returns to the caller's reference.
//
// Thread: the caller's.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "orb/base/error.h"
#include "orb/base/time.h"
#include "orb/core/client/reference.h"
#include "orb/core/connections/address.h"
#include "orb/core/connections/client_connection.h"
#include "orb/core/connections/connection_cache.h"
#include "orb/giop/headers.h"
#include "orb/giop/ior.h"
#include "orb/transport/endpoint.h"

namespace corelane::core {

class CallTarget {
 public:
  // What a call requires of its connection.
  struct Requirements {
    Traffic traffic;
    CallOrder order;
    Time now;                                // when the call began
    Time deadline;                           // when it must have ended
    std::shared_ptr<ClientConnection> only;  // null: any connection to the target
  };

  // Begins a call through this reference, or through the one to which a server has forwarded it before. The caller
  // keeps the reference until the call has ended; with `keeps`, this object does.
  void begin(const std::shared_ptr<Reference>& reference, bool keeps) noexcept;
  // Releases the connection and the references.
  void reset() noexcept;

  Reference& origin() const noexcept { return *origin_; }    // the caller's reference
  Reference& current() const noexcept { return *current_; }  // where the call goes now
  Orb& orb() const noexcept { return *origin_->orb(); }
  // The next three are valid after connect(). The address is one of current().
  const std::shared_ptr<ClientConnection>& connection() const noexcept { return connection_; }
  const Address& address() const noexcept { return *address_; }
  // Returns how the request names the object.
  giop::Addressing addressing() const noexcept { return addressing_; }

  // Finds or makes the connection. Raises.
  void connect(Requirements required);

  // Goes to where the server forwards the call. Raises TRANSIENT forward_loop after too many forwards, and INV_OBJREF
  // if the reference is nil.
  void follow(giop::Ior ior);
  // Names the object as the server demands. Raises MARSHAL for an unknown way, and after too many forwards.
  void change_addressing(std::uint16_t mode);
  // Forgets the forward after a call over it has failed, so that the next call asks the caller's reference again.
  void forget_forward() noexcept;
  // Call it if the server does not know the object. Forgets the forward. Returns whether this call goes back to the
  // caller's reference, too: an earlier call got the forward, and since then the object may have moved, or another
  // server may have got the address. `may_return`: the call may use another connection. CORBA 3.3 part 2, 9.6.
  bool leaves_old_forward(bool may_return) noexcept;
  // Returns whether the error says that another server has taken an endpoint of the reference, and the object's own
  // server may be reachable at another endpoint.
  bool is_for_other_server(const Error& error);

 private:
  void choose(Requirements& required);
  void connect_anew(const Requirements& required);
  void return_to_origin() noexcept;
  void count_forward(const Error& if_too_many);
  void go_over(std::shared_ptr<ClientConnection> connection, const Address& address) noexcept {
    connection_ = std::move(connection);
    address_ = &address;
  }

  Reference* origin_ = nullptr;
  Reference* current_ = nullptr;
  std::shared_ptr<Reference> kept_, forwarded_;  // keep origin_ and current_ if the caller does not
  bool forward_is_old_ = false;                  // an earlier call got the forward, so it may be out of date
  bool has_returned_ = false;                    // a forward led nowhere, and the call went back to origin_
  std::shared_ptr<ClientConnection> connection_;
  const Address* address_ = nullptr;
  // The endpoint that the call uses, if another one may be tried instead; otherwise null.
  const transport::Endpoint* endpoint_ = nullptr;
  giop::Addressing addressing_ = giop::Addressing::key;
  int forwards_ = 0;
};

}  // namespace corelane::core
