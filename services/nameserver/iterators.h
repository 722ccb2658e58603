// Iterators: binding iterators that clients hold, bounded in number, in number for each client, and in age. An iterator
// remembers the name that it gave last, not the names to come, so it costs the same however long the list is; what is
// bound or unbound meanwhile behind that name shows.
//
// Threads: any; one mutex for the table, one in each iterator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "CosNamingS.h"
#include "orb/base/time.h"
#include "services/nameserver/clients.h"
#include "services/nameserver/name_tree.h"
#include "services/nameserver/objects.h"

namespace corelane::nameserver {

struct IteratorLimits {
  std::size_t iterators = 1024;
  std::size_t of_client = 256;
  Duration age = std::chrono::minutes{5};
};

// Bindings of one reply at most: a client that asks for more gets the rest from the iterator.
inline constexpr std::size_t most_bindings = 1000;

// The next bindings behind `after`, and whether there are more.
struct BindingPage {
  CosNaming::BindingList bindings;
  NameComponent last;
  bool more = false;
};
NameTree::Result<BindingPage> next_page(NameTree& tree, ContextId context, const NameComponent* after,
                                        std::size_t most);

class Iterators : public std::enable_shared_from_this<Iterators> {
 public:
  using Reference = CORBA::object_reference<CosNaming::BindingIterator>;

  // `tree` and `objects` outlive the iterators' objects.
  Iterators(NameTree& tree, Objects& objects, const IteratorLimits& limits)
      : tree_(tree), objects_(objects), limits_(limits) {}

  // Behind that name; from the first one without. Of the client whose request this thread runs.
  Reference open(ContextId context, const NameComponent* after, Time now);
  void close(std::uint64_t number);
  // False: it was closed.
  bool touch(std::uint64_t number, Time now);
  void close_older(Time now);
  std::size_t size() const;

 private:
  class Servant;
  struct Entry {
    std::string client;
    Time used;
    PortableServer::ObjectId id;
  };
  using Table = std::map<std::uint64_t, Entry>;
  std::uint64_t next_number();
  // What has to go for it, to be deactivated.
  std::vector<PortableServer::ObjectId> enter(std::uint64_t number, Entry entry);
  std::vector<PortableServer::ObjectId> make_room(const std::string& client);
  Table::iterator stalest(const std::string& client, bool of_any);
  void deactivate(const PortableServer::ObjectId& id) noexcept;

  NameTree& tree_;
  Objects& objects_;
  const IteratorLimits limits_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Table entries_;
  std::uint64_t opened_ = 0;
};

}  // namespace corelane::nameserver
