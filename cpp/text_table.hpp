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
    HeadMasks() {
        for (int n = 0; n <= 16; ++n) {
            unsigned char ones[16] = {};
            std::memset(ones, 0xFF, n);
            std::memcpy(&low[n], ones, 8);
            std::memcpy(&high[n], ones + 8, 8);
        }
    }
};
inline const HeadMasks head_masks;

// A term as the table compares it: its first 16 bytes in two words, zeros behind.
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

// 32 bytes: two slots a cache line. A term of at most 16 bytes is stored whole;
// of a longer one `high` says where the arena keeps it.
struct Slot {
    std::uint64_t low, high;
    std::uint32_t tag; // 0: empty
    std::uint32_t id;
    std::uint32_t mark; // free for the user of the table
    std::uint32_t unused;
};

class StringTable {
  public:
    StringTable() : slots_(1u << 10), mask_((1u << 10) - 1) { starts_.push_back(0); }

    void prefetch_slot(const Key& key) const { prefetch(&slots_[key.hash & mask_]); }

    // The slot of the term, or nullptr.
    const Slot* find(const Key& key) const {
        const Slot& slot = slots_[probe(key)];
        return slot.tag ? &slot : nullptr;
    }

    // The slot of the term; a new one gets `new_id` and mark 0. There must be room.
    Slot& find_or_add(const Key& key, std::uint32_t new_id) {
        Slot& slot = slots_[probe(key)];
        if (slot.tag) return slot;
        ++size_;
        slot = {key.low, key.length > 16 ? arena_.size() : key.high, key.tag(), new_id, 0, 0};
        arena_.insert(arena_.end(), key.bytes, key.bytes + key.length);
        starts_.push_back(arena_.size());
        return slot;
    }

    // Make room for so many terms in all: until then no slot moves.
    void reserve(std::size_t n) {
        std::size_t wanted = slots_.size();
        while (n * 5 > wanted * 2) wanted *= 2; // sparse: most terms are found at the first look
        if (wanted > slots_.size()) grow(wanted);
    }

    // Terms are numbered in the order in which they were added.
    std::size_t size() const { return size_; }
    const char* bytes(std::size_t index) const { return arena_.data() + starts_[index]; }
    std::uint32_t length(std::size_t index) const { return starts_[index + 1] - starts_[index]; }

    // A copy of the term at the end of a buffer that may be read beyond its end.
    Key key(std::size_t index, std::vector<char>& buffer) const {
        const std::uint32_t n = length(index);
        if (buffer.size() < n + over_read) buffer.resize(2 * n + over_read);
        std::memcpy(buffer.data(), bytes(index), n);
        return Key::of(buffer.data(), n);
    }

    void clear_marks() {
        for (Slot& slot : slots_) slot.mark = 0;
    }

    // Forget the slots, keep the strings: enough for naming the terms.
    void drop_slots() { slots_ = ZeroArray<Slot>(); }

  private:
    std::size_t probe(const Key& key) const {
        const std::uint32_t tag = key.tag();
        for (std::size_t at = key.hash & mask_;; at = (at + 1) & mask_) {
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

    void grow(std::size_t n_slots) {
        ZeroArray<Slot> old(n_slots);
        slots_.swap(old);
        mask_ = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.tag == 0) continue;
            std::size_t at = hash_of(slot) & mask_;
            while (slots_[at].tag) at = (at + 1) & mask_;
            slots_[at] = slot;
        }
    }

    ZeroArray<Slot> slots_;
    std::size_t mask_, size_ = 0;
    std::vector<char> arena_;
    std::vector<std::uint64_t> starts_;
};

// From pairs of numbers to numbers: an n-gram is its (n-1)-gram and one more word.
struct PairSlot {
    std::uint64_t key; // 0: empty
    std::uint32_t id;
    std::uint32_t mark;
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
        slot = {key, new_id, 0};
        return slot;
    }

    void clear_marks() {
        for (PairSlot& slot : slots_) slot.mark = 0;
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
