// Interrupts: steers interrupts away from the cores that are reserved, where the kernel lets it, and back.
// Threads: as Backend.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "services/reserved/backends/journal.h"

namespace corelane::reserved {

struct InterruptReport {
  unsigned steered = 0;  // go elsewhere than they did at first
  unsigned fixed = 0;    // could not be steered: of one core each, or of the kernel's own choice
};

class Interrupts {
 public:
  // `folder`: "/proc/irq"; "" leaves them alone. The journal outlives it.
  Interrupts(std::string folder, Journal& journal) : folder_(std::move(folder)), journal_(&journal) {}

  // Each, also those to come, goes to what it had at first of these cores, or to all of them where that is nothing.
  void keep_to(const std::vector<CoreId>& cores);
  // Now and then: those that somebody has sent to other cores since go back, and the report is of now. How many did.
  // One that could not be steered is not tried again before the next keep_to().
  unsigned keep_away_again(const std::vector<CoreId>& cores);
  bool is_on() const { return !folder_.empty(); }
  InterruptReport report() const { return report_; }

 private:
  // How the kernel writes sets of cores in the file.
  struct Form {
    std::optional<std::vector<CoreId>> (*parse)(std::string_view);
    std::string (*text)(const std::vector<CoreId>&);
  };
  void look(const std::vector<CoreId>& cores);
  bool steer(const std::string& file, const Form& form, const std::vector<CoreId>& cores);

  const std::string folder_;
  Journal* const journal_;
  InterruptReport report_{};
  std::set<std::string> refused_{};  // files that the kernel let nobody write since the latest keep_to()
  bool again_ = false;               // of the look under way: who is on these cores alone is let be
  unsigned strayed_ = 0;             // as found by the latest look
};

}  // namespace corelane::reserved
