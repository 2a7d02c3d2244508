#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

/// Logistic regression over ten classes, trained by gradient descent a batch at a time: the
/// smallest trainer that learns something real.
class softmax_classifier {
public:
  static constexpr size_t pixels = 64;
  static constexpr size_t classes = 10;

  /// Makes one step on `labels.size()` images of `pixels` values each. Returns the mean
  /// cross-entropy before the step.
  float train(std::span<const float> images, std::span<const int64_t> labels, float rate) {
    std::array<float, classes*(pixels + 1)> gradient{};
    float loss = 0;
    for (size_t n = 0; n < labels.size(); ++n) {
      const auto image = images.subspan(n * pixels, pixels);
      auto p = probabilities(image);
      loss -= std::log(std::max(p[static_cast<size_t>(labels[n])], 1e-9f));
      p[static_cast<size_t>(labels[n])] -= 1;
      for (size_t c = 0; c < classes; ++c) {
        auto* row = &gradient[c * (pixels + 1)];
        for (size_t i = 0; i < pixels; ++i) row[i] += p[c] * image[i];
        row[pixels] += p[c];
      }
    }
    const auto step = rate / static_cast<float>(labels.size());
    for (size_t i = 0; i < gradient.size(); ++i) weights_[i] -= step * gradient[i];
    return loss / static_cast<float>(labels.size());
  }

  int64_t classify(std::span<const float> image) const {
    const auto p = probabilities(image);
    return std::max_element(p.begin(), p.end()) - p.begin();
  }

private:
  std::array<float, classes> probabilities(std::span<const float> image) const {
    std::array<float, classes> p{};
    float highest = -1e30f;
    for (size_t c = 0; c < classes; ++c) {
      const auto* row = &weights_[c * (pixels + 1)];
      p[c] = row[pixels];
      for (size_t i = 0; i < pixels; ++i) p[c] += row[i] * image[i];
      highest = std::max(highest, p[c]);
    }
    float sum = 0;
    for (auto& x : p) sum += x = std::exp(x - highest);
    for (auto& x : p) x /= sum;
    return p;
  }

  std::array<float, classes*(pixels + 1)> weights_{};
};
