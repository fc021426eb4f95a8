// Hash tables from terms to numbers, laid out for one cache line a look-up.
#pragma once

#include "compiler.hpp"
#include "text_scan.hpp"
#include "zero_array.hpp"

#include <cstring>

namespace text {

constexpr std::uint32_t none = 0xFFFFFFFF;

constexpr std::uint64_t salt_a = 0x9E3779B97F4A7C15ull, salt_b = 0xD1B54A32D192ED03ull;

// Which bits of the first 16 bytes belong to a term of 0 .. 16 bytes.
struct HeadMasks {
    std::uint64_t low[17], high[17];
    std::uint64_t brief[10]; // of a term of 0 .. 8 bytes; nothing of a longer one
    HeadMasks() {
        for (int n = 0; n <= 16; ++n) {
            unsigned char ones[16] = {};
            std::memset(ones, 0xFF, n);
            std::memcpy(&low[n], ones, 8);
            std::memcpy(&high[n], ones + 8, 8);
        }
        for (int n = 0; n <= 9; ++n) brief[n] = n <= 8 ? low[n] : 0;
    }
};
inline const HeadMasks head_masks;

// A term of at most 8 bytes as one word, zeros behind; 0 for a longer one, and for one with a
// zero byte, which would look like a shorter one. Reads `over_read` bytes from p.
template <bool any_bytes> std::uint64_t brief_key(const char* p, std::uint32_t length) {
    const std::uint64_t mask = head_masks.brief[length < 9 ? length : 9];
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    word &= mask;
    if (any_bytes) {
        const std::uint64_t filled = word | ~mask;
        const bool zero_byte = (filled - 0x0101010101010101ull) & ~filled & 0x8080808080808080ull;
        return zero_byte ? 0 : word;
    }
    return word;
}

// Its upper bits depend on all bytes of the term.
inline std::uint64_t brief_hash(std::uint64_t key) { return key * salt_a; }

// Any other term: its first 16 bytes in two words, zeros behind.
struct Key {
    std::uint64_t low, high, hash;
    const char* bytes;
    std::uint32_t length;

    // Reads up to `over_read` bytes from p, whatever the length.
    static Key of(const char* p, std::uint32_t length) {
        Key key;
        key.bytes = p;
        key.length = length;
        const std::uint32_t kept = length < 16 ? length : 16;
        std::memcpy(&key.low, p, 8);
        std::memcpy(&key.high, p + 8, 8);
        key.low &= head_masks.low[kept];
        key.high &= head_masks.high[kept];
        key.hash = folded_product(key.low ^ salt_a, key.high ^ salt_b ^ (std::uint64_t(length) << 32));
        if (length > 16) key.hash_rest();
        return key;
    }

    // Length and 16 bits of hash: never 0, as no term is empty.
    std::uint32_t tag() const { return std::uint32_t(hash >> 48) << 16 | (length < 0xFFFF ? length : 0xFFFF); }

  private:
    void hash_rest() {
        std::uint32_t k = 16;
        for (; k + 8 <= length; k += 8) {
            std::uint64_t word;
            std::memcpy(&word, bytes + k, 8);
            hash = folded_product(hash ^ word, salt_a);
        }
        std::uint64_t word = 0;
        std::memcpy(&word, bytes + k, length - k);
        hash = folded_product(hash ^ word, salt_b);
    }
};

// What a table knows of a term.
struct Place {
    std::uint32_t id;
    std::uint32_t mark; // free for the user of the table
};
inline constexpr Place absent = {none, 0};

// Most tokens are terms of at most 8 bytes: 16 bytes hold all there is to know, four slots a
// cache line.
struct BriefSlot {
    std::uint64_t key; // 0: empty
    Place place;
};

// 32 bytes: two slots a cache line. A term of at most 16 bytes is stored whole;
// of a longer one `high` says where the arena keeps it.
struct Slot {
    std::uint64_t low, high;
    std::uint32_t tag; // 0: empty
    Place place;
    std::uint32_t unused;
};

constexpr std::size_t look_ahead = 64; // terms hashed and prefetched at a time

class StringTable {
  public:
    StringTable() : brief_(first_size + 1), slots_(first_size) { starts_.push_back(0); }

