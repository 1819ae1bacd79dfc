// The terminal's functions. Without FXD_MT4 they are those of MetaTrader 5.
#pragma once
#include <map>
#include "calls.hpp"
#include "web-request.hpp"

#ifdef FXD_MT4
#define __MQL4__
#else
#define __MQL5__
#endif

/** A named property, distinct by the function that reads it. */
template <int Kind> struct Property {
  const char *name;
};
typedef Property<1> ENUM_SYMBOL_INFO_INTEGER;
typedef Property<2> ENUM_SYMBOL_INFO_STRING;
typedef Property<3> ENUM_SERIES_INFO_INTEGER;
typedef Property<4> ENUM_TERMINAL_INFO_INTEGER;
typedef Property<5> ENUM_ACCOUNT_INFO_INTEGER;
typedef Property<6> ENUM_ACCOUNT_INFO_STRING;

inline const ENUM_SYMBOL_INFO_INTEGER SYMBOL_TIME{"TIME"}, SYMBOL_DIGITS{"DIGITS"};
inline const ENUM_SYMBOL_INFO_STRING SYMBOL_PATH{"PATH"}, SYMBOL_DESCRIPTION{"DESCRIPTION"};
inline const ENUM_SERIES_INFO_INTEGER SERIES_FIRSTDATE{"FIRSTDATE"}, SERIES_BARS_COUNT{"BARS_COUNT"},
    SERIES_SERVER_FIRSTDATE{"SERVER_FIRSTDATE"};
inline const ENUM_TERMINAL_INFO_INTEGER TERMINAL_CONNECTED{"CONNECTED"}, TERMINAL_BUILD{"BUILD"},
    TERMINAL_MAXBARS{"MAXBARS"}, TERMINAL_MEMORY_USED{"MEMORY_USED"},
    TERMINAL_MEMORY_PHYSICAL{"MEMORY_PHYSICAL"};
inline const ENUM_ACCOUNT_INFO_INTEGER ACCOUNT_LOGIN{"LOGIN"};
inline const ENUM_ACCOUNT_INFO_STRING ACCOUNT_SERVER{"SERVER"}, ACCOUNT_COMPANY{"COMPANY"};

enum ENUM_TIMEFRAMES {
  PERIOD_CURRENT,
  PERIOD_M1,
  PERIOD_M5,
  PERIOD_M15,
  PERIOD_H1,
  PERIOD_H4,
  PERIOD_D1,
  PERIOD_W1,
  PERIOD_MN1,
#ifndef FXD_MT4
  PERIOD_M10,
  PERIOD_H2,
#endif
};
inline const char *nameOf(ENUM_TIMEFRAMES frame) {
  static const char *names[] = {"CURRENT", "M1", "M5", "M15", "H1", "H4", "D1", "W1", "MN1", "M10", "H2"};
  return names[frame];
}

struct MqlRates {
  datetime time;
  double open, high, low, close;
  long tick_volume;
  int spread;
  long real_volume;
};

inline const char *flag(bool is) { return is ? "1" : "0"; }

inline int SymbolsTotal(bool selected) { return call("SymbolsTotal", {flag(selected)}).number(); }
inline string SymbolName(int at, bool selected) {
  return call("SymbolName", {std::to_string(at), flag(selected)}).text;
}
inline bool SymbolSelect(const string &raw, bool select) {
  return call("SymbolSelect", {raw.text, flag(select)}).number() != 0;
}

/** Last ticks by raw name, valid until time passes. */
inline std::map<std::string, long> lastTicks;
inline bool areTicksRead = false;
inline void timePassed() { areTicksRead = false; }

inline long SymbolInfoInteger(const string &raw, ENUM_SYMBOL_INFO_INTEGER property) {
  if (property.name != SYMBOL_TIME.name)
    return call("SymbolInfoInteger", {raw.text, property.name}).number();
  if (!areTicksRead) {
    lastTicks.clear();
    for (const auto &line : call("SymbolTimes").lines)
      lastTicks[line.at(0)] = std::strtol(line.at(1).c_str(), nullptr, 10);
    areTicksRead = true;
  }
  auto found = lastTicks.find(raw.text);
  if (found != lastTicks.end()) return found->second;
#ifdef FXD_MT4
  lastError = 4106;
#else
  lastError = 4302;
#endif
  return 0;
}
inline string SymbolInfoString(const string &raw, ENUM_SYMBOL_INFO_STRING property) {
  return call("SymbolInfoString", {raw.text, property.name}).text;
}
inline long SeriesInfoInteger(const string &raw, ENUM_TIMEFRAMES frame, ENUM_SERIES_INFO_INTEGER property) {
  return call("SeriesInfoInteger", {raw.text, nameOf(frame), property.name}).number();
}

