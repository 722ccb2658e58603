#include "services/nameserver/stores/tree/tree_store.h"

#include <exception>
#include <string>
#include <utility>

#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"

namespace corelane::nameserver {

Expected<Binding, StoreFault> TreeStore::find(ContextId context, const NameComponent& name) {
  const os::SharedLock lock(shown_mutex_);
  return shown_.find(context, name);
}

Expected<std::vector<Entry>, StoreFault> TreeStore::list(ContextId context, const NameComponent* after,
                                                         std::size_t most) {
  const os::SharedLock lock(shown_mutex_);
  return shown_.list(context, after, most);
}

Expected<bool, StoreFault> TreeStore::has_context(ContextId context) {
  const os::SharedLock lock(shown_mutex_);
  return shown_.has_context(context);
}

Expected<std::vector<ContextId>, StoreFault> TreeStore::contexts() {
  const os::SharedLock lock(shown_mutex_);
  return shown_.contexts();
}

Expected<std::vector<std::string>, StoreFault> TreeStore::owners() {
  const os::SharedLock lock(shown_mutex_);
  return shown_.owners();
}

Expected<void, StoreFault> TreeStore::add(ContextId context, const NameComponent& name, const Binding& binding) {
  return write_only([&](Tree& tree) { return tree.add(context, name, binding); });
}

Expected<void, StoreFault> TreeStore::replace(ContextId context, const NameComponent& name, const Binding& binding) {
  return write_only([&](Tree& tree) { return tree.replace(context, name, binding); });
}

Expected<Binding, StoreFault> TreeStore::remove(ContextId context, const NameComponent& name, const std::string& by) {
  auto changes = write([&](Tree& tree) { return tree.remove(context, name, by); });
  if (!changes) return changes.error();
  return std::move(changes->front().binding);
}

Expected<ContextId, StoreFault> TreeStore::make_context() {
  const auto changes = write([](Tree& tree) { return tree.make_context(); });
  if (!changes) return changes.error();
  return changes->front().context;
}

Expected<ContextId, StoreFault> TreeStore::add_context(ContextId context, const NameComponent& name,
                                                       const std::string& by) {
  const auto changes = write([&](Tree& tree) { return tree.add_context(context, name, by); });
  if (!changes) return changes.error();
  return changes->front().context;
}

Expected<void, StoreFault> TreeStore::destroy_context(ContextId context, const std::string& by) {
  return write_only([&](Tree& tree) { return tree.destroy_context(context, by); });
}

Expected<void, StoreFault> TreeStore::remove_owned(const std::string& owner) {
  return write_only([&](Tree& tree) { return tree.remove_owned(owner); });
}

StoreStatus TreeStore::status() {
  StoreStatus status = journal_ ? journal_->status() : StoreStatus{.kind = "memory"};
  const os::SharedLock lock(shown_mutex_);
  status.revision = shown_revision_;
  status.names = shown_.names();
  status.contexts = shown_.contexts_but_root();
  return status;
}

Expected<void, StoreFault> TreeStore::write_only(const Decision& decide) {
  const auto changes = write(decide);
  if (!changes) return changes.error();
  return {};
}

Expected<Changes, StoreFault> TreeStore::write(const Decision& decide) {
  Writer writer{.decide = decide};
  os::UniqueLock lock(mutex_);
  waiting_.push_back(&writer);
  served_.wait(lock, [&]() CORELANE_REQUIRES(mutex_) { return writer.served || !serving_; });
  if (!writer.served) {
    const std::vector<Writer*> writers = std::exchange(waiting_, {});
    serving_ = true;
    lock.unlock();
    serve(writers);
    lock.lock();
    serving_ = false;
    for (Writer* each : writers) each->served = true;
    served_.notify_all();
  }
  lock.unlock();
  notifier_.notify();
  return std::move(writer.result);
}

// Throws nothing, because other writers wait for its end. If memory runs out before the journal has the changes, they
// are undone. If it runs out later or while undoing, the process ends: readers could not be shown what the journal has.
void TreeStore::serve(const std::vector<Writer*>& writers) noexcept {
  Changes changes;
  const auto kept = decide_and_keep(writers, changes);
  if (kept) return show(changes);
  // Each writer's result depends on the changes of the others, so all of them fail.
  for (Writer* writer : writers) writer->result = kept.error();
  const os::SharedLock lock(shown_mutex_);
  decided_ = shown_;
  revision_ = shown_revision_;
}

Expected<void, StoreFault> TreeStore::decide_and_keep(const std::vector<Writer*>& writers, Changes& changes) try {
  changes = decide_all(writers);
  if (changes.empty() || !journal_) return {};
  return journal_->keep(changes, decided_.next_context());
} catch (const std::exception& why) {
  os::log::error(std::string("naming: a change cannot be made: ") + why.what());
  return StoreFault::unavailable;
}

Changes TreeStore::decide_all(const std::vector<Writer*>& writers) {
  Changes all;
  for (Writer* writer : writers) {
    writer->result = writer->decide(decided_);
    if (!writer->result || writer->result->empty()) continue;
    ++revision_;
    for (Change& change : *writer->result) change.revision = revision_;
    all.insert(all.end(), writer->result->begin(), writer->result->end());
  }
  return all;
}

void TreeStore::show(const Changes& changes) {
  if (changes.empty()) return;
  {
    const os::LockGuard lock(shown_mutex_);
    for (const Change& change : changes) shown_.apply(change);
    shown_revision_ = revision_;
  }
  notifier_.queue(changes);
}

}  // namespace corelane::nameserver
