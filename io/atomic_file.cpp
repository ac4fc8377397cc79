// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/atomic_file.hpp>

#include <tcsolve/core/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tcsolve {

namespace fs = std::filesystem;

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  static std::atomic<unsigned> number{0};
  std::error_code ignored;
  auto const status = fs::status(path_, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw Error(cat(path_.string(), ": cannot write: it exists and is not a regular file"));
  if (fs::is_symlink(fs::symlink_status(path_, ignored)))  // rename would replace the link itself
    if (auto target = fs::weakly_canonical(path_, ignored); !ignored) path_ = std::move(target);
  do {
    temporary_ = path_;
    temporary_ += cat(".tmp-", ::getpid(), "-", number++);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail("create a file beside it");
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::write(std::string_view text) {
  constexpr std::size_t one_write = std::size_t{1} << 30;
  while (!text.empty()) {
    ssize_t const n = ::write(descriptor_, text.data(), std::min(text.size(), one_write));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write");
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail("flush");  // EINVAL: no such thing here
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("close");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename");
  temporary_.clear();
}

void AtomicFile::fail(char const* action) {
  std::string const reason = std::strerror(errno);
  discard();
  throw Error(cat(path_.string(), ": cannot ", action, ": ", reason));
}

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) { ::close(std::exchange(descriptor_, -1)); }
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void write_file(fs::path const& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace tcsolve
