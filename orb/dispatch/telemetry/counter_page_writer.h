// CounterPageWriter keeps this process's counter page, from when it can be made until the process ends. It writes which
// process this is; its owner provides the counters.
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

class CounterPageWriter {
 public:
  static constexpr Duration period = std::chrono::milliseconds{500};
  // Fills in everything except which process this is and when the page is written.
  using Count = std::function<void(ProcessCounters&)>;

  // `directory`: the runtime directory; empty: there is no page.
  CounterPageWriter(std::string directory, std::size_t cores, std::size_t tasks);

  bool wanted() const noexcept { return !directory_.empty(); }
  // Writes the page if that is due: once in each period. If the last write took long, the next one comes later, so that
  // writing costs at most a twentieth of a core. Makes the page if it is missing, also if it was removed. If that
  // fails, logs the reason once, and tries again later: the directory may appear, or its disk may have space. Returns
  // whether the page was written.
  bool step(Time now, const Count& count) noexcept;
  // Returns whether step() would write the page now, or try to; true if there is none.
  bool is_due(Time now) const noexcept { return !wanted() || now >= next_; }

 private:
  bool make();

  // Constant.
  const std::string directory_;
  const std::size_t cores_, tasks_;

  std::unique_ptr<CounterPage> page_;
  bool logged_ = false;  // the reason why there is no page was logged
  Time next_{};
};

}  // namespace corelane::dispatch
