/*
 * Reads the frames of many WebSocket connections, so that the client costs as little of the machine as possible.
 *
 * sockets PORT PATH COUNT: reads COUNT lines of text from standard input, one `subscribe` message for each connection.
 * Prints "ready" once every connection has its first answer. Then it reads lines "expect N": after N frames of bars it
 * prints one line "P50 P99 MAX", the times at which that share of the frames had arrived, in nanoseconds of the
 * monotonic clock. It pings each connection every 20 s, and ends with its standard input.
 */
#define _GNU_SOURCE
#include <sys/epoll.h>
#include "../support/web-socket.h"

enum { READ_BYTES = 1 << 20, LINE_BYTES = 1 << 16, PING_SECONDS = 20 };

struct connection {
  int fd;
  struct frame frame;
  int answered;
};

struct arrival {
  uint64_t at;
  uint64_t frames;
};

static struct connection *connections;
static int count;
static struct arrival *arrivals;
static size_t arrivals_used, arrivals_size;
static uint64_t expected, arrived;
static char *buffer;

static void note_frames(uint64_t frames) {
  if (frames == 0) return;
  if (arrivals_used == arrivals_size) {
    arrivals_size = arrivals_size == 0 ? 4096 : arrivals_size * 2;
    arrivals = realloc(arrivals, arrivals_size * sizeof *arrivals);
    if (arrivals == NULL) fail("realloc");
  }
  arrivals[arrivals_used++] = (struct arrival){now_ns(), frames};
  arrived += frames;
}

static uint64_t time_of(uint64_t frame) {
  uint64_t seen = 0;
  for (size_t i = 0; i < arrivals_used; i++) {
    seen += arrivals[i].frames;
    if (seen >= frame) return arrivals[i].at;
  }
  return 0;
}

static void report_when_complete(void) {
  if (expected == 0 || arrived < expected) return;
  if (arrived > expected) {
    fprintf(stderr, "%lu frames arrived, %lu were expected\n", arrived, expected);
    exit(1);
  }
  printf("%lu %lu %lu\n", time_of((expected + 1) / 2), time_of(expected - expected / 100), time_of(expected));
  fflush(stdout);
  arrivals_used = 0;
  arrived = expected = 0;
}

/* Counts the frames of bars that end in these bytes. */
static uint64_t parse(struct connection *each, const unsigned char *bytes, size_t size) {
  uint64_t bars = 0;
  while (size > 0) {
    int is_whole;
    size_t used = read_frame(&each->frame, bytes, size, &is_whole);
    bytes += used;
    size -= used;
    if (!is_whole) continue;
    bars += (uint64_t)begins(&each->frame, "{\"type\":\"b");
    each->answered |= begins(&each->frame, "{\"type\":\"s");
  }
  return bars;
}

static void read_connection(struct connection *each) {
  ssize_t size = recv(each->fd, buffer, READ_BYTES, MSG_DONTWAIT);
  if (size < 0) return;
  if (size == 0) {
    fprintf(stderr, "a connection was closed\n");
    exit(1);
  }
  note_frames(parse(each, (unsigned char *)buffer, (size_t)size));
}

/* Reads the line at the front of standard input, if all of it is there. */
static void read_orders(void) {
  static char line[256];
  static size_t used;
  ssize_t size = read(STDIN_FILENO, line + used, sizeof line - 1 - used);
  if (size <= 0) exit(0);
  used += (size_t)size;
  char *end = memchr(line, '\n', used);
  if (end == NULL) return;
  *end = 0;
  if (sscanf(line, "expect %lu", &expected) != 1) fail("expect N");
  used = 0;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: sockets PORT PATH COUNT\n");
    return 2;
  }
  count = atoi(argv[3]);
  connections = calloc((size_t)count, sizeof *connections);
  buffer = malloc(READ_BYTES);
  static char line[LINE_BYTES];
  int poll = epoll_create1(0);
  for (int i = 0; i < count; i++) {
    /* Not fgets of stdio's buffer alone: the lines after the messages are read by read(). */
    size_t used = 0;
    while (used < sizeof line && read(STDIN_FILENO, line + used, 1) == 1 && line[used] != '\n') used++;
    char answer[ANSWER_BYTES];
    connections[i].fd = open_connection(atoi(argv[1]), argv[2], answer);
    if (connections[i].fd < 0) {
      fprintf(stderr, "no socket was opened: %s\n", answer);
      exit(1);
    }
    if (send_text(connections[i].fd, line, used) < 0) fail("subscribe");
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
    epoll_ctl(poll, EPOLL_CTL_ADD, connections[i].fd, &event);
  }
  struct epoll_event input = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(poll, EPOLL_CTL_ADD, STDIN_FILENO, &input);
  int ready = 0;
  uint64_t pinged = now_ns();
  for (;;) {
    struct epoll_event events[256];
    int some = epoll_wait(poll, events, 256, 1000);
    for (int i = 0; i < some; i++) {
      if (events[i].data.ptr == NULL) read_orders();
      else read_connection(events[i].data.ptr);
    }
    report_when_complete();
    if (!ready) {
      ready = 1;
      for (int i = 0; i < count; i++) ready &= connections[i].answered;
      if (ready) {
        printf("ready\n");
        fflush(stdout);
        /* Bars that arrived before the first order belong to no burst. */
        arrivals_used = 0;
        arrived = 0;
      }
    }
    /* Not while a burst arrives. */
    if (arrived == 0 && now_ns() - pinged > (uint64_t)PING_SECONDS * 1000000000u) {
      pinged = now_ns();
      for (int i = 0; i < count; i++)
        if (send_text(connections[i].fd, "{\"action\":\"ping\"}", 17) < 0) fail("ping");
    }
  }
}
