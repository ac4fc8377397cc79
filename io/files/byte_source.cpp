// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/byte_source.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/file_advice.hpp>

#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace tcsolve {
namespace {

constexpr std::size_t one_read = std::size_t{1} << 30;  // the kernel takes less than 2 GiB a call
constexpr int gzip_ratio = 1032;  // the most a byte of deflate expands to (zlib, technical notes)
constexpr int xz_ratio = 10'000;  // LZMA on constant data reaches about 7000
constexpr std::uint64_t xz_memory = std::uint64_t{1} << 30;  // dictionaries up to 1 GiB

class Descriptor {
 public:
  explicit Descriptor(std::filesystem::path const& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ >= 0) return;
    int const reason = errno;
    throw MatrixError(
        cat(path.string(), ": ", std::strerror(reason), reason == ENOENT ? file_advice(path) : ""));
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

  /// Reads until `out` is full or the file ends.
  std::size_t read(std::span<char> out) const {
    std::size_t done = 0;
    while (done < out.size()) {
      ssize_t const got = ::read(fd_, out.data() + done, std::min(out.size() - done, one_read));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw MatrixError(cat("cannot read: ", std::strerror(errno)));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  int fd_;
};

/// bytes * ratio, or the largest int64.
std::int64_t expanded(std::int64_t bytes, std::int64_t ratio) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  return bytes > most / ratio ? most : bytes * ratio;
}

class PlainFile final : public ByteSource {
 public:
  PlainFile(Descriptor file, std::int64_t bytes) : file_(std::move(file)), bytes_(bytes) {}
  std::size_t read(std::span<char> out) override { return file_.read(out); }
  std::int64_t skip(std::int64_t count) override {
    auto const at = ::lseek(file_.get(), 0, SEEK_CUR);
    if (at < 0) return ByteSource::skip(count);
    std::int64_t const n = std::clamp<std::int64_t>(bytes_ - at, 0, count);
    return ::lseek(file_.get(), n, SEEK_CUR) < 0 ? ByteSource::skip(count) : n;
  }
  std::int64_t max_bytes() const override { return bytes_; }

 private:
  Descriptor file_;
  std::int64_t bytes_;
};

class FileStretch final : public ByteSource {
 public:
  FileStretch(Descriptor file, std::int64_t bytes)
      : file_(std::move(file)), bytes_(bytes), left_(bytes) {}
  std::size_t read(std::span<char> out) override {
    auto const most = static_cast<std::size_t>(left_);
    std::size_t const got = file_.read(out.first(std::min(out.size(), most)));
    left_ -= static_cast<std::int64_t>(got);
    return got;
  }
  std::int64_t max_bytes() const override { return bytes_; }

 private:
  Descriptor file_;
  std::int64_t bytes_, left_;
};

/// What gzip and xz share: a compressed buffer, and a fault that waits until the bytes before it
/// have been delivered.
class CompressedFile : public ByteSource {
 public:
  CompressedFile(Descriptor file, std::int64_t max_bytes)
      : file_(std::move(file)), max_bytes_(max_bytes) {}

  std::size_t read(std::span<char> out) final {
    if (out.empty()) return 0;
    std::size_t const done = fault_.empty() && !ended_ ? decompress(out) : 0;
    if (done == 0 && !fault_.empty()) throw MatrixError(fault_);
    return done;
  }
  std::int64_t max_bytes() const final { return max_bytes_; }

 protected:
  /// Decompresses into `out` until it is full, the data ends (sets ended_) or is at fault (fault_).
  virtual std::size_t decompress(std::span<char> out) = 0;
  /// More compressed bytes; empty at the end of the file.
  std::span<char> refill() { return std::span(input_).first(file_.read(input_)); }

  std::string fault_;
  bool ended_ = false;

 private:
  Descriptor file_;
  std::int64_t max_bytes_;
  std::array<char, 1 << 17> input_;
};

class GzipFile final : public CompressedFile {
 public:
  GzipFile(Descriptor file, std::int64_t bytes)
      : CompressedFile(std::move(file), expanded(bytes, gzip_ratio)) {
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) throw MemoryError("zlib: out of memory");
  }
  ~GzipFile() override { inflateEnd(&stream_); }

 private:
  std::size_t decompress(std::span<char> all) override {
    std::size_t done = 0;
    while (done < all.size() && fault_.empty() && !ended_) {
      auto const out = all.subspan(done).first(std::min(all.size() - done, one_read));
      done += step(out);
    }
    return done;
  }

  std::size_t step(std::span<char> out) {
    if (stream_.avail_in == 0) {
      auto const more = refill();
      stream_.next_in = reinterpret_cast<Bytef*>(more.data());
      stream_.avail_in = static_cast<uInt>(more.size());
      if (more.empty()) {
        if (inside_) fault_ = "the gzip data ends early: the file is truncated";
        ended_ = true;
        return 0;
      }
    }
    if (!inside_) inflateReset(&stream_);  // a further member: gzip files may be concatenated
    inside_ = true;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    int const result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END)
      inside_ = false;
    else if (result != Z_OK && result != Z_BUF_ERROR)
      fault_ = cat("corrupt gzip data: ", stream_.msg ? stream_.msg : zError(result));
    return out.size() - stream_.avail_out;
  }

  z_stream stream_{};
  bool inside_ = true;  // between the header and the trailer of a member
};

class XzFile final : public CompressedFile {
 public:
  XzFile(Descriptor file, std::int64_t bytes)
      : CompressedFile(std::move(file), expanded(bytes, xz_ratio)) {
    if (lzma_stream_decoder(&stream_, xz_memory, LZMA_CONCATENATED) != LZMA_OK)
      throw MemoryError("out of memory before xz data was read");
  }
  ~XzFile() override { lzma_end(&stream_); }

