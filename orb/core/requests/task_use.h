// TaskUse counts how the messages of one connection relate to tasks. From that follows which thread should read it.
// Thread: the one that reads the connection.
#pragma once

#include <algorithm>

namespace corelane::core {

class TaskUse {
 public:
  // After so many messages in a row that no contract foresees, a connection without tasks is read like one that never
  // had a task.
  static constexpr int messages_until_plain = 16;

  // A message begins; set_foreseen() says whether a contract foresees it. end_message() counts it.
  void begin_message() noexcept { foreseen_ = false; }
  void set_foreseen(bool foreseen) noexcept { foreseen_ = foreseen; }
  bool is_foreseen() const noexcept { return foreseen_; }
  void end_message() noexcept {
    used_ = used_ || foreseen_;
    since_task_ = foreseen_ ? 0 : std::min(since_task_ + 1, messages_until_plain);
  }

  // Returns whether a contract foresaw a message since forget_use().
  bool is_used() const noexcept { return used_; }
  void forget_use() noexcept { used_ = false; }
  // Returns whether the connection carries no messages of tasks any more, as far as one can tell.
  bool is_plain() const noexcept { return since_task_ >= messages_until_plain; }
  // Counts from the beginning again.
  void restart() noexcept { since_task_ = 0; }

  // Notes that the client has asked for a task.
  void note_asked() noexcept { asked_ = true; }
  bool has_asked() const noexcept { return asked_; }

 private:
  bool foreseen_ = false;
  bool used_ = false;
  bool asked_ = false;
  int since_task_ = 0;
};

}  // namespace corelane::core
