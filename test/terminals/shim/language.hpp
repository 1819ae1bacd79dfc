// The part of MQL that C++ has not: string, dynamic arrays, conversions. Texts are UTF-8.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long long datetime;

#define input
#define WHOLE_ARRAY (-1)
#define CP_UTF8 65001

[[noreturn]] inline void fail(const char *what) {
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

struct string {
  std::string text;
  string() {}
  string(const char *from) : text(from) {}
  string(std::string from) : text(std::move(from)) {}
  string &operator+=(const string &more) {
    text += more.text;
    return *this;
  }
  bool operator==(const string &other) const { return text == other.text; }
  bool operator!=(const string &other) const { return text != other.text; }
};
inline string operator+(const string &a, const string &b) { return string(a.text + b.text); }

/** Leaves new elements unset, as MQL does: each byte of a number is 0xCD. */
template <typename T> struct UnsetAllocator : std::allocator<T> {
  template <typename U> struct rebind {
    typedef UnsetAllocator<U> other;
  };
  template <typename U> void construct(U *at) {
    std::memset(static_cast<void *>(at), 0xCD, sizeof(U));
    ::new (static_cast<void *>(at)) U;
  }
  template <typename U, typename From> void construct(U *at, From &&from) {
    ::new (static_cast<void *>(at)) U(std::forward<From>(from));
  }
};

/** An array whose indexes are checked, as in MQL. It is passed by reference only. */
template <typename T> class Array {
  std::vector<T, UnsetAllocator<T>> elements_;

public:
  Array() {}
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;

  int size() const { return static_cast<int>(elements_.size()); }
  T &operator[](int at) {
    if (at < 0 || at >= size()) fail("array out of range");
    return elements_[at];
  }
  const T &operator[](int at) const { return const_cast<Array &>(*this)[at]; }
  void resize(int size, int reserve) {
    if (size < 0) fail("ArrayResize: negative size");
    if (static_cast<size_t>(size) > elements_.capacity()) elements_.reserve(size + reserve);
    elements_.resize(size);
  }
};

template <typename T> int ArraySize(const Array<T> &array) { return array.size(); }
template <typename T> int ArrayResize(Array<T> &array, int size, int reserve = 0) {
  array.resize(size, reserve);
  return size;
}

template <typename T> T MathMin(T a, T b) { return a < b ? a : b; }
template <typename T> T MathMax(T a, T b) { return a > b ? a : b; }

inline string IntegerToString(long number) { return std::to_string(number); }
inline long StringToInteger(const string &text) { return std::strtol(text.text.c_str(), nullptr, 10); }
inline string DoubleToString(double number, int digits) {
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", digits, number);
  return text;
}

inline int StringLen(const string &text) { return static_cast<int>(text.text.size()); }
inline int StringFind(const string &text, const string &part) {
  size_t at = text.text.find(part.text);
  return at == std::string::npos ? -1 : static_cast<int>(at);
}
inline ushort StringGetCharacter(const string &text, int at) {
  if (at < 0 || at >= StringLen(text)) return 0;
  return static_cast<uchar>(text.text[at]);
}
/** Never cuts a character of several bytes. */
inline string StringSubstr(const string &text, int from, int length) {
  size_t end = from + static_cast<size_t>(length);
  if (end > text.text.size()) end = text.text.size();
  while (end > 0 && end < text.text.size() && (text.text[end] & 0xC0) == 0x80) end--;
  return from >= static_cast<int>(end) ? string() : string(text.text.substr(from, end - from));
}
inline int StringReplace(string &text, const string &part, const string &by) {
  int count = 0;
  for (size_t at = 0; (at = text.text.find(part.text, at)) != std::string::npos; at += by.text.size(), count++)
    text.text.replace(at, part.text.size(), by.text);
  return count;
}
inline int StringSplit(const string &text, ushort separator, Array<string> &parts) {
  ArrayResize(parts, 0);
  for (size_t from = 0;;) {
    size_t end = text.text.find(static_cast<char>(separator), from);
    ArrayResize(parts, ArraySize(parts) + 1, 64);
    parts[ArraySize(parts) - 1] = text.text.substr(from, end == std::string::npos ? end : end - from);
    if (end == std::string::npos) return ArraySize(parts);
    from = end + 1;
  }
}
/** With a zero at its end, as in MQL. */
template <typename T>
int StringToCharArray(const string &text, Array<T> &bytes, int from, int count, uint page) {
  if (from != 0 || count != WHOLE_ARRAY || page != CP_UTF8) fail("StringToCharArray: not in the subset");
  ArrayResize(bytes, StringLen(text) + 1);
  for (int i = 0; i <= StringLen(text); i++) bytes[i] = static_cast<T>(text.text.c_str()[i]);
  return StringLen(text) + 1;
}
template <typename T> string CharArrayToString(const Array<T> &bytes, int from, int count, uint page) {
  if (from != 0 || count != WHOLE_ARRAY || page != CP_UTF8) fail("CharArrayToString: not in the subset");
  std::string text;
  for (int i = 0; i < ArraySize(bytes) && bytes[i] != 0; i++) text += static_cast<char>(bytes[i]);
  return text;
}

struct MqlDateTime {
  int year, mon, day, hour, min, sec, day_of_week, day_of_year;
};
inline bool TimeToStruct(datetime time, MqlDateTime &into) {
  time_t seconds = time;
  struct tm parts;
  gmtime_r(&seconds, &parts);
  into = {parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
          parts.tm_sec,         parts.tm_wday,    parts.tm_yday};
  return true;
}
