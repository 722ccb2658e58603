#include "orb/sched/admission/admission_search.h"

#include <algorithm>
#include <utility>

namespace corelane::sched {
namespace {

constexpr int most_exact = 32'768;  // about 16 ms; a core with 255 tasks on shared levels needs 1,600

}  // namespace

AdmissionSearch::AdmissionSearch(const Placement& placement)
    : placement_(placement), spare_(placement), trials_(placement), repacker_(placement) {
  order_.reserve(placement.cores().size());
}

void AdmissionSearch::begin(const Demand& demand, std::uint32_t self, Reach reach) noexcept {
  demand_ = demand;
  self_ = self;
  reach_ = reach;
  epoch_ = placement_.epoch();
  found_ = Found::nothing;
  stage_ = Stage::placing;
  at_ = 0;
  undecided_ = false;
  core_ = closest_ = fits_if_open_ = nowhere;
  best_.reset();
  trials_.begin(most_exact);
  order_.clear();
  refusal_ = {.code = RefusalCode::no_core};
  bound_ = placement_.core_of_users(demand_, self_);
  if (bound_ == nowhere) {
    refusal_ = {.code = RefusalCode::resources_apart};
    return end(Found::nothing);
  }
  const auto cores = placement_.cores();
  for (std::size_t i = 0; i < cores.size(); ++i)
    if (!cores[i].lost) order_.push_back(static_cast<int>(i));
  spare_.note(demand_);
  std::sort(order_.begin(), order_.end(), [&](int a, int b) { return spare_.is_before(a, b); });
}

bool AdmissionSearch::step(int& evaluations) noexcept {
  while (stage_ != Stage::done) {
    if (evaluations <= 0) return false;
    if (stage_ == Stage::placing) {
      place_one(evaluations);
    } else if (stage_ == Stage::bounding) {
      bound(evaluations);
    } else if (repacker_.step(evaluations)) {
      end(repacker_.found() ? Found::plan : Found::nothing);
    }
  }
  return true;
}

void AdmissionSearch::end(Found found) noexcept {
  found_ = found;
  stage_ = Stage::done;
}

// Tries the next core. A closed core is analyzed like the others, so that a refusal names the true reason.
void AdmissionSearch::place_one(int& evaluations) noexcept {
  if (at_ == order_.size()) return end_placing();
  const Core& core = placement_.core(order_[at_]);
  if (!trials_.is_trying()) {
    if (core.reserved || (bound_ && *bound_ != order_[at_])) return static_cast<void>(++at_);
    trials_.start(core.task_set, core, self_, demand_);
  }
  if (!trials_.step(evaluations)) return;
  note(trials_.verdict());
  ++at_;
}

void AdmissionSearch::note(const Verdict& verdict) noexcept {
  const int index = order_[at_];
  if (verdict.fits && !placement_.core(index).closed) {
    core_ = index;
    if (placement_.core(index).model.order == CoreOrder::priority) return end(Found::core);
    trials_.task_set().begin_refresh(placement_.core(index).model);
    stage_ = Stage::bounding;
    return;
  }
  if (verdict.fits) {
    if (fits_if_open_ == nowhere) fits_if_open_ = index;
    return;
  }
  undecided_ |= verdict.undecided;
  if (!best_ || verdict.closer_than(*best_)) best_ = verdict, closest_ = index;
}

// On a core ordered by deadlines, the search has shown that all deadlines hold. This step computes the response bounds.
void AdmissionSearch::bound(int& evaluations) noexcept {
  if (trials_.task_set().step(evaluations)) end(Found::core);
}

void AdmissionSearch::end_placing() noexcept {
  explain();
  if (order_.empty() || reach_ == Reach::cores) return end(Found::nothing);
  stage_ = Stage::planning;
  repacker_.begin(demand_, reach_ == Reach::moving);
}

void AdmissionSearch::explain() noexcept {
  if (order_.empty()) return;
  if (fits_if_open_ != nowhere) {
    refusal_ = {.code = RefusalCode::other_process_late, .closest = placement_.core_id(fits_if_open_)};
    return;
  }
  refusal_.code = undecided_ ? RefusalCode::analysis_limit : RefusalCode::not_schedulable;
  if (!best_) return;  // all cores are reserved
  refusal_.closest = placement_.core_id(closest_);
  refusal_.by_bound =
      placement_.options().test->holds != nullptr && placement_.core(closest_).model.order == CoreOrder::priority;
  refusal_.loser = best_->loser == self_ ? no_task : placement_.id_of(best_->loser);
  refusal_.response = best_->response == endless ? Duration::max() : Duration{best_->response};
  refusal_.deadline = Duration{best_->deadline};
}

}  // namespace corelane::sched
