// One HTTP/1.1 request over a socket, with the errors of WebRequest: 5200 address, 5201 connect, 5202 timeout, 5203 failed.
#pragma once
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <netinet/tcp.h>
#include <string>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

struct WebAnswer {
  int error;
  int status;
  std::string headers;
  std::string body;
};

/** What the test wants of a request. */
enum WebFault { webNone, webLoseAnswer, webBreakOff };

inline int webConnect(const std::string &host, int port, int timeoutMs) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct timeval limit = {timeoutMs / 1000, (timeoutMs % 1000) * 1000};
  int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  inet_pton(AF_INET, host.c_str(), &to.sin_addr);
  if (connect(fd, reinterpret_cast<struct sockaddr *>(&to), sizeof to) == 0) return fd;
  close(fd);
  return -1;
}

inline bool webSend(int fd, const std::string &text) {
  for (size_t sent = 0; sent < text.size();) {
    ssize_t more = send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (more <= 0) return false;
    sent += more;
  }
  return true;
}

/** The value of a header; empty: it is absent. */
inline std::string webHeader(const std::string &headers, const std::string &name) {
  for (size_t at = headers.find("\r\n"); at != std::string::npos; at = headers.find("\r\n", at + 2)) {
    const char *line = headers.c_str() + at + 2;
    if (strncasecmp(line, (name + ":").c_str(), name.size() + 1) != 0) continue;
    size_t from = at + 2 + name.size() + 1;
    return headers.substr(from, headers.find("\r\n", from) - from);
  }
  return "";
}

inline WebAnswer webRead(int fd) {
  std::string text;
  char part[65536];
  for (;;) {
    ssize_t more = recv(fd, part, sizeof part, 0);
    if (more < 0) return {errno == EAGAIN ? 5202 : 5203, 0, "", ""};
    if (more > 0) text.append(part, more);
    size_t end = text.find("\r\n\r\n");
    std::string headers = text.substr(0, end == std::string::npos ? 0 : end + 2);
    std::string length = webHeader(headers, "Content-Length");
    size_t wanted = end + 4 + std::strtoul(length.c_str(), nullptr, 10);
    bool isWhole = end != std::string::npos && (length == "" ? more == 0 : text.size() >= wanted);
    if (isWhole) return {0, std::atoi(text.c_str() + 9), headers, text.substr(end + 4)};
    if (more == 0) return {5203, 0, "", ""};
  }
}

inline WebAnswer webRequest(const std::string &method, const std::string &url, const std::string &headers,
                            int timeoutMs, const std::string &body, int fault) {
  const std::string scheme = "http://";
  size_t slash = url.find('/', scheme.size());
  size_t colon = url.find(':', scheme.size());
  if (url.compare(0, scheme.size(), scheme) != 0 || slash == std::string::npos || colon > slash)
    return {5200, 0, "", ""};
  std::string host = url.substr(scheme.size(), colon - scheme.size());
  int fd = webConnect(host, std::atoi(url.c_str() + colon + 1), timeoutMs);
  if (fd < 0) return {5201, 0, "", ""};
  std::string request = method + " " + url.substr(slash) + " HTTP/1.1\r\nHost: " +
                        url.substr(scheme.size(), slash - scheme.size()) + "\r\nConnection: close\r\n" +
                        headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  if (fault == webBreakOff) request.resize(request.size() - body.size() / 2);
  WebAnswer answer = {5203, 0, "", ""};
  if (webSend(fd, request) && fault != webBreakOff) answer = webRead(fd);
  close(fd);
  return fault == webNone ? answer : WebAnswer{5203, 0, "", ""};
}
