// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/archive.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/libarchive.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace tcsolve {
namespace {

constexpr std::int64_t most_ratio = 10'000;  // of what a byte of xz expands to; deflate: 1032
constexpr std::size_t block_bytes = 1 << 16;

/// What libarchive says, in one line.
std::string reason(archive* a) {
  char const* const text = libarchive().error_string(a);
  return text ? text : "not an archive of files";
}

class Member final : public ByteSource {
 public:
  explicit Member(Archive& a) : archive_(&a) {}
  explicit Member(std::unique_ptr<Archive> a) : kept_(std::move(a)), archive_(kept_.get()) {}
  std::size_t read(std::span<char> out) override { return archive_->read(out); }
  std::int64_t max_bytes() const override { return archive_->max_bytes(); }

 private:
  std::unique_ptr<Archive> kept_;
  Archive* archive_;
};

}  // namespace

void Archive::Free::operator()(archive* a) const { libarchive().read_free(a); }

Archive::Archive(std::string name) : name_(std::move(name)), handle_(libarchive().read_new()) {
  if (!handle_) throw MemoryError("libarchive: out of memory");
  libarchive().read_support_format_tar(handle_.get());
  libarchive().read_support_format_zip(handle_.get());
  libarchive().read_support_filter_gzip(handle_.get());
  libarchive().read_support_filter_xz(handle_.get());
}

Archive::Archive(std::filesystem::path const& path, std::string name) : Archive(std::move(name)) {
  std::error_code failed;
  auto const bytes = std::filesystem::file_size(path, failed);
  archive_bytes_ = failed ? 0 : static_cast<std::int64_t>(bytes);
  opened(libarchive().read_open_filename(handle_.get(), path.c_str(), block_bytes));
}

Archive::Archive(std::string_view bytes, std::string name) : Archive(std::move(name)) {
  archive_bytes_ = static_cast<std::int64_t>(bytes.size());
  opened(libarchive().read_open_memory(handle_.get(), bytes.data(), bytes.size()));
}

void Archive::opened(int result) {
  if (result != ARCHIVE_OK) fail();
}

void Archive::fail() const { throw MatrixError(cat(name_, ": ", reason(handle_.get()))); }

std::optional<std::string> Archive::next() {
  for (;;) {
    archive_entry* entry = nullptr;
    int const result = libarchive().read_next_header(handle_.get(), &entry);
    if (result == ARCHIVE_EOF) return std::nullopt;
    // ARCHIVE_WARN: a name in a character set that is not that of this locale.
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) fail();
    char const* const name = libarchive().entry_pathname(entry);
    if (libarchive().entry_filetype(entry) != AE_IFREG || !name) continue;
    if (libarchive().entry_is_encrypted(entry))
      throw MatrixError(cat(name_, ": ", name, " is encrypted"));
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    max_bytes_ = archive_bytes_ > most / most_ratio ? most : archive_bytes_ * most_ratio;
    if (libarchive().entry_size_is_set(entry))
      max_bytes_ = std::min(max_bytes_, std::max<std::int64_t>(0, libarchive().entry_size(entry)));
    return name;
  }
}

std::size_t Archive::read(std::span<char> out) {
  if (out.empty()) return 0;
  la_ssize_t const got = libarchive().read_data(handle_.get(), out.data(), out.size());
  if (got < 0) throw MatrixError(cat("corrupt archive: ", reason(handle_.get())));
  return static_cast<std::size_t>(got);
}

std::unique_ptr<ByteSource> member_source(Archive& archive) {
  return std::make_unique<Member>(archive);
}

std::unique_ptr<ByteSource> member_source(std::unique_ptr<Archive> archive) {
  return std::make_unique<Member>(std::move(archive));
}

}  // namespace tcsolve
