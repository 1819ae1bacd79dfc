/*
 * WebSocket clients that return after a close, each with `since` for its symbols. They check that each bar comes once.
 *
 * returning PORT COUNT: reads COUNT lines "PATH SYMBOL ..." from standard input and opens a connection for each. Then it
 * reads these lines, and answers each with one line, see `report`. Times are nanoseconds of the monotonic clock.
 *   minute TIME  the bars of this open time are sent from now on, one of each symbol.
 *   report
 *   reset        sets the counts of returns, closes, gaps and so on back to 0, after the answer.
 * A connection that closes returns after a random time below 0.5 s, doubled for each failure up to 30 s. It pings every 20 s.
 * It ends with its standard input.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include "../support/web-socket.h"

enum { READ_BYTES = 1 << 20, LINE_BYTES = 1 << 16, OPENERS = 16, TICK_MS = 10, SYMBOL_BYTES = 64 };
static const uint64_t second_ns = 1000000000u;
static const char bar_start[] = "{\"type\":\"bar\",\"symbol\":\"";
static const char time_start[] = "\",\"bar\":{\"time\":";

struct series {
  char symbol[SYMBOL_BYTES];
  uint64_t hash;
  /* Open time of the last bar; 0 before the first one. */
  long last;
};

enum state { WAITING, OPENING, OPEN };

struct connection {
  _Atomic int state;
  int fd;
  struct frame frame;
  char *path;
  struct series *series;
  int series_count, failures, answered;
  uint64_t due, pinged, closed;
  /* Whether it was closed since the last reset. */
  int has_returned;
  /* The newest minute when it subscribed: once all series have it, the replay is finished. */
  long target;
  /* When the replay was finished; 0 before. */
  uint64_t settled;
};

struct list {
  uint64_t *items;
  size_t used, size;
};

static struct connection *connections;
static int count, port, poller, orders[2];
static _Atomic long newest;
static _Atomic long refused;
/* When the newest minute began. */
static uint64_t begun;
static long closes, gaps, missed, twice;
static uint64_t last_replay;
/* Arrivals of live bars, also those at connections that returned, and for each return the time from its close to the end of its replay. */
static struct list live[2], away;
static char *buffer;

static void add(struct list *list, uint64_t item) {
  if (list->used == list->size) {
    list->size = list->size == 0 ? 4096 : list->size * 2;
    list->items = realloc(list->items, list->size * sizeof *list->items);
    if (list->items == NULL) fail("realloc");
  }
  list->items[list->used++] = item;
}

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* The item below which this share of the sorted list lies; 0 of an empty one. */
static unsigned long quantile(const struct list *list, double share) {
  if (list->used == 0) return 0;
  size_t at = (size_t)((double)list->used * share);
  return list->items[at < list->used ? at : list->used - 1];
}

static uint64_t hash_of(const char *symbol, size_t size) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)symbol[i]) * 1099511628211u;
  return hash;
}

static void return_later(struct connection *each) {
  uint64_t bound = second_ns / 2 << (each->failures < 6 ? each->failures : 6);
  if (bound > 30 * second_ns) bound = 30 * second_ns;
  each->due = now_ns() + (uint64_t)((double)bound * (double)rand() / RAND_MAX);
  atomic_store(&each->state, WAITING);
}

static int subscribe(struct connection *each) {
  char text[LINE_BYTES];
  size_t used = (size_t)sprintf(text, "{\"action\":\"subscribe\",\"symbols\":");
  for (int i = 0; i < each->series_count; i++)
    used += (size_t)sprintf(text + used, "%c\"%s\"", i == 0 ? '[' : ',', each->series[i].symbol);
  /* All series have a bar, or none has. */
  int has_bars = each->series[0].last != 0;
  used += (size_t)sprintf(text + used, has_bars ? "],\"since\":" : "]");
  for (int i = 0; has_bars && i < each->series_count; i++)
    used += (size_t)sprintf(text + used, "%c\"%s\":%ld", i == 0 ? '{' : ',', each->series[i].symbol, each->series[i].last);
  used += (size_t)sprintf(text + used, has_bars ? "}}" : "}");
  return send_text(each->fd, text, used);
}

