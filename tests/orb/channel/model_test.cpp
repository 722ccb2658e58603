// Every order of the steps by which one end publishes and the other sleeps, with the store buffers of real processors
// and with the death of either at any step. The model is bell.h step by step; each action names the line that it stands
// for. The two reasons to sleep (no record, no room) and the close are the same steps with other words.
//
// A processor's stores may become visible to the other late, in order (total store order), unless it does something
// that drains them: a fence or an atomic exchange. Death drains them too: what a killed thread has stored arrives.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <deque>
#include <set>
#include <tuple>
#include <vector>

namespace {

// How the protocol may be broken, to see that the search finds it.
enum class Flaw {
  none,
  publisher_without_fence,
  waiter_without_fence,
  no_second_look,
  sleeps_unconditionally,
  no_slices
};

enum Word : std::uint8_t { published, sleeper };

struct Buffered {
  Word word;
  std::uint8_t value;
  auto operator<=>(const Buffered&) const = default;
};

enum class Publisher : std::uint8_t { store, fence, look, exchange, wake, done, dead };
enum class Waiter : std::uint8_t { look, announce, fence, look_again, sleep, asleep, withdraw, done, told, dead };

struct State {
  std::array<std::uint8_t, 2> memory{};
  std::vector<Buffered> publisher_buffer{}, waiter_buffer{};
  Publisher publisher = Publisher::store;
  Waiter waiter = Waiter::look;
  std::uint8_t sent = 0, taken = 0;
  bool woken = false, knows_death = false;
  auto operator<=>(const State&) const = default;
};

constexpr std::uint8_t messages = 3, asleep = 1;

class Search {
 public:
  explicit Search(Flaw flaw, bool deaths) : flaw_(flaw), deaths_(deaths) {
    reach({});
    while (!open_.empty()) {
      const State state = open_.front();
      open_.pop_front();
      if (!go_on(state)) judge(state);
      if (deaths_) die(state);
    }
  }

  std::size_t states() const { return seen_.size(); }
  int stuck() const { return stuck_; }        // a waiter sleeps for ever though there is something for it
  int lost() const { return lost_; }          // a waiter was told of the end before it had taken everything
  int told() const { return told_; }          // and how often it was told rightly
  int finished() const { return finished_; }  // without any death

 private:
  void reach(const State& state) {
    if (seen_.insert(state).second) open_.push_back(state);
  }

  static std::uint8_t read(const State& s, const std::vector<Buffered>& own, Word word) {
    for (auto it = own.rbegin(); it != own.rend(); ++it)
      if (it->word == word) return it->value;
    return s.memory[word];
  }
  static void drain(State& s, std::vector<Buffered>& buffer) {
    for (const auto& [word, value] : buffer) s.memory[word] = value;
    buffer.clear();
  }

  // All that may happen next but deaths, which nobody may count on; false: nothing.
  bool go_on(const State& s) {
    const std::size_t before = moves_;
    publisher_steps(s);
    waiter_steps(s);
    flush(s, &State::publisher_buffer);
    flush(s, &State::waiter_buffer);
    return moves_ != before;
  }

  void move(State next) {
    ++moves_;
    reach(next);
  }

  void flush(const State& s, std::vector<Buffered> State::*buffer) {
    if ((s.*buffer).empty()) return;
    State next = s;
    next.memory[(s.*buffer).front().word] = (s.*buffer).front().value;
    (next.*buffer).erase((next.*buffer).begin());
    move(next);
  }

  void die(const State& s) {
    if (s.publisher != Publisher::dead && s.publisher != Publisher::done) {
      State next = s;
      drain(next, next.publisher_buffer);
      next.publisher = Publisher::dead;
      move(next);
    }
    if (s.waiter < Waiter::done) {
      State next = s;
      drain(next, next.waiter_buffer);
      next.waiter = Waiter::dead;
      move(next);
    }
  }

