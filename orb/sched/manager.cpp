#include "orb/sched/manager.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "orb/sched/answer.h"
#include "orb/sched/explainer.h"
#include "orb/sched/placement.h"
#include "orb/sched/transition.h"

namespace corelane::sched {

struct Manager::State {
  explicit State(const ManagerOptions& options);

  void on(const Arrived& fact) noexcept;
  void on(const Proposed& fact) noexcept;
  void on(const Departed& fact) noexcept;
  void on(const PeerLost& fact) noexcept;
  void on(const CoreLost& fact) noexcept;
  void on(const Vacated& fact) noexcept;
  template <typename LaneFact>
  void on(const LaneFact&) noexcept {}

  void admit(const Proposed& newcomer, bool is_job) noexcept;
  std::optional<Refusal> barred(PeerId peer, const Contract& contract) const noexcept;
  Share held_by(PeerId peer) const noexcept;
  bool place(std::uint32_t slot, Refusal& reason) noexcept;
  void rehome(std::uint32_t slot, CoreId from) noexcept;

  TaskView view(std::uint32_t slot) const noexcept;

  Placement placement;
  Answer answer;
  Transition transition;
  Explainer explainer;
  bool repack;                          // a newcomer may make others move
  std::vector<std::uint32_t> homeless;  // scratch of CoreLost
};

Manager::State::State(const ManagerOptions& options)
    : placement(options),
      answer(placement),
      transition(placement, answer),
      explainer(placement),
      repack(options.repack) {
  homeless.reserve(placement.slots().size());
}

// Arrivals and admission.

void Manager::State::on(const Arrived& fact) noexcept {
  if (fact.task == no_task) {
    if (fact.contract) return admit({fact.at, fact.job, fact.peer, *fact.contract}, true);
    answer.say(Place{fact.job, no_task, no_core});
    return;
  }
  const auto index = placement.slot_of(fact.task);
  if (!index) return answer.refuse(fact.job, RefusalCode::unknown_task);
  const Slot& slot = placement.slot(*index);
  const bool theirs = slot.peer == PeerId{} || slot.peer == fact.peer;
  const bool runs = slot.state == TaskState::running || slot.state == TaskState::moving;
  if (!theirs || !runs) return answer.refuse(fact.job, RefusalCode::unknown_task);
  answer.say(Place{fact.job, fact.task, placement.core_id(slot.core)});
}

void Manager::State::on(const Proposed& fact) noexcept { admit(fact, false); }

// What forbids the task before any analysis.
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
  if (options.peer_limit > 0 &&
      ppm_of(held_by(peer) + share_of(contract.budget.count(), contract.period.count())) > options.peer_limit)
    return because(RefusalCode::peer_limit);
  return std::nullopt;
}

Share Manager::State::held_by(PeerId peer) const noexcept {
  Share held = 0;
  for (const Slot& slot : placement.slots())
    if (slot.used && slot.peer == peer && slot.state != TaskState::leaving) held += slot.demand.share;
  return held;
}

void Manager::State::admit(const Proposed& newcomer, bool is_job) noexcept {
  const auto& [now, request, peer, contract] = newcomer;
  if (const auto reason = barred(peer, contract)) return answer.say(Refuse{request, *reason});
  const auto index = placement.take_slot();
  if (!index) return answer.refuse(request, RefusalCode::too_many_tasks);
  Slot& slot = placement.slot(*index);
  slot.peer = peer;
  slot.request = request;
  slot.request_is_job = is_job;
  slot.contract = contract;
  slot.demand = demand_of(contract, placement.next_age());
  Refusal reason{.code = RefusalCode::no_core};
  if (place(*index, reason)) return answer.admit(*index);
  if (reason.code != RefusalCode::no_core && reason.code != RefusalCode::resources_apart) {
    if (transition.under_way()) {
      reason.code = RefusalCode::reorganizing;
    } else if (transition.begin(*index, repack, now)) {
      return;
    }
  }
  placement.release(*index);
  answer.say(Refuse{request, reason});
}

