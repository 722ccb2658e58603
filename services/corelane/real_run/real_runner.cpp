#include "services/corelane/real_run/real_runner.h"

#include <chrono>
#include <cstddef>
#include <limits>
#include <ostream>

#include "orb/eval/report/table.h"

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
  const std::string dispatcher(request.dispatcher->name);
  causes_[dispatcher].add(outcome->run.misses);
  for (const std::string& note : outcome->run.notes)
    if (said_.insert(note).second) err_ << "corelane eval: " << dispatcher << ": " << note << std::endl;
  return std::move(outcome->run);
}

std::vector<std::string> RealRunner::summary() const {
  std::vector<std::string> sentences;
  for (const auto& [dispatcher, causes] : causes_) sentences.push_back(dispatcher + ": " + causes.text());
  if (gaps_.watched > Duration::zero()) sentences.push_back(gaps_text());
  return sentences;
}

std::string RealRunner::gaps_text() const {
  const std::string text = "the machine took time from jobs " + eval::fixed(gaps_.per_second(), 1) +
                           " times in a second of their work, and " + eval::fixed(control_->per_second(), 1) +
                           " times before the runs";
  return is_credible(gaps_, *control_)
             ? text
             : text + "; that is more than twice as often, so its gaps do not excuse late jobs";
}

}  // namespace corelane::tool
