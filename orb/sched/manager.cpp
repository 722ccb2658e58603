#include "orb/sched/manager.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "orb/sched/placement.h"
#include "orb/sched/repack.h"

namespace corelane::sched {
namespace {

// What carries a task to its core; written out last, when everybody's level is settled.
struct Start {
  std::uint32_t slot;
  CoreId from;  // no_core: a new task
};

}  // namespace

// One admission may take several facts: a plan moves others away first. There is at most one plan at a time.
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

  void admit(JobId request, bool is_job, PeerId peer, const Contract& contract) noexcept;
  std::optional<RefusalCode> barred(PeerId peer, const Contract& contract) const noexcept;
  bool place(std::uint32_t slot, Refusal& reason) noexcept;
  bool make_room(std::uint32_t slot) noexcept;
  void depart(std::uint32_t slot) noexcept;
  void rehome(std::uint32_t slot, CoreId from) noexcept;

  void begin_phase() noexcept;
  bool start_move(std::uint32_t slot) noexcept;
  bool phase_is_over() const noexcept;
  void advance() noexcept;
  void end_plan() noexcept;
  bool somebody_moves() const noexcept;
  void abort_plan(bool tell_newcomer) noexcept;

  void refuse(JobId job, RefusalCode code) noexcept { direct.push_back(Refuse{job, {.code = code}}); }
  std::span<const Command> settle() noexcept;
  void reprioritize(Core& core) noexcept;
  void write(const Start& start) noexcept;
  TaskView view(std::uint32_t slot) const noexcept;

  Placement placement;
  Repacker repacker;
  std::uint32_t newcomer = newcomer_slot;  // the plan's; newcomer_slot: no plan
  bool repack;                             // a newcomer may make others move
  int phase = 0;                           // the plan's phase that is under way

  // The answer to one fact: commands in the order reprioritized, direct, starts.
  std::vector<Command> direct;
  std::vector<Start> starts;
  std::vector<Command> answer;
  std::vector<std::uint32_t> homeless;  // scratch of CoreLost
};

Manager::State::State(const ManagerOptions& options) : placement(options), repacker(placement), repack(options.repack) {
  const std::size_t tasks = placement.slots().size();
  direct.reserve(2 * tasks + 16);
  starts.reserve(tasks + 16);
  answer.reserve(6 * tasks + 64);  // a task is charged to two cores at most
  homeless.reserve(tasks);
}

// Arrivals and admission.

void Manager::State::on(const Arrived& fact) noexcept {
  if (fact.task == no_task) {
    if (fact.contract) return admit(fact.job, true, fact.peer, *fact.contract);
    direct.push_back(Place{fact.job, no_task, no_core});
    return;
  }
  const auto index = placement.slot_of(fact.task);
  if (!index) return refuse(fact.job, RefusalCode::unknown_task);
  const Slot& slot = placement.slot(*index);
  const bool theirs = slot.peer == PeerId{} || slot.peer == fact.peer;
  const bool runs = slot.state == TaskState::running || slot.state == TaskState::moving;
  if (!theirs || !runs) return refuse(fact.job, RefusalCode::unknown_task);
  direct.push_back(Place{fact.job, fact.task, placement.core_id(slot.core)});
}

void Manager::State::on(const Proposed& fact) noexcept { admit(fact.request, false, fact.peer, fact.contract); }

// What forbids the task before any analysis.
std::optional<RefusalCode> Manager::State::barred(PeerId peer, const Contract& contract) const noexcept {
  if (!is_sound(contract)) return RefusalCode::bad_contract;
  if (!backlog_fits(contract)) return RefusalCode::backlog;
  const Ppm limit = placement.options().peer_limit;
  if (limit <= 0 || peer == PeerId{}) return std::nullopt;
  Share held = share_of(contract.budget.count(), contract.period.count());
  for (const Slot& slot : placement.slots())
    if (slot.used && slot.peer == peer && slot.state != TaskState::leaving) held += slot.demand.share;
  if (ppm_of(held) > limit) return RefusalCode::peer_limit;
  return std::nullopt;
}

void Manager::State::admit(JobId request, bool is_job, PeerId peer, const Contract& contract) noexcept {
  if (const auto code = barred(peer, contract)) return refuse(request, *code);
  const auto index = placement.take_slot();
  if (!index) return refuse(request, RefusalCode::too_many_tasks);
  Slot& slot = placement.slot(*index);
  slot.peer = peer;
  slot.request = request;
  slot.request_is_job = is_job;
  slot.contract = contract;
  slot.demand = demand_of(contract, placement.next_age());
  Refusal reason{.code = RefusalCode::no_core};
  if (place(*index, reason)) {
    starts.push_back({*index, no_core});
    return;
  }
  if (reason.code != RefusalCode::no_core) {
    if (newcomer != newcomer_slot || somebody_moves()) {
      reason.code = RefusalCode::reorganizing;
    } else if (make_room(*index)) {
      return;
    }
  }
  placement.release(*index);
  direct.push_back(Refuse{request, reason});
}

