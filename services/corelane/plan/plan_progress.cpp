#include "services/corelane/plan/plan_progress.h"

#include <chrono>
#include <ostream>
#include <string>

namespace corelane::tool {
namespace {

constexpr Duration between_lines = std::chrono::seconds{2};

std::string progress_text(const eval::PlanProgress& progress) {
  const std::string done = std::to_string(progress.done), all = std::to_string(progress.all);
  switch (progress.stage) {
    case eval::PlanProgress::Stage::admission:
      return done + " of " + all + " tasks have asked for admission";
    case eval::PlanProgress::Stage::cores:
      return "looked whether all tasks fit on " + done + " cores, of " + all + " at most; --quick leaves that out";
    case eval::PlanProgress::Stage::growth:
      break;
  }
  return "looked how much " + done + " of " + all + " budgets may grow; --quick leaves that out";
}

}  // namespace

void PlanProgressLine::say(const eval::PlanProgress& progress, Time now) {
  if (now - said_at_ < between_lines) return;
  said_at_ = now;
  out_ << "corelane plan: ";
  if (sets_ > 1) out_ << "set " << set_ << " of " << sets_ << ": ";
  out_ << progress_text(progress) << std::endl;
}

}  // namespace corelane::tool
