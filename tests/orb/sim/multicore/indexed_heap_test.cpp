#include "orb/sim/multicore/indexed_heap.h"

#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "orb/sim/workload.h"

namespace indexed_heap_test {

using namespace corelane::sim;
using multicore::IndexedHeap;

namespace {

std::vector<std::uint32_t> emptied(IndexedHeap<int> heap) {
  std::vector<std::uint32_t> order;
  for (; !heap.empty(); heap.remove(heap.top())) order.push_back(heap.top());
  return order;
}

}  // namespace

TEST_CASE("the least key is at the top of the heap, and of equal keys that of the lowest number") {
  IndexedHeap<int> heap(6);
  for (const std::uint32_t id : {5u, 1u, 3u, 0u}) heap.push(id, id == 3 ? 10 : 20);
  CHECK(emptied(heap) == std::vector<std::uint32_t>{3, 0, 1, 5});
}

TEST_CASE("a changed key moves its number both ways") {
  IndexedHeap<int> heap(4);
  for (std::uint32_t id = 0; id < 4; ++id) heap.push(id, static_cast<int>(id) * 10);
  heap.change(0, 25);
  heap.change(3, 5);
  CHECK(heap.key_of(0) == 25);
  CHECK(emptied(heap) == std::vector<std::uint32_t>{3, 1, 2, 0});
}

TEST_CASE("the heap agrees with a sorted map in a hundred thousand random steps") {
  constexpr std::uint32_t capacity = 50;
  Random random(1);
  IndexedHeap<int> heap(capacity);
  std::map<std::uint32_t, int> keys;
  bool agrees = true;
  for (int step = 0; step < 100'000; ++step) {
    const auto id = static_cast<std::uint32_t>(random() % capacity);
    const int key = static_cast<int>(random() % 20);
    if (!heap.contains(id)) {
      heap.push(id, key);
      keys[id] = key;
    } else if (random() % 2 == 0) {
      heap.change(id, key);
      keys[id] = key;
    } else {
      heap.remove(id);
      keys.erase(id);
    }
    agrees = agrees && heap.size() == keys.size() && heap.empty() == keys.empty();
    if (keys.empty()) continue;
    auto least = keys.begin();
    for (auto it = keys.begin(); it != keys.end(); ++it)
      if (it->second < least->second) least = it;
    agrees = agrees && heap.top() == least->first && heap.top_key() == least->second;
  }
  CHECK(agrees);
}

}  // namespace indexed_heap_test
