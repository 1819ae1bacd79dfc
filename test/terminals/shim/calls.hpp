// Calls to the test process: a line on standard output, the answer on standard input. With FXD_MARKET the header of that
// name answers them.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <unistd.h>
#include <vector>
#include "language.hpp"

inline std::string escaped(const std::string &text) {
  std::string out;
  for (char each : text) {
    if (each == '\\') out += "\\\\";
    else if (each == '\t') out += "\\t";
    else if (each == '\n') out += "\\n";
    else if (each == '\r') out += "\\r";
    else out += each;
  }
  return out;
}

inline std::string plain(const std::string &text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != '\\' || i + 1 == text.size()) out += text[i];
    else {
      char next = text[++i];
      out += next == 't' ? '\t' : next == 'n' ? '\n' : next == 'r' ? '\r' : next;
    }
  }
  return out;
}

/** The fields of the next line. At the end of the input the program ends at once. */
inline std::vector<std::string> readFields() {
  static char *line = nullptr;
  static size_t room = 0;
  ssize_t length = getline(&line, &room, stdin);
  if (length < 0) _exit(0);
  if (length > 0 && line[length - 1] == '\n') length--;
  std::vector<std::string> fields(1);
  for (ssize_t i = 0; i < length; i++) {
    if (line[i] == '\t') fields.emplace_back();
    else fields.back() += line[i];
  }
  for (std::string &field : fields) field = plain(field);
  return fields;
}

inline int lastError = 0;
inline int GetLastError() { return lastError; }
inline void ResetLastError() { lastError = 0; }

struct Reply {
  std::string text;
  std::vector<std::vector<std::string>> lines;
  long number() const { return std::strtol(text.c_str(), nullptr, 10); }
};

#ifdef FXD_MARKET
#include FXD_MARKET
#else
inline Reply call(const char *name, std::initializer_list<std::string> args = {}) {
  std::string line = name;
  for (const std::string &arg : args) line += '\t' + escaped(arg);
  line += '\n';
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fflush(stdout) != 0) _exit(0);
  std::vector<std::string> fields = readFields();
  if (fields.size() < 2) fail("an answer of the test process has no result");
  int error = std::atoi(fields[0].c_str());
  if (error != 0) lastError = error;
  Reply reply{fields[1], {}};
  int count = fields.size() > 2 ? std::atoi(fields[2].c_str()) : 0;
  for (int i = 0; i < count; i++) reply.lines.push_back(readFields());
  return reply;
}
#endif
