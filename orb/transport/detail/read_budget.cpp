#include "orb/transport/detail/read_budget.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace corelane::transport {
namespace {

// A connection has few replenishments, and there are many connections.
constexpr std::size_t chunks_of_a_connection = 4, chunks_of_a_kind = sched::SporadicServer::most_chunks;

sched::Reservation part_of(const sched::Reservation& all, int part) {
  return {.budget = all.budget / part, .period = all.period};
}

}  // namespace

ReadBudget::ReadBudget(const sched::Reservation& all, ReadLimit limit, sched::ReaderServer kind) noexcept
    : limit_(limit),
      kind_(kind),
      everybody_{.period = all.period, .priority = {}},
      all_(all),
      one_(part_of(all, sched::reader_quarters)),
      kinds_{driver_of(limit == ReadLimit::unforeseen ? all : part_of(all, sched::reader_halves), chunks_of_a_kind),
             driver_of(limit == ReadLimit::unforeseen ? all : part_of(all, sched::reader_halves), chunks_of_a_kind)} {
  assert(limit == ReadLimit::everything || kind == sched::ReaderServer::sporadic);
}

sched::ServerDriver ReadBudget::driver_of(const sched::Reservation& part, std::size_t chunks) const noexcept {
  return sched::ServerDriver(sched::reader_server(kind_, part, chunks));
}

// Returns when the server may run. To its servers the reader always seems to have work: time without work is not seen,
// and counts as time with work.
Time ReadBudget::readable(sched::ServerDriver& driver, Time now) const noexcept {
  const sched::ServerVerdict verdict = driver.step_unobserved(now, Duration::zero(), everybody_);
  return verdict.runs ? now : verdict.again;
}

Time ReadBudget::readable_at(Time now, ReadShare share) noexcept { return readable(of(share), now); }

Time ReadBudget::readable_at(Time now, ReadAccount& account) noexcept {
  if (is_exempt(account)) return now;
  const Time kind = readable_at(now, share_of(account));
  if (share_of(account) == ReadShare::without_tasks) return kind;
  if (!account.own) account.own = driver_of(one_, chunks_of_a_connection);
  return std::max(kind, readable(*account.own, now));
}

void ReadBudget::charge(Time now, Duration used, ReadAccount& account, const ReadTurn& turn) noexcept {
  if (limit_ == ReadLimit::unforeseen) return charge_unforeseen(now, used, account, turn);
  of(account.share).step_unobserved(now, used, everybody_);
  if (account.own) account.own->step_unobserved(now, used, everybody_);
}

bool ReadBudget::is_too_long(const ReadAccount& account) noexcept {
  return account.undecided_bytes > std::clamp(account.longest_foreseen, undecided_at_most, longest_expected);
}

void ReadBudget::charge_unforeseen(Time now, Duration used, ReadAccount& account, const ReadTurn& turn) noexcept {
  account.undecided += std::min(used, longest_turn * all_.budget);
  account.undecided_bytes += turn.bytes;
  const bool decided = turn.messages || turn.unforeseen;
  if (decided && !turn.unforeseen) {
    account.waits_for_budget = false;
    account.undecided = {};
    account.longest_foreseen = std::max(account.longest_foreseen, account.undecided_bytes);
  } else if (decided || is_too_long(account)) {
    account.waits_for_budget = true;
    const Duration all_used = std::exchange(account.undecided, Duration{});
    // The connection was exempt, and has not asked before.
    (void)readable(of(ReadShare::without_tasks), now - all_used);
    of(ReadShare::without_tasks).step_unobserved(now, all_used, everybody_);
  }
  if (turn.unforeseen) account.longest_foreseen = 0;
  if (decided) account.undecided_bytes = 0;
}

}  // namespace corelane::transport
