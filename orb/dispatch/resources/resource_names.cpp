#include "orb/dispatch/resources/resource_names.h"

#include <mutex>
#include <new>
#include <set>

namespace corelane::dispatch {
namespace {

struct Names {
  std::mutex mutex;
  std::set<std::string, std::less<>> all;  // guarded by mutex
};

// Never destroyed: resources are made before main(), and looked up after it.
Names& names() {
  static Names& made = *new Names;
  return made;
}

}  // namespace

void remember_resource(std::string_view name) noexcept try {
  Names& known = names();
  const std::lock_guard lock(known.mutex);
  known.all.emplace(name);
} catch (const std::bad_alloc&) {
}

std::vector<std::string> remembered_resources() {
  Names& known = names();
  const std::lock_guard lock(known.mutex);
  return {known.all.begin(), known.all.end()};
}

}  // namespace corelane::dispatch
