/*
 * Reads the frames of many WebSocket connections, so that the client costs as little of the machine as possible.
 *
 * sockets PORT PATH COUNT: reads COUNT lines of text from standard input, one `subscribe` message for each connection.
 * Prints "ready" once every connection has its first answer. Then it reads lines "expect N": after N frames of bars it
 * prints one line "P50 P99 MAX", the times at which that share of the frames had arrived, in nanoseconds of the
 * monotonic clock. It pings each connection every 20 s, and ends with its standard input.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 20, LINE_BYTES = 1 << 16, PING_SECONDS = 20 };

struct connection {
  int fd;
  /* Bytes of the present frame's head that were read, the head itself, and bytes of its payload still to come. */
  int head_read;
  unsigned char head[10];
  uint64_t payload_left;
  /* Bytes of the payload that were read, at most 10: `{"type":"b` begins a bar. */
  int shown;
  char start[10];
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

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void write_all(int fd, const void *bytes, size_t size) {
  for (const char *at = bytes; size > 0;) {
    ssize_t written = write(fd, at, size);
    if (written <= 0) fail("write");
    at += written;
    size -= (size_t)written;
  }
}

/* A text frame with a mask of zeroes. */
static void send_text(int fd, const char *text, size_t size) {
  unsigned char head[8] = {0x81};
  size_t head_size = 2;
  if (size < 126) {
    head[1] = 0x80 | (unsigned char)size;
  } else {
    head[1] = 0xfe;
    head[2] = (unsigned char)(size >> 8);
    head[3] = (unsigned char)size;
    head_size = 4;
  }
  memset(head + head_size, 0, 4);
  write_all(fd, head, head_size + 4);
  write_all(fd, text, size);
}

static void open_connection(struct connection *each, int port, const char *path) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  each->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (each->fd < 0 || connect(each->fd, (struct sockaddr *)&to, sizeof to) < 0) fail("connect");
  int on = 1;
  setsockopt(each->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  char text[1024];
  int size = snprintf(text, sizeof text,
                      "GET %s HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                      path);
  write_all(each->fd, text, (size_t)size);
  /* Byte by byte to the end of the head: what follows are frames. */
  size = 0;
  while (size < 4 || memcmp(text + size - 4, "\r\n\r\n", 4) != 0) {
    if (size == sizeof text || read(each->fd, text + size, 1) != 1) fail("upgrade");
    size++;
  }
  if (strncmp(text, "HTTP/1.1 101", 12) != 0) {
    fprintf(stderr, "the upgrade was refused: %.*s\n", size, text);
    exit(1);
  }
}

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
  while (size > 0 || (each->head_read > 0 && each->payload_left == 0)) {
    if (each->head_read == 0 || each->payload_left == UINT64_MAX) {
      each->head[each->head_read++] = *bytes++;
      size--;
      each->payload_left = UINT64_MAX;
      int needed = each->head_read < 2 ? 2 : each->head[1] < 126 ? 2 : each->head[1] == 126 ? 4 : 10;
      if (each->head_read < needed) continue;
      uint64_t length = each->head[1];
      if (length >= 126) {
        length = 0;
        for (int i = 2; i < needed; i++) length = length << 8 | each->head[i];
      }
      each->payload_left = length;
      each->shown = 0;
      continue;
    }
    size_t taken = size < each->payload_left ? size : (size_t)each->payload_left;
    for (size_t i = 0; i < taken && each->shown < (int)sizeof each->start; i++) each->start[each->shown++] = (char)bytes[i];
    bytes += taken;
    size -= taken;
    each->payload_left -= taken;
    if (each->payload_left > 0) continue;
    if (each->shown == (int)sizeof each->start && memcmp(each->start, "{\"type\":\"b", sizeof each->start) == 0) bars++;
    if (each->shown == (int)sizeof each->start && memcmp(each->start, "{\"type\":\"s", sizeof each->start) == 0)
      each->answered = 1;
    each->head_read = 0;
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
    open_connection(&connections[i], atoi(argv[1]), argv[2]);
    send_text(connections[i].fd, line, used);
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
      for (int i = 0; i < count; i++) send_text(connections[i].fd, "{\"action\":\"ping\"}", 17);
    }
  }
}
