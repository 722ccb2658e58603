#include "orb/transport/detail/address.h"

#include <netdb.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"
#include "orb/os/wait/wait.h"
#include "orb/transport/detail/socket.h"
#include "orb/transport/transport_kind.h"

namespace corelane::transport {
namespace {

using Addresses = std::vector<Address>;

using errors::bad_address;
using errors::deadline_passed;

Expected<Addresses> look_up(const Endpoint& endpoint, AddressUse use, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags | (use == AddressUse::listen ? AI_PASSIVE : 0);
  addrinfo* raw = nullptr;
  const char* const host = endpoint.host.empty() ? nullptr : endpoint.host.c_str();
  const int failure = getaddrinfo(host, std::to_string(endpoint.port).c_str(), &hints, &raw);
  if (failure == EAI_AGAIN) return errors::no_name_service;
  const Error unknown = use == AddressUse::connect ? errors::unknown_host : bad_address;
  if (failure == EAI_SYSTEM) return no_descriptor_or(unknown);
  if (failure != 0) return unknown;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(raw, &freeaddrinfo);
  Addresses found;
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    Address address{.length = entry->ai_addrlen};
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    found.push_back(address);
  }
  if (found.empty()) return unknown;
  return found;
}

// The result of a lookup thread, for a caller that may not wait for the thread.
struct PendingAnswer {
  os::Parker arrived;
  std::optional<Expected<Addresses>> answer;
};

// Asks the name service on a thread of its own, because it knows no deadline. After the deadline that thread is left
// alone. It touches only what it shares with this call.
Expected<Addresses> look_up_until(const Endpoint& endpoint, AddressUse use, Time deadline, const ConnectStop* stop) {
  const auto pending = std::make_shared<PendingAnswer>();
  auto asking = os::plain_thread<std::thread>([=] {
    pending->answer = look_up(endpoint, use, 0);
    pending->arrived.unpark();
  });
  if (!asking) return asking.error();
  asking->detach();
  while (!pending->arrived.park(next_look(stop, deadline))) {  // bound: the deadline
    if (stop != nullptr && stop->stopped()) return errors::connect_failed;
    if (os::now() >= deadline) return deadline_passed;
  }
  return *pending->answer;
}

// Returns the addresses for listening everywhere. Both families with one socket come first, IPv4 alone second.
Addresses everywhere(std::uint16_t port) {
  Address v6, v4;
  v6.length = sizeof(sockaddr_in6);
  auto& in6 = reinterpret_cast<sockaddr_in6&>(v6.storage);
  in6.sin6_family = AF_INET6;
  in6.sin6_port = htons(port);
  v4.length = sizeof(sockaddr_in);
  auto& in4 = reinterpret_cast<sockaddr_in&>(v4.storage);
  in4.sin_family = AF_INET;
  in4.sin_port = htons(port);
  return {v6, v4};
}

}  // namespace

Address unix_address(const std::string& path) noexcept {
  const auto made = os::unix_address(path);
  assert(made);
  Address address;
  if (!made) return address;
  std::memcpy(&address.storage, &made->native, sizeof made->native);
  address.length = made->length;
  return address;
}

bool names_socket(const Endpoint& endpoint, const TransportKind& kind) noexcept {
  return endpoint.kind == &kind && endpoint.path.starts_with('/') && os::unix_address(endpoint.path).has_value();
}

Error logged(const os::PathRefusal& refusal, const TransportKind& kind) {
  os::log::error("cannot listen at " + std::string(kind.prefix) + refusal.path + ": " + refusal.why);
  return refusal.error;
}

Endpoint endpoint_of(const Address& address) {
  for (const TransportKind* const kind : transport_kinds()) {
    if (kind->endpoint_of == nullptr) continue;
    if (auto endpoint = kind->endpoint_of(address)) return std::move(*endpoint);
  }
  return {};
}

Expected<Addresses> resolve(const Endpoint& endpoint, AddressUse use, Time deadline, const ConnectStop* stop) {
  if (endpoint.kind != &kinds::tcp) return bad_address;
  if (endpoint.host.empty()) {
    if (use == AddressUse::listen) return everywhere(endpoint.port);
    return bad_address;
  }
  if (auto numeric = look_up(endpoint, use, AI_NUMERICHOST)) return numeric;
  if (deadline == never && stop == nullptr) return look_up(endpoint, use, 0);
  return look_up_until(endpoint, use, deadline, stop);
}

}  // namespace corelane::transport