  void publisher_steps(const State& s) {
    State next = s;
    switch (s.publisher) {
      case Publisher::store:  // RingWriter::publish()
        next.publisher_buffer.push_back({published, ++next.sent});
        next.publisher = Publisher::fence;
        return move(next);
      case Publisher::fence:  // Ringer::ring(): the fence
        if (flaw_ != Flaw::publisher_without_fence) drain(next, next.publisher_buffer);
        next.publisher = Publisher::look;
        return move(next);
      case Publisher::look:  // Ringer::ring(): the load
        next.publisher = read(s, s.publisher_buffer, sleeper) != 0 ? Publisher::exchange : after_one(s);
        return move(next);
      case Publisher::exchange:  // Ringer::wake()
        drain(next, next.publisher_buffer);
        next.publisher = next.memory[sleeper] != 0 ? Publisher::wake : after_one(s);
        next.memory[sleeper] = 0;
        return move(next);
      case Publisher::wake:  // FUTEX_WAKE, write(), tgkill()
        if (s.waiter == Waiter::asleep) next.woken = true;
        next.publisher = after_one(s);
        return move(next);
      case Publisher::done:
      case Publisher::dead:
        return;
    }
  }
  static Publisher after_one(const State& s) { return s.sent == messages ? Publisher::done : Publisher::store; }

  void waiter_steps(const State& s) {
    State next = s;
    const bool something = read(s, s.waiter_buffer, published) > s.taken;
    switch (s.waiter) {
      case Waiter::look:  // End::front()
        if (something)
          next.waiter = ++next.taken == messages ? Waiter::done : Waiter::look;
        else
          next.waiter = s.knows_death ? Waiter::told : Waiter::announce;
        return move(next);
      case Waiter::announce:  // Sleeper::announce(); no weaker than a store
        next.waiter_buffer.push_back({sleeper, asleep});
        next.waiter = Waiter::fence;
        return move(next);
      case Waiter::fence:  // Sleeper::announce(): the fence
        if (flaw_ != Flaw::waiter_without_fence) drain(next, next.waiter_buffer);
        next.waiter = flaw_ == Flaw::no_second_look ? Waiter::sleep : Waiter::look_again;
        return move(next);
      case Waiter::look_again:  // Sleeper::sleep(): ready()
        next.waiter = something ? Waiter::withdraw : Waiter::sleep;
        return move(next);
      case Waiter::sleep:  // FUTEX_WAIT; the system call compares and falls asleep in one
        next.waiter =
            s.memory[sleeper] == asleep || flaw_ == Flaw::sleeps_unconditionally ? Waiter::asleep : Waiter::withdraw;
        return move(next);
      case Waiter::asleep:  // woken, or at the end of a slice, which counts here only when nothing else would help
        if (!s.woken && (s.publisher != Publisher::dead || flaw_ == Flaw::no_slices)) return;
        next.knows_death = s.knows_death || (!s.woken && s.publisher == Publisher::dead);  // End::look_at_peer()
        next.woken = false;
        next.waiter = Waiter::withdraw;
        return move(next);
      case Waiter::withdraw:  // Sleeper::withdraw()
        drain(next, next.waiter_buffer);
        next.memory[sleeper] = 0;
        next.waiter = Waiter::look;
        return move(next);
      case Waiter::done:
      case Waiter::told:
      case Waiter::dead:
        return;
    }
  }

  // Nothing can happen any more.
  void judge(const State& s) {
    if (s.waiter == Waiter::asleep) ++stuck_;
    if (s.waiter == Waiter::told) ++(s.taken < s.memory[published] ? lost_ : told_);
    if (s.waiter == Waiter::done && s.publisher == Publisher::done) ++finished_;
  }

  Flaw flaw_;
  bool deaths_;
  std::set<State> seen_;
  std::deque<State> open_;
  std::size_t moves_ = 0;
  int stuck_ = 0, lost_ = 0, told_ = 0, finished_ = 0;
};

}  // namespace

TEST_CASE("in no order of steps is a wake-up lost") {
  const Search search(Flaw::none, false);
  CHECK(search.states() > 100);
  CHECK(search.finished() > 0);
  CHECK(search.stuck() == 0);
}

TEST_CASE("whichever end dies at whichever step the other takes all that was written and is told") {
  const Search search(Flaw::none, true);
  CHECK(search.states() > 500);
  CHECK(search.finished() > 0);
  CHECK(search.told() > 0);
  CHECK(search.stuck() == 0);
  CHECK(search.lost() == 0);
}

TEST_CASE("the search finds the wake-up that is lost without each of the steps") {
  const Flaw flaw = GENERATE(Flaw::publisher_without_fence, Flaw::waiter_without_fence, Flaw::no_second_look,
                             Flaw::sleeps_unconditionally);
  CHECK(Search(flaw, false).stuck() > 0);
}

TEST_CASE("the search finds the sleeper whom nobody tells of a death when sleeps have no bound") {
  CHECK(Search(Flaw::no_slices, true).stuck() > 0);
}
