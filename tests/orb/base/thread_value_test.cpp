#include "orb/base/thread_value.h"

#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

using namespace corelane;

namespace {

std::vector<std::string>* ended = nullptr;  // what the destructors of the values below write

struct First {
  ~First() { ended->push_back(thread_value<First>() == nullptr ? "first, gone" : "first"); }
  int number = 0;
};

struct Second {
  ~Second() { ended->push_back("second"); }
};

// Makes a value of another type while it is destroyed.
struct Late {
  ~Late() {
    ended->push_back("late");
    thread_value<Second>();
  }
};

void use_two() {
  thread_value<First>()->number = 7;
  thread_value<Second>();
}

template <typename Function>
std::vector<std::string> ended_in_thread(Function function) {
  std::vector<std::string> result;
  ended = &result;
  std::thread(function).join();
  ended = nullptr;
  return result;
}

struct Throwing {
  Throwing() {
    if (fails) throw 1;
  }
  static inline bool fails = true;
};

}  // namespace

TEST_CASE("each thread has its own value", "[thread_value]") {
  struct Counter {
    int number = 0;
  };
  thread_value<Counter>()->number = 3;
  int there = -1;
  std::thread([&] { there = thread_value<Counter>()->number; }).join();
  CHECK(there == 0);
  CHECK(thread_value<Counter>()->number == 3);
}

TEST_CASE("a thread destroys its values at its end, the last one first", "[thread_value]") {
  CHECK(ended_in_thread(use_two) == std::vector<std::string>{"second", "first, gone"});
}

TEST_CASE("a scope destroys the values, and no further ones are made behind it", "[thread_value]") {
  bool gave_one = true;
  bool gave_new_type = true;
  std::size_t within_scope = 0;
  const auto order = ended_in_thread([&] {
    {
      const ThreadValueScope scope;
      use_two();
    }
    within_scope = ended->size();
    gave_one = thread_value<First>() != nullptr;
    gave_new_type = thread_value<Late>() != nullptr;
  });
  CHECK(order == std::vector<std::string>{"second", "first, gone"});
  CHECK(within_scope == 2);
  CHECK_FALSE(gave_one);
  CHECK_FALSE(gave_new_type);
}

TEST_CASE("a value that another value's destructor makes is destroyed, too", "[thread_value]") {
  CHECK(ended_in_thread([] { thread_value<Late>(); }) == std::vector<std::string>{"late", "second"});
}

TEST_CASE("a constructor that throws leaves no value, and the next call makes it", "[thread_value]") {
  std::thread([] {
    CHECK_THROWS_AS(thread_value<Throwing>(), int);
    Throwing::fails = false;
    CHECK(thread_value<Throwing>() != nullptr);
  }).join();
}