// The roomiest core that holds all deadlines with the task; else `reason` tells about the one that came closest. A
// closed core is analysed like the others, so that the reason is the true one.
bool Manager::State::place(std::uint32_t index, Refusal& reason) noexcept {
  Slot& slot = placement.slot(index);
  std::optional<Verdict> best;
  int closest = nowhere;
  int fits_if_open = nowhere;
  bool undecided = false;
  for (const int core : placement.by_room()) {
    if (placement.core(core).reserved) continue;
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

// Plans.

bool Manager::State::make_room(std::uint32_t index) noexcept {
  if (!repacker.plan_to_wait(placement, index) && !(repack && repacker.plan(placement, index))) return false;
  newcomer = index;
  phase = 0;
  begin_phase();
  advance();
  return true;
}

// Charges everybody who joins its core in this phase, and asks the old cores to let them go.
void Manager::State::begin_phase() noexcept {
  const auto slots = placement.slots();
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].used || slots[i].phase != phase || i == newcomer || slots[i].state != TaskState::running) continue;
    if (!start_move(i)) return abort_plan(true);
  }
}

bool Manager::State::start_move(std::uint32_t index) noexcept {
  Slot& slot = placement.slot(index);
  if (!placement.charge(slot.target, index).fits) return false;
  slot.state = TaskState::moving;
  direct.push_back(Vacate{placement.id_of(index), placement.core_id(slot.core)});
  return true;
}

// Also after a plan was called off.
bool Manager::State::somebody_moves() const noexcept {
  const auto slots = placement.slots();
  return std::any_of(slots.begin(), slots.end(),
                     [](const Slot& slot) { return slot.used && slot.state == TaskState::moving; });
}

// Nobody is under way any more, and nobody leaves a core that the plan needs.
bool Manager::State::phase_is_over() const noexcept {
  const auto slots = placement.slots();
  return std::none_of(slots.begin(), slots.end(), [&](const Slot& slot) {
    return slot.used &&
           (slot.state == TaskState::moving ||
            (slot.state == TaskState::leaving && placement.cores()[static_cast<std::size_t>(slot.core)].reserved));
  });
}

// Goes through all phases that can begin. Ends: each round begins a new phase, and the newcomer has one.
void Manager::State::advance() noexcept {
  while (newcomer != newcomer_slot && phase_is_over()) {
    ++phase;
    Slot& slot = placement.slot(newcomer);
    if (slot.phase > phase) {
      begin_phase();
      continue;
    }
    if (!placement.charge(slot.target, newcomer).fits) return abort_plan(true);
    slot.core = slot.target;
    slot.state = TaskState::running;
    starts.push_back({newcomer, no_core});
    end_plan();
  }
}

void Manager::State::end_plan() noexcept {
  for (Slot& slot : placement.slots()) {
    if (slot.state != TaskState::moving) slot.target = nowhere;
    slot.phase = nowhere;
  }
  for (Core& core : placement.cores()) {
    if (core.reserved && !core.lost) core.roster.refresh(core.model);
    core.reserved = false;
  }
  newcomer = newcomer_slot;
}

// Calls off what has not begun; what is under way ends by itself.
void Manager::State::abort_plan(bool tell_newcomer) noexcept {
  if (newcomer == newcomer_slot) return;
  const std::uint32_t index = newcomer;
  end_plan();
  if (tell_newcomer) refuse(placement.slot(index).request, RefusalCode::reorganizing);
  placement.release(index);
}

void Manager::State::on(const Vacated& fact) noexcept {
  const auto index = placement.slot_of(fact.task);
  if (!index) return;
  Slot& slot = placement.slot(*index);
  if (placement.core_id(slot.core) != fact.core) return;
  if (slot.state == TaskState::leaving) {
    placement.discharge(slot.core, *index);
    placement.release(*index);
  } else if (slot.state == TaskState::moving) {
    const CoreId from = placement.core_id(slot.core);
    if (slot.target != nowhere) {  // else the move was called off
      placement.discharge(slot.core, *index);
      slot.core = slot.target;
    }
    slot.target = nowhere;
    slot.phase = nowhere;
    slot.state = TaskState::running;
    starts.push_back({*index, from});
  }
  advance();
}

