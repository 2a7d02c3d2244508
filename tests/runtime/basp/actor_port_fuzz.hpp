#pragma once

#include "tests/runtime/basp/basp_frames.hpp"

#include <random>
#include <string>
#include <vector>

namespace headrace::detail::test {

/// Random inputs for an actor port: the bytes that a genuine client sent, with random changes.
class actor_port_fuzz {
public:
  /// `genuine` are the bytes that a client sent.
  actor_port_fuzz(std::string genuine, uint64_t seed)
    : random_(seed), genuine_(basp_frames_of(genuine)) {
    client_ = genuine_.at(0).payload.substr(12, 20);
  }

  /// The bytes of the next client. Each client has a different name, so that it is a new node to
  /// the server.
  std::string next() {
    auto frames = genuine_;
    if (one_in(3))
      frames.resize(1 + below(frames.size()));
    switch (below(9)) {
    case 0: return noise(1 + below(400));
    case 1: return run(1 + below(80)) + run(1 + below(200));
    case 2: return renamed(bent(bytes_of(frames), 0));
    // This case keeps the handshake.
    case 3: return renamed(bent(bytes_of(frames), frames[0].bytes().size()));
    case 4: bend_header(frames); break;
    case 5: bend_payload(frames, true); break;
    case 6: bend_payload(frames, false); break;
    case 7: shuffle(frames); break;
    case 8:
      for (int i = 0; i < 4; ++i) one_in(2) ? bend_payload(frames, one_in(2)) : bend_header(frames);
      break;
    }
    return renamed(bytes_of(frames));
  }

  bool one_in(size_t n) { return below(n) == 0; }
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }

private:
  static std::string bytes_of(const std::vector<basp_frame>& frames) {
    std::string out;
    for (const auto& x : frames) out += x.bytes();
    return out;
  }
  std::string noise(size_t size) {
    std::string out(size, '\0');
    for (auto& x : out) x = static_cast<char>(random_());
    return out;
  }
  std::string run(size_t size) { return std::string(size, one_in(2) ? '\0' : '\xFF'); }

  std::string renamed(std::string bytes) {
    const auto name = noise(client_.size());
    for (size_t at = 0; (at = bytes.find(client_, at)) != std::string::npos; at += name.size())
      bytes.replace(at, name.size(), name);
    return bytes;
  }

  /// The bytes after one to four changes at random places from `from` on.
  std::string bent(std::string x, size_t from) {
    for (auto changes = 1 + below(4); changes > 0 && x.size() > from; --changes) {
      const auto at = from + below(x.size() - from);
      const auto left = x.size() - at;
      switch (below(8)) {
      case 0: x[at] = static_cast<char>(x[at] ^ (1 << below(8))); break;
      case 1: x[at] = static_cast<char>(random_()); break;
      case 2: x.resize(at); break;
      case 3: x.insert(at, noise(1 + below(16))); break;
      case 4: x.erase(at, 1 + below(16)); break;
      case 5: x.replace(at, std::min(left, size_t{8}), run(8)); break;
      case 6: x.insert(at, x.substr(at, 1 + below(64))); break;
      case 7: x.replace(at, std::min(left, size_t{64}), run(1 + below(64))); break;
      }
    }
    return x;
  }
  basp_frame& any_but_first(std::vector<basp_frame>& frames) {
    return frames[frames.size() == 1 ? 0 : 1 + below(frames.size() - 1)];
  }
  /// Changes the payload of a frame. `fitting`: the header is given the new size.
  void bend_payload(std::vector<basp_frame>& frames, bool fitting) {
    auto& x = any_but_first(frames);
    x.payload = bent(x.payload, 0);
    if (fitting)
      x = std::move(x).sized();
  }
  void bend_header(std::vector<basp_frame>& frames) {
    auto& x = any_but_first(frames).header;
    const uint64_t values[] = {0,
                               1,
                               2,
                               5,
                               32,
                               uint64_t{1} << 31,
                               uint64_t{1} << 61,
                               ~uint64_t{0},
                               basp_spawn_server,
                               random_(),
                               below(40)};
    const auto value = values[below(std::size(values))];
    switch (below(7)) {
    case 0: x.operation = static_cast<uint8_t>(below(9)); break;
    case 1: x.flags = static_cast<uint8_t>(value); break;
    case 2: x.payload_bytes = static_cast<uint32_t>(value); break;
    case 3: x.data = one_in(2) ? value : x.data ^ (uint64_t{1} << below(64)); break;
    case 4: x.source_actor = value; break;
    // The message may reach another actor of the node.
    case 5: x.dest_actor = value; break;
    case 6: x.padding = static_cast<uint16_t>(value); break;
    }
  }
  void shuffle(std::vector<basp_frame>& frames) {
    const auto from = below(frames.size()), to = below(frames.size());
    switch (below(4)) {
    case 0: frames.insert(frames.begin() + static_cast<ptrdiff_t>(to), frames[from]); break;
    case 1: std::swap(frames[from], frames[to]); break;
    case 2: frames.erase(frames.begin() + static_cast<ptrdiff_t>(from)); break;
    case 3:
      for (int i = 0; i < 20; ++i) frames.push_back(frames[from]);
      break;
    }
  }

  std::mt19937_64 random_;
  std::vector<basp_frame> genuine_;
  std::string client_; ///< The client's name in the frames of `genuine_`.
};

} // namespace headrace::detail::test
