// TreeStore: a Store that decides for itself, in memory, and has a Journal make the outcome last.
//
// Writers that come while the journal is busy wait and are then served together: one of them decides for all of them,
// has the journal write all their changes at once, and shows them to readers. Readers wait for none of that.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "services/nameserver/stores/change_teller.h"
#include "services/nameserver/stores/tree.h"

namespace corelane::nameserver {

// Where a TreeStore's changes are kept. Thread: one at a time, any.
class Journal {
 public:
  virtual ~Journal() = default;

  // All of them or none; when it returns well they last. The next context's number lasts with them.
  virtual Expected<void, StoreFault> keep(const Changes& changes, ContextId next_context) = 0;
  virtual StoreStatus status() = 0;
};

class TreeStore final : public Store {
 public:
  // Without a journal nothing outlasts the process. `tree` and `revision` are what the journal has kept so far.
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
  void on_change(std::function<void(const Change&)> told) override { teller_.on_change(std::move(told)); }
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
  // All of them or none, as keep() of the journal.
  Expected<void, StoreFault> decide_and_keep(const std::vector<Writer*>& writers, Changes& changes);
  Changes decide_all(const std::vector<Writer*>& writers);
  void show(const Changes& changes);

  const std::unique_ptr<Journal> journal_;  // used by who serves
  ChangeTeller teller_;

  // Who serves, alone: `serving_` passes them on.
  Tree decided_;  // what the journal has, and what it is given now
  std::uint64_t revision_;

  std::mutex mutex_;
  std::condition_variable served_;
  std::vector<Writer*> waiting_;  // guarded by mutex_
  bool serving_ = false;          // guarded by mutex_

  std::shared_mutex shown_mutex_;
  Tree shown_;                    // guarded by shown_mutex_
  std::uint64_t shown_revision_;  // guarded by shown_mutex_
};

}  // namespace corelane::nameserver
