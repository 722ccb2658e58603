// TaskTable finds what belongs to a task by the index in its id (sched::slot_index()), without a search or a hash.
//
// A slot can hold more than one node: the Manager gives the slot of an evicted task to a new task, while a job of the
// evicted one may still run. Such nodes are a list, the newest first. So a table takes as many nodes as there are, and
// neither put() nor take() allocates or fails.
//
// Threads: owned by one thread at a time. Node has a function `TaskId task() const`, which does not change while the
// node is in the table, and a member `std::unique_ptr<Node> next`.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "orb/base/ids.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

template <typename Node>
class TaskTable {
 public:
  explicit TaskTable(std::size_t max_tasks) : slots_(max_tasks) {}

  // Returns null if the task has no node. Bound: the nodes of one slot, mostly one.
  Node* find(TaskId task) const noexcept {
    const std::size_t slot = sched::slot_index(task);
    if (slot >= slots_.size()) return nullptr;
    Node* node = slots_[slot].get();
    while (node && node->task() != task) node = node->next.get();
    return node;
  }
  // The task's index is below max_tasks, and the task has no node yet.
  Node& put(std::unique_ptr<Node> node) noexcept {
    assert(sched::slot_index(node->task()) < slots_.size());
    std::unique_ptr<Node>& slot = slots_[sched::slot_index(node->task())];
    node->next = std::move(slot);
    slot = std::move(node);
    return *slot;
  }
  // Takes out the task's node; null: there is none.
  std::unique_ptr<Node> take(TaskId task) noexcept {
    const std::size_t slot = sched::slot_index(task);
    if (slot >= slots_.size()) return nullptr;
    for (std::unique_ptr<Node>* link = &slots_[slot]; *link; link = &(*link)->next) {
      if ((*link)->task() != task) continue;
      std::unique_ptr<Node> taken = std::move(*link);
      *link = std::move(taken->next);
      return taken;
    }
    return nullptr;
  }
  void clear() noexcept {
    for (std::unique_ptr<Node>& slot : slots_) slot.reset();
  }

  // Calls see(node) for each node. Bound: max_tasks, and the nodes.
  template <typename See>
  void for_each(See see) const {
    for (const std::unique_ptr<Node>& slot : slots_)
      for (Node* node = slot.get(); node; node = node->next.get()) see(*node);
  }

 private:
  std::vector<std::unique_ptr<Node>> slots_;  // by index
};

}  // namespace corelane::dispatch
