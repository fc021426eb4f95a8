// Runs of words as hashes; plain twin: earmark.kernels.shingles.
#include "text_scan.hpp"

#include <algorithm>

namespace {

using namespace text;

constexpr std::uint64_t base = 0x9E3779B97F4A7C15ull;
constexpr std::uint64_t multipliers[] = {0x9E3779B97F4A7C15ull, 0xC2B2AE3D27D4EB4Full, 0x165667B19E3779F9ull};

// What a byte of lower-cased text counts: its number plus one in a word (ASCII letters,
// digits, _, and all beyond ASCII), else 0.
struct ByteValues {
    std::uint64_t of[256];
    ByteValues() {
        for (std::uint32_t c = 0; c < 256; ++c) of[c] = c > 127 || ascii_word(c) ? ascii_lower(c) + 1 : 0;
    }
};
const ByteValues byte_values;

// Reads texts one after the other as hashes of their runs of words.
class Runs {
  public:
    explicit Runs(std::size_t width) : width_(width) {}

    // Calls use(hash) for each run of `width` words; a shorter text is one run, one without
    // a word has the hash 0.
    template <typename Use> void each(const Text& t, Use use) {
        read(t);
        if (words_.empty()) return use(std::uint64_t(0));
        const std::size_t width = std::min(width_, words_.size());
        for (std::size_t first = 0; first + width <= words_.size(); ++first) {
            std::uint64_t hash = width;
            for (std::size_t k = 0; k < width; ++k) {
                hash = (hash ^ words_[first + k]) * multipliers[0];
                hash ^= hash >> 29;
            }
            hash *= multipliers[1];
            use(hash ^ hash >> 32);
        }
    }

  private:
    void read(const Text& t) {
        words_.clear();
        if (t.kind == Kind::ascii) {
            const unsigned char* const bytes = static_cast<const unsigned char*>(t.data);
            for (std::uint64_t k = 0; k < t.length; ++k) byte(bytes[k]);
        } else {
            each_code_point(t, [&](std::uint32_t c, std::uint8_t) {
                char utf8[4];
                const char* const end = put_utf8(utf8, c);
                for (const char* p = utf8; p < end; ++p) byte(static_cast<unsigned char>(*p));
            });
        }
        byte(0);
    }

    EARMARK_INLINE void byte(unsigned char c) {
        if (const std::uint64_t value = byte_values.of[c]) {
            hash_ += value * power_;
            power_ *= base;
        } else if (power_ != 1) {
            words_.push_back(hash_ ^ hash_ >> 31);
            hash_ = 0;
            power_ = 1;
        }
    }

    std::size_t width_;
    std::uint64_t hash_ = 0, power_ = 1;
    std::vector<std::uint64_t> words_;
};

// Drops numbers that stood before: a hash table that is made anew for each text.
class Distinct {
  public:
    std::size_t keep(std::uint64_t* values, std::size_t n) {
        std::size_t n_slots = 16;
        while (n_slots < 2 * n) n_slots *= 2;
        slots_.assign(n_slots, 0);
        bool had_zero = false; // which is what an empty slot holds
        std::size_t kept = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const std::uint64_t value = values[k];
            std::size_t at = value & (n_slots - 1);
            while (slots_[at] && slots_[at] != value) at = (at + 1) & (n_slots - 1);
            if (value ? slots_[at] == value : had_zero) continue;
            if (value)
                slots_[at] = value;
            else
                had_zero = true;
            values[kept++] = value;
        }
        return kept;
    }

  private:
    std::vector<std::uint64_t> slots_;
};

// The smallest different hashes of each text, how many there are, and a sum of all hashes.
void sketches(const Texts& texts, std::size_t width, Out2<std::uint64_t> smallest, Out<std::int64_t> n,
              Out<std::uint64_t> total) {
    const std::size_t most = smallest.shape(1);
    require_shape(smallest, texts.size(), most, "smallest");
    require_size(n, texts.size(), "n");
    require_size(total, texts.size(), "total");
    require(width > 0 && most > 0, "width, smallest: expected at least 1 and one column.");
    texts.parts(1); // checks that the texts can be read
    nb::gil_scoped_release release;
    Runs runs(width);
    for (std::size_t row = 0; row < texts.size(); ++row) {
        std::uint64_t* const own = smallest.data() + row * most;
        std::fill(own, own + most, ~std::uint64_t(0));
        std::size_t size = 0;
        std::uint64_t sum = 0;
        texts.fetch(row + 8);
        runs.each(texts[row], [&](std::uint64_t hash) {
            sum += (hash ^ hash >> 31) * multipliers[2];
            if (size == most && hash >= own[most - 1]) return;
            std::uint64_t* const place = std::lower_bound(own, own + size, hash);
            if (place < own + size && *place == hash) return;
            size += size < most;
            std::copy_backward(place, own + size - 1, own + size);
            *place = hash;
        });
        n.data()[row] = size;
        total.data()[row] = sum;
    }
}

// The different hashes of one text after the other, and how many each has.
nb::tuple shingle_sets(const Texts& texts, std::size_t width) {
    require(width > 0, "width: expected at least 1.");
    texts.parts(1);
    std::vector<std::uint64_t> hashes;
    std::vector<std::int64_t> sizes(texts.size());
    {
        nb::gil_scoped_release release;
        Runs runs(width);
        Distinct distinct;
        for (std::size_t row = 0; row < texts.size(); ++row) {
            const std::size_t start = hashes.size();
            runs.each(texts[row], [&](std::uint64_t hash) { hashes.push_back(hash); });
            sizes[row] = distinct.keep(hashes.data() + start, hashes.size() - start);
            hashes.resize(start + sizes[row]);
        }
    }
    return nb::make_tuple(give_array(std::move(hashes)), give_array(std::move(sizes)));
}

} // namespace

void bind_shingles(nb::module_& m) {
    m.def("sketches", &sketches, "texts"_a, "width"_a, "smallest"_a.noconvert(), "n"_a.noconvert(),
          "total"_a.noconvert());
    m.def("shingle_sets", &shingle_sets, "texts"_a, "width"_a);
}
