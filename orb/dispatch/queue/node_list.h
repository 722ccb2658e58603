// NodeList is a queue of nodes that the thread which adds them has allocated. So nothing is allocated or freed under
// the lock that guards the list.
//
// Threads: owned by one thread at a time. Node has a member `std::unique_ptr<Node> next`.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace corelane::dispatch {

template <typename Node>
class NodeList {
 public:
  NodeList() = default;
  NodeList(NodeList&& other) noexcept
      : head_(std::move(other.head_)),
        tail_(std::exchange(other.tail_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  NodeList& operator=(NodeList&&) = delete;
  ~NodeList() {
    while (pop_front()) continue;  // one by one: a chain of destructors would be as deep as the list is long
  }

  bool empty() const noexcept { return !head_; }
  std::size_t size() const noexcept { return size_; }
  Node* front() const noexcept { return head_.get(); }  // null when empty
  void push_back(std::unique_ptr<Node> node) noexcept {
    Node* const last = node.get();
    (tail_ ? tail_->next : head_) = std::move(node);
    tail_ = last;
    ++size_;
  }
  void push_front(std::unique_ptr<Node> node) noexcept {
    if (!head_) tail_ = node.get();
    node->next = std::move(head_);
    head_ = std::move(node);
    ++size_;
  }
  // Takes out the first node for which `wanted` is true; null if there is none.
  template <typename Wanted>
  std::unique_ptr<Node> take_if(Wanted wanted) noexcept {
    Node* before = nullptr;
    for (Node* node = head_.get(); node; before = node, node = node->next.get()) {
      if (!wanted(*node)) continue;
      std::unique_ptr<Node>& link = before ? before->next : head_;
      std::unique_ptr<Node> taken = std::move(link);
      link = std::move(taken->next);
      if (!link) tail_ = before;
      --size_;
      return taken;
    }
    return nullptr;
  }
  std::unique_ptr<Node> pop_front() noexcept {  // null when empty
    std::unique_ptr<Node> node = std::move(head_);
    if (!node) return node;
    head_ = std::move(node->next);
    if (!head_) tail_ = nullptr;
    --size_;
    return node;
  }

 private:
  std::unique_ptr<Node> head_;
  Node* tail_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace corelane::dispatch
