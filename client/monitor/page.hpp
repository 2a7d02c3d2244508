#pragma once

#include <string>
#include <string_view>

namespace headrace::detail::monitor {

/// A file of the status page.
struct page_part {
  std::string_view path; ///< the path on the server
  std::string_view type;
  std::string_view content;
};

/// The file at that path; null: there is none.
const page_part* page_file(std::string_view path) noexcept;

/// The page with all of its parts and one status (`status_json`), as one file.
std::string report_page(const std::string& status);

} // namespace headrace::detail::monitor
