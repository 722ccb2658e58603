// Interrupts keeps interrupts away from reserved cores where the kernel allows it, and moves them back later.
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
  unsigned steered = 0;  // go to other cores than at first
  unsigned fixed = 0;    // cannot be moved: tied to one core, or placed by the kernel
};

class Interrupts {
 public:
  // `folder`: "/proc/irq"; "" leaves interrupts alone. The journal must outlive this object.
  Interrupts(std::string folder, Journal& journal) : folder_(std::move(folder)), journal_(&journal) {}

  // Sends each interrupt, also future ones, to those of `cores` where it went at first. If there are none, it may go to
  // all of `cores`.
  void keep_to(const std::vector<CoreId>& cores);
  // Moves back interrupts that another program has sent to other cores since, and returns how many. Also updates the
  // report. Call it now and then. An interrupt that could not be moved is not tried again until the next keep_to().
  unsigned keep_away_again(const std::vector<CoreId>& cores);
  bool is_on() const { return !folder_.empty(); }
  InterruptReport report() const { return report_; }

 private:
  // How the kernel writes a set of cores in the file.
  struct Form {
    std::optional<std::vector<CoreId>> (*parse)(std::string_view);
    std::string (*text)(const std::vector<CoreId>&);
  };
  void look(const std::vector<CoreId>& cores);
  bool steer(const std::string& file, const Form& form, const std::vector<CoreId>& cores);

  const std::string folder_;
  Journal* const journal_;
  InterruptReport report_{};
  std::set<std::string> refused_{};  // files that the kernel refused to change since the last keep_to()
  bool again_ = false;               // in keep_away_again(): interrupts that go only to allowed cores are left alone
  unsigned strayed_ = 0;             // interrupts that had strayed, at the last check
};

}  // namespace corelane::reserved
