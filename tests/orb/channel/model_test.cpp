// Searches every order of the steps by which one end publishes and closes, and the other one sleeps. It covers each way
// to sleep, the store buffers of x86 processors, and the death of either end at any step. The model is bell.h,
// waiting.h and End::front(), End::look_at_peer() and End::close() step by step; each action names the line that it
// stands for. The two reasons to sleep (no record, no room) are the same steps with other words.
//
// A processor's stores may become visible to the other late, in order (total store order), unless it does something
// that drains them: a fence or an atomic exchange. Death drains them too: what a killed thread has stored arrives.
//
// A sleep may end early at any moment, but nothing may depend on that. So a sleeper counts as stuck if there is
// something for it and only the end of its sleep would wake it. A death is the exception: a sleeper at a futex or a
// signal may learn of it that way.
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
  far,            // Wake::futex; after a sleep in vain it continues at the socket
  event,          // Wake::eventfd without near sleep
  near_event,     // Wake::eventfd; after a sleep in vain at the word it continues at the descriptor
  signal,         // Wake::signal, whose handler does nothing
  watched_event,  // arm() and disarm(), on the descriptor
  watched_far,    // the same, on the socket
};

// A way to break the protocol. The tests check that the search finds each one.
enum class Flaw {
  none,
  publisher_without_fence,
  waiter_without_fence,
  no_second_look,
  sleeps_unconditionally,  // does not compare the word
  no_slices,
  rings_are_forgotten,  // if no sleeper waits at that moment
  near_bit_is_ignored,  // by an end that does not support near sleep
  near_bit_too_long,    // it is announced for the descriptor, too
  hang_up_is_not_told,
  not_made_readable,  // from an end that finds something while it arms
  close_without_ring,
  no_look_behind_end,       // for a record that came just before the close
  state_is_not_looked_at,   // only the hang-up tells of a close
  hangs_up_before_closing,  // the close is not visible yet when the peer learns of the end
};

// Which end closes the channel, after any number of messages.
enum class Close { nobody, publisher, waiter };

enum Word : std::uint8_t { published, sleeper, state };
constexpr std::uint8_t nobody = 0, plain_one = 1, far_one = 2, near_one = 3;  // the values of the sleep word: its bits
constexpr std::uint8_t state_closed = 1;

// What the waiter's end knows about the end of the channel.
enum class Fate : std::uint8_t { none, died, closed };

struct Buffered {
  Word word;
  std::uint8_t value;
  auto operator<=>(const Buffered&) const = default;
};

enum class Publisher : std::uint8_t { store, close, fence, look, exchange, wake, hang_up, done, dead };
// Another thread of the waiter's process, which closes its end. It ends with the process.
enum class Closer : std::uint8_t { fate, look, exchange, wake, hang_up, done };
enum class Waiter : std::uint8_t {
  look,
  look_at_state,
  look_behind,
  announce,
  fence,
  look_again,
  look_again_at_state,
  block,    // only Sleep::signal
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
  std::array<std::uint8_t, 3> memory{};
  std::vector<Buffered> publisher_buffer{}, waiter_buffer{};
  Publisher publisher = Publisher::store;
  Waiter waiter = Waiter::look;
  Closer closer = Closer::done;
  std::uint8_t sent = 0, taken = 0;
  std::uint8_t taken_out = nobody, closer_took = nobody;  // what each of the two took out of the sleep word
  std::uint8_t rings = 0;                                 // on the descriptor or at the socket, not yet taken
  bool woken = false;                                     // out of the futex, or by the signal
  bool far = false, blocked = false, made_readable = false;
  Fate fate = Fate::none;
  bool closing = false, hung_up = false, closed_here = false;
  auto operator<=>(const State&) const = default;
};

constexpr std::uint8_t messages = 3;