// The roomiest core that holds all deadlines with the task; else `reason` tells about the one that came closest. A
// closed core is analysed like the others, so that the reason is the true one.
bool Manager::State::place(std::uint32_t index, Refusal& reason) noexcept {
  Slot& slot = placement.slot(index);
  std::optional<Verdict> best;
  int closest = nowhere;
  int fits_if_open = nowhere;
  bool undecided = false;
  const auto bound = placement.core_of_users(slot.demand, index);
  if (bound == nowhere) {
    reason = {.code = RefusalCode::resources_apart};
    return false;
  }
  for (const int core : placement.by_room()) {
    if (placement.core(core).reserved || (bound && *bound != core)) continue;
    Core& on = placement.core(core);
    const Verdict verdict =
        on.closed ? placement.try_add(on.roster, on, index, slot.demand) : placement.charge(core, index);
    if (verdict.fits && on.closed) {
      if (fits_if_open == nowhere) fits_if_open = core;
      continue;
    }
    if (verdict.fits) {
      slot.core = core;
      slot.state = TaskState::running;
      return true;
    }
    undecided |= verdict.undecided;
    if (!best || verdict.closer_than(*best)) best = verdict, closest = core;
  }
  if (placement.by_room().empty()) return false;
  if (fits_if_open != nowhere) {
    reason = {.code = RefusalCode::neighbour_late, .closest = placement.core_id(fits_if_open)};
    return false;
  }
  reason.code = undecided ? RefusalCode::analysis_limit : RefusalCode::not_schedulable;
  if (!best) return false;  // all cores are reserved
  reason.closest = placement.core_id(closest);
  reason.loser = best->loser == index ? no_task : placement.id_of(best->loser);
  reason.response = best->response == endless ? Duration::max() : Duration{best->response};
  reason.deadline = Duration{best->deadline};
  return false;
}

// Leaving.

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

// Who can goes elsewhere, the more important ones first; the others are evicted.
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
  placement.core(lost).roster.clear();
  std::sort(homeless.begin(), homeless.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Rank& x = slots[a].demand.rank;
    const Rank& y = slots[b].demand.rank;
    return x.importance != y.importance ? x.importance > y.importance : before(x, y);
  });
  for (const std::uint32_t index : homeless) rehome(index, fact.core);
}

void Manager::State::rehome(std::uint32_t index, CoreId from) noexcept {
  Slot& slot = placement.slot(index);
  if (slot.state == TaskState::leaving) return placement.release(index);
  if (slot.target != nowhere) {  // it was on its way: its place is charged already
    slot.core = slot.target;
    slot.target = nowhere;
    slot.state = TaskState::running;
    return answer.move(index, from);
  }
  Refusal reason{.code = RefusalCode::core_lost};
  if (place(index, reason)) return answer.move(index, from);
  reason.code = RefusalCode::core_lost;
  answer.say(Evict{placement.id_of(index), slot.peer, from, reason});
  placement.release(index);
}

// The door.

Manager::Manager(const ManagerOptions& options) : state_(std::make_unique<State>(options)) {}
Manager::~Manager() = default;
Manager::Manager(Manager&&) noexcept = default;

std::span<const Command> Manager::decide(const Fact& fact) noexcept {
  std::visit([&](const auto& f) { state_->on(f); }, fact);
  return state_->answer.write(time_of(fact));
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
  on.model.set(on.options.load, loads);
  state_->placement.note_change();
  for (Member& member : on.roster.members()) member.windows = {};  // no valid start if there is less of it now
}

void Manager::set_closed(CoreId core, bool closed) noexcept {
  const int index = state_->placement.index_of(core);
  if (index != nowhere) state_->placement.core(index).closed = closed;
}

void Manager::set_repack(bool allowed) noexcept { state_->repack = allowed; }

Nearest Manager::nearest(const Contract& contract) const noexcept {
  state_->explainer.begin(contract);
  std::optional<Nearest> found;
  while (!found) found = state_->explainer.step(std::numeric_limits<int>::max());
  return *found;
}

void Manager::begin_nearest(const Contract& contract) noexcept { state_->explainer.begin(contract); }

std::optional<Nearest> Manager::continue_nearest(int evaluations) noexcept {
  return state_->explainer.step(evaluations);
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
  if (const Member* member = placement.cores()[static_cast<std::size_t>(slot.core)].roster.find(index)) {
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
  for (std::uint32_t i = 0; i < slots.size(); ++i)
    if (slots[i].used) views.push_back(state_->view(i));
  return views;
}

namespace {

CoreView view_of(const Core& core) noexcept {
  return {.id = core.options.id,
          .capacity = ppm_of(core.model.capacity),
          .admitted = ppm_of(core.roster.load()),
          .platform = ppm_of(core.model.platform),
          .tasks = static_cast<std::uint32_t>(core.roster.members().size()),
          .lost = core.lost};
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
