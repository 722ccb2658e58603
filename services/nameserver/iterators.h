// Iterators keeps the binding iterators that clients hold. It limits their number, their number for each client, and
// their age. An iterator remembers only the last name that it returned, so its size does not depend on the length of
// the list. Bindings that are added or removed behind that name meanwhile do show.
//
// Threads: any. One mutex for the table, and one in each iterator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "CosNamingS.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/mutex.h"
#include "services/nameserver/clients.h"
#include "services/nameserver/name_tree.h"
#include "services/nameserver/objects.h"

namespace corelane::nameserver {

struct IteratorLimits {
  std::size_t iterators = 1024;
  std::size_t of_client = 256;
  Duration age = std::chrono::minutes{5};
};

// The most bindings in one reply. A client that asks for more gets the rest from the iterator.
inline constexpr std::size_t most_bindings = 1000;

// BindingPage holds the next bindings behind `after`, and says whether there are more.
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

  // `tree` and `objects` must outlive the iterators' objects.
  Iterators(NameTree& tree, Objects& objects, const IteratorLimits& limits)
      : tree_(tree), objects_(objects), limits_(limits) {}

  // Opens an iterator that starts behind `after`, or at the first name if `after` is null. It belongs to the client
  // whose request this thread runs.
  Reference open(ContextId context, const NameComponent* after, Time now);
  void close(std::uint64_t number);
  // Returns false if the iterator was closed.
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
  // Adds the iterator to the table. Returns the objects of the iterators that it removed to make room. The caller must
  // deactivate them.
  std::vector<PortableServer::ObjectId> enter(std::uint64_t number, Entry entry);
  std::vector<PortableServer::ObjectId> make_room(const std::string& client) CORELANE_REQUIRES(mutex_);
  Table::iterator stalest(const std::string& client, bool of_any) CORELANE_REQUIRES(mutex_);
  void deactivate(const PortableServer::ObjectId& id) noexcept;

  NameTree& tree_;
  Objects& objects_;
  const IteratorLimits limits_;
  mutable os::Mutex mutex_;
  Table entries_ CORELANE_GUARDED_BY(mutex_);
  std::uint64_t opened_ CORELANE_GUARDED_BY(mutex_) = 0;
};

}  // namespace corelane::nameserver
