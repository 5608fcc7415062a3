#include "hyperatom/base/atomic_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "hyperatom/base/error.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom::test {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

void write_whole(const fs::path& path, const std::string& content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

TEST(AtomicFile, WritesANewFile) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "a");
  file.write(std::string("one "));
  file.write(std::string());
  file.write(std::string("two"));
  EXPECT_FALSE(fs::exists(folder / "a"));
  file.commit();
  EXPECT_EQ(read_file(folder / "a"), "one two");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, ReplacesAFile) {
  const TemporaryFolder folder;
  write_file(folder / "a", "old and long");
  AtomicFile file(folder / "a");
  file.write(std::string("new"));
  EXPECT_EQ(read_file(folder / "a"), "old and long");
  file.commit();
  EXPECT_EQ(read_file(folder / "a"), "new");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, WithoutCommitNothingHappened) {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  {
    AtomicFile file(folder / "a");
    file.write(std::string("new"));
    EXPECT_EQ(folder.names().size(), 2u);
  }
  EXPECT_EQ(read_file(folder / "a"), "old");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, ReplacesALinkAndLeavesItsTarget) {
  const TemporaryFolder folder;
  write_file(folder / "target", "old");
  fs::create_symlink(folder / "target", folder / "link");
  fs::create_symlink(folder / "nowhere", folder / "dangling");
  write_whole(folder / "link", "new");
  write_whole(folder / "dangling", "new");
  EXPECT_EQ(read_file(folder / "target"), "old");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder / "link")));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder / "dangling")));
  EXPECT_EQ(folder.names(), (Names{"target", "link", "dangling"}));
}

TEST(AtomicFile, HasThePermissionsOfANewFile) {
  const TemporaryFolder folder;
  for (const mode_t mask : {0022u, 0077u, 0000u}) {
    const mode_t before = umask(mask);
    write_whole(folder / "a", "x");
    umask(before);
    struct stat status {};
    ASSERT_EQ(stat((folder / "a").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
  }
}

TEST(AtomicFile, NeedsNoFolderInThePath) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_whole("a", "x");
  fs::current_path(before);
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, AllowsTheLongestName) {
  const TemporaryFolder folder;
  const std::string name(255, 'a');
  write_whole(folder / name, "x");
  EXPECT_EQ(folder.names(), Names{name});
}

TEST(AtomicFile, LeavesTheTemporariesOfOthers) {
  const TemporaryFolder folder;
  Names names;
  for (int i = 0; i < 1000; ++i)  // more than this program has made so far
    names.insert(fmt::format(".hyperatom-{}-{}.tmp", getpid(), i));
  for (const std::string& name : names) write_file(folder / name, "other");
  write_whole(folder / "a", "new");
  for (const std::string& name : names) EXPECT_EQ(read_file(folder / name), "other");
  names.insert("a");
  EXPECT_EQ(folder.names(), names);
}

TEST(AtomicFile, RefusesAFolderThatDoesNotExist) {
  const TemporaryFolder folder;
  const fs::path path = folder / "no" / "a";
  EXPECT_EQ(thrown<IoError>([&] { AtomicFile file(path); }),
            path.string() + ": can't be written: No such file or directory");
  EXPECT_EQ(folder.names(), Names{});
}

TEST(AtomicFile, RefusesWhatIsNoFile) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "folder");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(thrown<IoError>([&] { AtomicFile file(folder / "folder"); }),
            (folder / "folder").string() + ": can't be written: Is a directory");
  EXPECT_EQ(thrown<IoError>([&] { AtomicFile file(folder / "pipe"); }),
            (folder / "pipe").string() + ": can't be written: it exists and is not a regular file");
  EXPECT_EQ(folder.names(), (Names{"folder", "pipe"}));
}

TEST(AtomicFile, FailedRenameLeavesNoTemporary) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "a");
  file.write(std::string("x"));
  fs::create_directory(folder / "a");
  EXPECT_EQ(thrown<IoError>([&] { file.commit(); }),
            (folder / "a").string() + ": can't be written: Is a directory");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, CanNotBeUsedAfterItsEnd) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "a");
  file.write(std::string("x"));
  file.commit();
  EXPECT_THROW(file.write(std::string("y")), IoError);
  EXPECT_THROW(file.commit(), IoError);
  EXPECT_EQ(read_file(folder / "a"), "x");
}

TEST(AtomicFile, FullDiskLeavesTheOldFile) {
  const TemporaryFolder folder;
  const fs::path path = folder / "a";
  write_file(path, "old");
  const int status = status_of_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {1000, 1000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    AtomicFile file(path);
    try {
      file.write(std::string(5000, 'x'));  // writes 1000 bytes, then no more
    } catch (const IoError& error) {
      return error.what() == path.string() + ": can't be written: File too large" &&
             folder.names() == Names{"a"};
    }
    return false;
  });
  EXPECT_TRUE(succeeded(status)) << status;
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, KilledWriterLeavesTheOldFile) {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  const int status = status_of_child([&] {
    AtomicFile file(folder / "a");
    file.write(std::string("new"));
    return raise(SIGKILL) == 0;
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_file(folder / "a"), "old");
  write_whole(folder / "a", "new");
  EXPECT_EQ(read_file(folder / "a"), "new");
}

TEST(AtomicFile, TwoWritersGiveOneWholeFile) {
  const TemporaryFolder folder;
  const fs::path path = folder / "a";
  const std::string contents[] = {std::string(70000, 'a'), std::string(50001, 'b')};
  write_file(path, contents[0]);
  pid_t writers[2];
  for (int i = 0; i < 2; ++i) {
    writers[i] = fork();
    if (writers[i] != 0) continue;
    try {
      for (int repeat = 0; repeat < 200; ++repeat) write_whole(path, contents[i]);
      _exit(0);
    } catch (...) {
      _exit(1);
    }
  }
  int mixed = 0;
  for (const pid_t writer : writers) {
    int status = 0;
    while (waitpid(writer, &status, WNOHANG) == 0) {
      const std::string found = read_file(path);
      mixed += found != contents[0] && found != contents[1];
    }
    EXPECT_TRUE(succeeded(status));
  }
  EXPECT_EQ(mixed, 0);
  const std::string last = read_file(path);
  EXPECT_TRUE(last == contents[0] || last == contents[1]);
  EXPECT_EQ(folder.names(), Names{"a"});
}

}  // namespace
}  // namespace hyperatom::test
