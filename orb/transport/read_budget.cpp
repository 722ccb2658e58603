#include "orb/transport/detail/read_budget.h"

#include <algorithm>

namespace corelane::transport {
namespace {

constexpr std::size_t chunks_of_a_connection = 4;  // replenishments of one connection are few, and many connections
constexpr sched::IoCaller somebody{};

sched::ServerDriver driver_of(const sched::Reservation& r, std::size_t chunks = sched::SporadicServer::most_chunks) {
  return sched::ServerDriver(sched::SporadicServer(r, Time{}, chunks));
}

sched::Reservation part_of(const sched::Reservation& all, int part) {
  return {.budget = all.budget / part, .period = all.period};
}

// The reader always has work as far as its servers are told: time in which it had none is not seen, and counts as such.
Time readable(sched::ServerDriver& driver, Time now) noexcept {
  const sched::ServerVerdict verdict = driver.step_unobserved(now, Duration::zero(), somebody);
  return verdict.runs ? now : verdict.again;
}

}  // namespace

ReadBudget::ReadBudget(const sched::Reservation& all) noexcept
    : one_(part_of(all, 4)), kinds_{driver_of(part_of(all, 2)), driver_of(part_of(all, 2))} {}

Time ReadBudget::readable_at(Time now, ReadPayer payer) noexcept { return readable(of(payer), now); }

Time ReadBudget::readable_at(Time now, ReadAccount& account) noexcept {
  const Time kind = readable_at(now, account.payer);
  if (account.payer == ReadPayer::strangers) return kind;
  if (!account.own) account.own = driver_of(one_, chunks_of_a_connection);
  return std::max(kind, readable(*account.own, now));
}

void ReadBudget::charge(Time now, Duration used, ReadAccount& account) noexcept {
  of(account.payer).step_unobserved(now, used, somebody);
  if (account.own) account.own->step_unobserved(now, used, somebody);
}

}  // namespace corelane::transport