// Leaving.

void Manager::State::on(const Departed& fact) noexcept {
  if (const auto index = placement.slot_of(fact.task)) depart(*index);
}

void Manager::State::on(const PeerLost& fact) noexcept {
  if (fact.peer == PeerId{}) return;
  const auto slots = placement.slots();
  for (std::uint32_t i = 0; i < slots.size(); ++i)
    if (slots[i].used && slots[i].peer == fact.peer) depart(i);
}

void Manager::State::depart(std::uint32_t index) noexcept {
  Slot& slot = placement.slot(index);
  if (slot.state == TaskState::leaving) return;
  if (index == newcomer) return abort_plan(false);
  if (slot.state == TaskState::moving && slot.target != nowhere) placement.discharge(slot.target, index);
  slot.target = nowhere;
  slot.phase = nowhere;
  slot.state = TaskState::leaving;
  direct.push_back(Dismiss{placement.id_of(index), placement.core_id(slot.core)});
}

// Who can goes elsewhere, the more important ones first; the others are evicted.
void Manager::State::on(const CoreLost& fact) noexcept {
  const int lost = placement.index_of(fact.core);
  if (lost == nowhere || placement.core(lost).lost) return;
  abort_plan(true);
  placement.core(lost).lost = true;
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
    starts.push_back({index, from});
    return;
  }
  Refusal reason{.code = RefusalCode::core_lost};
  if (place(index, reason)) {
    starts.push_back({index, from});
    return;
  }
  reason.code = RefusalCode::core_lost;
  direct.push_back(Evict{placement.id_of(index), slot.peer, from, reason});
  placement.release(index);
}

// The answer.

std::span<const Command> Manager::State::settle() noexcept {
  answer.clear();
  for (Core& core : placement.cores()) reprioritize(core);
  answer.insert(answer.end(), direct.begin(), direct.end());
  for (const Start& start : starts) write(start);
  direct.clear();
  starts.clear();
  return answer;
}

// Raises from the top down, then lowers from the bottom up: at no step does a task pass one that runs before it.
void Manager::State::reprioritize(Core& core) noexcept {
  const auto members = core.roster.members();
  const auto tell = [&](Member& member) {
    member.told = member.level;
    answer.push_back(Reprioritize{placement.id_of(member.slot), core.options.id, Priority{member.level}});
  };
  for (Member& member : members)
    if (member.told != 0 && member.level > member.told) tell(member);
  for (std::size_t i = members.size(); i > 0; --i)
    if (members[i - 1].told != 0 && members[i - 1].level < members[i - 1].told) tell(members[i - 1]);
}

void Manager::State::write(const Start& start) noexcept {
  const Slot& slot = placement.slot(start.slot);
  const TaskId task = placement.id_of(start.slot);
  const CoreId core = placement.core_id(slot.core);
  Member& member = *placement.core(slot.core).roster.find(start.slot);
  member.told = member.level;
  const Priority priority{member.level};
  if (start.from != no_core) {
    answer.push_back(Move{task, start.from, core, priority});
    return;
  }
  answer.push_back(Admit{slot.request, task, slot.peer, core, priority, slot.contract, Duration{member.response}});
  if (slot.request_is_job) answer.push_back(Place{slot.request, task, core});
}

// The door.

Manager::Manager(const ManagerOptions& options) : state_(std::make_unique<State>(options)) {}
Manager::~Manager() = default;
Manager::Manager(Manager&&) noexcept = default;

std::span<const Command> Manager::decide(const Fact& fact) noexcept {
  std::visit([&](const auto& f) { state_->on(f); }, fact);
  return state_->settle();
}

void Manager::set_capacity(CoreId core, Ppm capacity) noexcept {
  const int index = state_->placement.index_of(core);
  if (index != nowhere) state_->placement.core(index).model.capacity = share_of_ppm(capacity);
}

void Manager::set_interference(CoreId core, std::span<const PlatformLoad> loads) noexcept {
  const int index = state_->placement.index_of(core);
  if (index == nowhere) return;
  Core& on = state_->placement.core(index);
  on.model.set(on.options.load, loads);
  for (Member& member : on.roster.members()) member.windows = {};  // no valid start if there is less of it now
}

void Manager::set_closed(CoreId core, bool closed) noexcept {
  const int index = state_->placement.index_of(core);
  if (index != nowhere) state_->placement.core(index).closed = closed;
}

void Manager::set_repack(bool allowed) noexcept { state_->repack = allowed; }

Nearest Manager::nearest(const Contract& contract) const noexcept { return state_->placement.nearest(contract); }

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
