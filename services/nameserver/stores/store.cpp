#include "services/nameserver/stores/store.h"

namespace corelane::nameserver {

std::string_view text_of(StoreFault fault) noexcept {
  switch (fault) {
    case StoreFault::no_such_context:
      return "no such context";
    case StoreFault::not_found:
      return "not found";
    case StoreFault::already_bound:
      return "already bound";
    case StoreFault::not_empty:
      return "not empty";
    case StoreFault::wrong_type:
      return "of the other type";
    case StoreFault::not_owner:
      return "another client's";
    case StoreFault::client_full:
      return "the client has as many names as it may have";
    case StoreFault::no_target:
      return "the context to be bound is not there";
    case StoreFault::full:
      return "full";
    case StoreFault::no_space:
      return "no space";
    case StoreFault::unavailable:
      return "unavailable";
  }
  return "unknown fault";
}

}  // namespace corelane::nameserver
