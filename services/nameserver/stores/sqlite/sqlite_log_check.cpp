#include "services/nameserver/stores/sqlite/sqlite_log_check.h"

#include <array>
#include <bit>
#include <optional>
#include <set>
#include <vector>

namespace corelane::nameserver {
namespace {

using LogSum = std::array<std::uint32_t, 2>;

// Offsets and sizes of the format, in bytes. A frame is its header and a page.
constexpr std::size_t header_size = 32, header_page_size = 8, header_salts = 16, header_sum = 24;
constexpr std::size_t frame_header_size = 24, frame_pages = 4, frame_salts = 8, frame_sum = 16;
constexpr std::size_t salts_size = 8;
constexpr std::size_t sector = 512;           // what a disk writes at once, at least
constexpr std::uint32_t magic = 0x377f'0682;  // if the lowest bit is set, words are summed with the high byte first
constexpr std::size_t file_page_size = 16;    // an offset in the database file; the field has two bytes

std::uint32_t word_at(std::string_view bytes, std::size_t at, std::endian order = std::endian::big) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at + (order == std::endian::big ? i : 3 - i)]);
    word = word << 8 | byte;
  }
  return word;
}

LogSum sum_at(std::string_view bytes, std::size_t at) { return {word_at(bytes, at), word_at(bytes, at + 4)}; }

// Continues a checksum. `bytes` has a whole number of pairs of words.
LogSum go_on(LogSum sum, std::string_view bytes, std::endian order) {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    sum[0] += word_at(bytes, at, order) + sum[1];
    sum[1] += word_at(bytes, at + 4, order) + sum[0];
  }
  return sum;
}

bool is_page_size(std::size_t size) { return std::has_single_bit(size) && size >= 512 && size <= 65536; }

struct Frame {
  std::string_view bytes;

  std::uint32_t page() const { return word_at(bytes, 0); }
  bool ends_change() const { return word_at(bytes, frame_pages) != 0; }
  std::string_view salts() const { return bytes.substr(frame_salts, salts_size); }
  LogSum sum() const { return sum_at(bytes, frame_sum); }
  std::string_view content() const { return bytes.substr(frame_header_size); }
  LogSum sum_after(LogSum before, std::endian order) const {
    return go_on(go_on(before, bytes.substr(0, frame_salts), order), content(), order);
  }
};

// What a frame continues: the checksum before it, as stored and as computed.
struct Before {
  LogSum stands, should_be;
};

struct Link {
  Frame frame;
  bool is_right = false;  // its checksum is right
  bool goes_on = false;   // it continues the frame before it, even if bytes of one of the two have changed
};

class Log {
 public:
  // `bytes` has a header at least.
  Log(std::string_view bytes, std::endian order, std::size_t page_size)
      : header_(bytes.substr(0, header_size)), order_(order) {
    Before before{sum_at(header_, header_sum), go_on({}, header_.substr(0, header_sum), order)};
    header_is_right_ = before.stands == before.should_be;
    const std::size_t size = frame_header_size + page_size;
    for (std::size_t at = header_size; at + size <= bytes.size(); at += size)
      before = add({bytes.substr(at, size)}, before);
    ends_in_a_frame_ = (bytes.size() - header_size) % size != 0;
    frame_size_ = size;
  }

  bool header_is_right() const { return header_is_right_; }
  bool begins_with_its_header() const { return !links_.empty() && links_[0].goes_on; }
  LogFinding finding() const;
  LogFinding finding_without_header(const BytesOfFile& file) const;

 private:
  Before add(Frame frame, const Before& before) {
    const LogSum sum = frame.sum_after(before.stands, order_);
    const bool is_page = frame.page() != 0;  // zeros have a checksum of zeros
    const bool is_right = is_page && sum == frame.sum();
    const bool goes_on = is_right || (is_page && frame.sum_after(before.should_be, order_) == frame.sum());
    links_.push_back({frame, is_right, goes_on});
    return {frame.sum(), sum};
  }

