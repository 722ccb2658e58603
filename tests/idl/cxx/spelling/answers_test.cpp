#include "idl/cxx/spelling/answers.h"

#include <catch2/catch.hpp>
#include <set>

using namespace corelane::idl;
using namespace corelane::idl::cxx;

namespace {

// Definitions that contain others. Some have the property that is asked for.
class Graph {
 public:
  void holds(std::uint32_t outer, std::uint32_t inner) { inside_[outer].push_back(inner); }
  void is_such(std::uint32_t id) { such_.insert(id); }
  bool ask(std::uint32_t id) {
    return answers_.of(DefId{id}, [&] {
      ++looks;
      if (such_.contains(id)) return true;
      for (const std::uint32_t inner : inside_[id])
        if (ask(inner)) return true;
      return false;
    });
  }

  int looks = 0;

 private:
  Answers answers_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> inside_;
  std::set<std::uint32_t> such_;
};

}  // namespace

TEST_CASE("asked in order about definitions within one another it looks into each once") {
  Graph graph;
  constexpr std::uint32_t length = 1000;
  const bool such = GENERATE(true, false);
  if (such) graph.is_such(0);
  for (std::uint32_t id = 1; id < length; ++id) graph.holds(id, id - 1);
  for (std::uint32_t id = 0; id < length; ++id) CHECK(graph.ask(id) == such);
  CHECK(graph.looks == length);
}

TEST_CASE("a type that contains itself is judged by its other members, whichever type is asked about first") {
  // 0 contains 1 and 2, 1 contains only 0, and 2 has the property: so all have it.
  const std::uint32_t first = GENERATE(0u, 1u, 2u);
  Graph graph;
  graph.holds(0, 1);
  graph.holds(0, 2);
  graph.holds(1, 0);
  graph.is_such(2);
  CHECK(graph.ask(first));
  for (const std::uint32_t id : {0u, 1u, 2u}) CHECK(graph.ask(id));
}

TEST_CASE("a circle without any such is a no for all in it, found at once") {
  Graph graph;
  graph.holds(0, 1);
  graph.holds(1, 0);
  CHECK_FALSE(graph.ask(0));
  CHECK_FALSE(graph.ask(1));
  CHECK(graph.looks == 2);
}
