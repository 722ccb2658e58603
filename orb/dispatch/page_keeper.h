// PageKeeper: this process's counter page, from when it can be made until the process ends. It says who the process is;
// what there is to count comes from whoever keeps it.
//
// Threads: one at a time, none that is real-time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "orb/base/time.h"
#include "orb/dispatch/counter_page.h"

namespace corelane::dispatch {

class PageKeeper {
 public:
  static constexpr Duration period = std::chrono::milliseconds{500};
  // Fills in all but who the process is and when the page is written.
  using Count = std::function<void(ProcessCounters&)>;

  // `directory`: the runtime directory; empty: there is no page.
  PageKeeper(std::string directory, std::size_t cores, std::size_t tasks);

  bool wanted() const noexcept { return !directory_.empty(); }
  // Writes the page when that is due: each period, unless the last time took so long that it would cost more than a
  // twentieth of a core. Makes it first where it is missing, also when somebody removed it; why it cannot is said once,
  // since the directory may come, and its disk have room, later. Whether it was written.
  bool step(Time now, const Count& count) noexcept;

 private:
  bool make();

  // Constant.
  const std::string directory_;
  const std::size_t cores_, tasks_;

  std::unique_ptr<CounterPage> page_;
  bool said_ = false;  // why there is none
  Time next_{};
};

}  // namespace corelane::dispatch