/* Opens connections whose time has come, one after the other. */
static void *open_due(void *unused) {
  for (int at; read(orders[0], &at, sizeof at) == sizeof at;) {
    struct connection *each = &connections[at];
    char answer[ANSWER_BYTES];
    each->fd = open_connection(port, each->path, answer);
    each->target = atomic_load(&newest);
    if (each->fd >= 0 && subscribe(each) == 0) {
      struct epoll_event event = {.events = EPOLLIN, .data.ptr = each};
      each->frame.head_read = 0;
      each->settled = 0;
      each->answered = 0;
      each->pinged = now_ns();
      atomic_store(&each->state, OPEN);
      epoll_ctl(poller, EPOLL_CTL_ADD, each->fd, &event);
      continue;
    }
    if (each->fd >= 0) close(each->fd);
    atomic_fetch_add(&refused, 1);
    each->failures++;
    return_later(each);
  }
  return unused;
}

static void note_bar(struct connection *each, const struct frame *frame) {
  const char *symbol = frame->start + sizeof bar_start - 1;
  const char *end = memchr(symbol, '"', SHOWN_BYTES - sizeof bar_start);
  if (end == NULL || memcmp(end, time_start, sizeof time_start - 1) != 0) fail("a bar of another form");
  long time = strtol(end + sizeof time_start - 1, NULL, 10);
  uint64_t hash = hash_of(symbol, (size_t)(end - symbol));
  int i = 0;
  while (i < each->series_count && each->series[i].hash != hash) i++;
  if (i == each->series_count) fail("a bar of another symbol");
  long last = each->series[i].last;
  if (last != 0 && time <= last) twice++;
  else if (last != 0) missed += (time - last) / 60 - 1;
  each->series[i].last = time;
  if (time == atomic_load(&newest) && each->settled != 0 && each->settled < begun)
    add(&live[each->has_returned], now_ns());
}

/* Whether all its series have the minute that was newest when it subscribed. */
static int is_complete(const struct connection *each, long minute) {
  for (int i = 0; i < each->series_count; i++)
    if (each->series[i].last < minute) return 0;
  return 1;
}

static void note_settled(struct connection *each) {
  each->settled = now_ns();
  each->failures = 0;
  if (each->closed == 0) return;
  last_replay = each->settled;
  add(&away, each->settled - each->closed);
  each->closed = 0;
}

/* Returns whether the server closes the connection. */
static int parse(struct connection *each, const unsigned char *bytes, size_t size) {
  while (size > 0) {
    int is_whole;
    size_t used = read_frame(&each->frame, bytes, size, &is_whole);
    bytes += used;
    size -= used;
    if (!is_whole) continue;
    if ((each->frame.head[0] & 15) == 8) return 1;
    if (begins(&each->frame, bar_start)) note_bar(each, &each->frame);
    else if (begins(&each->frame, "{\"type\":\"subscribed\"")) each->answered = 1;
    else if (begins(&each->frame, "{\"type\":\"error\",\"code\":\"GAP\"")) gaps++;
    if (each->settled == 0 && each->answered && is_complete(each, each->target)) note_settled(each);
  }
  return 0;
}

static void read_connection(struct connection *each) {
  ssize_t size = recv(each->fd, buffer, READ_BYTES, MSG_DONTWAIT);
  if (size < 0 && errno == EAGAIN) return;
  if (size > 0 && !parse(each, (unsigned char *)buffer, (size_t)size)) return;
  close(each->fd);
  closes++;
  each->has_returned = 1;
  if (each->closed == 0) each->closed = now_ns();
  return_later(each);
}

/*
 * "BARS P50 P99 MAX BARS P50 P99 MAX RETURNED AWAY50 AWAY99 LAST_REPLAY CLOSES REFUSED GAPS MISSED TWICE BEHIND": bars of the newest
 * minute and quantiles of their arrivals, at connections that were not closed, and at those that had returned and lacked nothing;
 * returns with all bars, quantiles of the time since the close, the last one; closes, failed attempts to open, GAP frames, bars missed
 * and given twice; connections that lack a bar of the newest minute or are not open.
 */
