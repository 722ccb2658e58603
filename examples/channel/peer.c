/* The other end of a channel in C, written from docs/channel.md alone. It sets up a channel at a path, and answers
 * every message with the same bytes until the peer closes or dies. Short messages go inline, long ones through chunks.
 *
 *   corelane-channel-peer PATH [WORD=NUMBER ...]
 *     accept=1      listens at the path until a peer connects
 *     wake=W        how this end is woken: 0 spin, 1 futex (default), 2 eventfd, 3 SIGUSR1
 *     offer=F       features that it offers: 31 (default) are those that it knows
 *     require=F     features that the peer must have
 *     versions=N    the lowest ABI version that it accepts is N (default 1)
 *     far=1         sleeps at the socket from the start whenever it waits for a record
 *     patient=1     answers only when the peer sleeps at the socket; 2: only when the peer sleeps anywhere
 *     die=N         kills itself in the middle of its answer to message N
 *
 * Prints how often it slept, how many of these sleeps were near and how many at the socket, and how often it woke a
 * near sleeper. Exit status: 0 the peer closed, 2 the peer died, 3 the peer broke the rules, 1 set-up failed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

enum { SLOTS = 64, CHUNKS = 4, CHUNK_SIZE = 65536, RING = 8192, RETURNED = 4096, STATE = 128 };
enum { HELLO = 1, READY = 2, MESSAGE = 1, LOAN = 2, PADDING = 3, INLINE_LIMIT = 1000 };
enum { SPIN = 0, FUTEX = 1, EVENTFD = 2, SIGNAL = 3 };
enum { LOANS = 1, FAR_SLEEP = 2, CONFIRMATION = 4, GROWTH = 8, NEAR_SLEEP = 16 };
enum { RECORD = 0, ROOM = 1 };
static const char usage[] =
    "usage: %s PATH [WORD=NUMBER ...]\n"
    "Echoes what comes through a channel that is set up at the socket PATH, or @NAME.\n"
    "  accept=1      listens there, and takes the first who connects; else it connects itself\n"
    "  wake=W        how it is woken: 0 spin, 1 futex (default), 2 eventfd, 3 SIGUSR1\n"
    "  offer=F, require=F, versions=N, far=1, patient=1, die=N: for tests, see the head of peer.c\n"
    "For example: %s @plant accept=1\n";
static const uint64_t MAGIC = 0x314c4e4148434c43u;
static const uint32_t FAR_BIT = 0x80000000u, NEAR_BIT = 0x40000000u;

struct hello {
  uint64_t magic;
  uint32_t kind;
  uint16_t lowest_version, highest_version;
  uint64_t offered, required, channel;
  uint32_t wake, signal;
  int32_t process;
  uint32_t slots, chunks, chunk_size;
  uint64_t start_ticks;
  uint32_t descriptors, spare;
  uint64_t spares[4];
};
_Static_assert(sizeof(struct hello) == 112, "the hello has no holes");

struct ready {
  uint64_t magic;
  uint32_t kind, spare;
};

static struct {
  int accept, wake, offer, require, versions, far, patient, die;
} chosen = {.wake = FUTEX, .offer = LOANS | FAR_SLEEP | CONFIRMATION | GROWTH | NEAR_SLEEP, .versions = 1};

/* Its own memory, the peer's memory, and the page that both write; offsets have the names of docs/channel.md. */
static uint8_t *own, *page;
static const uint8_t* peer;
static struct hello mine, theirs;
static int socket_fd, own_events[2] = {-1, -1}, their_events[2] = {-1, -1};
static uint64_t common, written, peer_released, read_at;
static uint32_t returns_awaited;
static unsigned answers, sleeps, near_sleeps, far_sleeps, near_wakes;

static void fail(const char* what) {
  fprintf(stderr, "corelane-channel-peer: %s: %s\n", what, strerror(errno));
  exit(1);
}

static _Atomic(uint64_t)* word(const uint8_t* base, size_t offset) {
  return (_Atomic(uint64_t)*)(uintptr_t)(base + offset);
}
static _Atomic(uint32_t)* half(const uint8_t* base, size_t offset) {
  return (_Atomic(uint32_t)*)(uintptr_t)(base + offset);
}

