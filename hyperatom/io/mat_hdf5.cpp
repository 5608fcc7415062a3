#include "hyperatom/io/mat_hdf5.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "hyperatom/base/safetensors.hpp"
#include "hyperatom/io/array_layout.hpp"
#include "hyperatom/io/data_error.hpp"
#include "hyperatom/io/descriptor.hpp"

namespace hyperatom {
namespace {

constexpr std::uint32_t max_text = 4096;
constexpr std::uint32_t max_variables = 10000;
constexpr std::uint32_t max_dimensions = 32;

std::string reason(int error) { return std::system_category().message(error); }

std::filesystem::path helper_program(const std::string& path) {
  if (const char* named = std::getenv("HYPERATOM_MAT73"); named != nullptr && *named != '\0')
    return named;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto helper = self.parent_path() / "hyperatom-mat73";
  if (!error && access(helper.c_str(), X_OK) == 0) return helper;
  throw IoError(fmt::format(
      "{}: MATLAB 7.3 files are read by the program hyperatom-mat73, expected in {} or where the "
      "environment variable HYPERATOM_MAT73 says",
      path, self.parent_path().string()));
}

/// What posix_spawn is told: which descriptors and signals the helper gets.
class SpawnPlan {
 public:
  SpawnPlan(int input, int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  /// The new process; its environment has nothing that could turn libhdf5's head.
  pid_t start(const std::filesystem::path& program, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), program.string());
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::string locking = "HDF5_USE_FILE_LOCKING=FALSE", libraries = "LD_LIBRARY_PATH=";
    if (const char* folders = std::getenv("LD_LIBRARY_PATH")) libraries += folders;
    std::array<char*, 3> environment = {locking.data(), libraries.data(), nullptr};
    pid_t process = 0;
    const int error = posix_spawn(&process, program.c_str(), &actions_, &attributes_, argv.data(),
                                  environment.data());
    if (error != 0)
      throw IoError(fmt::format("{}: can't be started: {}", program.string(), reason(error)));
    return process;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// A running helper and its answer. Ends the helper when it is destroyed.
class Helper {
 public:
  Helper(const std::filesystem::path& path, const std::vector<std::string>& arguments)
      : path_(path.string()) {
    const Descriptor input(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (input.get() < 0) fail(path_, "can't be read: {}", reason(errno));
    std::array<int, 2> ends;
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw IoError(fmt::format("{}: no pipe: {}", path_, reason(errno)));
    output_.reset(ends[0]);
    const Descriptor answer(ends[1]);
    process_ = SpawnPlan(input.get(), answer.get()).start(helper_program(path_), arguments);
  }
  ~Helper() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      wait();
    }
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  const std::string& path() const { return path_; }

  void read(std::span<std::byte> to) {
    while (!to.empty()) {
      const ssize_t n = ::read(output_.get(), to.data(), to.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) failed(how_it_ended());
      to = to.subspan(static_cast<size_t>(n));
    }
  }
  template <class T>
  T number() {
    T value{};
    read(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  std::uint32_t count(std::uint32_t limit) {
    const auto n = number<std::uint32_t>();
    if (n > limit) failed(fmt::format("it gave a count of {}", n));
    return n;
  }
  std::string text() {
    std::string value(count(max_text), '\0');
    read(std::as_writable_bytes(std::span(value)));
    return value;
  }
  std::vector<Index> shape() {
    std::vector<Index> lengths(count(max_dimensions));
    for (Index& n : lengths) {
      n = static_cast<Index>(number<std::uint64_t>());
      if (n < 0) failed("it gave an absurd shape");
    }
    return lengths;
  }
  /// The kind of the answer; a refusal of the helper's becomes an error.
  void expect(std::uint8_t kind) {
    const auto found = number<std::uint8_t>();
    if (found == 0) fail(path_, "{}", text());
    if (found != kind) failed("it gave no proper answer");
  }

  [[noreturn]] void failed(const std::string& what) const {
    fail(path_, "the MATLAB 7.3 reader failed: {}", what);
  }

 private:
  int wait() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    return status;
  }

  std::string how_it_ended() {
    const int status = wait();
    if (!WIFSIGNALED(status)) return "the file is damaged or too large";
    const char* signal = sigdescr_np(WTERMSIG(status));
    return fmt::format("it was ended by signal {} ({})", WTERMSIG(status),
                       signal != nullptr ? signal : "unknown");
  }

  std::string path_;
  Descriptor output_;
  pid_t process_ = 0;
};

}  // namespace

std::vector<ArrayInfo> list_mat73(const std::filesystem::path& path) {
  Helper helper(path, {"list"});
  helper.expect(1);
  std::vector<ArrayInfo> infos(helper.count(max_variables));
  for (ArrayInfo& info : infos) {
    info.name = helper.text();
    info.type = helper.text();
    info.numeric = helper.number<std::uint8_t>() == 1;
    info.shape = helper.shape();
  }
  return infos;
}

NumericArray read_mat73(const std::filesystem::path& path, const std::string& variable) {
  if (variable.empty() || variable.find_first_of(std::string_view("/\0", 2)) != std::string::npos)
    fail(path.string(), "found no variable {}", in_quotes(variable));
  Helper helper(path, {"read", variable});
  helper.expect(2);
  NumericArray array;
  array.info.name = variable;
  array.info.type = helper.text();
  array.info.numeric = true;
  const auto element = helper.number<std::uint8_t>();
  if (element > static_cast<std::uint8_t>(Element::f64)) helper.failed("it gave an unknown type");
  array.element = static_cast<Element>(element);
  const bool reversed = helper.number<std::uint8_t>() == 1;
  array.info.shape = helper.shape();
  const auto bytes = byte_count(array.info.shape, array.element);
  if (!bytes || *bytes > std::filesystem::file_size(path) * largest_deflate_ratio)
    helper.failed("it gave an absurd shape");
  array.strides =
      strides_of(array.info.shape, reversed ? Order::first_fastest : Order::last_fastest);
  array.values.resize(*bytes);
  helper.read(array.values);
  return array;
}

}  // namespace hyperatom
