#include "services/corelane/real_run/real_runner.h"

#include <cstddef>
#include <limits>
#include <ostream>

namespace corelane::tool {

Expected<eval::RunOutcome, std::string> RealRunner::run(eval::RunRequest request) {
  request.most_misses = std::numeric_limits<std::size_t>::max();  // so that those that the machine caused are counted
  auto outcome = run_real(request, options_);
  if (!outcome) return outcome.error().text;
  for (const std::string& note : outcome->notes)
    if (said_.insert(note).second) err_ << "corelane eval: " << request.dispatcher->name << ": " << note << std::endl;
  return *std::move(outcome);
}

}  // namespace corelane::tool
