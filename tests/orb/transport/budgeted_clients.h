// BudgetedClients makes connections that share one memory budget.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "orb/os/clock.h"
#include "orb/transport/memory_budget.h"

namespace corelane::testing {

using transport::MemoryAccount;
using transport::MemoryBudget;
using transport::MemoryHolder;

inline constexpr std::size_t kib = 1024, mib = 1024 * kib;
inline constexpr Duration any_patience{0}, in_an_hour = std::chrono::hours{1};

// A clock that stands still until the test moves it.
struct StillClock {
  static Time now() noexcept { return at; }
  static inline Time at{std::chrono::hours{1}};
};

// A connection, and what the budget has told it to do.
struct Client final : MemoryHolder {
  explicit Client(std::shared_ptr<MemoryAccount> its) : account(std::move(its)) {}
  void on_room() noexcept override { ++told; }
  void close_stalled(Stalled why) noexcept override { gave_up.push_back(why); }
  bool half(std::size_t bytes) { return account->hold_half(bytes); }
  bool may_read() { return account->may_read(); }

  const std::shared_ptr<MemoryAccount> account;
  std::atomic<int> told{0};
  std::vector<Stalled> gave_up;
};

using Stalled = MemoryHolder::Stalled;
using ClientPtr = std::shared_ptr<Client>;

struct BudgetedClients {
  explicit BudgetedClients(std::size_t all, std::size_t message, Duration patience, MemoryBudget::Clock now = &os::now)
      : budget(std::make_shared<MemoryBudget>(MemoryBudget::bounds_of(all, message, patience), now)) {}
  ClientPtr comes(std::uint32_t peer, std::int32_t process = 0) {
    auto client = std::make_shared<Client>(budget->open(peer, process));
    client->account->belongs_to(client);
    return client;
  }
  const std::shared_ptr<MemoryBudget> budget;
};

}  // namespace corelane::testing