    // The places of n <= look_ahead terms; &absent for those that are not in the table. Short
    // loops, so that slots are asked for before they are read, and no branch on the length of
    // a term: longer terms meet the empty slot behind the last one, and are then looked up.
    template <bool any_bytes>
    std::size_t locate(const char* bytes, const Span* spans, std::size_t n, const Place** places) const {
        std::uint64_t keys[look_ahead];
        std::uint32_t at[look_ahead + 1], longer[look_ahead + 1], missed[look_ahead + 1];
        std::size_t n_longer = 0, n_missed = 0, n_absent = 0;
        const int shift = brief_shift_;
        const std::uint32_t behind = brief_.size() - 1;
        for (std::size_t k = 0; k < n; ++k) {
            keys[k] = brief_key<any_bytes>(bytes + spans[k].start, spans[k].length());
            at[k] = keys[k] ? std::uint32_t(brief_hash(keys[k]) >> shift) : behind;
            prefetch(&brief_[at[k]]);
            longer[n_longer] = k;
            n_longer += keys[k] == 0;
        }
        Key long_keys[look_ahead];
        for (std::size_t j = 0; j < n_longer; ++j) {
            const Span span = spans[longer[j]];
            long_keys[j] = Key::of(bytes + span.start, span.length());
            prefetch(&slots_[long_keys[j].hash & (slots_.size() - 1)]);
        }
        for (std::size_t k = 0; k < n; ++k) {
            const BriefSlot& slot = brief_[at[k]];
            places[k] = &slot.place;
            missed[n_missed] = k;
            n_missed += slot.key != keys[k];
        }
        for (std::size_t j = 0; j < n_missed; ++j) {
            const std::uint32_t k = missed[j];
            const BriefSlot& slot = brief_[probe(keys[k])];
            places[k] = slot.key ? &slot.place : &absent;
            n_absent += slot.key == 0;
        }
        for (std::size_t j = 0; j < n_longer; ++j) {
            const Slot& slot = slots_[probe(long_keys[j])];
            places[longer[j]] = slot.tag ? &slot.place : &absent;
            n_absent += slot.tag == 0;
        }
        return n_absent;
    }

    const Place& find(const char* bytes, std::uint32_t length) const {
        const std::uint64_t brief = brief_key<true>(bytes, length);
        if (brief) {
            const BriefSlot& slot = brief_[probe(brief)];
            return slot.key ? slot.place : absent;
        }
        const Slot& slot = slots_[probe(Key::of(bytes, length))];
        return slot.tag ? slot.place : absent;
    }

    // The place of the term; a new one gets `new_id` and mark 0. There must be room, and
    // `over_read` bytes behind the term.
    Place& find_or_add(const char* bytes, std::uint32_t length, std::uint32_t new_id) {
        const std::uint64_t brief = brief_key<true>(bytes, length);
        if (brief) {
            BriefSlot& slot = brief_[probe(brief)];
            if (slot.key == 0) {
                slot = {brief, {new_id, 0}};
                ++n_brief_;
                append(bytes, length);
            }
            return slot.place;
        }
        const Key key = Key::of(bytes, length);
        Slot& slot = slots_[probe(key)];
        if (slot.tag == 0) {
            slot = {key.low, key.length > 16 ? arena_.size() : key.high, key.tag(), {new_id, 0}, 0};
            append(bytes, length);
        }
        return slot.place;
    }

    // Ask for the slot of a term that will be added.
    void prefetch_slot(const char* bytes, std::uint32_t length) const {
        const std::uint64_t brief = brief_key<true>(bytes, length);
        if (brief)
            prefetch(&brief_[brief_hash(brief) >> brief_shift_]);
        else
            prefetch(&slots_[Key::of(bytes, length).hash & (slots_.size() - 1)]);
    }

    // Make room for so many more terms: until then no slot moves.
    void expect(std::size_t more) {
        if ((n_brief_ + more) * 5 > brief_.size() * 2) grow_brief(n_brief_ + more);
        if ((size() - n_brief_ + more) * 5 > slots_.size() * 2) grow(size() - n_brief_ + more);
    }

    // Terms are numbered in the order in which they were added.
    std::size_t size() const { return starts_.size() - 1; }
    const char* bytes(std::size_t index) const { return arena_.data() + starts_[index]; }
    std::uint32_t length(std::size_t index) const { return starts_[index + 1] - starts_[index]; }

    // A copy of the term at the start of a buffer that may be read beyond the term's end.
    const char* copy(std::size_t index, std::vector<char>& buffer) const {
        const std::uint32_t n = length(index);
        if (buffer.size() < n + over_read) buffer.resize(2 * n + over_read);
        std::memcpy(buffer.data(), bytes(index), n);
        return buffer.data();
    }

    void clear_marks() {
        for (BriefSlot& slot : brief_) slot.place.mark = 0;
        for (Slot& slot : slots_) slot.place.mark = 0;
    }

    // Forget the slots, keep the strings: enough for naming the terms.
    void drop_slots() {
        brief_ = ZeroArray<BriefSlot>();
        slots_ = ZeroArray<Slot>();
    }

  private:
    static constexpr std::size_t first_size = 1u << 10;

    void append(const char* bytes, std::uint32_t length) {
        arena_.insert(arena_.end(), bytes, bytes + length);
        starts_.push_back(arena_.size());
    }

    std::size_t probe(std::uint64_t key) const {
        const std::size_t mask = brief_.size() - 2; // one slot more than a power of two
        std::size_t at = brief_hash(key) >> brief_shift_;
        while (brief_[at].key && brief_[at].key != key) at = (at + 1) & mask;
        return at;
    }

