#include "orb/core/client/call_target.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "orb/base/minor.h"
#include "orb/core/client/client_parts.h"
#include "orb/core/connections/reach.h"
#include "orb/core/exception.h"
#include "orb/core/orb.h"
#include "orb/core/settings.h"

namespace corelane::core {
namespace {

[[noreturn]] void raise_outside_reach() {
  raise(Error{ErrorKind::inv_objref, Completion::no, minor::no_usable_profile},
        "the reference, or the server's forward, leads only to places that this call may not use: to this process "
        "itself, or to Unix sockets and channels where the call would have the rights of this process");
}

std::string ways_of(std::span<const Address> addresses) {
  std::vector<transport::Endpoint> endpoints;
  for (const Address& address : addresses)
    endpoints.insert(endpoints.end(), address.endpoints.begin(), address.endpoints.end());
  std::string ways = to_string(endpoints);
  const SameHost last = addresses.back().same_host;
  if (last == SameHost::other_namespace) ways += ", the only way left, since " + std::string(text_of(last));
  return ways;
}

bool may_make_channel(const CallTarget::Requirements& required) noexcept {
  return required.deadline - required.now >= ConnectionCache::time_for_channel;
}

}  // namespace

[[gnu::hot]] void CallTarget::begin(const std::shared_ptr<Reference>& reference, bool keeps) noexcept {
  origin_ = reference.get();
  if (keeps) kept_ = reference;
  forwarded_ = reference->forwarded();
  current_ = forwarded_ ? forwarded_.get() : origin_;
  forward_is_old_ = forwarded_ != nullptr;
}

[[gnu::hot]] void CallTarget::reset() noexcept {
  kept_.reset();
  forwarded_.reset();
  forward_is_old_ = false;
  has_returned_ = false;
  connection_.reset();
  addressing_ = giop::Addressing::key;
  forwards_ = 0;
}

[[gnu::hot]] void CallTarget::connect(Requirements required) {
  choose(required);
  if (!current_->reach().is_limited) return;
  const transport::Connection& made = connection_->stream();
  if (is_to_this_process(made.local(), made.peer(), current_->orb()->endpoints())) raise_outside_reach();
}

[[gnu::hot]] void CallTarget::choose(Requirements& required) {
  endpoint_ = nullptr;
  if (required.only) {
    const Address& address = current_->address_at(required.only->peer());
    return go_over(std::move(required.only), address);
  }
  const Reference::Route* const route = current_->route(required.traffic);
  if (route != nullptr && !(route->is_fallback && may_make_channel(required) && !route->pool->keeps_thread())) {
    if (auto known = route->pool->of_thread(required.now, required.order)) {
      endpoint_ = &route->pool->endpoint();
      return go_over(std::move(known), *route->address);
    }
  }
  connect_anew(required);
}

void CallTarget::connect_anew(const Requirements& required) {
  // Bound: falls back to the origin at most once.
  for (;;) {
    const auto addresses = current_->addresses();
    if (addresses.empty() && current_->reach().is_limited) raise_outside_reach();
    if (addresses.empty()) raise(Error{ErrorKind::inv_objref, Completion::no, minor::no_usable_profile});
    if (addresses.size() == 1 && addresses.front().code_sets.error) raise(*addresses.front().code_sets.error);
    const auto last = current_->tried_last();
    auto found = current_->orb()->client_parts().connect(addresses, required.deadline,
                                                         {.traffic = required.traffic,
                                                          .order = required.order,
                                                          .may_make_channel = may_make_channel(required),
                                                          .tried_last = last});
    if (found) {
      const transport::Endpoint& endpoint = found->pool->endpoint();  // the reference keeps the pool from here on
      if (std::find(last.begin(), last.end(), endpoint) == last.end()) endpoint_ = &endpoint;
      current_->set_route(required.traffic, {std::move(found->pool), found->address, found->is_fallback});
      return go_over(std::move(found->connection), *found->address);
    }
    if (current_ == origin_ || has_returned_) {
      forget_forward();
      raise_while("cannot connect to " + ways_of(addresses), found.error());
    }
    return_to_origin();
  }
}

// Forgets the forward, and lets the call ask the original again. A call does it at most once.
void CallTarget::return_to_origin() noexcept {
  forget_forward();
  has_returned_ = true;
  forward_is_old_ = false;
  current_ = origin_;
  addressing_ = giop::Addressing::key;
}

void CallTarget::forget_forward() noexcept { origin_->set_forward(nullptr); }

void CallTarget::count_forward(const Error& if_too_many) {
  if (++forwards_ > orb().settings().forwards) raise(if_too_many);
}

void CallTarget::follow(giop::Ior ior) {
  count_forward({ErrorKind::transient, Completion::no, minor::forward_loop});
  if (ior.nil()) raise(Error{ErrorKind::inv_objref, Completion::no, minor::nil_reference});
  forwarded_ = std::make_shared<Reference>(origin_->orb(), std::move(ior), origin_->reach());
  current_ = forwarded_.get();
  forward_is_old_ = false;
  origin_->set_forward(forwarded_);
  addressing_ = giop::Addressing::key;
}

void CallTarget::change_addressing(std::uint16_t mode) {
  constexpr Error refused{ErrorKind::marshal, Completion::no, minor::bad_enum};
  if (mode > 2) raise(refused);
  count_forward(refused);
  addressing_ = static_cast<giop::Addressing>(mode);
}

bool CallTarget::leaves_old_forward(bool may_return) noexcept {
  if (current_ == origin_) return false;
  const bool returns = forward_is_old_ && may_return;
  returns ? return_to_origin() : forget_forward();
  return returns;
}

bool CallTarget::is_for_other_server(const Error& error) {
  return error.kind == ErrorKind::object_not_exist && error.minor == minor::earlier_start &&
         error.completed == Completion::no && endpoint_ != nullptr && current_->try_last(*endpoint_);
}

}  // namespace corelane::core
