// Tests an end that dies after any single store to shared memory: after the first, after the second, and so on until it
// has nothing left to store. The other end reads a whole prefix of what was sent, and learns of the death. It knows
// which of its own messages the dead end cannot have acted on, and continues.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/peers/forked_peer.h"
#include "tests/support/system/long_run.h"

namespace {

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

// What the dying end leaves behind. It lies in memory that outlives that end. Stores to it do not count as stores to
// the channel.
struct Diary {
  std::atomic<std::uint32_t> acted{0};             // messages that it read and acted on
  std::atomic<std::uint32_t> waits_for_room{0};    // waits that were about to begin, with a full ring
  std::atomic<std::uint32_t> waits_for_chunks{0};  // the same, with all chunks lent
  char last[32] = {};                              // the word of its last store
};

// What ends this process: its n-th store, or its first store to a word. With neither it lives.
struct Fate {
  std::uint64_t stores = 0;
  const char* word = nullptr;
};
Fate fate;
Diary* diary = nullptr;

// Where this process has mapped the memory of the channel that this end may write.
const std::byte *region = nullptr, *sleep_page = nullptr;
bool connects = false;

void find_memory() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char mode[5] = {};
    if (line.find("corelane-channel") == std::string::npos) continue;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, mode) != 3 || mode[1] != 'w') continue;
    (end - begin == page_size ? sleep_page : region) = reinterpret_cast<const std::byte*>(begin);
  }
}

constexpr Shape shape{.slots = 64, .chunks = 3, .chunk_size = 4096};

// Returns the name that the tables of docs/channel.md give the word.
const char* word_at(const std::byte* at) {
  if (at >= sleep_page && at < sleep_page + page_size) {
    const bool own = (at - sleep_page < 256) == connects, record = (at - sleep_page) % 256 == 0;
    return own ? record ? "own record word" : "own room word" : record ? "other's record word" : "other's room word";
  }
  const auto offset = static_cast<std::size_t>(at - region);
  if (offset == 0) return "released";
  if (offset == 8) return "claimed";
  if (offset == 128) return "state";
  if (offset == 256) return "written";
  if (offset < slots_offset()) return "returned";
  if (offset >= chunks_offset(shape)) return "chunk";
  return offset % slot_size == 0 ? "commit" : offset % slot_size == 8 ? "kind" : "payload";
}

constexpr std::array all_words{"released",         "claimed",         "state",         "written",
                               "returned",         "chunk",           "commit",        "kind",
                               "payload",          "own record word", "own room word", "other's record word",
                               "other's room word"};

}  // namespace

void corelane::channel::after_store(const void* where) noexcept {
  if (fate.stores == 0 && fate.word == nullptr) return;
  const char* const word = word_at(static_cast<const std::byte*>(where));
  if (fate.word != nullptr ? std::strcmp(word, fate.word) != 0 : --fate.stores != 0) return;
  std::snprintf(diary->last, sizeof diary->last, "%s", word);
  kill(getpid(), SIGKILL);
}

