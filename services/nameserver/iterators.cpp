#include "services/nameserver/iterators.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "orb/base/minor.h"
#include "orb/base/thread_safety.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/mutex.h"

namespace corelane::nameserver {

NameTree::Result<BindingPage> next_page(NameTree& tree, ContextId context, const NameComponent* after,
                                        std::size_t most) {
  const std::size_t wanted = std::min(most, most_bindings);
  auto entries = tree.list(context, after, wanted + 1);
  if (!entries) return entries.error();
  BindingPage page;
  page.more = entries->size() > wanted;
  if (page.more) entries->pop_back();
  for (const Entry& entry : *entries)
    page.bindings.emplace_back(cos_name_of({entry.name}), cos_type_of(entry.binding.type));
  if (!entries->empty()) page.last = std::move(entries->back().name);
  return page;
}

class Iterators::Servant final : public virtual CORBA::servant_traits<CosNaming::BindingIterator>::base_type {
 public:
  Servant(std::shared_ptr<Iterators> table, std::uint64_t number, ContextId context, const NameComponent* after)
      : table_(std::move(table)), number_(number), context_(context) {
    if (after != nullptr) last_ = *after;
  }

  bool next_one(CosNaming::Binding& binding) override {
    CosNaming::BindingList list;
    const bool found = next(1, list);
    binding = found ? std::move(list.front()) : CosNaming::Binding({}, CosNaming::BindingType::nobject);
    return found;
  }

  bool next_n(std::uint32_t how_many, CosNaming::BindingList& list) override {
    if (how_many == 0) core::raise_as_servant(Error{ErrorKind::bad_param, Completion::no, 0});
    return next(how_many, list);
  }

  void destroy() override { table_->close(number_); }

 private:
  bool next(std::size_t most, CosNaming::BindingList& list) {
    const os::LockGuard lock(mutex_);
    if (!table_->touch(number_, os::now()))
      core::raise_as_servant(Error{ErrorKind::object_not_exist, Completion::no, minor::no_such_object});
    auto page = next_page(table_->tree_, context_, last_ ? &*last_ : nullptr, most);
    if (!page && page.error().kind == NameFaultKind::gone) return list.clear(), false;
    if (!page) table_->objects_.raise(page.error(), {});
    list = std::move(page->bindings);
    if (!list.empty()) last_ = std::move(page->last);
    return !list.empty();
  }

  const std::shared_ptr<Iterators> table_;
  const std::uint64_t number_;
  const ContextId context_;
  os::Mutex mutex_;
  std::optional<NameComponent> last_ CORELANE_GUARDED_BY(mutex_);
};

// Returns the least recently used entry of the client, or of any client; end() if there is none.
Iterators::Table::iterator Iterators::stalest(const std::string& client, bool of_any) {
  auto found = entries_.end();
  for (auto at = entries_.begin(); at != entries_.end(); ++at)
    if ((of_any || at->second.client == client) && (found == entries_.end() || at->second.used < found->second.used))
      found = at;
  return found;
}

// Removes entries to make room for one more, and returns their objects.
std::vector<PortableServer::ObjectId> Iterators::make_room(const std::string& client) {
  std::vector<PortableServer::ObjectId> gone;
  const auto drop = [&](Table::iterator at) CORELANE_REQUIRES(mutex_) {
    gone.push_back(std::move(at->second.id));
    entries_.erase(at);
  };
  const auto held =
      std::count_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.second.client == client; });
  if (static_cast<std::size_t>(held) >= limits_.of_client) drop(stalest(client, false));
  if (entries_.size() >= limits_.iterators) drop(stalest(client, true));
  return gone;
}

void Iterators::deactivate(const PortableServer::ObjectId& id) noexcept {
  try {
    objects_.helpers()->deactivate_object(id);
  } catch (const CORBA::Exception&) {
    // another thread deactivated it
  }
}

Iterators::Reference Iterators::open(ContextId context, const NameComponent* after, Time now) {
  const std::uint64_t number = next_number();
  const auto servant = CORBA::make_reference<Servant>(shared_from_this(), number, context, after);
  const auto id = objects_.helpers()->activate_object(servant);
  for (const auto& gone : enter(number, Entry{calling_client().name, now, id})) deactivate(gone);
  return core::make_stub<CosNaming::BindingIterator>(objects_.helpers()->id_to_reference(id)->_reference());
}

std::uint64_t Iterators::next_number() {
  const os::LockGuard lock(mutex_);
  return ++opened_;
}

std::vector<PortableServer::ObjectId> Iterators::enter(std::uint64_t number, Entry entry) {
  const os::LockGuard lock(mutex_);
  auto gone = make_room(entry.client);
  entries_.emplace(number, std::move(entry));
  return gone;
}

void Iterators::close(std::uint64_t number) {
  PortableServer::ObjectId id;
  {
    const os::LockGuard lock(mutex_);
    const auto found = entries_.find(number);
    if (found == entries_.end()) return;
    id = std::move(found->second.id);
    entries_.erase(found);
  }
  deactivate(id);
}

bool Iterators::touch(std::uint64_t number, Time now) {
  const os::LockGuard lock(mutex_);
  const auto found = entries_.find(number);
  if (found == entries_.end()) return false;
  found->second.used = now;
  return true;
}

void Iterators::close_older(Time now) {
  std::vector<PortableServer::ObjectId> old;
  {
    const os::LockGuard lock(mutex_);
    std::erase_if(entries_, [&](auto& entry) {
      const bool over = now - entry.second.used >= limits_.age;
      if (over) old.push_back(std::move(entry.second.id));
      return over;
    });
  }
  for (const auto& id : old) deactivate(id);
}

std::size_t Iterators::size() const {
  const os::LockGuard lock(mutex_);
  return entries_.size();
}

}  // namespace corelane::nameserver
