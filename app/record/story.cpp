// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/record/story.hpp>

#include <algorithm>
#include <cmath>

namespace tcsolve {

void continue_story(std::vector<ChoiceReport>& story, std::vector<ChoiceReport> const& next,
                    bool adds) {
  for (ChoiceReport const& choice : next) {
    bool const was_there = choice.ran && std::isnan(choice.setup_seconds);
    auto const last = std::find_if(story.rbegin(), story.rend(), [&](ChoiceReport const& told) {
      return told.ran && told.label == choice.label;
    });
    if (!was_there || last == story.rend()) {
      story.push_back(choice);
      continue;
    }
    ChoiceReport now = choice;
    now.setup_seconds = last->setup_seconds;
    if (adds) {
      now.iterations += last->iterations;
      now.seconds += last->seconds;
    }
    story.erase(std::next(last).base());
    story.push_back(std::move(now));
  }
}

ChoiceReport const* in_force(std::vector<ChoiceReport> const& story) {
  auto const last = std::find_if(story.rbegin(), story.rend(), [](auto const& c) { return c.ran; });
  return last == story.rend() ? nullptr : &*last;
}

}  // namespace tcsolve
