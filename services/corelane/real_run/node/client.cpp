// A client of a real run: some of its tasks, each with a thread that sends the calls. The threads have a higher
// priority than all tasks of the server. So a request is late only if the machine is.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/corba/init_orb.h"
#include "orb/os/clock.h"
#include "orb/os/privileges.h"
#include "orb/os/thread.h"
#include "orb/rt/rt.h"
#include "services/corelane/real_run/node/jobsC.h"
#include "services/corelane/real_run/node/roles.h"
#include "services/corelane/real_run/node_messages.h"

namespace corelane::tool {
namespace {

constexpr int sender_priority = 60;                // SCHED_FIFO; above the server's tasks, manager and reader
constexpr std::size_t touched_heap = 1024 * 1024;  // bytes

template <typename Message>
Message read_message(const std::string& text) {
  const auto message = message_of<Message>(text);
  if (!message) throw std::runtime_error("a line of the client's input is no order: " + message.error().text);
  return *message;
}

// Sender is one task. One thread uses it at a time.
class Sender {
 public:
  Sender(CORBA::ORB& orb, const AdmitOrder& order)
      : worker_(IDL::traits<::Eval::Worker>::narrow(orb.string_to_object(order.reference))) {
    if (!worker_) throw std::runtime_error("the reference of a task names no worker");
    auto task = rt::admit(worker_, {.operation = "run", .contract = contract_of(order)});
    if (!task) {
      answer_.refusal = task.error().text;
      return;
    }
    answer_ = {.admitted = true, .task = task->id().value, .refusal = {}};
    task_.emplace(std::move(*task));
  }

  const AdmitAnswer& answer() const { return answer_; }

  // Sends each job at its release, or when the previous call has returned.
  void send(Time start, const std::vector<PlannedJob>& jobs) noexcept {
    for (std::size_t i = 0; i < jobs.size(); ++i) {  // bound: the jobs
      os::sleep_until(start + jobs[i].release);
      call(i, jobs[i].demand);
    }
  }

  std::uint64_t failed() const { return failed_; }
  const std::string& trouble() const { return trouble_; }

 private:
  void call(std::size_t number, Duration demand) noexcept {
    try {
      worker_->run(static_cast<std::uint32_t>(number), os::now().time_since_epoch().count(), demand.count());
    } catch (const std::exception& fault) {
      ++failed_;
      trouble_ = fault.what();
    }
  }

  IDL::traits<::Eval::Worker>::ref_type worker_;
  std::optional<rt::Task> task_;
  AdmitAnswer answer_;
  std::uint64_t failed_ = 0;
  std::string trouble_;
};

ClientReport run(std::deque<Sender>& senders, const RunOrder& order) {
  const Time start{Duration{order.start}};
  ClientReport report{.failed = 0, .trouble = {}, .real_time = true};
  std::vector<os::Thread> threads;
  for (std::size_t i = 0; i < senders.size() && i < order.jobs.size(); ++i) {
    auto thread = os::start_thread({.name = "sender", .fifo_priority = sender_priority},
                                   [&sender = senders[i], &jobs = order.jobs[i], start] { sender.send(start, jobs); });
    if (!thread) throw std::runtime_error("there is no thread for a task of the client");
    report.real_time = report.real_time && thread->real_time();
    threads.push_back(*std::move(thread));
  }
  for (os::Thread& thread : threads) thread.join();
  for (const Sender& sender : senders) {
    report.failed += sender.failed();
    if (sender.failed() > 0) report.trouble = sender.trouble();
  }
  return report;
}

}  // namespace

int call_tasks(const std::vector<std::string>& orb_options) {
  auto orb = corba::init_orb(orb_options);
  static_cast<void>(os::lock_memory(touched_heap));  // without the privilege, a page may be loaded while time counts
  std::deque<Sender> senders;
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t blank = line.find(' ');
    const std::string_view word = std::string_view(line).substr(0, blank);
    const std::string text = blank == line.npos ? "" : line.substr(blank + 1);
    if (word == "admit")
      std::cout << line_of(senders.emplace_back(*orb, read_message<AdmitOrder>(text)).answer()) << std::endl;
    else if (word == "run")
      std::cout << line_of(run(senders, read_message<RunOrder>(text))) << std::endl;
    else
      throw std::runtime_error("a client does not know the order " + std::string(word));
  }
  senders.clear();
  orb->destroy();
  return 0;
}

}  // namespace corelane::tool
