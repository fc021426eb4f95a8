// Lists of numbers that chunks of text stand for. The words of a language recur: what one is
// made of is looked up once.
#pragma once

#include "text_table.hpp"

namespace text {

class ChunkLists {
  public:
    // For each chunk in turn use(numbers, n, extra); the first time make(chunk, numbers) appends
    // its numbers and says the extra one.
    template <typename Make, typename Use>
    void each(const char* bytes, const Span* chunks, std::size_t n, Make make, Use use) {
        for (std::size_t begin = 0; begin < n; begin += look_ahead) {
            const std::size_t m = std::min(look_ahead, n - begin);
            table_.expect(m);
            for (std::size_t k = 0; k < m; ++k)
                table_.prefetch_slot(bytes + chunks[begin + k].start, chunks[begin + k].length());
            for (std::size_t k = 0; k < m; ++k) one(bytes, chunks[begin + k], make, use);
        }
    }

  private:
    // Longer chunks are seldom words; and lists stop growing at a bound.
    static constexpr std::size_t longest = 64, most_numbers = std::size_t(1) << 23, most_chunks = std::size_t(1) << 19;

    struct List {
        std::uint32_t start, n, extra;
    };

    template <typename Make, typename Use> void one(const char* bytes, Span chunk, Make& make, Use& use) {
        if (chunk.length() > longest || lists_.size() >= most_chunks || numbers_.size() >= most_numbers) {
            const Place& known = table_.find(bytes + chunk.start, chunk.length());
            if (known.id != none) return hand_on(lists_[known.id], use);
            unkept_.clear();
            const std::uint32_t extra = make(chunk, unkept_);
            return use(unkept_.data(), unkept_.size(), extra);
        }
        const Place& place = table_.find_or_add(bytes + chunk.start, chunk.length(), lists_.size());
        if (place.id == lists_.size()) {
            const std::uint32_t start = numbers_.size(), extra = make(chunk, numbers_);
            lists_.push_back({start, std::uint32_t(numbers_.size() - start), extra});
        }
        hand_on(lists_[place.id], use);
    }

    template <typename Use> void hand_on(List list, Use& use) const {
        use(numbers_.data() + list.start, list.n, list.extra);
    }

    StringTable table_;
    std::vector<List> lists_;
    std::vector<std::uint32_t> numbers_, unkept_;
};

} // namespace text
