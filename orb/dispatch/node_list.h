// NodeList: a queue of nodes that whoever adds one has allocated before; so nothing is allocated or freed under the
// lock that guards the list.
//
// Threads: owned by one at a time. Node has a member `std::unique_ptr<Node> next`.
#pragma once

#include <memory>
#include <utility>

namespace corelane::dispatch {

template <typename Node>
class NodeList {
 public:
  NodeList() = default;
  NodeList(NodeList&& other) noexcept : head_(std::move(other.head_)), tail_(std::exchange(other.tail_, nullptr)) {}
  NodeList& operator=(NodeList&&) = delete;
  ~NodeList() {
    while (pop_front()) continue;  // one by one: a chain of destructors would be as deep as the list is long
  }

  bool empty() const noexcept { return !head_; }
  void push_back(std::unique_ptr<Node> node) noexcept {
    Node* const last = node.get();
    (tail_ ? tail_->next : head_) = std::move(node);
    tail_ = last;
  }
  std::unique_ptr<Node> pop_front() noexcept {  // null when empty
    std::unique_ptr<Node> node = std::move(head_);
    if (!node) return node;
    head_ = std::move(node->next);
    if (!head_) tail_ = nullptr;
    return node;
  }

 private:
  std::unique_ptr<Node> head_;
  Node* tail_ = nullptr;
};

}  // namespace corelane::dispatch
