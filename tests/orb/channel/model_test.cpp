// Every order of the steps by which one end publishes and the other sleeps, with the store buffers of x86 processors
// and with the death of either at any step, for each way to sleep. The model is bell.h and waiting.h step by step; each
// action names the line that it stands for. The two reasons to sleep (no record, no room) and the close are the same
// steps with other words.
//
// A processor's stores may become visible to the other late, in order (total store order), unless it does something
// that drains them: a fence or an atomic exchange. Death drains them too: what a killed thread has stored arrives.
//
// A sleep may end early at any moment; but nothing may hang on that. So a sleeper for whom there is something, and whom
// only the end of his slice would wake, counts as stuck; only of a death may a sleeper on a futex or a signal learn so.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <deque>
#include <set>
#include <tuple>
#include <vector>

namespace {

// How the waiter sleeps.
enum class Sleep {
  futex,          // Wake::futex without far sleep
  far,            // Wake::futex; who slept in vain goes on at the socket
  event,          // Wake::eventfd
  signal,         // Wake::signal, whose handler does nothing
  watched_event,  // arm() and disarm(), on the descriptor
  watched_far,    // the same, on the socket
};

// How the protocol may be broken, to see that the search finds it.
enum class Flaw {
  none,
  publisher_without_fence,
  waiter_without_fence,
  no_second_look,
  sleeps_unconditionally,  // does not compare the word
  no_slices,
  rings_are_forgotten,  // that nobody awaits at that moment
  hang_up_is_not_told,
  no_nudge,  // of who finds something while he arms
};

enum Word : std::uint8_t { published, sleeper };
constexpr std::uint8_t nobody = 0, near_one = 1, far_one = 2;  // what the sleep word holds

struct Buffered {
  Word word;
  std::uint8_t value;
  auto operator<=>(const Buffered&) const = default;
};

enum class Publisher : std::uint8_t { store, fence, look, exchange, wake, done, dead };
enum class Waiter : std::uint8_t {
  look,
  announce,
  fence,
  look_again,
  block,    // signal alone
  compare,  // the same
  sleep,
  asleep,
  withdraw,
  drain,
  look_at_peer,
  done,
  told,
  dead
};

struct State {
  std::array<std::uint8_t, 2> memory{};
  std::vector<Buffered> publisher_buffer{}, waiter_buffer{};
  Publisher publisher = Publisher::store;
  Waiter waiter = Waiter::look;
  std::uint8_t sent = 0, taken = 0, taken_out = nobody;  // from the sleep word, by the publisher
  std::uint8_t rings = 0;                                // on the descriptor or at the socket, not yet taken
  bool woken = false;                                    // out of the futex, by the signal
  bool far = false, blocked = false, nudged = false, knows_end = false;
  auto operator<=>(const State&) const = default;
};

constexpr std::uint8_t messages = 3;

class Search {
 public:
  Search(Sleep how, Flaw flaw, bool deaths) : how_(how), flaw_(flaw), deaths_(deaths) {
    State first;
    first.far = how == Sleep::watched_far;
    reach(first);
    while (!open_.empty()) {
      const State state = open_.front();
      open_.pop_front();
      if (!go_on(state)) judge(state);
      wake_early(state);
      if (deaths_) die(state);
    }
  }

  std::size_t states() const { return seen_.size(); }
  int stuck() const { return stuck_; }        // a waiter sleeps for ever though there is something for it
  int lost() const { return lost_; }          // a waiter was told of the end before it had taken everything
  int told() const { return told_; }          // and how often it was told rightly
  int finished() const { return finished_; }  // without any death

 private:
  bool watched() const { return how_ == Sleep::watched_event || how_ == Sleep::watched_far; }
  // It sleeps at a descriptor: what rings it stays until it is taken, and it hears of the peer's end.
  bool at_descriptor(const State& s) const { return how_ == Sleep::event || watched() || s.far; }

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

