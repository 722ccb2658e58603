/* The other end of a channel in C, written from docs/channel.md alone: it connects to a path and answers every message
 * with the same bytes, short ones inline and long ones through its chunks, until the peer closes or dies.
 *
 *   corelane-channel-abi-peer PATH      exit status: 0 the peer closed, 2 it died, 3 it broke the rules, 1 set-up
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
enum { HELLO = 1, READY = 2, FUTEX = 1, MESSAGE = 1, LOAN = 2, PADDING = 3, INLINE_LIMIT = 1000 };
static const uint64_t MAGIC = 0x314c4e4148434c43u;

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

/* Its own memory, the peer's, and the page of both; positions as docs/channel.md names them. */
static uint8_t *own, *page;
static const uint8_t* peer;
static struct hello mine, theirs;
static int socket_fd;
static uint64_t written, peer_released, read_at;
static uint32_t returns_awaited;

static void fail(const char* what) {
  fprintf(stderr, "abi-peer: %s: %s\n", what, strerror(errno));
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
  int fd = (int)syscall(SYS_memfd_create, "abi-peer", 3u /* MFD_CLOEXEC | MFD_ALLOW_SEALING */);
  if (fd < 0 || ftruncate(fd, (off_t)size) != 0 || fallocate(fd, 0, 0, (off_t)size) != 0) fail("memory");
  *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (*base == MAP_FAILED || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | seals) != 0)
    fail("seals");
  return fd;
}

static size_t region_size(const struct hello* h) {
  return RING + (size_t)h->slots * 64 + (size_t)h->chunks * h->chunk_size;
}

static void connect_to(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  socket_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (connect(socket_fd, (struct sockaddr*)&address, sizeof address) != 0) fail(path);
}

static void send_hello(void) {
  union {
    char bytes[CMSG_SPACE(2 * sizeof(int))];
    struct cmsghdr align;
  } control = {{0}};
  int fds[2];
  mine = (struct hello){.magic = MAGIC,
                        .kind = HELLO,
                        .lowest_version = 1,
                        .highest_version = 1,
                        .offered = 1,
                        .channel = (uint64_t)getpid(),
                        .wake = FUTEX,
                        .process = getpid(),
                        .slots = SLOTS,
                        .chunks = CHUNKS,
                        .chunk_size = CHUNK_SIZE,
                        .descriptors = 2};
  fds[0] = make_memory(region_size(&mine), F_SEAL_FUTURE_WRITE, &own);
  fds[1] = make_memory(4096, 0, &page);
  struct iovec part = {&mine, sizeof mine};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control};
  struct cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET, rights->cmsg_type = SCM_RIGHTS, rights->cmsg_len = CMSG_LEN(sizeof fds);
  memcpy(CMSG_DATA(rights), fds, sizeof fds);
  if (sendmsg(socket_fd, &message, MSG_NOSIGNAL) != (ssize_t)sizeof mine) fail("hello");
  close(fds[0]), close(fds[1]);
}

static void receive_hello(void) {
  union {
    char bytes[CMSG_SPACE(4 * sizeof(int))];
    struct cmsghdr align;
  } control;
  uint8_t packet[256];
  struct iovec part = {packet, sizeof packet};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control};
  const ssize_t got = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
  memcpy(&theirs, packet, sizeof theirs);
  if (got != (ssize_t)sizeof theirs || theirs.magic != MAGIC || theirs.kind != HELLO) {
    fprintf(stderr, "abi-peer: refused: %.*s\n", got > 16 ? (int)got - 16 : 0, (const char*)packet + 16);
    exit(1);
  }
  if (theirs.wake > FUTEX || theirs.descriptors != 1) fail("this program wakes by futex only");
  int fd;
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  peer = mmap(NULL, region_size(&theirs), PROT_READ, MAP_SHARED, fd, 0);
  if (peer == MAP_FAILED) fail("the peer's memory");
  close(fd);
  const struct ready ready = {.magic = MAGIC, .kind = READY};
  if (send(socket_fd, &ready, sizeof ready, MSG_NOSIGNAL) != (ssize_t)sizeof ready) fail("ready");
}

/* ---- Sleeping and waking: end 0 is this one, which connected; its words are at 0 and 128, the peer's at 256 and 384.
 */

static void wake(size_t peer_word) {
  if (theirs.wake != FUTEX) return; /* it spins */
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(half(page, peer_word), memory_order_relaxed) == 0) return;
  if (atomic_exchange(half(page, peer_word), 0) != 0)
    syscall(SYS_futex, page + peer_word, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

static uint64_t lap(uint64_t position, uint64_t slots) { return 1 + position / slots % 0xffffffff; }

static int something_to_read(void) {
  const uint64_t commit = atomic_load_explicit(word(peer, RING + (read_at % theirs.slots) * 64), memory_order_acquire);
  return commit >> 32 == lap(read_at, theirs.slots);
}

/* What ended, once nothing is left to read; goes on otherwise. */
static void look_at_peer(void) {
  struct pollfd watched = {socket_fd, POLLRDHUP, 0};
  if (poll(&watched, 1, 0) <= 0 || something_to_read()) return;
  exit(atomic_load_explicit(half(peer, STATE), memory_order_acquire) == 1 ? 0 : 2);
}

static void sleep_until(size_t own_word, int (*ready)(void)) {
  const uint32_t me = (uint32_t)syscall(SYS_gettid);
  const struct timespec slice = {0, 100 * 1000 * 1000};
  while (!ready()) {
    atomic_exchange(half(page, own_word), me);
    atomic_thread_fence(memory_order_seq_cst);
    if (!ready()) syscall(SYS_futex, page + own_word, FUTEX_WAIT, me, &slice, NULL, 0);
    atomic_exchange(half(page, own_word), 0);
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
  sleep_until(128, has_room);
  const uint64_t at = written + skipped, end = at + size;
  memcpy(own + RING + (at % SLOTS) * 64 + 16, bytes, length);
  _Atomic(uint64_t)* next = word(own, RING + (end % SLOTS) * 64);
  if (*next >> 32 == lap(end, SLOTS)) *next = 0; /* stale payload that looks like a record */
  publish(at, kind, length);
  if (skipped != 0) publish(written, PADDING, 0);
  written = end;
  wake(256);
}

/* All chunks at once, so that one count tells whether they came back. */
static int chunks_are_back(void) {
  return atomic_load_explicit(half(peer, RETURNED), memory_order_acquire) == returns_awaited;
}

static void put_through_chunks(const void* bytes, uint64_t length) {
  if (length > (uint64_t)CHUNKS * CHUNK_SIZE) exit(3);
  sleep_until(128, chunks_are_back);
  memcpy(own + RING + SLOTS * 64, bytes, length);
  ++returns_awaited;
  const uint64_t note[2] = {0, length};
  put(LOAN, note, sizeof note);
}

static void answer(const void* bytes, uint64_t length) {
  if (length <= INLINE_LIMIT)
    put(MESSAGE, bytes, length);
  else
    put_through_chunks(bytes, length);
}

/* ---- Reading: everything that the peer wrote is read once, and checked. */

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
  wake(384);
}

int main(int argc, char** argv) {
  if (argc != 2) return fprintf(stderr, "usage: %s PATH\n", argv[0]), 1;
  connect_to(argv[1]);
  send_hello();
  receive_hello();
  while (1) {
    sleep_until(0, something_to_read);
    echo_one();
  }
}
