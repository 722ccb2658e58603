#include "orb/core/client/async_invocation.h"

#include "orb/core/client/async_calls.h"
#include "orb/core/client/client_call.h"
#include "orb/core/client/client_parts.h"
#include "orb/core/orb.h"

namespace corelane::core {

void AsyncReply::note_bad_reply() noexcept {
  try {
    raise(error_of_bad_results(results_));
  } catch (...) {
    exception_ = std::current_exception();
  }
}

AsyncInvocation::AsyncInvocation(const Object& object, const Operation& operation)
    : operation_(operation), call_(ClientCall::acquire()) {
  if (!object._reference()) raise_nil_reference();
  call_->begin(object._reference(), operation_.name, {.oneway = operation_.oneway, .waits = false});
}

AsyncInvocation::~AsyncInvocation() = default;

cdr::Writer& AsyncInvocation::request() { return call_->arguments(); }

void AsyncInvocation::send(OnReply on_reply) {
  if (operation_.oneway) return call_->invoke({});
  AsyncCalls& calls = call_->orb().client_parts().calls_in_background();
  AsyncCall call{std::move(call_), operation_.raises, std::move(on_reply)};
  calls.start(call);
}

}  // namespace corelane::core