  // All that must happen next if nothing else does; false: nothing.
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
      reach(next);
    }
    if (s.waiter < Waiter::done) {
      State next = s;
      drain(next, next.waiter_buffer);
      next.waiter = Waiter::dead;
      reach(next);
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
        next.publisher = read(s, s.publisher_buffer, sleeper) != nobody ? Publisher::exchange : after_one(s);
        return move(next);
      case Publisher::exchange:  // Ringer::wake(): the exchange
        drain(next, next.publisher_buffer);
        next.taken_out = next.memory[sleeper];
        next.publisher = next.taken_out != nobody ? Publisher::wake : after_one(s);
        next.memory[sleeper] = nobody;
        return move(next);
      case Publisher::wake:
        ring(next);
        next.taken_out = nobody;
        next.publisher = after_one(s);
        return move(next);
      case Publisher::done:
      case Publisher::dead:
        return;
    }
  }
  static Publisher after_one(const State& s) { return s.sent == messages ? Publisher::done : Publisher::store; }

  // Ringer::wake(): send(), write(), FUTEX_WAKE, tgkill()
  void ring(State& s) const {
    const bool awaited = s.waiter == Waiter::asleep;
    if (s.taken_out == far_one || how_ == Sleep::event || how_ == Sleep::watched_event) {
      if (awaited || flaw_ != Flaw::rings_are_forgotten) ++s.rings;
    } else if (how_ == Sleep::signal) {
      s.woken = s.woken || (s.blocked && (awaited || flaw_ != Flaw::rings_are_forgotten));
    } else if (awaited && !s.far) {
      s.woken = true;
    }
  }

  void waiter_steps(const State& s) {
    State next = s;
    const bool something = read(s, s.waiter_buffer, published) > s.taken;
    switch (s.waiter) {
      case Waiter::look:  // End::front()
        if (something)
          next.waiter = ++next.taken == messages ? Waiter::done : Waiter::look;
        else
          next.waiter = s.knows_end ? Waiter::told : Waiter::announce;
        return move(next);
      case Waiter::announce:  // Sleeper::announce(); no weaker than a store
        next.waiter_buffer.push_back({sleeper, s.far ? far_one : near_one});
        next.waiter = Waiter::fence;
        return move(next);
      case Waiter::fence:  // Sleeper::announce(): the fence
        if (flaw_ != Flaw::waiter_without_fence) drain(next, next.waiter_buffer);
        next.waiter = flaw_ == Flaw::no_second_look ? to_sleep() : Waiter::look_again;
        return move(next);
      case Waiter::look_again:  // Sleeper::sleep(): ready(); Channel::arm(): front()
        if (something && watched()) return find_while_arming(next);
        next.waiter = something ? Waiter::withdraw : to_sleep();
        return move(next);
      case Waiter::block:  // Sleeper::wait_signal(): the mask
        next.blocked = true;
        next.waiter = Waiter::compare;
        return move(next);
      case Waiter::compare:  // Sleeper::wait_signal(): the word
        next.waiter = read(s, s.waiter_buffer, sleeper) != nobody || flaw_ == Flaw::sleeps_unconditionally
                          ? Waiter::sleep
                          : Waiter::withdraw;
        return move(next);
      case Waiter::sleep:  // FUTEX_WAIT compares and falls asleep in one; ppoll() and sigtimedwait() do not compare
        next.waiter = how_ == Sleep::signal || at_descriptor(s) || s.memory[sleeper] == near_one ||
                              flaw_ == Flaw::sleeps_unconditionally
                          ? Waiter::asleep
                          : Waiter::withdraw;
        return move(next);
      case Waiter::asleep:
        if (is_woken(s)) wake(next);
        return;
      case Waiter::withdraw:  // Sleeper::withdraw()
        drain(next, next.waiter_buffer);
        next.memory[sleeper] = nobody;
        next.waiter = watched() ? Waiter::drain : Waiter::look_at_peer;
        return move(next);
      case Waiter::drain:  // Channel::disarm(): Sleeper::drain()
        next.rings = 0;
        next.nudged = false;
        next.waiter = Waiter::look_at_peer;
        return move(next);
      case Waiter::look_at_peer:  // End::look_at_peer(), after a sleep in vain; ChannelLink::receive_some()
        next.knows_end = s.publisher == Publisher::dead;
        next.waiter = Waiter::look;
        return move(next);
      case Waiter::done:
      case Waiter::told:
      case Waiter::dead:
        return;
    }
  }
  Waiter to_sleep() const { return how_ == Sleep::signal ? Waiter::block : Waiter::sleep; }

  // Channel::arm() that finds a record: withdraw(), and drain() if somebody has rung; then ChannelLink::nudge().
  void find_while_arming(State next) {
    drain(next, next.waiter_buffer);
    if (next.memory[sleeper] == nobody) next.rings = 0;
    next.memory[sleeper] = nobody;
    next.nudged = flaw_ != Flaw::no_nudge;
    next.waiter = Waiter::sleep;
    move(next);
  }

  bool is_woken(const State& s) const {
    const bool ended = s.publisher == Publisher::dead;
    if (at_descriptor(s)) return s.rings > 0 || s.nudged || (ended && flaw_ != Flaw::hang_up_is_not_told);
    return s.woken || (ended && flaw_ != Flaw::no_slices);  // who sleeps elsewhere learns of the end from his slice
  }

  // The sleep has ended, for whatever reason.
  void wake(State next) {
    if (at_descriptor(next) && !watched()) next.rings = 0;  // Sleeper::wait_event(), wait_far()
    next.woken = next.blocked = false;
    if (how_ == Sleep::far) next.far = !next.far;  // End::wait(): one sleep near, one far
    next.waiter = Waiter::withdraw;
    move(next);
  }
  // At the end of a slice, by a signal, for no reason.
  void wake_early(const State& s) {
    if (s.waiter == Waiter::asleep && !watched()) wake(s);
  }

  // Nothing must happen any more.
  void judge(const State& s) {
    if (s.waiter == Waiter::asleep) ++stuck_;
    if (s.waiter == Waiter::told) ++(s.taken < s.memory[published] ? lost_ : told_);
    if (s.waiter == Waiter::done && s.publisher == Publisher::done) ++finished_;
  }

  Sleep how_;
  Flaw flaw_;
  bool deaths_;
  std::set<State> seen_;
  std::deque<State> open_;
  std::size_t moves_ = 0;
  int stuck_ = 0, lost_ = 0, told_ = 0, finished_ = 0;
};

