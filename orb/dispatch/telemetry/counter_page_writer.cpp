#include "orb/dispatch/telemetry/counter_page_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "orb/dispatch/telemetry/recorder.h"
#include "orb/os/clock.h"
#include "orb/os/files/directory.h"
#include "orb/os/log.h"
#include "orb/os/machine/host.h"

namespace corelane::dispatch {
namespace {

ProcessCounters counters_of_this_process(Time now) {
  const os::ProcessIdentity self = os::this_process();
  ProcessCounters counters;
  counters.pid = self.pid;
  counters.start_ticks = self.start_ticks;
  counters.pid_namespace = os::this_host().pid_namespace;
  counters.program = program_name();
  counters.written = now;
  return counters;
}

}  // namespace

CounterPageWriter::CounterPageWriter(std::string directory, std::size_t cores, std::size_t tasks)
    : directory_(std::move(directory)), cores_(cores), tasks_(tasks) {}

bool CounterPageWriter::step(Time now, const Count& count) noexcept try {
  if (!wanted() || now < next_) return false;
  next_ = now + period;
  if (page_ && !page_->is_at_path()) page_.reset();  // it was removed, perhaps with its directory
  if (!page_ && !make()) return false;
  const Time begin = os::now();
  ProcessCounters counters = counters_of_this_process(now);
  count(counters);
  page_->write(counters);
  next_ = now + std::max<Duration>(period, 20 * (os::now() - begin));
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

bool CounterPageWriter::make() {
  const auto ready = os::make_directory(directory_);
  auto page = ready ? CounterPage::make(directory_, cores_, tasks_) : Error{};
  if (page) {
    page_ = std::move(*page);
    remove_stale_pages(directory_);  // here, because perhaps no program ever reads counters
  } else if (!std::exchange(logged_, true)) {
    const std::string why = ready ? "in " + directory_ + ": " + std::strerror(errno) : ready.error();
    os::log::warn("`corelane top` cannot show counters of this process yet: " + why);
  }
  return page_ != nullptr;
}

}  // namespace corelane::dispatch
