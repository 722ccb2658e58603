// IndexedHeap is a priority queue of the numbers below a capacity, each with a key and at most once. The least key is
// at the top; of equal keys, that of the lowest number. Keys of queued numbers can be changed and removed.
//
// Each entry of the heap has four children. So the heap is half as deep as a binary one, and a change touches fewer
// cache lines.
//
// Threads: one. Only the constructor allocates. push(), change() and remove() are O(log n), top() is O(1).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace corelane::sim::multicore {

template <typename Key>
class IndexedHeap {
 public:
  explicit IndexedHeap(std::size_t capacity) : places_(capacity, absent) { entries_.reserve(capacity); }

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  bool contains(std::uint32_t id) const { return places_[id] != absent; }

  std::uint32_t top() const { return assert(!empty()), entries_.front().id; }
  const Key& top_key() const { return assert(!empty()), entries_.front().key; }
  const Key& key_of(std::uint32_t id) const { return assert(contains(id)), entries_[places_[id]].key; }

  void push(std::uint32_t id, const Key& key) {
    assert(!contains(id));
    entries_.push_back({key, id});
    rise(entries_.size() - 1, {key, id});
  }

  void change(std::uint32_t id, const Key& key) {
    assert(contains(id));
    settle(places_[id], {key, id});
  }

  void remove(std::uint32_t id) {
    assert(contains(id));
    const std::size_t place = places_[id];
    places_[id] = absent;
    const Entry last = entries_.back();
    entries_.pop_back();
    if (last.id != id) settle(place, last);
  }

 private:
  struct Entry {
    Key key;
    std::uint32_t id;
  };
  static constexpr std::uint32_t absent = UINT32_MAX;
  static constexpr std::size_t children = 4;

  static bool before(const Entry& a, const Entry& b) {
    if (a.key < b.key) return true;
    return !(b.key < a.key) && a.id < b.id;
  }

  void put(std::size_t place, const Entry& entry) {
    entries_[place] = entry;
    places_[entry.id] = static_cast<std::uint32_t>(place);
  }

  // Puts the entry at this place or nearer to the top.
  void rise(std::size_t place, const Entry& entry) {
    while (place > 0) {
      const std::size_t parent = (place - 1) / children;
      if (!before(entry, entries_[parent])) break;
      put(place, entries_[parent]);
      place = parent;
    }
    put(place, entry);
  }

  // Puts the entry at this place or farther from the top.
  void sink(std::size_t place, const Entry& entry) {
    for (std::size_t child = place * children + 1; child < entries_.size(); child = place * children + 1) {
      const std::size_t end = std::min(child + children, entries_.size());
      for (std::size_t other = child + 1; other < end; ++other)
        if (before(entries_[other], entries_[child])) child = other;
      if (!before(entries_[child], entry)) break;
      put(place, entries_[child]);
      place = child;
    }
    put(place, entry);
  }

  void settle(std::size_t place, const Entry& entry) {
    const bool rises = place > 0 && before(entry, entries_[(place - 1) / children]);
    rises ? rise(place, entry) : sink(place, entry);
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> places_;  // of each number in entries_
};

}  // namespace corelane::sim::multicore
