#include "orb/sched/manager.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "orb/base/peer.h"
#include "orb/sched/admission/admission_search.h"
#include "orb/sched/admission/command_buffer.h"
#include "orb/sched/admission/feasible_contract_search.h"
#include "orb/sched/admission/placement.h"
#include "orb/sched/admission/transition.h"

namespace corelane::sched {
namespace {

void run_to_the_end(AdmissionSearch& search) noexcept {
  int unlimited = std::numeric_limits<int>::max();
  search.step(unlimited);
}

}  // namespace

struct Manager::State {
  explicit State(const ManagerOptions& options);

  void on(const Arrived& fact) noexcept;
  void on(const Proposed& fact) noexcept;
  void on(const Departed& fact) noexcept;
  void on(const PeerLost& fact) noexcept;
  void on(const CoreLost& fact) noexcept;
  void on(const CoreReturned& fact) noexcept;
  void on(const Vacated& fact) noexcept;
  template <typename SchedulerFact>
  void on(const SchedulerFact&) noexcept {}

  void admit(const Proposed& candidate, bool is_job) noexcept;
  std::optional<Refusal> barred(PeerId peer, const Contract& contract) const noexcept;
  std::size_t places_of(PeerId peer) const noexcept;
  Share held_by(PeerId peer) const noexcept;
  void settle(std::uint32_t slot) noexcept;
  void rehome(std::uint32_t slot, CoreId from) noexcept;

  AdmissionSearch::Reach reach() const noexcept;
  void begin_preparing(const Contract& contract) noexcept;
  bool is_prepared(const Contract& contract) const noexcept;
  bool refresh(Core& core, int& evaluations) noexcept;

  TaskView view(std::uint32_t slot) const noexcept;

  Placement placement;
  CommandBuffer buffer;
  Transition transition;
  AdmissionSearch search;
  FeasibleContractSearch contract_search;
  bool repack;                          // a new task may make other tasks move
  std::vector<std::uint32_t> homeless;  // scratch space for CoreLost

  std::optional<Contract> wanted;    // the contract of the new task to prepare, see Manager::prepare()
  std::optional<Contract> searched;  // the contract of the task that `search` is about