class Search {
 public:
  Search(Sleep how, Flaw flaw, bool deaths, Close close = Close::nobody)
      : how_(how), flaw_(flaw), deaths_(deaths), close_(close) {
    State first;
    first.far = how == Sleep::watched_far;
    if (close == Close::waiter) first.closer = Closer::fate;
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
  int stuck() const { return stuck_; }            // a waiter sleeps forever although there is something for it
  int stuck_near() const { return stuck_near_; }  // of these, the sleepers at the word
  int lost() const { return lost_; }              // a waiter learned of the end before it had taken everything
  int told() const { return told_; }              // a waiter learned of the end after it had taken everything
  int misnamed() const { return misnamed_; }      // a waiter learned of a death although the other end had closed
  int finished() const { return finished_; }      // both ends finished, without a death

 private:
  bool watched() const { return how_ == Sleep::watched_event || how_ == Sleep::watched_far; }
  bool has_event() const { return how_ == Sleep::event || how_ == Sleep::near_event || how_ == Sleep::watched_event; }
  // A wait begins near, and continues far: at the socket or at the descriptor.
  bool begins_near() const { return how_ == Sleep::far || how_ == Sleep::near_event; }
  // The waiter sleeps at a descriptor. A ring stays there until it is taken, and the waiter learns of the peer's end.
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

  // Makes every step that must happen next if nothing else does. Returns false if there is none.
  bool go_on(const State& s) {
    const std::size_t before = moves_;
    publisher_steps(s);
    waiter_steps(s);
    if (s.waiter != Waiter::dead) closer_steps(s);
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
      case Publisher::store:  // RingWriter::publish(), or a close instead
        if (close_ == Close::publisher) close_instead(next);
        if (close_ == Close::waiter) say_no_more(next);
        if (s.sent == messages) return;
        next.publisher_buffer.push_back({published, ++next.sent});
        next.publisher = Publisher::fence;
        return move(next);
      case Publisher::close:  // End::close(): the state
        next.publisher_buffer.push_back({state, state_closed});
        next.publisher = flaw_ != Flaw::close_without_ring ? Publisher::fence : after_one(s);
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
        ring(next, s.taken_out);
        next.taken_out = nobody;
        next.publisher = after_one(s);
        return move(next);
      case Publisher::hang_up:  // End::close(): shutdown()
        next.hung_up = true;
        next.publisher = flaw_ == Flaw::hangs_up_before_closing ? Publisher::close : Publisher::done;
        return move(next);
      case Publisher::done:
      case Publisher::dead:
        return;
    }
  }
  // The publisher sends nothing more. Otherwise a later message would wake the sleeper that the close did not wake.
  void say_no_more(State next) {
    next.publisher = Publisher::done;
    move(next);
  }
  void close_instead(State next) {
    next.closing = true;
    next.publisher = flaw_ == Flaw::hangs_up_before_closing ? Publisher::hang_up : Publisher::close;
    move(next);
  }
  // Returns the publisher's next step after it has rung, or has seen that it need not ring.
  Publisher after_one(const State& s) const {
    if (s.closing) return s.hung_up ? Publisher::done : Publisher::hang_up;
    return s.sent == messages && close_ != Close::publisher ? Publisher::done : Publisher::store;
  }

  void closer_steps(const State& s) {
    State next = s;
    switch (s.closer) {
      case Closer::fate:  // End::close(): the exchange, which lets no store wait
        next.closed_here = true;
        next.closer = flaw_ != Flaw::close_without_ring ? Closer::look : Closer::hang_up;
        return move(next);
      case Closer::look:  // Ringer::ring() of the own word
        next.closer = s.memory[sleeper] != nobody ? Closer::exchange : Closer::hang_up;
        return move(next);
      case Closer::exchange:  // Ringer::wake(): the exchange
        next.closer = Closer::hang_up;
        next.closer_took = s.memory[sleeper];
        if (next.closer_took != nobody && next.closer_took != far_one) next.closer = Closer::wake;  // far: by hang-up
        next.memory[sleeper] = nobody;
        return move(next);
      case Closer::wake:
        ring(next, s.closer_took);
        next.closer_took = nobody;
        next.closer = Closer::hang_up;
        return move(next);
      case Closer::hang_up:  // End::close(): shutdown()
        next.hung_up = true;
        next.closer = Closer::done;
        return move(next);
      case Closer::done:
        return;
    }
  }