namespace {

// Returns messages that go inline, over several slots, through one chunk and through two. They are enough to use the
// ring of 64 slots more than once, with padding at its end.
const std::vector<std::string>& script() {
  static const std::vector<std::string> messages = [] {
    std::vector<std::string> made;
    for (const std::size_t size : {0u, 8u, 48u, 49u, 300u, 1900u, 700u, 4500u, 9u, 12'000u, 1900u, 5u})
      made.push_back(filled(size, static_cast<std::uint32_t>(size)));
    return made;
  }();
  return messages;
}
constexpr std::size_t drafted = 9;     // the size of the message that is written in place
constexpr std::size_t growing = 4500;  // the size of the message that its reader may see before all of it is there

// Returns messages that exceed the ring, and messages that exceed the number of chunks.
const std::vector<std::vector<std::string>>& bursts() {
  static const std::vector<std::vector<std::string>> made{
      {filled(1900, 1), filled(1900, 2), filled(1900, 3), filled(20, 4)},
      {filled(2100, 5), filled(2100, 6), filled(2100, 7), filled(2100, 8)}};
  return made;
}

// Waits until that process sleeps in the kernel, or is dead.
void wait_until_asleep(pid_t process) {
  for (char state = 'R'; state != 'S' && state != 'Z' && state != 'X'; std::this_thread::yield()) {
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    if (!std::getline(stat, line)) return;
    state = line[line.rfind(')') + 2];
  }
}

// One of the two ends.
class Party {
 public:
  // `slice`: the longest single wait. After it, a sleeper checks whether its peer lives. Without slices it does so only
  // after 100 ms, unless the kernel notifies it.
  Party(Channel& end, pid_t other, bool is_child, Duration slice)
      : end_(&end), other_(other), is_child_(is_child), slice_(slice) {}

  // Runs the conversation. First each message is answered with itself. Then each end in turn writes more than there is
  // room for. The other end reads only when the writer sleeps for want of room. Returns whether nothing prevented this.
  bool talk(bool speaks) {
    for (std::size_t i = 0; i < script().size(); ++i) {
      if (speaks && !say(script()[i])) return false;
      if (!hear(script()[i])) return false;
      if (!speaks && !say(script()[i])) return false;
    }
    for (const auto& burst : bursts())
      if (is_child_ ? !say_all(burst) || !hear_all(burst) : !hear_all(burst) || !say_all(burst)) return false;
    return true;
  }
  // Reads until a wait does not time out. Returns what came last.
  std::string last() {
    std::string text;
    do text = read(*end_, until());
    while (text == ended(Fault::timed_out));
    return text;
  }

  // Returns how many of this end's messages the other end may have acted on. Checks that the claim covers all messages
  // up to one position, and none beyond it.
  std::size_t claimed() const {
    std::size_t count = 0;
    while (count < positions_.size() && end_->was_claimed(positions_[count])) ++count;
    for (std::size_t i = count; i < positions_.size(); ++i) REQUIRE_FALSE(end_->was_claimed(positions_[i]));
    return count;
  }
  std::size_t said() const { return positions_.size(); }
  bool right() const { return right_; }

 private:
  Time until() const { return slice_ == Duration::zero() ? soon() : os::now() + slice_; }
  // relaxed: read after this process has ended
  void note(std::atomic<std::uint32_t> Diary::*count) const {
    if (is_child_) (diary->*count).fetch_add(1, std::memory_order_relaxed);
  }

  bool say(const std::string& text) {
    Expected<void, Fault> said = say_once(text);
    if (!said && said.error() == Fault::would_block)
      note(text.size() > end_->inline_limit() ? &Diary::waits_for_chunks : &Diary::waits_for_room);
    while (!said && (said.error() == Fault::would_block || said.error() == Fault::timed_out))
      said = end_->write(as_bytes(text), until());
    if (said) positions_.push_back(end_->written());
    return bool(said);
  }
  Expected<void, Fault> say_once(const std::string& text) {
    if (text.size() == drafted) return say_in_place(text);
    if (text.size() != growing || !end_->begin_growing(as_bytes(text).first(100), as_bytes(text).subspan(100)))
      return end_->try_write(as_bytes(text));
    end_->write_rest();
    end_->end_growing();
    return {};
  }
  Expected<void, Fault> say_in_place(const std::string& text) {
    auto draft = end_->draft(4096);
    if (!draft) return draft.error();
    std::copy_n(as_bytes(text).begin(), text.size(), draft->bytes().begin());
    return end_->send(*draft, text.size(), soon());
  }

  // Reads by turns with read(), and with peek() followed by take() or pop(). It acts by writing into the diary.
  bool hear(const std::string& expected) {
    // A growing loan is not begun while its reader sleeps.
    while (expected.size() == growing && is_quiet()) std::this_thread::yield();
    return heard_++ % 2 == 0 ? hear_by_read(expected) : hear_by_peek(expected);
  }
  bool is_quiet() {
    const auto front = end_->peek();
    return !front && front.error() == Fault::would_block && end_->look_at_peer();
  }
  bool hear_by_read(const std::string& expected) {
    std::vector<std::byte> buffer(16'000);
    Expected<std::size_t, Fault> size = Fault::timed_out;
    while (!size && size.error() == Fault::timed_out) size = end_->read(buffer, until());
    return size && act(as_text(Bytes(buffer).first(*size)), expected);
  }
  bool hear_by_peek(const std::string& expected) {
    Expected<void, Fault> came = Fault::timed_out;
    while (!came && came.error() == Fault::timed_out) came = end_->wait(until());
    if (!came) return false;
    const bool right = act(as_text(*end_->peek()), expected);
    if (auto loan = end_->take(); !loan) end_->pop();
    return right;
  }
  bool act(const std::string& text, const std::string& expected) {
    note(&Diary::acted);
    right_ = right_ && text == expected;
    return right_;
  }

  bool say_all(const std::vector<std::string>& burst) {
    return std::all_of(burst.begin(), burst.end(), [&](const std::string& text) { return say(text); });
  }
  bool hear_all(const std::vector<std::string>& burst) {
    wait_until_asleep(other_);
    return std::all_of(burst.begin(), burst.end(), [&](const std::string& text) { return hear(text); });
  }

  Channel* end_;
  pid_t other_;
  bool is_child_;
  Duration slice_;
  std::size_t heard_ = 0;
  std::vector<std::uint64_t> positions_;
  bool right_ = true;
};

// The results of all deaths of one case.
struct Tally {
  std::map<std::string, int> deaths{};  // by the word of the last store
  int acted = 0, claimed_alone = 0, unclaimed = 0;
};

class Conversation {
 public:
  Conversation(ChildIs role, bool child_speaks, const Options& options)
      : role_(role), child_speaks_(child_speaks), options_(options) {
    void* const memory = mmap(nullptr, sizeof(Diary), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    diary = new (memory) Diary;
  }
  ~Conversation() { munmap(diary, sizeof(Diary)); }

  // Runs the conversation. Returns whether the child died.
  bool dies_by(const Fate& its_fate) {
    diary = new (diary) Diary;
    Meeting meeting(options_);
    const pid_t parent = getpid();
    const pid_t child = meeting.fork_child(role_, [&](Channel& end) {
      connects = role_ == ChildIs::connector;
      find_memory();
      fate = its_fate;
      Party party(end, parent, true, Duration::zero());
      const bool done = party.talk(child_speaks_);
      end.close();
      return done && party.right() ? 0 : 1;
    });
    Channel end = expect(meeting.meet_child(role_));
    const bool is_told = options_.wake == Wake::eventfd;
    Party party(end, child, false, is_told ? Duration::zero() : Duration{std::chrono::milliseconds{1}});
    const bool done = party.talk(!child_speaks_);
    const std::string last = party.last();
    const int code = end_of(child);
    INFO("after " << its_fate.stores << " stores, the last to '" << diary->last << "': " << last);
    REQUIRE(party.right());
    REQUIRE((code == 0 || code == -SIGKILL));
    REQUIRE((last == ended(Fault::peer_died) || last == ended(Fault::peer_closed)));
    if (last == ended(Fault::peer_closed)) REQUIRE(done);
    if (code == 0) REQUIRE(last == ended(Fault::peer_closed));
    judge_completion(party);
    if (code != 0) ++tally.deaths[diary->last];
    return code != 0;
  }

  Tally tally;

 private:
  // Checks that the child had claimed what it acted on. What it had not claimed, it had not acted on.
  void judge_completion(const Party& party) {
    // relaxed: its writer is dead, and was waited for
    const std::size_t acted = diary->acted.load(std::memory_order_relaxed), claimed = party.claimed();
    INFO("of " << party.said() << " messages " << claimed << " claimed, " << acted << " acted upon");
    REQUIRE(acted <= claimed);
    REQUIRE(claimed <= acted + 1);  // the message that it had just looked at
    tally.acted += static_cast<int>(acted);
    tally.claimed_alone += claimed > acted ? 1 : 0;
    tally.unclaimed += static_cast<int>(party.said() - claimed);
  }

  ChildIs role_;
  bool child_speaks_;
  Options options_;
};

}  // namespace

TEST_CASE("an end that dies after its n-th store leaves the other a whole prefix and the truth") {
  signal(SIGUSR1, [](int) {});  // handles the signal of both ends with Wake::signal
  const ChildIs role = GENERATE(ChildIs::connector, ChildIs::acceptor);
  const bool child_speaks = GENERATE(true, false);
  const Wake wake = GENERATE(Wake::futex, Wake::eventfd, Wake::signal);
  // An acceptor that inherited its listener is not the process that the kernel names, so it gets no signals.
  if (wake == Wake::signal && role == ChildIs::acceptor) return;
  const Options options{.shape = shape, .wake = wake, .signal = SIGUSR1, .wait = {os::WaitMode::park}};
  const Holdings before;
  {
    Conversation conversation(role, child_speaks, options);
    // A short run has one of seven deaths, others for each kind of conversation.
    const std::uint64_t stride = is_long_run() ? 1 : 7;
    const auto kind =
        static_cast<std::uint64_t>(role) * 6 + (child_speaks ? 3u : 0u) + static_cast<std::uint64_t>(wake);
    if (stride > 1) std::printf("of %" PRIu64 " stores one is tried; CORELANE_LONG tries all\n", stride);
    std::uint64_t stores = 1 + kind % stride;
    while (conversation.dies_by({.stores = stores})) stores += stride;  // bound: the stores of the conversation
    // The child of the last run lived. It waited for room of both kinds.
    CHECK(diary->waits_for_room.load(std::memory_order_relaxed) > 0);  // relaxed: its writer is dead
    CHECK(diary->waits_for_chunks.load(std::memory_order_relaxed) > 0);
    CHECK(stores > 150);
    // The number of stores depends on which end sleeps when. So the tests aim at the last stores and the rarest ones.
    for (const char* word : all_words) {
      INFO(word);
      for (int left = 50; left != 0 && !conversation.dies_by({.word = word}); --left) continue;
      CHECK(conversation.tally.deaths[word] > 0);
    }
    CHECK(conversation.tally.acted > 0);
    CHECK(conversation.tally.claimed_alone > 0);
    CHECK(conversation.tally.unclaimed > 0);
  }
  CHECK(Holdings() == before);
}
