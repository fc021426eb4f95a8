// A table of word vectors: a text is the sum of the vectors of its tokens.
#pragma once

#include "parallel.hpp"
#include "text_table.hpp"

#include <cmath>

namespace text {

// Lines are whole words and marks first, then pieces for all other words, with "##" before
// those inside a word. The vector of a line is its scale times a row of small numbers.
class VectorTable {
  public:
    VectorTable(const char* lines, std::size_t n_bytes, std::size_t n_words, In2<std::int8_t> vectors, In<float> scale)
        : vectors_(vectors), scale_(scale), width_(vectors.shape(1)) {
        const std::size_t n_lines = scale.size();
        require(vectors.shape(0) == n_lines, "vectors: expected a row for each value of scale.");
        require(n_words <= n_lines && n_lines < none, "n_words: expected at most the number of lines.");
        words_.expect(n_words);
        first_.expect(n_lines - n_words);
        inner_.expect(n_lines - n_words);
        std::vector<char> line;
        std::size_t start = 0;
        for (std::size_t k = 0; k < n_lines; ++k) {
            std::size_t stop = start;
            while (stop < n_bytes && lines[stop] != '\n') ++stop;
            require(start < stop, "lines: expected a word for each value of scale.");
            add_line(lines + start, stop - start, k, k < n_words, line);
            start = stop + 1;
        }
    }

    std::size_t width() const { return width_; }

    // Calls use(line) for a token, or for its pieces: the longest that fit from the left.
    // Reads up to `over_read` bytes behind it. Whether the token is a line by itself.
    template <typename Use> bool look_up(const char* token, std::uint32_t length, Use use) const {
        const std::uint32_t whole = words_.find(token, length).id;
        if (whole != none) {
            use(whole);
            return true;
        }
        const StringTable* pieces = &first_;
        for (std::uint32_t at = 0; at < length; pieces = &inner_) {
            std::uint32_t n = std::min(longest_, length - at), line = none;
            while (n > 0 && (line = pieces->find(token + at, n).id) == none) --n;
            if (n > 0)
                use(line);
            else
                n = letter_length(token[at]); // no piece begins here
            at += n;
        }
        return false;
    }

    // Ask for the vector of a line that will be added soon.
    void fetch(std::uint32_t line) const {
        for (std::size_t k = 0; k < width_; k += 64) prefetch(row(line) + k);
        prefetch(scale_.data() + line);
    }

    // The sum of the vectors of some lines, in their order.
    void add_up(const std::vector<std::uint32_t>& lines, double* sum) const {
        std::fill(sum, sum + width_, 0.0);
        for (std::size_t from = 0; from < width_; from += block)
            add_columns(lines.data(), lines.size(), row(0) + from, scale_.data(), width_,
                        std::min(block, width_ - from), sum + from);
    }

  private:
    void add_line(const char* bytes, std::size_t length, std::uint32_t number, bool is_word, std::vector<char>& line) {
        StringTable* table = is_word ? &words_ : &first_;
        if (!is_word && length > 2 && bytes[0] == '#' && bytes[1] == '#') {
            table = &inner_;
            bytes += 2;
            length -= 2;
        }
        line.assign(length + over_read, 0);
        std::memcpy(line.data(), bytes, length);
        table->find_or_add(line.data(), length, number);
        if (!is_word) longest_ = std::max(longest_, std::uint32_t(length));
    }

    static std::uint32_t letter_length(char byte) {
        const unsigned char first = byte;
        return 1u + (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0);
    }

    static constexpr std::size_t block = 64; // columns at a time: their sums stay in registers

    const std::int8_t* row(std::size_t line) const { return vectors_.data() + line * width_; }

    EARMARK_WIDEST static void add_columns(const std::uint32_t* lines, std::size_t n_lines, const std::int8_t* rows,
                                           const float* scale, std::size_t width, std::size_t n_columns,
                                           double* EARMARK_RESTRICT sum) {
        if (n_columns == block) {
            double whole[block] = {};
            for (std::size_t i = 0; i < n_lines; ++i) {
                const std::int8_t* row = rows + lines[i] * width;
                const double factor = scale[lines[i]];
                for (std::size_t k = 0; k < block; ++k) whole[k] += factor * row[k];
            }
            std::memcpy(sum, whole, sizeof whole);
            return;
        }
        for (std::size_t i = 0; i < n_lines; ++i)
            for (std::size_t k = 0; k < n_columns; ++k) sum[k] += double(scale[lines[i]]) * rows[lines[i] * width + k];
    }

    In2<std::int8_t> vectors_;
    In<float> scale_;
    std::size_t width_;
    std::uint32_t longest_ = 0; // bytes of the longest piece
    StringTable words_, first_, inner_;
};

// Sums of the tokens' vectors: runs of \w, and every other character but spaces.
class VectorSums {
  public:
    explicit VectorSums(const VectorTable& table) : table_(table), sum_(table.width()) {}

    std::int64_t n_words, n_known; // of the last text: runs of \w, and those that are lines

    void write(const Text& t, bool unit, float* out) {
        lines_.clear();
        n_words = n_known = 0;
        bytes_.resize(std::size_t(t.length) * 4 + 4 + over_read);
        char *const base = bytes_.data(), *end = base;
        auto word = [&] {
            if (end == base) return;
            ++n_words;
            n_known += add(base, end - base);
            end = base;
        };
        each_code_point(t, [&](std::uint32_t c, std::uint8_t flags) {
            if (flags & is_word) {
                end = put_utf8(end, c);
                return;
            }
            word();
            if (!(flags & is_space)) add(base, put_utf8(base, c) - base);
        });
        word();
        table_.add_up(lines_, sum_.data());
        double length = 1.0;
        if (unit) {
            double squares = 0.0;
            for (const double value : sum_) squares += value * value;
            if (squares > 0.0) length = std::sqrt(squares);
        }
        for (std::size_t k = 0; k < sum_.size(); ++k) out[k] = static_cast<float>(sum_[k] / length);
    }

  private:
    bool add(const char* token, std::uint32_t length) {
        return table_.look_up(token, length, [&](std::uint32_t line) {
            table_.fetch(line);
            lines_.push_back(line);
        });
    }

    const VectorTable& table_;
    std::vector<double> sum_;
    std::vector<std::uint32_t> lines_;
    std::vector<char> bytes_;
};

} // namespace text
