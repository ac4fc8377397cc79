// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/disk_cache.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/io/atomic_file.hpp>
#include <tcsolve/io/hash.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

namespace tcsolve {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view magic = "tcsolve cache 1\n";
constexpr char const* extension = ".tcsolve";

/// 64 bits of a text, in order.
std::uint64_t checksum(std::string_view text) {
  std::uint64_t sum = mix(text.size());
  while (!text.empty()) {
    std::uint64_t word = 0;
    std::size_t const n = std::min<std::size_t>(8, text.size());
    std::memcpy(&word, text.data(), n);
    sum = mix(sum ^ word);
    text.remove_prefix(n);
  }
  return sum;
}

struct Header {
  char magic[16];
  std::uint64_t checksum, key_bytes, content_bytes;
};
static_assert(sizeof(Header) == 40 && magic.size() == 16);

}  // namespace

DiskCache::DiskCache(fs::path directory, std::int64_t limit)
    : directory_(std::move(directory)), limit_(limit) {}

fs::path DiskCache::file(std::string const& key) const {
  char name[33];
  std::uint64_t const first = checksum(key), second = mix(first ^ checksum(key + "."));
  std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(first),
                static_cast<unsigned long long>(second));
  return directory_ / (std::string(name) + extension);
}

std::optional<std::string> DiskCache::get(std::string const& key) const {
  fs::path const path = file(key);
  std::error_code ignored;
  std::string all;
  {
    std::ifstream in(path, std::ios::binary);
    if (!in.is_open()) return std::nullopt;
    auto const size = fs::file_size(path, ignored);
    if (!ignored && size <= static_cast<std::uintmax_t>(limit_)) all.reserve(size);
    all.assign(std::istreambuf_iterator<char>(in), {});
  }
  Header header{};
  bool whole = all.size() >= sizeof header;
  if (whole) std::memcpy(&header, all.data(), sizeof header);
  std::string_view const body = std::string_view(all).substr(whole ? sizeof header : 0);
  whole = whole && std::string_view(header.magic, 16) == magic && header.key_bytes <= body.size() &&
          header.content_bytes == body.size() - header.key_bytes &&
          header.checksum == checksum(body);
  if (!whole) {
    fs::remove(path, ignored);
    return std::nullopt;
  }
  if (body.substr(0, header.key_bytes) != key) return std::nullopt;  // another key of this hash
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return std::string(body.substr(header.key_bytes));
}

std::string DiskCache::put(std::string const& key, std::string_view content) const {
  std::string body = key;
  body += content;
  if (static_cast<std::int64_t>(sizeof(Header) + body.size()) > limit_)
    return cat("larger than the cache's limit of ", limit_, " bytes");
  Header header{{}, checksum(body), key.size(), content.size()};
  std::memcpy(header.magic, magic.data(), magic.size());
  fs::path const path = file(key);
  try {
    std::error_code failed;
    fs::create_directories(directory_, failed);
    AtomicFile out(path);
    out.write({reinterpret_cast<char const*>(&header), sizeof header});
    out.write(body);
    out.commit();
  } catch (Error const& e) { return e.what(); }
  shrink(path);
  return "";
}

void DiskCache::shrink(fs::path const& keep) const {
  struct Kept {
    fs::path path;
    fs::file_time_type used;
    std::int64_t bytes;
  };
  std::vector<Kept> files;
  std::int64_t sum = 0;
  std::error_code failed;
  for (fs::directory_iterator at(directory_, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (at->path().extension() != extension) continue;
    // Another process may be removing it: what cannot be looked at is not there.
    std::error_code gone;
    auto const bytes = static_cast<std::int64_t>(at->file_size(gone));
    auto const used = at->last_write_time(gone);
    if (gone) continue;
    files.push_back({at->path(), used, bytes});
    sum += bytes;
  }
  std::sort(files.begin(), files.end(),
            [](Kept const& a, Kept const& b) { return a.used < b.used; });
  for (Kept const& oldest : files) {
    if (sum <= limit_) return;
    if (oldest.path == keep) continue;
    std::error_code ignored;
    fs::remove(oldest.path, ignored);
    sum -= oldest.bytes;
  }
}

}  // namespace tcsolve