  bool is_of(std::size_t i, std::string_view salts) const { return links_[i].frame.salts() == salts; }
  // A changed byte may be in the salts of one of two frames. But frames from before do not continue new ones.
  bool goes_on_with(std::size_t i, std::string_view salts) const {
    return i > 0 && links_[i].goes_on && (is_of(i, salts) || is_of(i - 1, salts));
  }
  // Returns how many frames, at least, were committed. The last of them ends a change, and another frame continues it.
  std::size_t committed(std::string_view salts) const {
    std::size_t count = links_.size();
    while (count > 0 && !(ends_change(count - 1) && count < links_.size() && goes_on_with(count, salts))) --count;
    return count;
  }
  // Returns whether the frame ends a change. If its checksum is wrong, its first bytes may be from a failed change and
  // the others from one in progress. That cannot happen within one sector of the disk.
  bool ends_change(std::size_t i) const {
    const std::size_t at = header_size + i * frame_size_;
    const bool in_one_sector = at / sector == (at + frame_header_size - 1) / sector;
    return links_[i].frame.ends_change() && (links_[i].goes_on || in_one_sector);
  }
  bool is_in_file(std::size_t committed, std::string_view salts, const BytesOfFile& file) const;

  std::string_view header_;
  std::endian order_;
  bool header_is_right_ = false, ends_in_a_frame_ = false;
  std::size_t frame_size_ = 0;
  std::vector<Link> links_;
};

LogFinding Log::finding() const {
  const std::string_view salts = header_.substr(header_salts, salts_size);
  std::size_t taken = 0;
  for (std::size_t i = 0; i < links_.size() && links_[i].is_right && is_of(i, salts); ++i)
    if (links_[i].frame.ends_change()) taken = i + 1;
  LogFinding found{.whole = header_size + taken * frame_size_,
                   .is_damaged = committed(salts) > taken,
                   .is_unfinished = ends_in_a_frame_};
  for (std::size_t i = taken; i < links_.size(); ++i)
    found.is_unfinished |= is_of(i, salts) || (links_[i].goes_on && i == taken);
  return found;
}

// SQLite reads nothing of such a log. The salts are those of the first frame that another frame continues.
LogFinding Log::finding_without_header(const BytesOfFile& file) const {
  std::size_t first = 1;
  while (first < links_.size() && !links_[first].goes_on) ++first;
  if (first >= links_.size()) return {.is_unfinished = !links_.empty()};
  const std::string_view salts = links_[first].frame.salts();
  const std::size_t count = committed(salts);
  return {.is_damaged = !is_in_file(count, salts, file), .is_unfinished = count == 0};
}

// Returns whether the file has each page as the last committed frame of that page, or a later frame, has it. Later ones
// count because it is unknown whether the last change was committed. A page that the file does not have decides
// nothing, because the first page changes whenever pages are added.
bool Log::is_in_file(std::size_t committed, std::string_view salts, const BytesOfFile& file) const {
  std::set<std::uint32_t> found;
  for (std::size_t i = links_.size(); i-- > 0;) {
    const Frame& frame = links_[i].frame;
    if (frame.page() == 0 || !is_of(i, salts) || found.contains(frame.page())) continue;
    const std::string_view content = frame.content();
    const std::string page = file((std::uint64_t{frame.page()} - 1) * content.size(), content.size());
    if (page.size() < content.size() || page == content)
      found.insert(frame.page());
    else if (i < committed)
      return false;
  }
  return true;
}

std::size_t page_size_in(const BytesOfFile& file) {
  const std::string bytes = file(file_page_size, 2);
  if (bytes.size() < 2) return 0;
  const std::size_t size = word_at(std::string(2, '\0') + bytes, 0);
  return size == 1 ? 65536 : size;  // 65536 does not fit into two bytes
}

}  // namespace

LogFinding look_into_log(std::string_view log, const BytesOfFile& file) {
  if (log.size() <= header_size) return {};
  const std::uint32_t begin = word_at(log, 0);
  if (const std::size_t size = word_at(log, header_page_size); (begin & ~1u) == magic && is_page_size(size)) {
    const Log whole(log, begin == magic ? std::endian::little : std::endian::big, size);
    if (whole.header_is_right()) return whole.finding();
  }
  const std::size_t size = page_size_in(file);
  if (!is_page_size(size)) return {};  // not a database
  const bool other_order = std::endian::native == std::endian::little;
  const Log turned(log, other_order ? std::endian::big : std::endian::little, size);
  return (turned.begins_with_its_header() ? turned : Log(log, std::endian::native, size)).finding_without_header(file);
}

}  // namespace corelane::nameserver