  // Ringer::wake(): send(), write(), FUTEX_WAKE, tgkill()
  void ring(State& s, std::uint8_t sleeper) const {
    const bool awaited = s.waiter == Waiter::asleep;
    const bool at_word = sleeper == near_one && flaw_ != Flaw::near_bit_is_ignored;
    if (sleeper == far_one || (has_event() && !at_word)) {
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
      case Waiter::look:  // End::front(): the fate, and RingReader::peek()
        next.waiter = s.closed_here ? Waiter::told : Waiter::look_at_state;
        if (something && !s.closed_here) take(next);
        return move(next);
      case Waiter::look_at_state:  // End::front(): unwritable()
        next.fate = fate_by_state(s);
        next.waiter = next.fate != Fate::none ? Waiter::look_behind : s.closed_here ? Waiter::told : Waiter::announce;
        return move(next);
      case Waiter::look_behind:  // End::front(): peek() once more
        next.waiter = Waiter::told;
        if (something && flaw_ != Flaw::no_look_behind_end) take(next);
        return move(next);
      case Waiter::announce:  // Sleeper::announce(); no weaker than a store
        next.waiter_buffer.push_back({sleeper, name(s)});
        next.waiter = Waiter::fence;
        return move(next);
      case Waiter::fence:  // Sleeper::announce(): the fence
        if (flaw_ != Flaw::waiter_without_fence) drain(next, next.waiter_buffer);
        next.waiter = flaw_ == Flaw::no_second_look ? to_sleep() : Waiter::look_again;
        return move(next);
      case Waiter::look_again:  // Sleeper::sleep(): ready(); Channel::arm(): front()
        if (something && watched()) return find_while_arming(next);
        next.waiter = something ? Waiter::withdraw : Waiter::look_again_at_state;
        return move(next);
      case Waiter::look_again_at_state: {  // the same: unwritable()
        const bool over = fate_by_state(s) != Fate::none || s.closed_here;
        if (over && watched()) return find_while_arming(next);
        next.waiter = over ? Waiter::withdraw : to_sleep();
        return move(next);
      }
      case Waiter::block:  // Sleeper::wait_signal(): the mask
        next.blocked = true;
        next.waiter = Waiter::compare;
        return move(next);
      case Waiter::compare:  // Sleeper::wait_signal(): the word
        next.waiter = read(s, s.waiter_buffer, sleeper) != nobody || flaw_ == Flaw::sleeps_unconditionally
                          ? Waiter::sleep
                          : Waiter::withdraw;
        return move(next);
      case Waiter::sleep:  // FUTEX_WAIT compares and sleeps in one step; ppoll() and sigtimedwait() do not compare
        next.waiter = how_ == Sleep::signal || at_descriptor(s) || s.memory[sleeper] == name(s) ||
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
        next.made_readable = false;
        next.waiter = Waiter::look_at_peer;
        return move(next);
      case Waiter::look_at_peer:  // End::look_at_peer(), after a sleep in vain; ChannelLink::receive_some()
        if (s.fate == Fate::none && (s.publisher == Publisher::dead || s.hung_up))
          next.fate = s.memory[state] == state_closed ? Fate::closed : Fate::died;
        next.waiter = Waiter::look;
        return move(next);
      case Waiter::done:
      case Waiter::told:
      case Waiter::dead:
        return;
    }
  }
  void take(State& next) const {
    next.waiter = ++next.taken == messages && close_ != Close::publisher ? Waiter::done : Waiter::look;
    if (begins_near()) next.far = false;  // End::wait(): the next wait begins near
  }
  Fate fate_by_state(const State& s) const {
    if (s.fate != Fate::none || flaw_ == Flaw::state_is_not_looked_at) return s.fate;
    return s.memory[state] == state_closed ? Fate::closed : Fate::none;
  }
  Waiter to_sleep() const { return how_ == Sleep::signal ? Waiter::block : Waiter::sleep; }
  // Returns what Sleeper::sleep_near(), sleep_far() and announce_watched() announce.
  std::uint8_t name(const State& s) const {
    if (!has_event()) return s.far ? far_one : plain_one;
    const bool near = how_ == Sleep::near_event && (!s.far || flaw_ == Flaw::near_bit_too_long);
    return near ? near_one : plain_one;
  }

  // Channel::arm() has found a record or the end. It calls withdraw(), and drain() if an end has rung. Then
  // ChannelLink::make_readable() is called.
  void find_while_arming(State next) {
    drain(next, next.waiter_buffer);
    if (next.memory[sleeper] == nobody) next.rings = 0;
    next.memory[sleeper] = nobody;
    next.made_readable = flaw_ != Flaw::not_made_readable;
    next.waiter = Waiter::sleep;
    move(next);
  }

  bool is_woken(const State& s) const {
    const bool died = s.publisher == Publisher::dead;
    if (at_descriptor(s))
      return s.rings > 0 || s.made_readable || ((died || s.hung_up) && flaw_ != Flaw::hang_up_is_not_told);
    return s.woken || (died && flaw_ != Flaw::no_slices);  // another sleeper learns of a death when its slice ends
  }

  // Ends the sleep, for any reason.
  void wake(State next) {
    if (at_descriptor(next) && !watched()) next.rings = 0;  // Sleeper::wait_event(), wait_far()
    next.woken = next.blocked = false;
    if (begins_near()) next.far = true;
    next.waiter = Waiter::withdraw;
    move(next);
  }
  // Ends the sleep at the end of a slice, by a signal, or for no reason.
  void wake_early(const State& s) {
    if (s.waiter == Waiter::asleep && !watched()) wake(s);
  }

  // Counts the outcome in a state from which no step must happen.
  void judge(const State& s) {
    if (s.waiter == Waiter::asleep) ++stuck_, stuck_near_ += at_descriptor(s) ? 0 : 1;
    if (s.waiter == Waiter::told) {
      ++(s.taken < s.memory[published] && !s.closed_here ? lost_ : told_);
      if (s.fate == Fate::died && s.memory[state] == state_closed) ++misnamed_;
    }
    if (s.waiter == Waiter::done && s.publisher == Publisher::done) ++finished_;
  }