/* ---- Set-up */

static int make_memory(size_t size, int seals, uint8_t** base) {
  int fd = (int)syscall(SYS_memfd_create, "corelane-channel-peer", 3u /* MFD_CLOEXEC | MFD_ALLOW_SEALING */);
  if (fd < 0 || ftruncate(fd, (off_t)size) != 0 || fallocate(fd, 0, 0, (off_t)size) != 0) fail("memory");
  *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (*base == MAP_FAILED || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | seals) != 0)
    fail("seals");
  return fd;
}

static size_t region_size(const struct hello* h) {
  return RING + (size_t)h->slots * 64 + (size_t)h->chunks * h->chunk_size;
}

static void meet_at(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const int is_abstract = *path == '@';  // an abstract name begins with a zero byte, and its length ends it
  const size_t length = strnlen(path, sizeof address.sun_path - 1);
  const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (is_abstract ? 0 : 1));
  memcpy(address.sun_path, path, length);
  if (is_abstract) address.sun_path[0] = '\0';
  socket_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (!chosen.accept) {
    if (connect(socket_fd, (struct sockaddr*)&address, size) != 0) fail(path);
    return;
  }
  if (bind(socket_fd, (struct sockaddr*)&address, size) != 0 || listen(socket_fd, 1) != 0) fail(path);
  puts("listening"), fflush(stdout);
  socket_fd = accept4(socket_fd, NULL, NULL, SOCK_CLOEXEC);
  if (socket_fd < 0) fail("accept");
  if (!is_abstract) unlink(path);
}

union control {
  char bytes[CMSG_SPACE(4 * sizeof(int))];
  struct cmsghdr align;
};

static void send_hello(void) {
  union control control = {{0}};
  int fds[4];
  uint32_t count = 0;
  mine = (struct hello){.magic = MAGIC,
                        .kind = HELLO,
                        .lowest_version = (uint16_t)chosen.versions,
                        .highest_version = (uint16_t)(chosen.versions + 1),
                        .offered = (uint64_t)chosen.offer,
                        .required = (uint64_t)chosen.require,
                        .channel = chosen.accept ? theirs.channel : (uint64_t)getpid(),
                        .wake = (uint32_t)chosen.wake,
                        .signal = chosen.wake == SIGNAL ? SIGUSR1 : 0,
                        .process = getpid(),
                        .slots = SLOTS,
                        .chunks = CHUNKS,
                        .chunk_size = CHUNK_SIZE};
  fds[count++] = make_memory(region_size(&mine), F_SEAL_FUTURE_WRITE, &own);
  if (!chosen.accept) fds[count++] = make_memory(4096, 0, &page);
  for (int i = RECORD; chosen.wake == EVENTFD && i <= ROOM; ++i)
    fds[count++] = own_events[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  mine.descriptors = count;
  struct iovec part = {&mine, sizeof mine};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = CMSG_SPACE(count * sizeof(int))};
  struct cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET, rights->cmsg_type = SCM_RIGHTS, rights->cmsg_len = CMSG_LEN(count * sizeof(int));
  memcpy(CMSG_DATA(rights), fds, count * sizeof(int));
  if (sendmsg(socket_fd, &message, MSG_NOSIGNAL) != (ssize_t)sizeof mine) fail("hello");
}

/* Receives a packet of that size and kind, or ends the process. Descriptors that come with it are put into `fds`. */
static void receive(void* packet, size_t size, uint32_t kind, int* fds, uint32_t most) {
  union control control = {{0}};
  uint8_t bytes[256] = {0};
  uint32_t got_kind;
  struct iovec part = {bytes, sizeof bytes};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control};
  const ssize_t got = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
  memcpy(&got_kind, bytes + 8, sizeof got_kind);
  if (got != (ssize_t)size || memcmp(bytes, &MAGIC, sizeof MAGIC) != 0 || got_kind != kind) {
    fprintf(stderr, "corelane-channel-peer: refused: %.*s\n", got > 16 ? (int)got - 16 : 0, (const char*)bytes + 16);
    exit(1);
  }
  memcpy(packet, bytes, size);
  const struct cmsghdr* rights = CMSG_FIRSTHDR(&message);
  if (rights != NULL && most != 0)
    memcpy(fds, CMSG_DATA(rights),
           most * sizeof(int) + CMSG_LEN(0) < rights->cmsg_len ? most * sizeof(int) : rights->cmsg_len - CMSG_LEN(0));
}

