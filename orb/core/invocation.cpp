#include "orb/core/invocation.h"

#include <algorithm>

#include "orb/base/minor.h"
#include "orb/core/client/client_call.h"
#include "orb/core/server/local_call.h"

namespace corelane::core {

[[gnu::hot]] bool Invocation::run_local(void* const* frame) {
  Reference* reference = object_._reference().get();
  if (reference == nullptr) raise_nil_reference();
  return call_local(*reference, operation_.name, frame);
}

[[gnu::hot]] cdr::Writer& Invocation::request() {
  if (!call_) {
    const std::shared_ptr<Reference>& reference = object_._reference();
    if (!reference) raise_nil_reference();
    call_ = ClientCall::acquire();
    call_->begin(reference, operation_.name,
                 {.oneway = operation_.oneway, .binding = reference->binding_of(operation_.name)});
  }
  return call_->arguments();
}

[[gnu::hot]] void Invocation::invoke() {
  if (!call_) request();  // no argument has begun it
  call_->invoke(operation_.raises);
}

[[gnu::hot]] cdr::Reader& Invocation::reply() { return call_->results(); }

void Invocation::raise_bad_reply() { call_->raise_bad_results(); }

}  // namespace corelane::core
