// Child: another program that a test runs, with pipes to its standard input and output. Standard error goes to that of
// the test. The program is gone when the object is.
//
// Threads: one at a time. Nothing here waits for a fixed time: reads end when the program writes or ends.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

extern char** environ;

namespace corelane::test {

// Where the test's own program stands, and those that are built with it.
inline std::string program(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

class Child {
 public:
  // Searches PATH for a name without '/'.
  explicit Child(const std::vector<std::string>& command) {
    int to_child[2];
    int from_child[2];
    if (::pipe2(to_child, O_CLOEXEC) != 0 || ::pipe2(from_child, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, to_child[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, from_child[1], STDOUT_FILENO);
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const int failure = ::posix_spawnp(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(to_child[0]);
    ::close(from_child[1]);
    input_ = to_child[1];
    output_ = ::fdopen(from_child[0], "r");
    if (failure != 0) process_ = -1;
  }
  ~Child() {
    end_input();
    std::fclose(output_);
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool started() const { return process_ > 0; }

  // Without its newline; empty at the end of the output.
  std::string read_line() {
    std::string line;
    for (int c; (c = std::getc(output_)) != EOF && c != '\n';) line.push_back(static_cast<char>(c));
    return line;
  }
  std::string read_all() {
    std::string text;
    for (int c; (c = std::getc(output_)) != EOF;) text.push_back(static_cast<char>(c));
    return text;
  }

  void end_input() {
    if (input_ >= 0) ::close(input_);
    input_ = -1;
  }

  // Waits for the program to end by itself: its exit code, or 128 and the signal.
  int wait() {
    int status = 0;
    if (process_ <= 0 || ::waitpid(process_, &status, 0) != process_) return -1;
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t process_ = -1;
  int input_ = -1;
  std::FILE* output_ = nullptr;
};

}  // namespace corelane::test
