#include "apps/hyperatom/console.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace hyperatom::cli {
namespace {

using namespace std::chrono_literals;

std::string minutes(double seconds) {
  const auto whole = static_cast<long>(std::min(seconds, 1e6) + 0.5);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string short_number(double value) {
  for (const char* suffix : {"", " k", " M"}) {
    if (value < 1000) return fmt::format("{:.3g}{}", value, suffix);
    value /= 1000;
  }
  return fmt::format("{:.3g} G", value);
}

}  // namespace

void write_error(const std::string& text) {
  std::fputs(text.c_str(), stderr);  // if that fails, there is nobody left to tell
}

Console::Console(bool quiet) : quiet_(quiet), draws_(!quiet && isatty(STDERR_FILENO) == 1) {}

void Console::say(const std::string& line) { write(line, !quiet_); }

void Console::warn(const std::string& line) { write("warning: " + line, true); }

void Console::log_to(const std::filesystem::path& path) { log_.open(path, std::ios::app); }

void Console::draw(const std::string& line) {
  if (draws_) write_error("\r\033[K" + line);
}

void Console::write(const std::string& line, bool shown) {
  if (shown) {
    draw("");
    write_error(line + "\n");
  }
  if (log_.is_open())
    log_ << fmt::format("{:%Y-%m-%dT%H:%M:%SZ} {}\n", fmt::gmtime(std::time(nullptr)), line)
         << std::flush;
}

Progress::Progress(Console& console, std::string what, double total, std::string unit)
    : console_(console),
      what_(std::move(what)),
      total_(total),
      unit_(std::move(unit)),
      start_(Clock::now()),
      drawn_(start_) {}

Progress::~Progress() { console_.draw(""); }

void Progress::update(double done, const std::string& details) {
  const auto now = Clock::now();
  const bool due = console_.draws() ? now - drawn_ > 100ms : 10 * done / total_ >= tenth_ + 1;
  if (console_.quiet() || now - start_ < 2s || done <= 0 || done >= total_ || !due) return;
  drawn_ = now;
  tenth_ = static_cast<int>(10 * done / total_);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double share = done / total_;
  std::string line =
      fmt::format("{:.0f} %  {} {}/s  ETA {}", 100 * share, short_number(done / seconds), unit_,
                  minutes(seconds / share - seconds));
  if (!details.empty()) line += "  " + details;
  if (!console_.draws()) {
    console_.say(fmt::format("{}: {}", what_, line));
    return;
  }
  constexpr int width = 24;
  const auto filled = static_cast<size_t>(share * width);
  console_.draw(fmt::format("{} [{}{}] {}", what_, std::string(filled, '#'),
                            std::string(width - filled, '.'), line));
}

}  // namespace hyperatom::cli
