// LeftOut collects what a format cannot express, and says it in a few sentences.
// Threads: values. Allocates.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "orb/eval/scenario.h"

namespace corelane::eval {

class LeftOut {
 public:
  // `what` is a property of one task: "jitter", "suspension".
  void add(const std::string& what) { ++tasks_[what]; }
  // `sentence` is about the whole file.
  void say(const std::string& sentence) { sentences_.push_back(sentence); }

  // Adds what no other format can express.
  void add_what_only_toml_has(const ListedTask& task);
  void add_what_only_toml_has(const Scenario& scenario);

  // Returns one sentence for each property, such as "the jitter of 3 tasks is left out".
  std::vector<std::string> notes() const;

 private:
  std::map<std::string, std::size_t> tasks_;
  std::vector<std::string> sentences_;
};

}  // namespace corelane::eval