static void receive_hello(void) {
  int fds[4] = {-1, -1, -1, -1}, *next = fds;
  receive(&theirs, sizeof theirs, HELLO, fds, 4);
  if (theirs.wake > SIGNAL || theirs.descriptors != (chosen.accept ? 2u : 1u) + (theirs.wake == EVENTFD ? 2u : 0u))
    fail("the peer's hello");
  common = theirs.offered & (uint64_t)chosen.offer;
  peer = mmap(NULL, region_size(&theirs), PROT_READ, MAP_SHARED, *next++, 0);
  if (peer == MAP_FAILED) fail("the peer's memory");
  if (chosen.accept) page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, *next++, 0);
  if (page == MAP_FAILED) fail("the sleep page");
  for (int i = RECORD; theirs.wake == EVENTFD && i <= ROOM; ++i) their_events[i] = *next++;
}

static void send_ready(void) {
  const struct ready ready = {.magic = MAGIC, .kind = READY};
  if (send(socket_fd, &ready, sizeof ready, MSG_NOSIGNAL) != (ssize_t)sizeof ready) fail("ready");
}
static void receive_ready(void) {
  struct ready ready;
  receive(&ready, sizeof ready, READY, NULL, 0);
}

static void set_up(const char* path) {
  meet_at(path);
  if (!chosen.accept) send_hello();
  receive_hello();
  if (chosen.accept) send_hello(), receive_ready();
  if (!chosen.accept || (common & CONFIRMATION) != 0) send_ready();
  if (!chosen.accept && (common & CONFIRMATION) != 0) receive_ready();
}

/* ---- Sleeping and waking */

enum { FAR_SLICE_MS = 60000 };

static int peer_has_ended(void) {
  struct pollfd watched = {socket_fd, POLLRDHUP, 0};
  return poll(&watched, 1, 0) > 0 && (watched.revents & (POLLRDHUP | POLLHUP)) != 0;
}

static size_t own_word(int what) { return (size_t)((chosen.accept ? 256 : 0) + what * 128); }
static size_t their_word(int what) { return (size_t)((chosen.accept ? 0 : 256) + what * 128); }

