#include "services/nameserver/stores/open_store.h"

#include <string_view>

#include "services/nameserver/stores/etcd/etcd_store.h"
#include "services/nameserver/stores/sqlite/sqlite_store.h"
#include "services/nameserver/stores/tree/tree_store.h"

namespace corelane::nameserver {

namespace {

constexpr std::string_view sqlite_prefix = "sqlite:", etcd_prefix = "etcd:";

}  // namespace

Expected<std::unique_ptr<Store>, std::string> open_store(const std::string& specification,
                                                         const StoreOptions& options) {
  if (specification == "memory") return {std::make_unique<TreeStore>(Tree(options.limits))};
  if (specification.starts_with(sqlite_prefix))
    return open_sqlite_store(specification.substr(sqlite_prefix.size()), options);
  if (specification.starts_with(etcd_prefix)) return open_etcd_store(specification.substr(etcd_prefix.size()), options);
  return "unknown store '" + specification + "': it is memory, sqlite:PATH or etcd:http[s]://HOST:PORT[,...]";
}

}  // namespace corelane::nameserver
