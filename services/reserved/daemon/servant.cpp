#include "services/reserved/daemon/servant.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include "orb/core/server/server.h"
#include "orb/os/lock.h"
#include "orb/os/machine/core_list.h"
#include "orb/os/machine/host.h"
#include "orb/os/peers/user_name.h"

namespace corelane::reserved {
namespace {

namespace idl = Corelane::Reservation;

[[noreturn]] void refuse(const Refusal& why) {
  throw idl::Refused(static_cast<idl::Why>(why.kind), why.reason, why.fits);
}
static_assert(static_cast<int>(RefusalKind::system_refused) == static_cast<int>(idl::Why::system_refused));
static_assert(static_cast<int>(Guarantee::tree_bandwidth) == static_cast<int>(idl::Guarantee::tree_bandwidth));
static_assert(static_cast<int>(Nearness::one_node) == static_cast<int>(idl::Nearness::one_node));
static_assert(static_cast<int>(Siblings::others) == static_cast<int>(idl::SiblingRule::siblings_others));
static_assert(static_cast<int>(Extent::thread) == static_cast<int>(idl::Scope::one_thread));
static_assert(static_cast<int>(CoreUse::held) == static_cast<int>(idl::CoreUse::held));
static_assert(static_cast<int>(ResourcePromise::best_effort) == static_cast<int>(idl::ResourcePromise::best_effort));

Duration duration_of(idl::Nanoseconds count) {
  constexpr auto most = static_cast<idl::Nanoseconds>(std::chrono::nanoseconds(std::chrono::hours{24 * 365}).count());
  return Duration{static_cast<std::int64_t>(std::min(count, most))};
}

idl::Nanoseconds count_of(Duration duration) {
  return static_cast<idl::Nanoseconds>(std::max(duration, Duration::zero()).count());
}

idl::CoreList list_of_cores(const std::vector<CoreId>& cores) {
  idl::CoreList list;
  for (const CoreId core : cores) list.push_back(core.value);
  return list;
}

idl::Process named(const Process& process) { return idl::Process(process.pid, process.start_ticks); }

idl::Grant grant_of(const Expected<GrantView, Refusal>& found) {
  if (!found) refuse(found.error());
  return idl::Grant(found->id.value, found->waiting, static_cast<std::uint32_t>(found->position),
                    list_of_cores(found->place.cores), list_of_cores(found->place.idle),
                    static_cast<idl::Guarantee>(found->guarantee), count_of(found->lease_left), found->remarks);
}

std::string program_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

// Returns the effective user of the process. The owner of /proc/<pid> would differ if the program has capabilities of
// its own.
std::optional<std::uint32_t> user_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {  // bound: the lines of the file
    if (!line.starts_with("Uid:")) continue;
    std::istringstream users(line.substr(4));
    std::uint32_t real = 0, effective = 0;
    if (users >> real >> effective) return effective;
  }
  return std::nullopt;
}

bool is_in_our_namespace(int pid) {
  struct stat found {};
  return stat(("/proc/" + std::to_string(pid) + "/ns/pid").c_str(), &found) == 0 &&
         found.st_ino == os::this_host().pid_namespace;
}

bool has_thread(int pid, int thread) {
  return access(("/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread)).c_str(), F_OK) == 0;
}

Refusal no_process(int pid) {
  if (auto seen = fault_of_unseen(HostProcesses(), pid); !seen)
    return {.kind = RefusalKind::system_refused, .reason = seen.error()};
  return {.kind = RefusalKind::no_such_process,
          .reason = "there is no process " + std::to_string(pid) + " any more, or it is another one by now"};
}

CoresWanted wanted_cores(const idl::CoresWanted& wanted) {
  CoresWanted result{.count = wanted.count(),
                     .nearness = static_cast<Nearness>(wanted.placement()),
                     .siblings = static_cast<Siblings>(wanted.siblings())};
  for (const std::int16_t core : wanted.these()) result.these.push_back({core});
  return result;
}

std::vector<ResourceWanted> wanted_resources(const idl::ResourceWantedList& wanted) {
  std::vector<ResourceWanted> result;
  for (const idl::ResourceWanted& one : wanted) {
    const auto* which = std::ranges::find_if(all_resources, [&](Resource r) { return one.name() == name_of(r); });
    if (which == all_resources.end())
      refuse({.kind = RefusalKind::bad_request,
              .reason = "this server reserves no '" + one.name() + "', but memory, cache and disk"});
    result.push_back({*which, one.amount(), one.best_effort()});
  }
  return result;
}

// Returns why a server that was started on a reservation cannot use its cores; nothing if it can.
std::optional<Refusal> fault_of_own(const Account& held, std::vector<CoreId> named) {
  const std::string which = "(reservation " + std::to_string(held.id.value) + ")";
  if (held.is_share())
    return Refusal{.kind = RefusalKind::bad_request,
                   .reason = "the process was started on a share of a core " + which +
                             ", which is no core of its own; start it with corelane reserve --cores"};
  std::ranges::sort(named);
  if (std::ranges::includes(held.place.cores, named)) return std::nullopt;
  return Refusal{.kind = RefusalKind::bad_request,
                 .reason = "the process was started on cores " + os::core_list_text(held.place.cores) + " " + which +
                           ", and its pool.cores names " + os::core_list_text(named) +
                           "; leave pool.cores at all, or name some of those"};
}

idl::ShareWanted share_of(const Account& account) {
  const auto* share = std::get_if<ShareWanted>(&account.wanted);
  return share == nullptr ? idl::ShareWanted() : idl::ShareWanted(count_of(share->budget), count_of(share->period));
}

idl::Account account_of(const Account& account, Time now) {
  idl::Account result;
  result.reservation(account.id.value);
  result.waiting(account.waiting);
  result.whose(idl::Holder(named(account.holder.process), static_cast<idl::Scope>(account.holder.extent),
                           account.holder.thread));
  result.user(account.holder.user);
  // Reads the program's current name: corelane reserve executes another program.
  const bool is_same = os::identity_of(account.holder.process.pid) == account.holder.process;
  result.program(is_same ? program_of(account.holder.process.pid) : account.holder.program);
  result.note(account.terms.note);
  result.cores(list_of_cores(account.place.cores));
  result.idle(list_of_cores(account.place.idle));
  result.share(share_of(account));
  result.promise(static_cast<idl::Guarantee>(account.guarantee));
  result.held(account.waiting ? 0 : count_of(now - account.since));
  result.lease_left(account.lease_end == never ? 0 : count_of(std::max(account.lease_end - now, Duration{1})));
  for (const Loan& loan : account.loans)
    result.loans().push_back(idl::Loan(named(loan.service), loan.in_use, count_of(loan.used), loan.times, loan.over));
  for (const Charge& charge : account.charges)
    result.charges().push_back(idl::Charge(named(charge.client), count_of(charge.used), charge.times));
  return result;
}

idl::CoreState state_of(const CoreState& core) {
  idl::CoreState state;
  state.core(core.info.core.value);
  state.physical_core(static_cast<std::int16_t>(core.info.physical_core));
  state.cache(static_cast<std::int16_t>(core.info.cache));
  state.node(static_cast<std::int16_t>(core.info.numa));
  state.use(static_cast<idl::CoreUse>(core.use));
  state.owner(core.owner.value);
  state.booked(static_cast<double>(core.booked) / whole_core);
  state.free(core.use == CoreUse::shared ? static_cast<double>(shared_limit - core.booked) / whole_core : 0.0);
  return state;
}

}  // namespace

ReservationServant::ReservationServant(ReservationController& controller, AccessList access)
    : controller_(controller), access_(std::move(access)), began_(controller.now()) {}

// ---- Who asks ----

ReservationServant::Caller ReservationServant::caller() const {
  const auto peer = core::calling_credentials();
  if (!peer)
    refuse({.kind = RefusalKind::no_right,
            .reason = "the caller is not known: call over the Unix socket of corelane-reserved, from this host"});
  const auto process = os::identity_of(peer->process);
  if (!process) refuse(no_process(peer->process));
  // The pid was recorded at connect(), and another process may have it by now. If that process has the same user, the
  // caller could have named it anyhow.
  if (user_of(process->pid) != peer->user || process_behind(core::calling_peer(), *process) != *process)
    refuse({.kind = RefusalKind::no_such_process,
            .reason = "process " + std::to_string(peer->process) +
                      " is not the one that connected, or has changed its user since; connect again"});
  return {*process, peer->user};
}

// Returns the process that made the first call over the connection.
Process ReservationServant::process_behind(PeerId connection, const Process& now) const {
  constexpr std::size_t remembered = 4096;
  const os::LockGuard lock(mutex_);
  if (connected_.size() >= remembered && !connected_.contains(connection.value)) connected_.erase(connected_.begin());
  return connected_.try_emplace(connection.value, now).first->second;
}

Process ReservationServant::resolve(const idl::Process& who, const Caller& from, bool any_user) const {
  if (who.pid() == 0) return from.process;
  if (!is_in_our_namespace(from.process.pid))
    refuse({.kind = RefusalKind::bad_request,
            .reason = "the caller is in another PID namespace, where pids mean other processes; let that process ask "
                      "for itself, with pid 0"});
  const auto process = os::identity_of(who.pid());
  if (!process || (who.started() != 0 && who.started() != process->start_ticks)) refuse(no_process(who.pid()));
  if (!any_user && from.user != 0 && user_of(who.pid()) != from.user)
    refuse({.kind = RefusalKind::not_yours,
            .reason = "process " + std::to_string(who.pid()) + " is of another user; ask as that user, or as root"});
  return *process;
}

// Returns the account. Refuses the call if the caller may not change it.
Account ReservationServant::owned(idl::Id reservation, const Caller& from) const {
  auto account = controller_.find({reservation});
  if (!account) throw idl::Unknown();
  if (from.user != 0 && from.user != account->holder.user)
    refuse({.kind = RefusalKind::not_yours,
            .reason = "reservation " + std::to_string(reservation) + " is of user " +
                      os::name_of_user(account->holder.user) + "; ask as that user, or as root"});
  return *std::move(account);
}

// ---- Reserving ----

idl::Grant ReservationServant::reserve(const idl::Holder& for_whom, const Wanted& wanted, const idl::Terms& how,
                                       const std::vector<ResourceWanted>& also) {
  const Caller from = caller();
  if (const auto admitted = access_.admits(from.user, core::calling_groups()); !admitted) refuse(admitted.error());
  const Process process = resolve(for_whom.who(), from);
  Holder holder{.process = process,
                .extent = static_cast<Extent>(for_whom.extent()),
                .user = user_of(process.pid).value_or(from.user),
                .program = program_of(process.pid)};
  if (holder.extent == Extent::thread) holder.thread = for_whom.thread() != 0 ? for_whom.thread() : process.pid;
  if (holder.extent == Extent::thread && !has_thread(process.pid, holder.thread))
    refuse({.kind = RefusalKind::no_such_process,
            .reason = "process " + std::to_string(process.pid) + " has no thread " + std::to_string(holder.thread)});
  return grant_of(controller_.reserve(std::move(holder), wanted,
                                      {.lease = duration_of(how.lease()), .queues = how.queues(), .note = how.note()},
                                      also));
}

idl::Grant ReservationServant::reserve_cores(const idl::Holder& for_whom, const idl::CoresWanted& wanted,
                                             const idl::Terms& how) {
  return reserve(for_whom, wanted_cores(wanted), how);
}

idl::Grant ReservationServant::reserve_share(const idl::Holder& for_whom, const idl::ShareWanted& wanted,
                                             const idl::Terms& how) {
  return reserve(for_whom, ShareWanted{duration_of(wanted.budget()), duration_of(wanted.period())}, how);
}

idl::Grant ReservationServant::reserve_with(const idl::Holder& for_whom, const idl::CoresWanted& wanted,
                                            const idl::ShareWanted& share, const idl::ResourceWantedList& also,
                                            const idl::Terms& how) {
  const Wanted what = share.budget() == 0 ? Wanted(wanted_cores(wanted))
                                          : ShareWanted{duration_of(share.budget()), duration_of(share.period())};
  return reserve(for_whom, what, how, wanted_resources(also));
}

idl::OwnCores ReservationServant::own_cores(const idl::CoresWanted& wanted, const idl::Terms& how) {
  const Caller from = caller();
  // A caller that may not reserve gets no pass over all processes, which would delay others. It may still be on cores
  // that another user gave it.
  const bool may_reserve = access_.admits(from.user, core::calling_groups()).has_value();
  const auto held = controller_.holding(from.process, may_reserve);
  if (!held) {
    const idl::Holder self(idl::Process(0, 0), idl::Scope::one_process, 0);
    return idl::OwnCores(true, reserve(self, wanted_cores(wanted), how));
  }
  if (auto fault = fault_of_own(*held, wanted_cores(wanted).these)) refuse(*fault);
  return idl::OwnCores(false, grant_of(controller_.look(held->id)));
}

idl::Grant ReservationServant::look(idl::Id reservation) {
  const auto found = controller_.look({reservation});
  if (!found && found.error().kind == RefusalKind::bad_request) throw idl::Unknown();
  return grant_of(found);
}

idl::Nanoseconds ReservationServant::renew(idl::Id reservation, idl::Nanoseconds lease) {
  owned(reservation, caller());
  const Duration given = duration_of(lease);
  if (!controller_.renew({reservation}, given)) throw idl::Unknown();
  return count_of(given);
}

void ReservationServant::release(idl::Id reservation) {
  owned(reservation, caller());
  controller_.release({reservation});
}

// ---- Billing ----

void ReservationServant::lend(idl::Id reservation, const idl::Process& service) {
  const Caller from = caller();
  const Account account = owned(reservation, from);
  if (account.waiting || account.holder.extent == Extent::thread)
    refuse({.kind = RefusalKind::bad_request, .reason = "only cores, or a tree's share, that are held can be lent"});
  if (auto lent = controller_.lend({reservation}, resolve(service, from, true)); !lent) refuse(lent.error());
}

void ReservationServant::take_back(idl::Id reservation, const idl::Process& service) {
  const Caller from = caller();
  const Account account = owned(reservation, from);
  const int pid = service.pid() != 0 ? service.pid() : from.process.pid;
  for (const Loan& loan : account.loans)
    if (!loan.over && loan.service.pid == pid &&
        (service.started() == 0 || service.started() == loan.service.start_ticks))
      controller_.take_back({reservation}, loan.service);
}

idl::Grant ReservationServant::work_on(idl::Id reservation) {
  const Caller from = caller();
  if (!controller_.find({reservation})) throw idl::Unknown();
  return grant_of(controller_.work_on({reservation}, from.process));
}

void ReservationServant::leave(idl::Id reservation) {
  const Caller from = caller();
  if (!controller_.find({reservation})) throw idl::Unknown();
  controller_.leave({reservation}, from.process);
}

void ReservationServant::charge(idl::Id reservation, const idl::Process& client, idl::Nanoseconds used) {
  const Caller from = caller();
  owned(reservation, from);
  controller_.charge({reservation}, resolve(client, from, true), duration_of(used));
}

// ---- Looking ----

idl::AccountList ReservationServant::accounts() {
  idl::AccountList list;
  const Time now = controller_.now();
  for (const Account& account : controller_.accounts()) list.push_back(account_of(account, now));
  return list;
}

idl::CoreStateList ReservationServant::cores() {
  idl::CoreStateList list;
  for (const CoreState& core : controller_.cores()) list.push_back(state_of(core));
  return list;
}

idl::ResourceHeldList ReservationServant::held_resources() {
  const auto states = controller_.resources();
  idl::ResourceHeldList list;
  for (const Account& account : controller_.accounts())
    for (const ResourceWanted& one : account.also) {
      const ResourcePromise promise = states[static_cast<std::size_t>(one.which)].offer.promise;
      list.push_back(idl::ResourceHeld(account.id.value, name_of(one.which), one.amount,
                                       static_cast<idl::ResourcePromise>(promise)));
    }
  return list;
}

idl::ResourceStateList ReservationServant::resource_states() {
  idl::ResourceStateList list;
  for (const auto& [offer, promised] : controller_.resources())
    list.push_back(idl::ResourceState(name_of(offer.which), offer.most, promised,
                                      static_cast<idl::ResourcePromise>(offer.promise), offer.meaning));
  return list;
}

idl::Status ReservationServant::state() {
  const ReservationControllerStatus status = controller_.status();
  return idl::Status(status.backend.kind, status.backend.place, status.backend.cannot, status.started.moved,
                     status.started.unmovable, status.interrupts.steered, status.interrupts.fixed,
                     static_cast<std::int32_t>(getpid()), count_of(controller_.now() - began_));
}

}  // namespace corelane::reserved
