#include "services/reserved/accounts/accounts.h"

#include <algorithm>
#include <utility>

#include "orb/base/text/counted.h"
#include "services/reserved/accounts/core_sets.h"
#include "services/reserved/accounts/placement.h"
#include "services/reserved/accounts/request_check.h"

namespace corelane::reserved {
namespace {

std::vector<CoreId> ids_of(const std::vector<os::CoreInfo>& cores) {
  std::vector<CoreId> ids;
  for (const os::CoreInfo& core : cores) ids.push_back(core.core);
  return ids;
}

// The default set is never empty: programs without a reservation need a core to run on.
std::vector<CoreId> kept_cores(const std::vector<os::CoreInfo>& cores, const std::vector<CoreId>& wanted) {
  const auto kept = common_to(ids_of(cores), wanted);
  if (!kept.empty()) return kept;
  std::vector<CoreId> first;
  for (const os::CoreInfo& core : cores)
    if (core.physical_core == cores.front().physical_core) first.push_back(core.core);
  return first;
}

SetName shared_name(CoreId core) { return "s" + std::to_string(core.value); }

std::vector<CoreId> occupied(const Place& place) { return joined(place.cores, place.idle); }

}  // namespace

PartsPerBillion parts_of(const ShareWanted& share) noexcept {
  // Rounded up, so that many small shares never promise more than a core has. Cannot overflow: a period is at most one
  // second.
  return (share.budget.count() * whole_core + share.period.count() - 1) / share.period.count();
}

Accounts::Accounts(std::vector<os::CoreInfo> cores, AccountOptions options)
    : machine_(std::move(cores)),
      all_(ids_of(machine_)),
      options_(std::move(options)),
      kept_(kept_cores(machine_, options_.kept)),
      next_id_(options_.first_id.value) {}

Commands Accounts::decide(const Fact& fact) {
  return std::visit([this](const auto& one) { return on(one); }, fact);
}

// ---- Asking ----

Commands Accounts::on(const Asked& fact) {
  if (auto fault = fault_of(fact)) return {Refused{std::move(*fault)}};
  Account account{.id = {next_id_},
                  .holder = fact.holder,
                  .wanted = fact.wanted,
                  .terms = fact.terms,
                  .also = fact.also,
                  .since = fact.at};
  if (!could_ever(account))
    return {Refused{{.kind = RefusalKind::never_fits,
                     .reason = never_fits_text(account, machine_, kept_),
                     .fits = fit_text(account, machine_, without(all_, kept_))}}};
  Commands commands;
  const bool may_open = queue_.empty();
  if (has_resources(account, queue_) && place(account, commands, may_open)) {
    ++next_id_;
    grant(std::move(account), commands, fact.at);
  } else if (fact.terms.queues) {
    ++next_id_;
    account.waiting = true;
    queue_.push_back(std::move(account));
    commands.push_back(Queued{queue_.back().id});
  } else {
    commands.push_back(Refused{no_room(account)});
  }
  return commands;
}

std::optional<Refusal> Accounts::fault_of(const Asked& fact) const {
  if (auto fault = request_fault(fact.holder, fact.wanted, all_)) return fault;
  if (fact.terms.note.size() > options_.limits.note)
    return Refusal{RefusalKind::bad_request,
                   "the note is longer than " + std::to_string(options_.limits.note) + " bytes; say it in fewer words"};
  if (fact.terms.lease < Duration::zero())
    return Refusal{RefusalKind::bad_request, "the lease is negative; 0 means: as long as the process lives"};
  if (auto fault = fault_of_holder(fact.holder)) return fault;
  return resources_.fault_of(fact.also, fact.holder.extent);
}

std::optional<Refusal> Accounts::fault_of_holder(const Holder& holder) const {
  std::size_t of_user = 0;
  const auto accounts = all();
  for (const Account* other : accounts) {
    if (other->holder.user == holder.user) ++of_user;
    if (other->holder.process != holder.process) continue;
    const bool both_threads = other->holder.extent == Extent::thread && holder.extent == Extent::thread;
    if (!both_threads || other->holder.thread == holder.thread)
      return Refusal{RefusalKind::bad_request, "process " + std::to_string(holder.process.pid) + " has reservation " +
                                                   std::to_string(other->id.value) +
                                                   (other->waiting ? ", which waits" : "") +
                                                   "; it has one at a time, until it ends or gives that one back"};
  }
  if (accounts.size() >= options_.limits.reservations || of_user >= options_.limits.of_user)
    return Refusal{RefusalKind::no_room, counted(accounts.size(), "reservation is", "reservations are") + " held, " +
                                             std::to_string(of_user) + " of this user; release one first"};
  return std::nullopt;
}

bool Accounts::could_ever(const Account& account) const {
  const auto best = without(all_, kept_);
  const auto* cores = std::get_if<CoresWanted>(&account.wanted);
  return choose_cores(machine_, best, cores != nullptr ? *cores : CoresWanted{.count = 1}).has_value();
}

Refusal Accounts::no_room(const Account& account) const {
  const auto free = free_cores();
  std::string reason = queue_.empty() ? "" : counted(queue_.size(), "waits", "wait") + " before this request; ";
  if (std::string lack = resources_.lack_text(account.also); !lack.empty())
    return {.kind = RefusalKind::no_room, .reason = reason + lack, .fits = resources_.fit_text(account.also)};
  reason += no_room_text(account, free, granted_.size());
  std::string fits = queue_.empty() ? fit_text(account, machine_, free) : "";
  if (const auto* share = std::get_if<ShareWanted>(&account.wanted); share != nullptr && fits.empty()) {
    PartsPerBillion most = 0;
    for (const auto& [core, shared] : shared_)
      if (shared.of_threads == (account.holder.extent == Extent::thread))
        most = std::max(most, shared_limit - shared.booked);
    fits = share_fit_text(*share, account.holder.extent, most);
  }
  return {.kind = RefusalKind::no_room, .reason = std::move(reason), .fits = std::move(fits)};
}

// ---- Placing ----

bool Accounts::place(Account& account, Commands& commands, bool may_open) {
  return account.is_share() ? place_share(account, commands, may_open) : place_cores(account, commands, may_open);
}

// Tests whether the resources that `account` asks for are free. `before` are the accounts which wait ahead of this one.
// A resource that one of them waits for counts as not free.
bool Accounts::has_resources(const Account& account, const std::deque<Account>& before) const {
  const auto waits_for = [&](const ResourceWanted& wanted) {
    return std::ranges::any_of(before, [&](const Account& other) {
      return std::ranges::count(other.also, wanted.which, &ResourceWanted::which) > 0;
    });
  };
  return resources_.has_room(account.also) && std::ranges::none_of(account.also, waits_for);
}

bool Accounts::place_cores(Account& account, Commands& commands, bool may_open) {
  if (!may_open) return false;
  auto found = choose_cores(machine_, free_cores(), std::get<CoresWanted>(account.wanted));
  if (!found) return false;
  account.place = std::move(*found);
  account.guarantee = options_.enforces ? Guarantee::exclusive_cores : Guarantee::affinity_only;
  commands.push_back(SetCommon{without(common(), occupied(account.place))});
  commands.push_back(MakeSet{set_of(account), account.place, account.id});
  return true;
}

bool Accounts::place_share(Account& account, Commands& commands, bool may_open) {
  auto core = shared_with_room(account);
  if (!core && may_open) core = open_shared(account, commands);
  if (!core) return false;
  account.place = {.cores = {*core}, .idle = shared_.at(*core).idle};
  account.guarantee = account.holder.extent == Extent::thread ? Guarantee::thread_deadline : Guarantee::tree_bandwidth;
  return true;
}

// Returns the shared core which has the least room left and still enough for `account`; none if there is no such core.
std::optional<CoreId> Accounts::shared_with_room(const Account& account) const {
  const PartsPerBillion parts = parts_of(std::get<ShareWanted>(account.wanted));
  std::optional<CoreId> best;
  for (const auto& [core, shared] : shared_) {
    if (shared.of_threads != (account.holder.extent == Extent::thread)) continue;
    if (shared.booked + parts > shared_limit) continue;
    if (!best || shared.booked > shared_.at(*best).booked) best = core;
  }
  return best;
}

std::optional<CoreId> Accounts::open_shared(const Account& account, Commands& commands) {
  const auto found = choose_cores(machine_, free_cores(), CoresWanted{.count = 1});
  if (!found) return std::nullopt;
  const CoreId core = found->cores.front();
  commands.push_back(SetCommon{without(common(), occupied(*found))});
  commands.push_back(MakeSet{shared_name(core), *found, account.id});
  shared_[core] = {.idle = found->idle, .of_threads = account.holder.extent == Extent::thread};
  return core;
}

void Accounts::grant(Account account, Commands& commands, Time at) {
  std::optional<ShareWanted> share;
  if (const auto* wanted = std::get_if<ShareWanted>(&account.wanted)) {
    share = *wanted;
    shared_.at(account.place.cores.front()).booked += parts_of(*wanted);
  }
  account.waiting = false;
  account.since = at;
  account.lease_end = account.terms.lease == Duration::zero() ? never : at + account.terms.lease;
  resources_.book(account.also);
  commands.push_back(Enter{account.id, set_of(account), account.holder, share, account.also});
  commands.push_back(Granted{account.id});
  granted_.emplace(account.id, std::move(account));
}

// ---- Ending ----

Commands Accounts::on(const Released& fact) {
  Commands commands;
  end(fact.id, commands);
  return commands;
}

Commands Accounts::on(const Failed& fact) { return on(Released{fact.at, fact.id}); }

Commands Accounts::on(const Died& fact) {
  std::vector<ReservationId> over;
  Commands commands;
  for (const Account& account : queue_)
    if (account.holder.process == fact.process) over.push_back(account.id);
  for (auto& [id, account] : granted_) {
    if (account.holder.process == fact.process && account.holder.extent != Extent::tree) over.push_back(id);
    close(account, fact.process, fact.used, commands);
  }
  for (const ReservationId id : over) end(id, commands);
  return commands;
}

Commands Accounts::on(const Ticked& fact) {
  std::vector<ReservationId> over;
  for (const auto& [id, account] : granted_)
    if (account.lease_end <= fact.at) over.push_back(id);
  Commands commands;
  for (const ReservationId id : over) {
    commands.push_back(LeaseOver{id});
    end(id, commands);
  }
  return commands;
}

Commands Accounts::on(const Renewed& fact) {
  if (Account* account = find_granted(fact.id))
    account->lease_end = fact.lease == Duration::zero() ? never : fact.at + fact.lease;
  const auto waiting = std::ranges::find(queue_, fact.id, &Account::id);
  if (waiting != queue_.end()) waiting->terms.lease = fact.lease;  // the lease starts when the reservation is granted
  return {};
}

void Accounts::end(ReservationId id, Commands& commands) {
  if (const auto found = granted_.find(id); found != granted_.end()) {
    const Account account = std::move(found->second);
    granted_.erase(found);
    end_granted(account, commands);
  } else {
    std::erase_if(queue_, [&](const Account& account) { return account.id == id; });
  }
}

void Accounts::end_granted(const Account& account, Commands& commands) {
  for (const Loan& loan : account.loans)
    if (loan.in_use) commands.push_back(Part{account.id, loan.service, home_of(loan)});
  commands.push_back(Exit{account.id});
  resources_.give_back(account.also);
  if (account.is_share()) return leave_shared(account, commands);
  commands.push_back(RemoveSet{set_of(account)});
  commands.push_back(SetCommon{common()});
}

void Accounts::leave_shared(const Account& account, Commands& commands) {
  const auto found = shared_.find(account.place.cores.front());
  found->second.booked -= parts_of(std::get<ShareWanted>(account.wanted));
  if (found->second.booked > 0) return;
  commands.push_back(RemoveSet{shared_name(found->first)});
  shared_.erase(found);
  commands.push_back(SetCommon{common()});
}

Commands Accounts::on(const NotFreedYet& fact) {
  held_ = fact.cores;
  resources_.hold(fact.resources);
  Commands commands;
  serve_queue(fact.at, commands);
  return commands;
}

// Grants waiting reservations in order. Bound: the accounts that wait. After one that cannot be placed, the later ones
// get no new core.
void Accounts::serve_queue(Time at, Commands& commands) {
  bool may_open = true;
  std::deque<Account> still;
  while (!queue_.empty()) {
    Account account = std::move(queue_.front());
    queue_.pop_front();
    if (has_resources(account, still) && place(account, commands, may_open)) {
      grant(std::move(account), commands, at);
    } else {
      may_open = false;
      still.push_back(std::move(account));
    }
  }
  queue_ = std::move(still);
}

Commands Accounts::on(const Offered& fact) {
  resources_.offer(fact.offers);
  return {};
}

// ---- Billing ----

Commands Accounts::on(const Lent& fact) {
  Account* account = find_granted(fact.id);
  if (account == nullptr) return {};
  const auto known = std::ranges::find(account->loans, fact.service, &Loan::service);
  if (known != account->loans.end() && !known->over) return {};
  const auto open = static_cast<std::size_t>(std::ranges::count(account->loans, false, &Loan::over));
  if (open >= options_.limits.loans)
    return {Refused{{.kind = RefusalKind::no_room,
                     .reason = "reservation " + std::to_string(fact.id.value) + " is lent to " + std::to_string(open) +
                               " processes, which is the most; take it back "
                               "from one of them first"}}};
  if (known != account->loans.end())
    known->over = false;
  else
    account->loans.push_back({.service = fact.service});
  return {};
}

Commands Accounts::on(const TakenBack& fact) {
  Commands commands;
  if (Account* account = find_granted(fact.id)) close(*account, fact.service, fact.used, commands);
  return commands;
}

// Ends the loan to `service`. A service that is using the loan gets a Part command, even if it has ended: the backend
// must forget it.
void Accounts::close(Account& account, const Process& service, Duration used, Commands& commands) {
  const auto loan = std::ranges::find(account.loans, service, &Loan::service);
  if (loan == account.loans.end() || loan->over) return;
  if (loan->in_use) expel(account, *loan, used, commands);
  loan->over = true;
  if (loan->times == 0) account.loans.erase(loan);
  add_up_closed(account);
}

// Adds the oldest closed loan to a common sum when there are too many closed loans. Bound: the loans.
void Accounts::add_up_closed(Account& account) const {
  if (static_cast<std::size_t>(std::ranges::count(account.loans, true, &Loan::over)) <= options_.limits.loans) return;
  auto sum = std::ranges::find(account.loans, Process{}, &Loan::service);
  if (sum == account.loans.end()) sum = account.loans.insert(account.loans.begin(), {.over = true});
  const auto oldest = std::find_if(std::next(sum), account.loans.end(), [](const Loan& loan) { return loan.over; });
  sum->used += oldest->used;
  sum->times += oldest->times;
  account.loans.erase(oldest);
}

Commands Accounts::on(const LoanUseBegan& fact) {
  Account* account = find_granted(fact.id);
  if (account == nullptr) return {};
  const auto loan = std::ranges::find(account->loans, fact.service, &Loan::service);
  if (loan == account->loans.end() || loan->in_use || loan->over) return {};
  loan->in_use = true;
  loan->tree = fact.tree;
  ++loan->times;
  return {Join{fact.id, set_of(*account), fact.service}};
}

Commands Accounts::on(const LoanUseEnded& fact) {
  Account* account = find_granted(fact.id);
  if (account == nullptr) return {};
  Commands commands;
  for (Loan& loan : account->loans)
    if (loan.service == fact.service && loan.in_use) expel(*account, loan, fact.used, commands);
  return commands;
}

void Accounts::expel(Account& account, Loan& loan, Duration used, Commands& commands) {
  loan.in_use = false;
  loan.used += std::max(used, Duration::zero());
  commands.push_back(Part{account.id, loan.service, home_of(loan)});
}

Commands Accounts::on(const Charged& fact) {
  Account* account = find_granted(fact.id);
  if (account == nullptr) return {};
  auto& charges = account->charges;
  auto charge = std::ranges::find(charges, fact.client, &Charge::client);
  if (charge == charges.end()) {
    const Process others{};
    const bool has_room = charges.size() + 1 < options_.limits.charges;  // the last entry is for all other clients
    if (!has_room) charge = std::ranges::find(charges, others, &Charge::client);
    if (charge == charges.end()) {
      charges.push_back({.client = has_room ? fact.client : others});
      charge = std::prev(charges.end());
    }
  }
  charge->used += std::max(fact.used, Duration::zero());
  ++charge->times;
  return {};
}

// ---- Looking ----

Account* Accounts::find_granted(ReservationId id) {
  const auto found = granted_.find(id);
  return found == granted_.end() ? nullptr : &found->second;
}

const Account* Accounts::find(ReservationId id) const {
  if (const auto found = granted_.find(id); found != granted_.end()) return &found->second;
  const auto waiting = std::ranges::find(queue_, id, &Account::id);
  return waiting == queue_.end() ? nullptr : &*waiting;
}

std::vector<const Account*> Accounts::all() const {
  std::vector<const Account*> accounts;
  for (const auto& [id, account] : granted_) accounts.push_back(&account);
  for (const Account& account : queue_) accounts.push_back(&account);
  return accounts;
}

std::size_t Accounts::position(ReservationId id) const {
  return static_cast<std::size_t>(std::ranges::find(queue_, id, &Account::id) - queue_.begin());
}

std::vector<CoreId> Accounts::taken() const {
  std::vector<CoreId> cores;
  for (const auto& [id, account] : granted_) cores = joined(cores, occupied(account.place));
  for (const auto& [core, shared] : shared_) cores = joined(cores, joined({core}, shared.idle));
  return cores;
}

std::vector<CoreId> Accounts::free_cores() const { return without(without(all_, kept_), joined(taken(), held_)); }

std::vector<CoreId> Accounts::common() const { return without(all_, taken()); }

SetName Accounts::set_of(const Account& account) const {
  if (account.is_share()) return shared_name(account.place.cores.front());
  return "r" + std::to_string(account.id.value);
}

// The service's own reservation comes before that of its tree. The tree's reservation may have ended meanwhile.
ReservationId Accounts::home_of(const Loan& loan) const {
  for (const auto& [id, account] : granted_)
    if (account.holder.process == loan.service && account.holder.extent != Extent::thread) return id;
  return granted_.contains(loan.tree) ? loan.tree : no_reservation;
}

std::vector<CoreState> Accounts::cores() const {
  std::vector<CoreState> states;
  for (const os::CoreInfo& core : machine_) {
    CoreState state{.info = core, .use = holds(held_, core.core) ? CoreUse::held : CoreUse::common};
    if (holds(kept_, core.core)) state.use = CoreUse::withheld;
    for (const auto& [id, account] : granted_) {
      if (account.is_share()) continue;
      if (holds(account.place.cores, core.core)) state.use = CoreUse::taken, state.owner = id;
      if (holds(account.place.idle, core.core)) state.use = CoreUse::kept_idle, state.owner = id;
    }
    for (const auto& [number, shared] : shared_) {
      if (number == core.core) state.use = CoreUse::shared, state.booked = shared.booked;
      if (holds(shared.idle, core.core)) state.use = CoreUse::kept_idle;
    }
    states.push_back(state);
  }
  return states;
}

Time Accounts::next_end() const {
  Time next = never;
  for (const auto& [id, account] : granted_) next = std::min(next, account.lease_end);
  return next;
}

}  // namespace corelane::reserved
