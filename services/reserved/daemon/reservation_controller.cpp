#include "services/reserved/daemon/reservation_controller.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "orb/base/text/counted.h"
#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/machine/core_list.h"
#include "services/reserved/accounts/core_sets.h"

namespace corelane::reserved {
namespace {

constexpr Duration between_looks_at_interrupts = std::chrono::seconds{10};

Refusal unknown(ReservationId id) {
  return {.kind = RefusalKind::bad_request,
          .reason = "there is no reservation " + std::to_string(id.value) + "; it was given back, or never was"};
}

// Returns the reservation that a command refers to, or no_reservation.
template <typename T>
ReservationId subject_of(const T& command) {
  if constexpr (requires { command.id; })
    return command.id;
  else
    return no_reservation;
}

}  // namespace

Done<void> ReservationController::start() {
  const os::LockGuard lock(mutex_);
  std::vector<CoreId> all;
  for (const CoreState& core : parts_.accounts.cores()) all.push_back(core.info.core);
  auto started = parts_.backend.start(all);
  if (!started) return Unexpected{started.error()};
  started_ = *started;
  resources_ = Resources(parts_.backend.controllers());
  parts_.accounts.decide(Offered{resources_.offers()});
  watch_interrupts();
  return {};
}

void ReservationController::stop() {
  const os::LockGuard lock(mutex_);
  for (auto all = parts_.accounts.all(); !all.empty(); all = parts_.accounts.all())
    tell(Released{parts_.now(), all.back()->id});  // waiting ones first
}

// ---- Commands ----

ReservationController::Outcome ReservationController::tell(const Fact& fact) {
  Outcome outcome;
  decide(fact, outcome);
  // Bound: the reservations, since each failure ends one.
  while (!failures_.empty()) {
    const Failure failure = std::move(failures_.back());
    failures_.pop_back();
    if (outcome.granted == failure.id) {
      outcome.granted.reset();
      outcome.refused = Refusal{.kind = RefusalKind::system_refused, .reason = failure.why};
    }
    Outcome others;
    decide(Failed{parts_.now(), failure.id}, others);
  }
  return outcome;
}

// Applies the fact. Then serves the queue with what the host shows as free. A grant to a waiting request does not
// change `outcome`, which answers this fact only.
void ReservationController::decide(const Fact& fact, Outcome& outcome) {
  for (const Command& command : parts_.accounts.decide(fact)) carry_out(command, outcome);
  Outcome others;
  for (const Command& command : parts_.accounts.decide(not_freed_yet())) carry_out(command, others);
  settle();
}

NotFreedYet ReservationController::not_freed_yet() const {
  return {parts_.now(), joined(parts_.backend.held(), switched_off_), resources_.held()};
}

void ReservationController::settle() {
  for (const Lost& lost : parts_.backend.settle()) fail(lost.id, lost.why);
}

// Executes the command. A reservation that has failed ends soon, so its other MakeSet and Enter commands are skipped.
void ReservationController::carry_out(const Command& command, Outcome& outcome) {
  const ReservationId id = std::visit([](const auto& one) { return subject_of(one); }, command);
  const bool gives = std::holds_alternative<MakeSet>(command) || std::holds_alternative<Enter>(command);
  if (gives && std::ranges::find(failures_, id, &Failure::id) != failures_.end()) return;
  const auto done = act(command, outcome);
  if (done) return;
  if (gives) return fail(id, done.error());
  if (std::holds_alternative<Join>(command)) outcome.join_fault = done.error();
  if (std::holds_alternative<SetCommon>(command)) os::log::error("the default set stays as it is: " + done.error());
}

void ReservationController::fail(ReservationId id, const std::string& why) {
  failures_.push_back({id, why});
  remember_end(id, why);
}

void ReservationController::remember_end(ReservationId id, const std::string& why) {
  constexpr std::size_t remembered = 256;
  std::erase_if(why_ended_, [&](const Ended& ended) { return ended.id == id; });
  why_ended_.push_back({id, why});
  if (why_ended_.size() > remembered) why_ended_.pop_front();
}

Done<void> ReservationController::act(const Command& command, Outcome& outcome) {
  if (const auto* one = std::get_if<SetCommon>(&command)) {
    parts_.interrupts.keep_to(one->cores);
    return parts_.backend.set_common(one->cores);
  }
  if (const auto* one = std::get_if<MakeSet>(&command)) return parts_.backend.make_set(one->set, one->place);
  if (const auto* one = std::get_if<RemoveSet>(&command)) parts_.backend.remove_set(one->set);
  if (const auto* one = std::get_if<Enter>(&command)) return enter(*one);
  if (const auto* one = std::get_if<Exit>(&command)) {
    resources_.take(one->id);
    parts_.backend.leave(one->id);
    remarks_.erase(one->id);
  }
  if (const auto* one = std::get_if<Join>(&command)) return join(*one);
  if (const auto* one = std::get_if<Part>(&command)) {
    parts_.backend.part(one->service, one->home);
    if (is_using_loan(one->service)) loan_uses_.erase(one->service.pid);
  }
  if (const auto* one = std::get_if<LeaseOver>(&command)) remember_end(one->id, "its lease ended");
  if (const auto* one = std::get_if<Granted>(&command)) outcome.granted = one->id;
  if (const auto* one = std::get_if<Queued>(&command)) outcome.queued = one->id;
  if (const auto* one = std::get_if<Refused>(&command)) outcome.refused = one->why;
  return {};
}

Done<void> ReservationController::enter(const Enter& command) {
  auto remarks = parts_.backend.enter(command);
  if (!remarks) return Unexpected{remarks.error()};
  auto given = resources_.give(command, parts_.backend.group_of(command.id));
  if (!given) return Unexpected{given.error()};
  remarks->insert(remarks->end(), given->begin(), given->end());
  remarks_[command.id] = std::move(*remarks);
  return {};
}

Done<void> ReservationController::join(const Join& command) {
  const Duration used = parts_.processes.used_by(command.service.pid);
  loan_uses_[command.service.pid] = {.service = command.service, .at_first = used, .latest = used};
  return parts_.backend.join(command.set, command.service);
}

Duration ReservationController::used_since(const Process& service) const {
  if (!is_using_loan(service)) return {};
  const LoanUse& use = loan_uses_.at(service.pid);
  const bool is_there = is_same(parts_.processes, service);
  return std::max(use.latest, is_there ? parts_.processes.used_by(service.pid) : Duration{}) - use.at_first;
}

bool ReservationController::is_using_loan(const Process& service) const {
  const auto use = loan_uses_.find(service.pid);
  return use != loan_uses_.end() && use->second.service == service;
}

// ---- What clients ask ----

Expected<GrantView, Refusal> ReservationController::reserve(Holder holder, const Wanted& wanted, const Terms& terms,
                                                            const std::vector<ResourceWanted>& also) {
  const os::LockGuard lock(mutex_);
  const Process process = holder.process;
  if (std::holds_alternative<ShareWanted>(wanted))
    if (auto fault = parts_.backend.share_fault(); !fault.empty())
      return Refusal{.kind = RefusalKind::system_refused, .reason = std::move(fault)};
  if (resources_.held() != ResourceAmounts{}) {  // the kernel may have given back the rest by now
    resources_.sweep();
    tell(not_freed_yet());
  }
  // Watches the process before it is granted anything, so that its end is never missed.
  if (auto watched = watch(process); !watched) return watched.error();
  const Outcome outcome = tell(Asked{parts_.now(), std::move(holder), wanted, terms, also});
  if (!parts_.processes.is_running(process)) tell(Died{parts_.now(), process, used_since(process)});
  if (outcome.refused) return watch_needed(), *outcome.refused;
  if (parts_.hurry && parts_.backend.is_waiting()) parts_.hurry();
  return view(outcome.granted ? *outcome.granted : outcome.queued.value_or(no_reservation));
}

Expected<GrantView, Refusal> ReservationController::view(ReservationId id) const {
  const Account* account = parts_.accounts.find(id);
  if (account == nullptr) {
    const auto ended = std::ranges::find(why_ended_, id, &Ended::id);
    if (ended == why_ended_.end()) return unknown(id);
    return Refusal{.kind = RefusalKind::system_refused, .reason = ended->why};
  }
  GrantView view{.id = id, .waiting = account->waiting, .place = account->place, .guarantee = account->guarantee};
  if (account->waiting) view.position = parts_.accounts.position(id);
  if (account->lease_end != never) view.lease_left = std::max(account->lease_end - parts_.now(), Duration{1});
  if (const auto remarks = remarks_.find(id); remarks != remarks_.end()) view.remarks = remarks->second;
  return view;
}

Expected<GrantView, Refusal> ReservationController::look(ReservationId id) {
  const os::LockGuard lock(mutex_);
  return view(id);
}

// Returns the reservation on which the process runs. Its own one comes first. Otherwise it is the latest granted tree
// with the process in it, since that tree is the innermost.
const Account* ReservationController::nearest(const Process& process) const {
  const Account* nearest = nullptr;
  for (const Account* account : parts_.accounts.all()) {
    if (account->waiting || account->holder.extent == Extent::thread) continue;
    if (account->holder.process == process) return account;
    if (account->holder.extent != Extent::tree || (nearest != nullptr && nearest->id.value > account->id.value))
      continue;
    const Members members = parts_.backend.processes_of(account->id);
    if (members && std::ranges::count(*members, process.pid) > 0) nearest = account;
  }
  return nearest;
}

std::optional<Account> ReservationController::holding(const Process& process, bool looks_anew) const {
  const os::LockGuard lock(mutex_);
  if (looks_anew)
    parts_.backend.look();
  else
    parts_.backend.look_at(process);
  const Account* const found = nearest(process);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

bool ReservationController::renew(ReservationId id, Duration lease) {
  const os::LockGuard lock(mutex_);
  if (parts_.accounts.find(id) == nullptr) return false;
  tell(Renewed{parts_.now(), id, lease});
  return true;
}

void ReservationController::release(ReservationId id) {
  const os::LockGuard lock(mutex_);
  tell(Released{parts_.now(), id});
  watch_needed();
}

Expected<void, Refusal> ReservationController::lend(ReservationId id, const Process& service) {
  const os::LockGuard lock(mutex_);
  if (auto watched = watch(service); !watched) return watched;
  const Outcome outcome = tell(Lent{id, service});
  if (!outcome.refused) return {};
  watch_needed();
  return Unexpected{*outcome.refused};
}

Expected<void, Refusal> ReservationController::watch(const Process& process) {
  if (!parts_.watch) return {};
  const auto watched = parts_.watch(process);
  if (watched) return {};
  watch_needed();
  return Unexpected{Refusal{.kind = RefusalKind::system_refused, .reason = watched.error()}};
}

// Ends the watch over processes that no account names, since each watch needs a file descriptor.
void ReservationController::watch_needed() {
  if (!parts_.watch_only) return;
  std::vector<Process> needed;
  for (const Account* account : parts_.accounts.all()) {
    needed.push_back(account->holder.process);
    for (const Loan& loan : account->loans)
      if (!loan.over) needed.push_back(loan.service);
  }
  needed.insert(needed.end(), survivors_.begin(), survivors_.end());
  parts_.watch_only(needed);
}

void ReservationController::take_back(ReservationId id, const Process& service) {
  const os::LockGuard lock(mutex_);
  tell(TakenBack{id, service, used_since(service)});
  watch_needed();
}

Expected<GrantView, Refusal> ReservationController::work_on(ReservationId id, const Process& service) {
  const os::LockGuard lock(mutex_);
  const Account* account = parts_.accounts.find(id);
  if (account == nullptr || account->waiting) return unknown(id);
  const auto loan = std::ranges::find(account->loans, service, &Loan::service);
  if (loan == account->loans.end() || loan->over)
    return Refusal{.kind = RefusalKind::not_yours,
                   .reason = "reservation " + std::to_string(id.value) + " is not lent to process " +
                             std::to_string(service.pid) + "; its holder has to lend it first"};
  if (is_using_loan(service))
    return Refusal{
        .kind = RefusalKind::bad_request,
        .reason = "process " + std::to_string(service.pid) + " works on a client's cores already; leave first"};
  parts_.backend.look();
  const Account* const tree = nearest(service);
  const Outcome outcome = tell(LoanUseBegan{id, service, tree == nullptr ? no_reservation : tree->id});
  if (outcome.join_fault.empty()) return view(id);
  tell(LoanUseEnded{id, service, {}});
  return Refusal{.kind = RefusalKind::system_refused,
                 .reason = "process " + std::to_string(service.pid) +
                           " could not be brought to the cores of reservation " + std::to_string(id.value) + ": " +
                           outcome.join_fault};
}

void ReservationController::leave(ReservationId id, const Process& service) {
  const os::LockGuard lock(mutex_);
  tell(LoanUseEnded{id, service, used_since(service)});
}

void ReservationController::charge(ReservationId id, const Process& client, Duration used) {
  const os::LockGuard lock(mutex_);
  tell(Charged{id, client, used});
}

// ---- What happens by itself ----

void ReservationController::ended(const Process& process) {
  const os::LockGuard lock(mutex_);
  tell(Died{parts_.now(), process, used_since(process)});
  forget_ended();
}

bool ReservationController::tick() {
  const os::LockGuard lock(mutex_);
  for (auto& [pid, use] : loan_uses_) use.latest = use.at_first + used_since(use.service);
  for (const Lost& lost : parts_.backend.sweep()) fail(lost.id, lost.why);
  resources_.sweep();
  watch_cores();
  tell(Ticked{parts_.now()});
  forget_ended();
  if (parts_.now() - interrupts_looked_at_ >= between_looks_at_interrupts) watch_interrupts();
  return parts_.backend.is_waiting();
}

// Ends reservations that have lost a core which was switched off, or which the kernel still holds. The holder is told
// the reason.
void ReservationController::watch_cores() {
  if (const auto online = parts_.online ? parts_.online() : std::nullopt) {
    std::vector<CoreId> all;
    for (const CoreState& core : parts_.accounts.cores()) all.push_back(core.info.core);
    switched_off_ = without(all, *online);
  }
  const std::vector<CoreId> gone = not_freed_yet().cores;
  for (const Account* account : parts_.accounts.all()) {
    const auto lost = common_to(account->place.cores, gone);
    if (lost.empty()) continue;
    const std::string why = "of its cores " + os::core_list_text(account->place.cores) + " the kernel has no longer " +
                            os::core_list_text(lost) + " (/sys/devices/system/cpu/cpu" +
                            std::to_string(lost.front().value) + "/online says whether it is switched off); ask again";
    os::log::warn("reservation " + std::to_string(account->id.value) + " ends: " + why);
    fail(account->id, why);
  }
}

// Another program, usually irqbalance, may have sent interrupts to reserved cores. Sends them away again.
void ReservationController::watch_interrupts() {
  interrupts_looked_at_ = parts_.now();
  if (!parts_.interrupts.is_on()) return;
  is_balanced_ = std::ranges::any_of(parts_.processes.all(), [&](int pid) CORELANE_REQUIRES(mutex_) {
    return parts_.processes.name_of(pid) == "irqbalance";
  });
  if (const unsigned strayed = parts_.interrupts.keep_away_again(parts_.accounts.common()); strayed > 0)
    os::log::warn(counted(strayed, "interrupt") +
                  " had been sent to reserved cores by another program; none goes there any more" +
                  (is_balanced_ ? "; irqbalance runs: systemctl disable --now irqbalance" : ""));
}

// Watches one living process of a tree whose first process has ended. When that one ends, the next is watched, and so
// the end of the tree is noticed at once.
void ReservationController::watch_survivor(const Account& account, const std::vector<int>& living) {
  if (!parts_.watch || account.holder.extent != Extent::tree || parts_.processes.is_running(account.holder.process))
    return;
  for (const int pid : living)
    if (const auto survivor = parts_.processes.identity(pid); survivor && parts_.processes.is_running(*survivor)) {
      if (parts_.watch(*survivor)) survivors_.push_back(*survivor);  // if this fails, the next tick notices the end
      return;
    }
}

// Tells whether a process of this reservation works on another reservation's cores now.
bool ReservationController::has_loan_user(ReservationId id) const {
  for (const Account* account : parts_.accounts.all())
    for (const Loan& loan : account->loans)
      if (loan.in_use && account->id != id && parts_.accounts.home_of(loan) == id &&
          parts_.processes.is_running(loan.service))
        return true;
  return false;
}

// Tells whether the reservation lives although none of its processes is in its set. Such a process works on a client's
// cores, or another program has moved it away. Its end is noticed by the watch.
bool ReservationController::is_elsewhere(const Account& account) const {
  const bool is_process = account.holder.extent != Extent::thread;
  return has_loan_user(account.id) || (is_process && parts_.processes.is_running(account.holder.process));
}

// Releases the reservations of trees and threads that have ended.
void ReservationController::forget_ended() {
  std::vector<ReservationId> over;
  survivors_.clear();
  parts_.backend.look();
  for (const Account* account : parts_.accounts.all()) {
    if (account->waiting) continue;
    const Members living = parts_.backend.processes_of(account->id);
    if (!living) continue;  // if the host cannot be read, treat it as living
    if (living->empty() && !is_elsewhere(*account)) over.push_back(account->id);
    watch_survivor(*account, *living);
  }
  for (const ReservationId id : over) tell(Released{parts_.now(), id});
  watch_needed();
}

std::optional<Account> ReservationController::find(ReservationId id) const {
  const os::LockGuard lock(mutex_);
  const Account* account = parts_.accounts.find(id);
  return account == nullptr ? std::nullopt : std::optional(*account);
}

std::vector<Account> ReservationController::accounts() const {
  const os::LockGuard lock(mutex_);
  std::vector<Account> accounts;
  for (const Account* account : parts_.accounts.all()) {
    accounts.push_back(*account);
    for (Loan& loan : accounts.back().loans)
      if (loan.in_use) loan.used += used_since(loan.service);
  }
  return accounts;
}

std::vector<CoreState> ReservationController::cores() const {
  const os::LockGuard lock(mutex_);
  return parts_.accounts.cores();
}

std::vector<ReservationController::ResourceState> ReservationController::resources() const {
  const os::LockGuard lock(mutex_);
  const ResourceBook& book = parts_.accounts.resources();
  std::vector<ResourceState> states;
  for (const ResourceOffer& offer : book.offers())
    states.push_back({offer, book.promised(offer.which) + book.held(offer.which)});
  return states;
}

ReservationControllerStatus ReservationController::status() const {
  const os::LockGuard lock(mutex_);
  ReservationControllerStatus status{
      .backend = parts_.backend.report(), .started = started_, .interrupts = parts_.interrupts.report()};
  if (is_balanced_)
    status.backend.cannot.push_back(
        "irqbalance runs and sends interrupts to reserved cores, where they are until the next look, ten seconds later "
        "at most; systemctl disable --now irqbalance");
  const ResourceBook& book = parts_.accounts.resources();
  for (const Resource which : all_resources)
    if (const std::uint64_t held = book.held(which); held != 0)
      status.backend.cannot.push_back(amount_text(which, held) + " of " + name_of(which) +
                                      ", which the kernel has not taken back yet from reservations that ended; it is "
                                      "asked again once a second");
  return status;
}

}  // namespace corelane::reserved
