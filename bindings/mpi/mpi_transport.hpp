// SPDX-License-Identifier: Apache-2.0
/// What MPI gives to ranks (comm/transport.hpp). It names no function of tcsolve, so that the
/// component that the program loads (component.cpp) needs MPI alone.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <tcsolve/comm/transport.hpp>

namespace tcsolve::mpi {

class MpiTransport final : public Transport {
 public:
  /// On two duplicates of comm, one of them for alarms; every rank calls it. Errors on them are
  /// answered, not the end of the job.
  explicit MpiTransport(MPI_Comm comm) {
    for (MPI_Comm* const own : {&messages_, &alarms_}) {
      MPI_Comm_dup(comm, own);
      MPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN);
    }
    MPI_Comm_rank(messages_, &rank_);
    MPI_Comm_size(messages_, &ranks_);
  }
  /// Every rank calls it, before MPI_Finalize. Communicators with messages on the way are left to
  /// that.
  ~MpiTransport() override {
    int over = 0;
    MPI_Finalized(&over);
    bool open = !alarm_.empty();
    for (Begun const& lane : lanes_) open = open || !lane.requests.empty();
    if (over != 0 || open) return;
    MPI_Comm_free(&messages_);
    MPI_Comm_free(&alarms_);
  }
  MpiTransport(MpiTransport const&) = delete;
  MpiTransport& operator=(MpiTransport const&) = delete;

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }

  char const* send(int to, Lane lane, void const* data, std::size_t bytes) override {
    auto const* at = static_cast<std::byte const*>(data);
    return in_pieces(lane, to, bytes, not_received,
                     [&](std::size_t first, int size, MPI_Request* r) {
                       return MPI_Isend(at + first, size, MPI_BYTE, to, int(lane), messages_, r);
                     });
  }
  char const* receive(int from, Lane lane, void* data, std::size_t bytes) override {
    auto* const at = static_cast<std::byte*>(data);
    return in_pieces(lane, from, bytes, 0, [&](std::size_t first, int size, MPI_Request* r) {
      return MPI_Irecv(at + first, size, MPI_BYTE, from, int(lane), messages_, r);
    });
  }
  char const* done(Lane lane, bool& all) override {
    Begun& begun = lanes_[std::size_t(lane)];
    statuses_.resize(begun.requests.size());
    int flag = 0;
    int const code =
        MPI_Testall(int(begun.requests.size()), begun.requests.data(), &flag, statuses_.data());
    if (code == MPI_ERR_IN_STATUS)
      for (MPI_Status const& status : statuses_)
        if (status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING)
          return words_of(status.MPI_ERROR);
    if (code != MPI_SUCCESS) return words_of(code);
    all = flag != 0;
    if (!all) return nullptr;
    for (std::size_t k = 0; k < statuses_.size(); ++k) {
      if (begun.bytes[k] == not_received) continue;
      int came = 0;
      MPI_Get_count(&statuses_[k], MPI_BYTE, &came);
      if (came != begun.bytes[k])
        return "MPI: a message is shorter than its receiver has asked for";
    }
    begun.requests.clear();
    begun.bytes.clear();
    begun.others.clear();
    return nullptr;
  }
  int awaited(Lane lane) override {
    Begun const& begun = lanes_[std::size_t(lane)];
    for (std::size_t k = 0; k < begun.requests.size(); ++k) {
      int there = 0;
      if (MPI_Request_get_status(begun.requests[k], &there, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
          there == 0)
        return begun.others[k];
    }
    return -1;
  }

  void alarm(char const* text, std::size_t bytes) noexcept override {
    said_.assign(text, std::min(bytes, most_said));
    for (int to = 0; to < ranks_; ++to)
      if (to != rank_)
        MPI_Isend(said_.data(), int(said_.size()), MPI_BYTE, to, 0, alarms_,
                  &alarm_.emplace_back());
  }
  char const* hear(int& from, char* text, std::size_t most, std::size_t& bytes) override {
    int there = 0;
    MPI_Status status;
    bytes = 0;
    int code = MPI_Iprobe(MPI_ANY_SOURCE, 0, alarms_, &there, &status);
    if (code != MPI_SUCCESS) return words_of(code);
    if (there == 0) return nullptr;
    std::array<char, most_said> said;
    from = status.MPI_SOURCE;
    code = MPI_Recv(said.data(), int(said.size()), MPI_BYTE, from, 0, alarms_, &status);
    if (code != MPI_SUCCESS) return words_of(code);
    int came = 0;
    MPI_Get_count(&status, MPI_BYTE, &came);
    bytes = std::size_t(came);
    std::copy_n(said.data(), std::min(bytes, most), text);
    return nullptr;
  }

 private:
  static constexpr int not_received = -1;
  static constexpr std::size_t most_said = 2000;  // below what MPI sends without being asked for
  struct Begun {
    std::vector<MPI_Request> requests;
    std::vector<int> bytes;   // of each that is received; not_received
    std::vector<int> others;  // the rank of each
  };

  /// In pieces that MPI can count; one of no bytes where there are none.
  template <class Start>
  char const* in_pieces(Lane lane, int other, std::size_t bytes, int mark, Start const& start) {
    constexpr std::size_t most = std::size_t{1} << 30;
    Begun& begun = lanes_[std::size_t(lane)];
    std::size_t first = 0;
    do {
      int const size = int(std::min(most, bytes - first));
      begun.bytes.push_back(mark == not_received ? not_received : size);
      begun.others.push_back(other);
      if (int const code = start(first, size, &begun.requests.emplace_back()); code != MPI_SUCCESS)
        return words_of(code);
      first += std::size_t(size);
    } while (first < bytes);
    return nullptr;
  }
  char const* words_of(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    words_ = "MPI: " + std::string(text, std::size_t(length));
    return words_.c_str();
  }

  MPI_Comm messages_ = MPI_COMM_NULL, alarms_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 1;
  std::array<Begun, lanes> lanes_;
  std::vector<MPI_Status> statuses_;
  std::string said_, words_;
  std::vector<MPI_Request> alarm_;
};

}  // namespace tcsolve::mpi
