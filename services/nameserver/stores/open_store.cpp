#include "services/nameserver/stores/open_store.h"

#include "services/nameserver/stores/tree_store.h"

namespace corelane::nameserver {

Expected<std::unique_ptr<Store>, std::string> open_store(const std::string& specification,
                                                         const StoreOptions& options) {
  if (specification == "memory") return {std::make_unique<TreeStore>(Tree(options.limits))};
  return "unknown store '" + specification + "': it is memory";
}

}  // namespace corelane::nameserver