    std::size_t probe(const Key& key) const {
        const std::uint32_t tag = key.tag();
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = key.hash & mask;; at = (at + 1) & mask) {
            const Slot& slot = slots_[at];
            if (slot.tag == 0) return at;
            if (slot.tag != tag || slot.low != key.low) continue;
            if (key.length <= 16 ? slot.high == key.high : same_long(slot, key)) return at;
        }
    }

    bool same_long(const Slot& slot, const Key& key) const {
        // Lengths from 0xFFFF share a tag; a term that fits is followed by the next one's bytes.
        return slot.high + key.length <= arena_.size() &&
               std::memcmp(arena_.data() + slot.high, key.bytes, key.length) == 0 &&
               (key.length < 0xFFFF || stored_length(slot.high) == key.length);
    }

    std::uint64_t stored_length(std::uint64_t start) const {
        const auto after = std::upper_bound(starts_.begin(), starts_.end(), start);
        return *after - start;
    }

    std::uint64_t hash_of(const Slot& slot) {
        const std::uint32_t length = slot.tag & 0xFFFF;
        if (length > 16) {
            const std::uint32_t n = length < 0xFFFF ? length : std::uint32_t(stored_length(slot.high));
            return Key::of(arena_.data() + slot.high, n).hash;
        }
        return folded_product(slot.low ^ salt_a, slot.high ^ salt_b ^ (std::uint64_t(length) << 32));
    }

    // Sparse: most terms are found at the first look.
    static std::size_t enough_slots(std::size_t n_terms) {
        std::size_t n = first_size;
        while (n_terms * 5 > n * 2) n *= 2;
        return n;
    }

    void grow_brief(std::size_t n_terms) {
        const std::size_t n_slots = enough_slots(n_terms);
        ZeroArray<BriefSlot> old(n_slots + 1);
        brief_.swap(old);
        brief_shift_ = 64 - lowest_bit(n_slots);
        for (const BriefSlot& slot : old)
            if (slot.key) brief_[probe(slot.key)] = slot;
    }

    void grow(std::size_t n_terms) {
        ZeroArray<Slot> old(enough_slots(n_terms));
        slots_.swap(old);
        for (const Slot& slot : old) {
            if (slot.tag == 0) continue;
            std::size_t at = hash_of(slot) & (slots_.size() - 1);
            while (slots_[at].tag) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = slot;
        }
    }

    ZeroArray<BriefSlot> brief_; // terms of at most 8 bytes, and an empty slot behind
    ZeroArray<Slot> slots_;      // the others
    std::size_t n_brief_ = 0;
    int brief_shift_ = 64 - lowest_bit(first_size);
    std::vector<char> arena_;
    std::vector<std::uint64_t> starts_;
};

// From pairs of numbers to numbers: an n-gram is its (n-1)-gram and one more word.
struct PairSlot {
    std::uint64_t key; // 0: empty
    Place place;
};

class PairTable {
  public:
    static std::uint64_t key(std::uint32_t prefix, std::uint32_t word) {
        return (std::uint64_t(prefix) << 32 | word) + 1;
    }

    PairTable() : slots_(1u << 10), mask_((1u << 10) - 1) {}

    void prefetch_slot(std::uint64_t key) const { prefetch(&slots_[hash(key)]); }

    const PairSlot* find(std::uint64_t key) const {
        const PairSlot& slot = slots_[probe(key)];
        return slot.key ? &slot : nullptr;
    }

    std::size_t size() const { return size_; }

    void reserve(std::size_t n) {
        std::size_t wanted = slots_.size();
        while (n * 3 > wanted * 2) wanted *= 2;
        if (wanted > slots_.size()) grow(wanted);
    }

    // There must be room.
    PairSlot& find_or_add(std::uint64_t key, std::uint32_t new_id) {
        PairSlot& slot = slots_[probe(key)];
        if (slot.key) return slot;
        ++size_;
        slot = {key, {new_id, 0}};
        return slot;
    }

    void clear_marks() {
        for (PairSlot& slot : slots_) slot.place.mark = 0;
    }

    void drop_slots() { slots_ = ZeroArray<PairSlot>(); }

  private:
    std::size_t hash(std::uint64_t key) const { return folded_product(key, salt_a) & mask_; }

    std::size_t probe(std::uint64_t key) const {
        std::size_t at = hash(key);
        while (slots_[at].key && slots_[at].key != key) at = (at + 1) & mask_;
        return at;
    }

    void grow(std::size_t n_slots) {
        ZeroArray<PairSlot> old(n_slots);
        slots_.swap(old);
        mask_ = slots_.size() - 1;
        for (const PairSlot& slot : old) {
            if (!slot.key) continue;
            std::size_t at = hash(slot.key);
            while (slots_[at].key) at = (at + 1) & mask_;
            slots_[at] = slot;
        }
    }

    ZeroArray<PairSlot> slots_;
    std::size_t mask_, size_ = 0;
};

} // namespace text