  // The core whose response bounds are being recomputed, and the epoch at which that began.
  const Core* refreshed = nullptr;
  std::uint64_t refreshing = 0;
};

Manager::State::State(const ManagerOptions& options)
    : placement(options),
      buffer(placement),
      transition(placement, buffer),
      search(placement),
      contract_search(placement),
      repack(options.repack) {
  homeless.reserve(placement.options().max_tasks);
}

// Arrivals and admission.

void Manager::State::on(const Arrived& fact) noexcept {
  if (fact.task == no_task) {
    if (fact.contract) return admit({fact.at, fact.job, fact.peer, *fact.contract}, true);
    buffer.say(Dispatch{fact.job, no_task, no_core});
    return;
  }
  const auto index = placement.slot_of(fact.task);
  if (!index) return buffer.refuse(fact.job, RefusalCode::unknown_task);
  const Slot& slot = placement.slot(*index);
  const bool theirs = slot.peer == PeerId{} || slot.peer == fact.peer;
  const bool runs = slot.state == TaskState::running || slot.state == TaskState::moving;
  if (!theirs || !runs) return buffer.refuse(fact.job, RefusalCode::unknown_task);
  buffer.say(Dispatch{fact.job, fact.task, placement.core_id(slot.core)});
}

void Manager::State::on(const Proposed& fact) noexcept { admit(fact, false); }

// Returns the reason that forbids the task before any analysis, if there is one.
std::optional<Refusal> Manager::State::barred(PeerId peer, const Contract& contract) const noexcept {
  const auto because = [](RefusalCode code) { return Refusal{.code = code}; };
  if (!is_sound(contract)) return because(RefusalCode::bad_contract);
  if (!backlog_fits(contract)) return because(RefusalCode::backlog);
  const ManagerOptions& options = placement.options();
  if (!options.enforces_budgets && contract.on_overrun != OverrunPolicy::report)
    return because(RefusalCode::overrun_policy);
  if (peer == PeerId{}) return std::nullopt;
  if (contract.deadline - contract.jitter < options.peer_urgency)
    return Refusal{.code = RefusalCode::peer_urgency, .deadline = options.peer_urgency + contract.jitter};
  const bool is_limited = options.peer_limit > 0 && !(options.spares_own_user && is_of_own_user(peer));
  if (is_limited &&
      ppm_of(held_by(peer) + share_of(contract.budget.count(), contract.period.count())) > options.peer_limit)
    return Refusal{
        .code = RefusalCode::peer_limit, .peer_holds = ppm_of(held_by(peer)), .peer_may = options.peer_limit};
  if (options.peer_tasks > 0 && places_of(peer) >= options.peer_tasks)
    return Refusal{.code = RefusalCode::peer_limit, .peer_tasks = static_cast<std::uint32_t>(options.peer_tasks)};
  return std::nullopt;
}

// Returns the number of table entries that all connections of the peer's holder use. A leaving task still has its
// entry.
std::size_t Manager::State::places_of(PeerId peer) const noexcept {
  const auto slots = placement.slots();
  return static_cast<std::size_t>(std::count_if(
      slots.begin(), slots.end(), [&](const Slot& slot) { return slot.used && same_holder(slot.peer, peer); }));
}

// Returns the utilization that all connections of the peer's holder have.
Share Manager::State::held_by(PeerId peer) const noexcept {
  Share held = 0;
  for (const Slot& slot : placement.slots())
    if (slot.used && same_holder(slot.peer, peer) && slot.state != TaskState::leaving) held += slot.demand.share;
  return held;
}

void Manager::State::admit(const Proposed& candidate, bool is_job) noexcept {
  const auto& [now, request, peer, contract] = candidate;
  if (const auto reason = barred(peer, contract)) return buffer.say(Refuse{request, *reason});
  const auto index = placement.take_slot();
  if (!index)
    return buffer.say(
        Refuse{request, {.code = RefusalCode::too_many_tasks, .takes_none = placement.options().max_tasks == 0}});
  Slot& slot = placement.slot(*index);
  slot.peer = peer;
  slot.request = request;
  slot.request_is_job = is_job;
  slot.contract = contract;
  if (!is_prepared(contract)) begin_preparing(contract);
  run_to_the_end(search);
  searched.reset();
  if (wanted == contract) wanted.reset();
  slot.demand = search.demand();
  placement.next_age();
  if (search.found() == AdmissionSearch::Found::core) {
    settle(*index);
    return buffer.admit(*index);
  }
  if (search.found() == AdmissionSearch::Found::plan) return transition.begin(*index, search.plan(), now);
  Refusal reason = search.refusal();
  const bool might_fit = reason.code != RefusalCode::no_core && reason.code != RefusalCode::resources_apart;
  if (might_fit && transition.under_way()) reason.code = RefusalCode::reorganizing;
  placement.release(*index);
  buffer.say(Refuse{request, reason});
}

AdmissionSearch::Reach Manager::State::reach() const noexcept {
  if (transition.under_way()) return AdmissionSearch::Reach::cores;
  return repack ? AdmissionSearch::Reach::moving : AdmissionSearch::Reach::waiting;
}

void Manager::State::begin_preparing(const Contract& contract) noexcept {
  searched = contract;
  search.begin(demand_of(contract, placement.last_age() + 1, placement.options().charge_overruns), candidate_slot,
               reach());
}

bool Manager::State::is_prepared(const Contract& contract) const noexcept {
  return searched == contract && search.is_current() && search.reach() == reach() &&
         search.demand().rank.age == placement.last_age() + 1;
}

// Charges the task to the core that the search found.
void Manager::State::settle(std::uint32_t index) noexcept {
  Slot& slot = placement.slot(index);
  if (Member* member = search.task_set().find(candidate_slot)) member->slot = index;
  slot.core = search.core();
  slot.state = TaskState::running;
  placement.note_placed(slot.core);
  placement.charge(slot.core, search.task_set());
}

// Tasks and cores that leave.

void Manager::State::on(const Vacated& fact) noexcept {
  const auto index = placement.slot_of(fact.task);
  if (!index || placement.core_id(placement.slot(*index).core) != fact.core) return;
  transition.vacated(*index);
  transition.advance();
}

void Manager::State::on(const Departed& fact) noexcept {
  if (const auto index = placement.slot_of(fact.task)) transition.leave(*index);
}

void Manager::State::on(const PeerLost& fact) noexcept {
  if (fact.peer == PeerId{}) return;
  const auto slots = placement.slots();
  for (std::uint32_t i = 0; i < slots.size(); ++i)
    if (slots[i].used && slots[i].peer == fact.peer) transition.leave(i);
}

// Moves the tasks of the lost core to other cores, the more important ones first. Tasks that fit nowhere are evicted.
void Manager::State::on(const CoreLost& fact) noexcept {
  const int lost = placement.index_of(fact.core);
  if (lost == nowhere || placement.core(lost).lost) return;
  transition.abort(true);
  placement.core(lost).lost = true;
  placement.note_change();
  homeless.clear();
  const auto slots = placement.slots();
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].used) continue;
    if (slots[i].target == lost) slots[i].target = nowhere;
    if (slots[i].core == lost) homeless.push_back(i);
  }
  placement.core(lost).task_set.clear();
  std::sort(homeless.begin(), homeless.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Rank& x = slots[a].demand.rank;
    const Rank& y = slots[b].demand.rank;
    return x.importance != y.importance ? x.importance > y.importance : before(x, y);
  });
  for (const std::uint32_t index : homeless) rehome(index, fact.core);
}