static void report(void) {
  qsort(away.items, away.used, sizeof *away.items, ascending);
  long minute = atomic_load(&newest), behind = 0;
  for (int i = 0; i < count; i++) {
    struct connection *each = &connections[i];
    behind += atomic_load(&each->state) != OPEN || each->settled == 0 || !is_complete(each, minute);
  }
  for (int i = 0; i < 2; i++)
    printf("%zu %lu %lu %lu ", live[i].used, quantile(&live[i], 0.5), quantile(&live[i], 0.99), quantile(&live[i], 1));
  printf("%zu %lu %lu %lu %ld %ld %ld %ld %ld %ld\n", away.used, quantile(&away, 0.5), quantile(&away, 0.99),
         (unsigned long)last_replay, closes, atomic_load(&refused), gaps, missed, twice, behind);
  fflush(stdout);
}

static void obey(const char *order) {
  long minute;
  if (sscanf(order, "minute %ld", &minute) == 1) {
    live[0].used = live[1].used = 0;
    begun = now_ns();
    atomic_store(&newest, minute);
  }
  report();
  if (strcmp(order, "reset") != 0) return;
  for (int i = 0; i < count; i++) connections[i].has_returned = 0;
  away.used = 0;
  last_replay = 0;
  closes = gaps = missed = twice = 0;
  atomic_store(&refused, 0);
}

/* Reads the line at the front of standard input, if all of it is there. */
static void read_order(void) {
  static char line[256];
  static size_t used;
  ssize_t size = read(STDIN_FILENO, line + used, sizeof line - 1 - used);
  if (size <= 0) exit(0);
  used += (size_t)size;
  char *end = memchr(line, '\n', used);
  if (end == NULL) return;
  *end = 0;
  used = 0;
  obey(line);
}

static void read_connection_line(struct connection *each) {
  static char line[LINE_BYTES];
  size_t used = 0;
  /* Not stdio, which would take later lines too: read() reads those. */
  while (used < sizeof line - 1 && read(STDIN_FILENO, line + used, 1) == 1 && line[used] != '\n') used++;
  line[used] = 0;
  each->path = strdup(strtok(line, " "));
  for (char *symbol; (symbol = strtok(NULL, " ")) != NULL; each->series_count++) {
    each->series = realloc(each->series, (size_t)(each->series_count + 1) * sizeof *each->series);
    struct series *series = &each->series[each->series_count];
    *series = (struct series){.hash = hash_of(symbol, strlen(symbol))};
    snprintf(series->symbol, sizeof series->symbol, "%s", symbol);
  }
}

/* Opens what is due and pings what is silent. */
static void tick(void) {
  uint64_t now = now_ns();
  for (int i = 0; i < count; i++) {
    struct connection *each = &connections[i];
    int state = atomic_load(&each->state);
    if (state == WAITING && each->due <= now) {
      atomic_store(&each->state, OPENING);
      if (write(orders[1], &i, sizeof i) != sizeof i) fail("order");
    } else if (state == OPEN && now - each->pinged > 20 * second_ns) {
      each->pinged = now;
      /* A failure is seen by the next read. */
      (void)!send_text(each->fd, "{\"action\":\"ping\"}", 17);
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: returning PORT COUNT\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  port = atoi(argv[1]);
  count = atoi(argv[2]);
  connections = calloc((size_t)count, sizeof *connections);
  buffer = malloc(READ_BYTES);
  poller = epoll_create1(0);
  for (int i = 0; i < count; i++) read_connection_line(&connections[i]);
  if (pipe(orders) < 0) fail("pipe");
  for (int i = 0; i < OPENERS; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, open_due, NULL) != 0) fail("thread");
  }
  struct epoll_event input = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(poller, EPOLL_CTL_ADD, STDIN_FILENO, &input);
  uint64_t ticked = 0;
  for (;;) {
    struct epoll_event events[256];
    int some = epoll_wait(poller, events, 256, TICK_MS);
    for (int i = 0; i < some; i++) {
      if (events[i].data.ptr == NULL) read_order();
      else read_connection(events[i].data.ptr);
    }
    if (now_ns() - ticked < TICK_MS * 1000000u) continue;
    ticked = now_ns();
    tick();
  }
}
