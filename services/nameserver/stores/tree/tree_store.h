// TreeStore is a Store that decides in memory and uses a Journal to make the changes last.
//
// Writers that arrive while the journal is busy wait, and are then served together. One of them decides for all, writes
// all their changes through the journal at once, and shows them to readers. Readers do not wait for this.
//
// The folder services/nameserver/stores/tree keeps all names in memory.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/os/mutex.h"
#include "orb/os/wait/condition_variable.h"
#include "services/nameserver/stores/tree/change_notifier.h"
#include "services/nameserver/stores/tree/tree.h"

namespace corelane::nameserver {

// Journal makes a TreeStore's changes last. Thread: one at a time, any.
class Journal {
 public:
  virtual ~Journal() = default;

  // Keeps all of the changes or none. If it returns without a fault, they last, and so does the next context's number.
  virtual Expected<void, StoreFault> keep(const Changes& changes, ContextId next_context) = 0;
  virtual StoreStatus status() = 0;
};

class TreeStore final : public Store {
 public:
  // Without a journal nothing outlives the process. `tree` and `revision` are what the journal has kept so far.
  explicit TreeStore(Tree tree, std::unique_ptr<Journal> journal = nullptr, std::uint64_t revision = 0)
      : journal_(std::move(journal)),
        decided_(tree),
        revision_(revision),
        shown_(std::move(tree)),
        shown_revision_(revision) {}

  Expected<Binding, StoreFault> find(ContextId context, const NameComponent& name) override;
  Expected<std::vector<Entry>, StoreFault> list(ContextId context, const NameComponent* after,
                                                std::size_t most) override;
  Expected<bool, StoreFault> has_context(ContextId context) override;
  Expected<std::vector<ContextId>, StoreFault> contexts() override;
  Expected<std::vector<std::string>, StoreFault> owners() override;
  Expected<void, StoreFault> add(ContextId context, const NameComponent& name, const Binding& binding) override;
  Expected<void, StoreFault> replace(ContextId context, const NameComponent& name, const Binding& binding) override;
  Expected<Binding, StoreFault> remove(ContextId context, const NameComponent& name,
                                       const std::string& by = {}) override;
  Expected<ContextId, StoreFault> make_context() override;
  Expected<ContextId, StoreFault> add_context(ContextId context, const NameComponent& name,
                                              const std::string& by = {}) override;
  Expected<void, StoreFault> destroy_context(ContextId context, const std::string& by = {}) override;
  Expected<void, StoreFault> remove_owned(const std::string& owner) override;
  void on_change(std::function<void(const Change&)> told) override { notifier_.on_change(std::move(told)); }
  StoreStatus status() override;

 private:
  using Decision = std::function<Expected<Changes, StoreFault>(Tree&)>;
  struct Writer {
    const Decision& decide;
    Expected<Changes, StoreFault> result = StoreFault::unavailable;
    bool served = false;  // guarded by mutex_
  };

  Expected<Changes, StoreFault> write(const Decision& decide);
  Expected<void, StoreFault> write_only(const Decision& decide);
  void serve(const std::vector<Writer*>& writers) noexcept;
  // Does all of it or nothing, as Journal::keep().
  Expected<void, StoreFault> decide_and_keep(const std::vector<Writer*>& writers, Changes& changes);
  Changes decide_all(const std::vector<Writer*>& writers);
  void show(const Changes& changes);

  const std::unique_ptr<Journal> journal_;  // used by the serving writer
  ChangeNotifier notifier_;

  // Thread: the serving writer only. `serving_` hands them from one writer to the next.
  Tree decided_;  // what the journal has, and what it is being given
  std::uint64_t revision_;

  os::Mutex mutex_;
  os::ConditionVariable served_;
  std::vector<Writer*> waiting_ CORELANE_GUARDED_BY(mutex_);
  bool serving_ CORELANE_GUARDED_BY(mutex_) = false;

  os::SharedMutex shown_mutex_;
  Tree shown_ CORELANE_GUARDED_BY(shown_mutex_);
  std::uint64_t shown_revision_ CORELANE_GUARDED_BY(shown_mutex_);
};

}  // namespace corelane::nameserver