// The returned core is empty. The answer withdraws the ceilings that were sent before the core was lost.
void Manager::State::on(const CoreReturned& fact) noexcept {
  const int index = placement.index_of(fact.core);
  if (index == nowhere || !placement.core(index).lost) return;
  Core& core = placement.core(index);
  core.lost = core.stale = false;
  core.changed = true;
  placement.note_change();
}

void Manager::State::rehome(std::uint32_t index, CoreId from) noexcept {
  Slot& slot = placement.slot(index);
  if (slot.state == TaskState::leaving) return placement.release(index);
  if (slot.target != nowhere) {  // it was moving, so it is already charged to its target
    slot.core = slot.target;
    slot.target = nowhere;
    slot.state = TaskState::running;
    return buffer.move(index, from);
  }
  search.begin(slot.demand, index, AdmissionSearch::Reach::cores);
  searched.reset();
  run_to_the_end(search);
  if (search.found() == AdmissionSearch::Found::core) {
    settle(index);
    return buffer.move(index, from);
  }
  Refusal reason = search.refusal();
  reason.code = RefusalCode::core_lost;
  buffer.say(Evict{placement.id_of(index), slot.peer, from, reason});
  placement.release(index);
}

// The public interface.

Manager::Manager(const ManagerOptions& options) : state_(std::make_unique<State>(options)) {}
Manager::~Manager() = default;
Manager::Manager(Manager&&) noexcept = default;

std::span<const Command> Manager::decide(const Fact& fact) noexcept {
  std::visit([&](const auto& f) { state_->on(f); }, fact);
  return state_->buffer.write(time_of(fact));
}

void Manager::set_capacity(CoreId core, Ppm capacity) noexcept {
  const int index = state_->placement.index_of(core);
  if (index == nowhere) return;
  state_->placement.core(index).model.capacity = share_of_ppm(capacity);
  state_->placement.note_change();
}

void Manager::set_interference(CoreId core, std::span<const PlatformLoad> loads) noexcept {
  const int index = state_->placement.index_of(core);
  if (index == nowhere) return;
  Core& on = state_->placement.core(index);
  if (!on.model.set(on.options.load, loads)) return;
  state_->placement.note_change();
  for (Member& member : on.task_set.members()) member.windows = {};  // no valid start if there is less load now
}

void Manager::set_closed(CoreId core, bool closed) noexcept {
  const int index = state_->placement.index_of(core);
  if (index == nowhere || state_->placement.core(index).closed == closed) return;
  state_->placement.core(index).closed = closed;
  state_->placement.note_change();
}

void Manager::set_repack(bool allowed) noexcept { state_->repack = allowed; }

