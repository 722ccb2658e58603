#include "orb/dispatch/resources/resource_names.h"

#include <new>
#include <set>

#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/mutex.h"

namespace corelane::dispatch {
namespace {

struct Names {
  os::Mutex mutex;
  std::set<std::string, std::less<>> all CORELANE_GUARDED_BY(mutex);
};

// Never destroyed: resources are made before main(), and looked up after it.
Names& names() {
  static Names& made = *new Names;
  return made;
}

}  // namespace

void remember_resource(std::string_view name) noexcept try {
  Names& known = names();
  const os::LockGuard lock(known.mutex);
  known.all.emplace(name);
} catch (const std::bad_alloc&) {
}

std::vector<std::string> remembered_resources() {
  Names& known = names();
  const os::LockGuard lock(known.mutex);
  return {known.all.begin(), known.all.end()};
}

}  // namespace corelane::dispatch