Sleep each_sleep() {
  return GENERATE(Sleep::futex, Sleep::far, Sleep::event, Sleep::signal, Sleep::watched_event, Sleep::watched_far);
}

}  // namespace

TEST_CASE("in no order of steps is a wake-up lost") {
  const Search search(each_sleep(), Flaw::none, false);
  CHECK(search.states() > 100);
  CHECK(search.finished() > 0);
  CHECK(search.stuck() == 0);
}

TEST_CASE("whichever end dies at whichever step the other takes all that was written and is told") {
  const Search search(each_sleep(), Flaw::none, true);
  CHECK(search.states() > 500);
  CHECK(search.finished() > 0);
  CHECK(search.told() > 0);
  CHECK(search.stuck() == 0);
  CHECK(search.lost() == 0);
}

TEST_CASE("the search finds the wake-up that is lost without each of the steps") {
  const Flaw flaw = GENERATE(Flaw::publisher_without_fence, Flaw::waiter_without_fence, Flaw::no_second_look);
  CHECK(Search(each_sleep(), flaw, false).stuck() > 0);
}

TEST_CASE("the search finds the wake-up that is lost when a sleeper does not compare its word or rings do not last") {
  CHECK(Search(Sleep::futex, Flaw::sleeps_unconditionally, false).stuck() > 0);
  CHECK(Search(Sleep::signal, Flaw::sleeps_unconditionally, false).stuck() > 0);
  const Sleep how = GENERATE(Sleep::far, Sleep::event, Sleep::signal, Sleep::watched_event, Sleep::watched_far);
  CHECK(Search(how, Flaw::rings_are_forgotten, false).stuck() > 0);
}

TEST_CASE("the search finds who arms, sees something and tells nobody") {
  CHECK(Search(GENERATE(Sleep::watched_event, Sleep::watched_far), Flaw::no_nudge, false).stuck() > 0);
}

TEST_CASE("the search finds the sleeper whom nobody tells of a death") {
  CHECK(Search(GENERATE(Sleep::futex, Sleep::signal), Flaw::no_slices, true).stuck() > 0);
  CHECK(Search(GENERATE(Sleep::far, Sleep::event, Sleep::watched_event, Sleep::watched_far), Flaw::hang_up_is_not_told,
               true)
            .stuck() > 0);
}
