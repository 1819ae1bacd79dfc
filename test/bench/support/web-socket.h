/* What the benches' programs in C share: WebSocket connections to this machine, as a client that does little work. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_BYTES = 1024, SHOWN_BYTES = 96 };

/* A frame that is being read. */
struct frame {
  int head_read;
  unsigned char head[10];
  /* Bytes of the payload still to come. */
  uint64_t left;
  /* The first bytes of the payload. */
  size_t shown;
  char start[SHOWN_BYTES];
};

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int write_all(int fd, const void *bytes, size_t size) {
  for (const char *at = bytes; size > 0;) {
    ssize_t written = write(fd, at, size);
    if (written <= 0) return -1;
    at += written;
    size -= (size_t)written;
  }
  return 0;
}

/* Sends a text frame with a mask of zeroes. Returns -1 on failure. */
static int send_text(int fd, const char *text, size_t size) {
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
  return write_all(fd, head, head_size + 4) < 0 ? -1 : write_all(fd, text, size);
}

/* Opens a connection and upgrades it. Returns -1 on failure; `answer` then has what the server sent, if anything. */
static int open_connection(int port, const char *path, char answer[ANSWER_BYTES]) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  answer[0] = 0;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) fail("socket");
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  char text[ANSWER_BYTES];
  int size = snprintf(text, sizeof text,
                      "GET %s HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                      path);
  if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0 || write_all(fd, text, (size_t)size) < 0) {
    close(fd);
    return -1;
  }
  /* Byte by byte to the end of the head: what follows are frames. */
  for (size = 0; size < 4 || memcmp(answer + size - 4, "\r\n\r\n", 4) != 0; size++)
    if (size == ANSWER_BYTES - 1 || read(fd, answer + size, 1) != 1) break;
  answer[size] = 0;
  if (strncmp(answer, "HTTP/1.1 101", 12) == 0) return fd;
  close(fd);
  return -1;
}

/* Reads these bytes to the end of a frame at most. Returns how many it used; `is_whole` says whether the frame ended. */
static size_t read_frame(struct frame *frame, const unsigned char *bytes, size_t size, int *is_whole) {
  size_t used = 0;
  for (;;) {
    int length = frame->head_read < 2 ? 0 : frame->head[1] & 0x7f;
    int needed = length < 126 ? 2 : length == 126 ? 4 : 10;
    if (frame->head_read == needed) break;
    *is_whole = 0;
    if (used == size) return used;
    frame->head[frame->head_read++] = bytes[used++];
    length = frame->head[1] & 0x7f;
    needed = frame->head_read < 2 || length < 126 ? 2 : length == 126 ? 4 : 10;
    if (frame->head_read < needed) continue;
    frame->left = (uint64_t)length;
    if (length >= 126) frame->left = 0;
    for (int i = 2; i < needed; i++) frame->left = frame->left << 8 | frame->head[i];
    frame->shown = 0;
  }
  size_t taken = size - used < frame->left ? size - used : (size_t)frame->left;
  size_t shown = taken < SHOWN_BYTES - frame->shown ? taken : SHOWN_BYTES - frame->shown;
  memcpy(frame->start + frame->shown, bytes + used, shown);
  frame->shown += shown;
  frame->left -= taken;
  *is_whole = frame->left == 0;
  if (*is_whole) frame->head_read = 0;
  return used + taken;
}

/* Whether the payload begins with this text. */
static int begins(const struct frame *frame, const char *text) {
  size_t size = strlen(text);
  return frame->shown >= size && memcmp(frame->start, text, size) == 0;
}
