// A terminal that answers its program within the same process, in real time: a call of a real terminal takes
// microseconds, one to a test process takes more. Inputs come from the environment, as do `Symbols` (their number) and
// `First` (time of the oldest bar). The broker's clock is UTC. Each symbol ticks once a second, at its own millisecond.
#pragma once
#include <string_view>

inline const char *settingOf(const char *name) {
  const char *text = std::getenv(name);
  return text == nullptr ? "" : text;
}

class Market {
  static constexpr long minute = 60;
  const long symbols = std::atol(settingOf("Symbols"));
  const long first = std::atol(settingOf("First"));

  static long microseconds(clockid_t clock) {
    timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000L + time.tv_nsec / 1000;
  }
  static long now() { return microseconds(CLOCK_REALTIME) / 1000000; }

  static std::string nameOf(long at) {
    char text[32];
    std::snprintf(text, sizeof text, "T%04ld_CFD.US", at);
    return text;
  }
  static long placeOf(const std::string &raw) { return std::atol(raw.c_str() + 1); }

  static long tickOf(long at) {
    long ms = microseconds(CLOCK_REALTIME) / 1000;
    return ms / 1000 - (ms % 1000 < at * 997 % 1000 ? 1 : 0);
  }

  static std::string price(long points) {
    char text[32];
    std::snprintf(text, sizeof text, "%ld.%05ld", points / 100000, points % 100000);
    return text;
  }

  /** The bar that opens at this time, as it is after its last tick. */
  static std::vector<std::string> barAt(long at, long time, long tick) {
    long ticks = std::min(tick - time + 1, minute);
    long open = 100000 + (at * 31 + time / minute) % 7919;
    return {std::to_string(time), price(open), price(open + 70), price(open - 5),
            price(open + ticks),  std::to_string(ticks), "1", "0"};
  }

  Reply bars(const std::string &raw, const char *frame, long from, long to) const {
    if (std::string_view(frame) != "M1") {
      lastError = 4401;
      return {"-1", {}};
    }
    long at = placeOf(raw), tick = tickOf(at);
    Reply reply;
    long start = (std::max(from, first) + minute - 1) / minute * minute;
    for (long time = start; time <= std::min(to, tick); time += minute) reply.lines.push_back(barAt(at, time, tick));
    reply.text = std::to_string(reply.lines.size());
    return reply;
  }

  Reply ticks() const {
    Reply reply{std::to_string(symbols), {}};
    for (long at = 0; at < symbols; at++) reply.lines.push_back({nameOf(at), std::to_string(tickOf(at))});
    return reply;
  }

  static std::string propertyOf(const std::string &name) {
    if (name == "CONNECTED") return "1";
    if (name == "MAXBARS") return "100000000";
    if (name == "MEMORY_USED") return "300";
    return name == "BUILD" ? "5000" : "16000";
  }

  std::string series(const std::string &property) const {
    if (property == "SYNCHRONIZED") return "1";
    return std::to_string(property == "BARS_COUNT" ? (now() - first) / minute : first);
  }

public:
  Reply answer(std::string_view name, const std::vector<std::string> &args) const {
    auto whole = [&](int at) { return std::atol(args.at(at).c_str()); };
    if (name == "GetMicrosecondCount") return {std::to_string(microseconds(CLOCK_MONOTONIC)), {}};
    if (name == "CopyRates") return bars(args.at(0), args.at(1).c_str(), whole(2), whole(3));
    if (name == "CopyLast") {
      long tick = tickOf(placeOf(args.at(0)));
      return bars(args.at(0), args.at(1).c_str(), tick - tick % minute, tick);
    }
    if (name == "SymbolTimes") return ticks();
    if (name == "SeriesInfoInteger") return {series(args.at(2)), {}};
    if (name == "TerminalInfoInteger") return {propertyOf(args.at(0)), {}};
    if (name == "TimeCurrent" || name == "TimeTradeServer" || name == "TimeGMT") return {std::to_string(now()), {}};
    if (name == "Sleep") usleep(whole(0) * 1000);
    if (name == "Input") return {settingOf(args.at(0).c_str()), {}};
    if (name == "Print") std::fprintf(stderr, "%s\n", args.at(0).c_str());
    if (name == "SymbolsTotal") return {std::to_string(symbols), {}};
    if (name == "SymbolName") return {nameOf(whole(0)), {}};
    if (name == "SymbolSelect") return {"1", {}};
    if (name == "SymbolInfoInteger") return {"5", {}};
    if (name == "SymbolInfoString") return {args.at(1) == "PATH" ? "Crypto\\" + args.at(0) : "A symbol", {}};
    if (name == "AccountInfoInteger") return {"4711", {}};
    if (name == "AccountInfoString") return {args.at(0) == "SERVER" ? "Zero-Live" : "Zero Ltd", {}};
    return {"0", {}};
  }
};

inline Reply call(const char *name, std::initializer_list<std::string> args = {}) {
  static const Market market;
  return market.answer(name, args);
}