  Sleep how_;
  Flaw flaw_;
  bool deaths_;
  Close close_;
  std::set<State> seen_;
  std::deque<State> open_;
  std::size_t moves_ = 0;
  int stuck_ = 0, stuck_near_ = 0, lost_ = 0, told_ = 0, misnamed_ = 0, finished_ = 0;
};

Sleep each_sleep() {
  return GENERATE(Sleep::futex, Sleep::far, Sleep::event, Sleep::near_event, Sleep::signal, Sleep::watched_event,
                  Sleep::watched_far);
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

TEST_CASE("whichever end closes after whichever message the waiter wakes and is told when it has taken all") {
  const Close close = GENERATE(Close::publisher, Close::waiter);
  const bool deaths = GENERATE(false, true);
  const Search search(each_sleep(), Flaw::none, deaths, close);
  CHECK(search.states() > 500);
  CHECK(search.told() > 0);
  CHECK(search.stuck() == 0);
  CHECK(search.lost() == 0);
  CHECK(search.misnamed() == 0);
}

TEST_CASE("the search finds the wake-up that is lost without each of the steps") {
  const Flaw flaw = GENERATE(Flaw::publisher_without_fence, Flaw::waiter_without_fence, Flaw::no_second_look);
  const Sleep how = each_sleep();
  const Search search(how, flaw, false);
  CHECK(search.stuck() > 0);
  if (how != Sleep::far && how != Sleep::near_event) return;
  CHECK(search.stuck_near() > 0);  // both sleeps of a wait need each step
  CHECK(search.stuck() > search.stuck_near());
}

TEST_CASE("the search finds the wake-up that is lost when a sleeper does not compare its word or rings do not last") {
  for (const Sleep compares : {Sleep::futex, Sleep::near_event, Sleep::signal})
    CHECK(Search(compares, Flaw::sleeps_unconditionally, false).stuck() > 0);
  const Sleep how =
      GENERATE(Sleep::far, Sleep::event, Sleep::near_event, Sleep::signal, Sleep::watched_event, Sleep::watched_far);
  CHECK(Search(how, Flaw::rings_are_forgotten, false).stuck() > 0);
}

TEST_CASE("the search finds the near sleeper whose bit the other end does not know, and the bit that stays too long") {
  CHECK(Search(Sleep::near_event, GENERATE(Flaw::near_bit_is_ignored, Flaw::near_bit_too_long), false).stuck() > 0);
}

TEST_CASE("the search finds an end that arms, sees something and does not report it") {
  CHECK(Search(GENERATE(Sleep::watched_event, Sleep::watched_far), Flaw::not_made_readable, false).stuck() > 0);
}

TEST_CASE("the search finds the sleeper that is not told of a death") {
  for (const Sleep near : {Sleep::futex, Sleep::far, Sleep::near_event, Sleep::signal})
    CHECK(Search(near, Flaw::no_slices, true).stuck() > 0);
  for (const Sleep far : {Sleep::far, Sleep::event, Sleep::near_event, Sleep::watched_event, Sleep::watched_far})
    CHECK(Search(far, Flaw::hang_up_is_not_told, true).stuck() > 0);
}

TEST_CASE("the search finds the sleeper that a close does not wake") {
  const Close close = GENERATE(Close::publisher, Close::waiter);
  const Sleep how = GENERATE(Sleep::futex, Sleep::far, Sleep::near_event, Sleep::signal);
  CHECK(Search(how, Flaw::close_without_ring, false, close).stuck() > 0);
}

TEST_CASE("the search finds the far sleeper that the close of its own end does not wake") {
  const Sleep how = GENERATE(Sleep::far, Sleep::watched_far);
  CHECK(Search(how, Flaw::hang_up_is_not_told, false, Close::waiter).stuck() > 0);
}

TEST_CASE("the search finds the waiter that does not look at the state of an end that closes") {
  const Sleep how = GENERATE(Sleep::futex, Sleep::far, Sleep::near_event, Sleep::signal);
  CHECK(Search(how, Flaw::state_is_not_looked_at, false, Close::publisher).stuck() > 0);
}

TEST_CASE("the search finds the record that is lost if a reader does not look behind the close") {
  CHECK(Search(each_sleep(), Flaw::no_look_behind_end, false, Close::publisher).lost() > 0);
}

TEST_CASE("the search finds the close that is taken for a death because the hang-up comes first") {
  CHECK(Search(each_sleep(), Flaw::hangs_up_before_closing, false, Close::publisher).misnamed() > 0);
}
