// How commands talk to the person who runs them: on stderr, so that stdout is the result's alone.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

namespace hyperatom::cli {

/// To stderr, which may be full or closed.
void write_error(const std::string& text);

class Console {
 public:
  explicit Console(bool quiet);

  /// What goes on; not with --quiet.
  void say(const std::string& line);
  /// What a user should know before trusting the result; always.
  void warn(const std::string& line);
  /// Every line goes to this file too, with the time; a log that can't be written is done without.
  void log_to(const std::filesystem::path& path);

  bool quiet() const { return quiet_; }
  /// Whether a bar can be drawn.
  bool draws() const { return draws_; }
  /// Replaces the last line on a terminal; empty: clears it.
  void draw(const std::string& line);

 private:
  void write(const std::string& line, bool shown);

  bool quiet_;
  bool draws_;
  std::ofstream log_;
};

/// A bar with rate and time left on a terminal, a line per tenth elsewhere; nothing in the first
/// two seconds, so that quick work is quiet.
class Progress {
 public:
  /// `unit`: what is counted, in the plural.
  Progress(Console& console, std::string what, double total, std::string unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(double done, const std::string& details = {});

 private:
  using Clock = std::chrono::steady_clock;

  Console& console_;
  std::string what_;
  double total_;
  std::string unit_;
  Clock::time_point start_, drawn_;
  int tenth_ = 0;
};

}  // namespace hyperatom::cli
