#include "services/corelane/real_run/real_runner.h"

#include <chrono>
#include <cstddef>
#include <limits>
#include <ostream>

#include "orb/eval/table.h"

namespace corelane::tool {
namespace {

constexpr Duration control_length = std::chrono::seconds{3};

}  // namespace

Expected<eval::RunOutcome, std::string> RealRunner::run(eval::RunRequest request) {
  if (!control_) {
    const auto control = watch_gaps(request.cores, control_length, options_);
    if (!control) return control.error().text;
    control_ = *control;
  }
  request.most_misses = std::numeric_limits<std::size_t>::max();  // so that those that the machine caused are counted
  auto outcome = run_real(request, options_);
  if (!outcome) return outcome.error().text;
  gaps_ += outcome->gaps;
  for (const std::string& note : outcome->run.notes)
    if (said_.insert(note).second) say(std::string(request.dispatcher->name) + ": " + note);
  return std::move(outcome->run);
}

std::string RealRunner::gaps_text() const {
  if (!control_ || gaps_.watched == Duration::zero()) return {};
  const std::string text = "the machine took time from jobs " + eval::fixed(gaps_.per_second(), 1) +
                           " times in a second of their work, and " + eval::fixed(control_->per_second(), 1) +
                           " times before the runs";
  return is_credible(gaps_, *control_)
             ? text
             : text + "; that is more than twice as often, so its gaps do not excuse late jobs";
}

void RealRunner::say(const std::string& text) const { err_ << "corelane eval: " << text << std::endl; }

}  // namespace corelane::tool