 private:
  std::size_t decompress(std::span<char> out) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    while (stream_.avail_out > 0 && fault_.empty() && !ended_) step();
    return out.size() - stream_.avail_out;
  }

  void step() {
    if (stream_.avail_in == 0 && action_ == LZMA_RUN) {
      auto const more = refill();
      stream_.next_in = reinterpret_cast<std::uint8_t const*>(more.data());
      stream_.avail_in = more.size();
      if (more.empty()) action_ = LZMA_FINISH;
    }
    switch (lzma_ret const result = lzma_code(&stream_, action_)) {
      case LZMA_OK: break;
      case LZMA_STREAM_END: ended_ = true; break;
      case LZMA_BUF_ERROR: fault_ = "the xz data ends early: the file is truncated"; break;
      case LZMA_MEM_ERROR: throw MemoryError("out of memory while xz data was read");
      case LZMA_MEMLIMIT_ERROR:
        fault_ = "the xz data needs more than 1 GiB for its dictionary";
        break;
      default: fault_ = cat("corrupt xz data (liblzma error ", static_cast<int>(result), ")");
    }
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  lzma_action action_ = LZMA_RUN;
};

class MemoryText final : public ByteSource {
 public:
  explicit MemoryText(std::string_view text) : rest_(text), bytes_(text.size()) {}
  std::size_t read(std::span<char> out) override {
    std::size_t const n = rest_.copy(out.data(), out.size());
    rest_.remove_prefix(n);
    return n;
  }
  std::int64_t max_bytes() const override { return static_cast<std::int64_t>(bytes_); }

 private:
  std::string_view rest_;
  std::size_t bytes_;
};

class Cancellable final : public ByteSource {
 public:
  Cancellable(std::unique_ptr<ByteSource> source, CancelFlag cancel)
      : source_(std::move(source)), cancel_(cancel) {}
  std::size_t read(std::span<char> out) override {
    cancel_.check();
    return source_->read(out);
  }
  std::int64_t skip(std::int64_t count) override {
    cancel_.check();
    return source_->skip(count);
  }
  std::int64_t max_bytes() const override { return source_->max_bytes(); }

 private:
  std::unique_ptr<ByteSource> source_;
  CancelFlag cancel_;
};

}  // namespace

std::int64_t ByteSource::skip(std::int64_t count) {
  std::array<char, 1 << 14> passed;
  std::int64_t done = 0;
  while (done < count) {
    auto const most = static_cast<std::int64_t>(passed.size());
    std::size_t const got =
        read(std::span(passed).first(static_cast<std::size_t>(std::min(most, count - done))));
    if (got == 0) break;
    done += static_cast<std::int64_t>(got);
  }
  return done;
}

std::unique_ptr<ByteSource> cancellable(std::unique_ptr<ByteSource> source, CancelFlag cancel) {
  return std::make_unique<Cancellable>(std::move(source), cancel);
}

namespace {

enum class Packing { none, gzip, xz };

/// A regular file, from its first byte, and what its first bytes say of it.
struct OpenedFile {
  explicit OpenedFile(std::filesystem::path const& path) : file(path) {
    struct stat facts {};
    if (::fstat(file.get(), &facts) != 0)
      throw MatrixError(cat(path.string(), ": ", std::strerror(errno)));
    if (!S_ISREG(facts.st_mode))
      throw MatrixError(
          cat(path.string(), S_ISDIR(facts.st_mode) ? ": is a directory" : ": not a regular file"));
    bytes = facts.st_size;
    std::array<char, 6> magic{};
    std::size_t n = 0;
    try {
      n = file.read(magic);
    } catch (MatrixError const& e) { throw MatrixError(cat(path.string(), ": ", e.what())); }
    std::string_view const start(magic.data(), n);
    constexpr std::string_view xz(
        "\xfd"
        "7zXZ\0",
        6);
    packing = start.starts_with("\x1f\x8b") ? Packing::gzip
              : start == xz                 ? Packing::xz
                                            : Packing::none;
    seek(path, 0);
  }
  void seek(std::filesystem::path const& path, std::int64_t at) const {
    if (::lseek(file.get(), at, SEEK_SET) != at)
      throw MatrixError(cat(path.string(), ": ", std::strerror(errno)));
  }

  Descriptor file;
  std::int64_t bytes = 0;
  Packing packing = Packing::none;
};

}  // namespace

std::unique_ptr<ByteSource> open_file(std::filesystem::path const& path) {
  OpenedFile opened(path);
  switch (opened.packing) {
    case Packing::gzip: return std::make_unique<GzipFile>(std::move(opened.file), opened.bytes);
    case Packing::xz: return std::make_unique<XzFile>(std::move(opened.file), opened.bytes);
    case Packing::none: break;
  }
  return std::make_unique<PlainFile>(std::move(opened.file), opened.bytes);
}

std::unique_ptr<ByteSource> open_stretch(std::filesystem::path const& path, std::int64_t begin,
                                         std::int64_t end) {
  OpenedFile opened(path);
  opened.seek(path, begin);
  return std::make_unique<FileStretch>(std::move(opened.file),
                                       std::max<std::int64_t>(0, end - begin));
}

std::optional<std::int64_t> plain_size(std::filesystem::path const& path) {
  OpenedFile const opened(path);
  if (opened.packing != Packing::none) return std::nullopt;
  return opened.bytes;
}

std::unique_ptr<ByteSource> open_text(std::string_view text) {
  return std::make_unique<MemoryText>(text);
}

}  // namespace tcsolve