inline int takeRates(const Reply &reply, Array<MqlRates> &rates) {
  ArrayResize(rates, static_cast<int>(reply.lines.size()));
  for (int i = 0; i < ArraySize(rates); i++) {
    const auto &line = reply.lines[i];
    auto real = [&](int at) { return std::strtod(line.at(at).c_str(), nullptr); };
    auto whole = [&](int at) { return std::strtol(line.at(at).c_str(), nullptr, 10); };
    rates[i] = {whole(0), real(1), real(2), real(3), real(4), whole(5), static_cast<int>(whole(6)), whole(7)};
  }
  return reply.number();
}
inline int CopyRates(const string &raw, ENUM_TIMEFRAMES frame, datetime from, datetime to, Array<MqlRates> &rates) {
  return takeRates(call("CopyRates", {raw.text, nameOf(frame), std::to_string(from), std::to_string(to)}), rates);
}
inline int CopyRates(const string &raw, ENUM_TIMEFRAMES frame, int at, int count, Array<MqlRates> &rates) {
  return takeRates(call("CopyLast", {raw.text, nameOf(frame), std::to_string(at), std::to_string(count)}), rates);
}

inline int TerminalInfoInteger(ENUM_TERMINAL_INFO_INTEGER property) {
  return call("TerminalInfoInteger", {property.name}).number();
}
inline long AccountInfoInteger(ENUM_ACCOUNT_INFO_INTEGER property) {
  return call("AccountInfoInteger", {property.name}).number();
}
inline string AccountInfoString(ENUM_ACCOUNT_INFO_STRING property) {
  return call("AccountInfoString", {property.name}).text;
}

inline datetime TimeCurrent() { return call("TimeCurrent").number(); }
inline datetime TimeGMT() { return call("TimeGMT").number(); }
inline ulong GetMicrosecondCount() { return call("GetMicrosecondCount").number(); }
inline bool IsStopped() { return call("IsStopped").number() != 0; }
inline void Sleep(int ms) {
  call("Sleep", {std::to_string(ms)});
  timePassed();
}
inline void Print(const string &text) { call("Print", {text.text}); }

/** FNV-1a instead of SHA-256: a test needs only that other texts get other digests. */
enum ENUM_CRYPT_METHOD { CRYPT_HASH_SHA256 };
inline int CryptEncode(ENUM_CRYPT_METHOD, const Array<uchar> &data, const Array<uchar> &, Array<uchar> &result) {
  ArrayResize(result, 32);
  for (int i = 0; i < 32; i++) {
    uint64_t hash = 14695981039346656037ull + i;
    for (int at = 0; at < ArraySize(data); at++) hash = (hash ^ data[at]) * 1099511628211ull;
    result[i] = static_cast<uchar>(hash >> 32);
  }
  return 32;
}

inline int WebRequest(const string &method, const string &url, const string &headers, int timeoutMs,
                      const Array<char> &data, Array<char> &result, string &resultHeaders) {
  std::string body;
  for (int i = 0; i < ArraySize(data); i++) body += data[i];
  Reply reply =
      call("WebRequest", {method.text, url.text, std::to_string(timeoutMs), std::to_string(body.size())});
  timePassed();
  if (reply.text == "" || lastError != 0) return -1;
  WebAnswer answer = webRequest(method.text, url.text, headers.text, timeoutMs, body, reply.number());
  if (answer.error != 0) {
    lastError = answer.error;
    return -1;
  }
  call("WebAnswered", {std::to_string(answer.status), std::to_string(answer.body.size())});
  ArrayResize(result, static_cast<int>(answer.body.size()));
  for (int i = 0; i < ArraySize(result); i++) result[i] = answer.body[i];
  resultHeaders = answer.headers;
  return answer.status;
}

inline std::string inputOf(const char *name) { return call("Input", {name}).text; }

#ifdef FXD_MT4
enum { INIT_SUCCEEDED, INIT_PARAMETERS_INCORRECT };
inline int timerMs = 0;
inline bool EventSetMillisecondTimer(int ms) {
  timerMs = ms;
  return true;
}
inline void EventKillTimer() { timerMs = 0; }
#else
inline const ENUM_SERIES_INFO_INTEGER SERIES_SYNCHRONIZED{"SYNCHRONIZED"};
inline datetime TimeTradeServer() { return call("TimeTradeServer").number(); }
#endif