// A task that is refused before the analysis needs no preparation.
void Manager::prepare(PeerId peer, const Contract& contract) noexcept {
  state_->wanted.reset();
  if (!state_->barred(peer, contract)) state_->wanted = contract;
}

bool Manager::continue_preparing(int evaluations) noexcept {
  State& s = *state_;
  if (!s.wanted) return true;
  if (!s.is_prepared(*s.wanted)) s.begin_preparing(*s.wanted);
  return s.search.step(evaluations);
}

bool Manager::would_move() const noexcept {
  const State& s = *state_;
  return s.wanted && s.is_prepared(*s.wanted) && s.search.found() == AdmissionSearch::Found::plan;
}

bool Manager::refresh_bounds(int evaluations) noexcept {
  for (Core& core : state_->placement.cores())
    if (core.stale && !core.lost && !state_->refresh(core, evaluations)) return false;
  return true;
}

bool Manager::has_stale_bounds() const noexcept {
  const auto cores = std::as_const(state_->placement).cores();
  return std::any_of(cores.begin(), cores.end(), [](const Core& core) { return core.stale && !core.lost; });
}

// Recomputes the response bounds of one core in pieces, and starts again if the tables change in between. Other code
// only reads task sets that are being analyzed.
bool Manager::State::refresh(Core& core, int& evaluations) noexcept {
  if (refreshing != placement.epoch() || refreshed != &core) {
    refreshing = placement.epoch();
    refreshed = &core;
    core.task_set.begin_refresh(core.model);
  }
  if (!core.task_set.step(evaluations)) return false;
  refreshed = nullptr;
  core.stale = false;
  return true;
}

Nearest Manager::nearest(const Contract& contract) const noexcept {
  state_->contract_search.begin(contract);
  std::optional<Nearest> found;
  while (!found) found = state_->contract_search.step(std::numeric_limits<int>::max());
  return *found;
}

void Manager::begin_nearest(const Contract& contract) noexcept { state_->contract_search.begin(contract); }

std::optional<Nearest> Manager::continue_nearest(int evaluations) noexcept {
  return state_->contract_search.step(evaluations);
}

TaskView Manager::State::view(std::uint32_t index) const noexcept {
  const Slot& slot = placement.slots()[index];
  TaskView view{.id = placement.id_of(index),
                .peer = slot.peer,
                .contract = slot.contract,
                .core = placement.core_id(slot.core),
                .target = slot.state == TaskState::running ? no_core : placement.core_id(slot.target),
                .state = slot.state};
  if (slot.core == nowhere) return view;
  if (const Member* member = placement.cores()[static_cast<std::size_t>(slot.core)].task_set.find(index)) {
    view.priority = Priority{member->level};
    view.response = Duration{member->response};
  }
  return view;
}

std::optional<TaskView> Manager::find(TaskId task) const noexcept {
  const auto index = state_->placement.slot_of(task);
  if (!index) return std::nullopt;
  return state_->view(*index);
}

std::vector<TaskView> Manager::tasks() const {
  std::vector<TaskView> views;
  const auto slots = std::as_const(state_->placement).slots();
  views.reserve(slots.size());
  for (std::uint32_t i = 0; i < slots.size(); ++i)
    if (slots[i].used) views.push_back(state_->view(i));
  return views;
}

namespace {

CoreView view_of(const Core& core) noexcept {
  return {.id = core.options.id,
          .capacity = ppm_of(core.model.capacity),
          .admitted = ppm_of(core.task_set.load()),
          .platform = ppm_of(core.model.platform),
          .tasks = static_cast<std::uint32_t>(core.task_set.members().size()),
          .lost = core.lost,
          .order = core.model.order};
}

}  // namespace

std::vector<CoreView> Manager::cores() const {
  std::vector<CoreView> views;
  for (const Core& core : std::as_const(state_->placement).cores()) views.push_back(view_of(core));
  return views;
}

std::optional<CoreView> Manager::find(CoreId core) const noexcept {
  const int index = state_->placement.index_of(core);
  if (index == nowhere) return std::nullopt;
  return view_of(state_->placement.core(index));
}

}  // namespace corelane::sched