static void wake(int what) {
  const size_t at = their_word(what);
  const uint64_t one = 1;
  if (theirs.wake == SPIN) return;
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(half(page, at), memory_order_relaxed) == 0) return;
  const uint32_t sleeper = atomic_exchange(half(page, at), 0);
  if (sleeper == 0) return;
  const int near = theirs.wake == EVENTFD && (common & NEAR_SLEEP) != 0 && (sleeper & NEAR_BIT) != 0;
  if ((sleeper & FAR_BIT) != 0)
    send(socket_fd, &one, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  else if (near || theirs.wake == FUTEX) {
    syscall(SYS_futex, page + at, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
    if (near) near_wakes++;
  }
  else if (theirs.wake == SIGNAL && !peer_has_ended()) /* otherwise its number may be another process's by now */
    syscall(SYS_tgkill, theirs.process, sleeper, theirs.signal);
  else if (theirs.wake == EVENTFD && write(their_events[what], &one, sizeof one) < 0 && errno != EAGAIN)
    fail("waking");
}

static uint64_t lap(uint64_t position, uint64_t slots) { return 1 + position / slots % 0xffffffff; }

static int something_to_read(void) {
  const uint64_t commit = atomic_load_explicit(word(peer, RING + (read_at % theirs.slots) * 64), memory_order_acquire);
  return commit >> 32 == lap(read_at, theirs.slots);
}

/* Ends the process with the status of the peer's end, if the peer ended and nothing is left to read. */
static void look_at_peer(void) {
  if (!peer_has_ended() || something_to_read()) return;
  printf("slept %u times, %u times near and %u times far; woke %u near\n", sleeps, near_sleeps, far_sleeps, near_wakes);
  exit(atomic_load_explicit(half(peer, STATE), memory_order_acquire) == 1 ? 0 : 2);
}

/* Sleeps until woken, or for 100 ms. If the word says so, it sleeps until the socket is readable, or for a minute. */
static void sleep_once(int what, uint32_t name) {
  const struct timespec slice = {0, 100 * 1000 * 1000};
  struct pollfd watched[] = {{socket_fd, POLLRDHUP, 0}, {own_events[what], POLLIN, 0}};
  sigset_t awaited;
  uint64_t ignored;
  if ((name & FAR_BIT) != 0) {
    watched[0].events |= POLLIN;
    if (poll(watched, 1, FAR_SLICE_MS) > 0)
      while (recv(socket_fd, &ignored, sizeof ignored, MSG_DONTWAIT) > 0) continue;
  } else if (chosen.wake == FUTEX || (name & NEAR_BIT) != 0) {
    syscall(SYS_futex, page + own_word(what), FUTEX_WAIT, name, &slice, NULL, 0);
  } else if (chosen.wake == EVENTFD) {
    if (poll(watched, 2, 100) > 0 && read(own_events[what], &ignored, sizeof ignored) < 0 && errno != EAGAIN)
      fail("sleeping");
  } else {
    sigemptyset(&awaited), sigaddset(&awaited, SIGUSR1);
    sigtimedwait(&awaited, NULL, &slice);
  }
}

/* With wake=2 the first sleep is near: it is cheaper than the eventfd. Later sleeps also end when the peer ends. */
static void sleep_until(int what, int (*ready)(void)) {
  const int far = what == RECORD && chosen.far && (common & FAR_SLEEP) != 0;
  const int begins_near = !far && chosen.wake == EVENTFD && (common & NEAR_SLEEP) != 0;
  for (unsigned turn = 1; !ready(); ++turn) {
    const int near = begins_near && turn == 1;
    const uint32_t name = (uint32_t)syscall(SYS_gettid) | (far ? FAR_BIT : 0) | (near ? NEAR_BIT : 0);
    if (chosen.wake == SPIN && turn % 1000000 != 0) continue;
    if (chosen.wake != SPIN) {
      atomic_exchange(half(page, own_word(what)), name);
      atomic_thread_fence(memory_order_seq_cst);
      if (!ready()) sleep_once(what, name), ++sleeps, near_sleeps += (unsigned)near, far_sleeps += (unsigned)far;
      atomic_exchange(half(page, own_word(what)), 0);
    }
    if (!ready()) look_at_peer();
  }
}

/* ---- Writing */

static uint64_t slots_for(uint64_t length) { return length <= 48 ? 1 : (length + 16 + 63) / 64; }

static uint64_t wanted;
static int has_room(void) {
  peer_released = atomic_load_explicit(word(peer, 0), memory_order_acquire);
  return written + wanted < peer_released + SLOTS;
}

static void publish(uint64_t at, uint64_t kind, uint64_t length) {
  const size_t slot = RING + (at % SLOTS) * 64;
  atomic_store_explicit(word(own, slot + 8), kind, memory_order_relaxed);
  atomic_store_explicit(word(own, slot), lap(at, SLOTS) << 32 | length, memory_order_release);
}

static void put(uint64_t kind, const void* bytes, size_t length) {
  const uint64_t size = slots_for(length), rest = SLOTS - written % SLOTS, skipped = size > rest ? rest : 0;
  wanted = skipped + size;
  sleep_until(ROOM, has_room);
  const uint64_t at = written + skipped, end = at + size;
  memcpy(own + RING + (at % SLOTS) * 64 + 16, bytes, length);
  if (++answers == (unsigned)chosen.die) raise(SIGKILL);
  _Atomic(uint64_t)* next = word(own, RING + (end % SLOTS) * 64);
  if (*next >> 32 == lap(end, SLOTS)) *next = 0; /* old payload that looks like a record */
  publish(at, kind, length);
  if (skipped != 0) publish(written, PADDING, 0);
  written = end;
  wake(RECORD);
}

/* A long message uses all chunks at once, so one counter tells whether they are all back. */
static int chunks_are_back(void) {
  return atomic_load_explicit(half(peer, RETURNED), memory_order_acquire) == returns_awaited;
}

static void put_through_chunks(const void* bytes, uint64_t length) {
  if (length > (uint64_t)CHUNKS * CHUNK_SIZE) exit(3);
  sleep_until(ROOM, chunks_are_back);
  memcpy(own + RING + SLOTS * 64, bytes, length);
  ++returns_awaited;
  const uint64_t note[2] = {0, length};
  put(LOAN, note, sizeof note);
}

static int is_asleep(uint32_t name) { return (chosen.patient == 1 ? name & FAR_BIT : name) != 0; }

static void answer(const void* bytes, uint64_t length) {
  while (chosen.patient && !is_asleep(atomic_load(half(page, their_word(RECORD))))) usleep(100);
  if (length <= INLINE_LIMIT || (common & LOANS) == 0)
    put(MESSAGE, bytes, length);
  else
    put_through_chunks(bytes, length);
}

/* ---- Reading: what the peer wrote is read once, and then checked. */

static void echo_one(void) {
  const size_t slot = RING + (read_at % theirs.slots) * 64;
  const uint64_t length = (uint32_t)atomic_load_explicit(word(peer, slot), memory_order_acquire);
  const uint64_t kind = atomic_load_explicit(word(peer, slot + 8), memory_order_relaxed);
  if (kind == PADDING) {
    read_at += theirs.slots - read_at % theirs.slots;
    return;
  }
  const uint64_t size = slots_for(length);
  if (size > theirs.slots / 2 || size > theirs.slots - read_at % theirs.slots) exit(3);
  atomic_store_explicit(word(own, 8), read_at + size, memory_order_release); /* claimed */
  if (kind == MESSAGE) {
    answer(peer + slot + 16, length);
  } else if (kind == LOAN && length == 16) {
    uint64_t note[2];
    memcpy(note, peer + slot + 16, sizeof note);
    if (note[0] >= theirs.chunks || note[1] > (theirs.chunks - note[0]) * theirs.chunk_size) exit(3);
    answer(peer + RING + (size_t)theirs.slots * 64 + note[0] * theirs.chunk_size, note[1]);
    atomic_fetch_add_explicit(half(own, RETURNED + note[0] * 4), 1, memory_order_release);
  } else {
    exit(3);
  }
  read_at += size;
  atomic_store_explicit(word(own, 0), read_at, memory_order_release); /* released */
  wake(ROOM);
}

static void choose(const char* word) {
  static const struct {
    const char* name;
    int* value;
  } all[] = {{"accept", &chosen.accept},     {"wake", &chosen.wake},
             {"offer", &chosen.offer},       {"require", &chosen.require},
             {"versions", &chosen.versions}, {"far", &chosen.far},
             {"patient", &chosen.patient},   {"die", &chosen.die}};
  const char* value = strchr(word, '=');
  const size_t length = value != NULL ? (size_t)(value - word) : 0;
  for (size_t i = 0; value != NULL && i < sizeof all / sizeof *all; ++i)
    if (strlen(all[i].name) == length && memcmp(all[i].name, word, length) == 0) {
      *all[i].value = atoi(value + 1);
      return;
    }
  fprintf(stderr, "corelane-channel-peer: unknown word %s\n", word);
  exit(1);
}

int main(int argc, char** argv) {
  if (argc < 2 || *argv[1] == '-') return fprintf(stderr, usage, argv[0], argv[0]), 1;
  for (int i = 2; i < argc; ++i) choose(argv[i]);
  sigset_t awaited;
  sigemptyset(&awaited), sigaddset(&awaited, SIGUSR1), sigprocmask(SIG_BLOCK, &awaited, NULL);
  set_up(argv[1]);
  while (1) {
    sleep_until(RECORD, something_to_read);
    echo_one();
  }
}
