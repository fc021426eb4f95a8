// A zeroed array for tables that are read at random: large ones ask for large
// pages, since walking page tables would cost more than the look-up itself.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

template <typename T> class ZeroArray {
    static_assert(std::is_trivially_copyable<T>::value, "zero bytes must be a value");

  public:
    ZeroArray() = default;
    explicit ZeroArray(std::size_t n) : data_(allocate(n * sizeof(T))), size_(n) {}

    T& operator[](std::size_t k) { return data_.get()[k]; }
    const T& operator[](std::size_t k) const { return data_.get()[k]; }
    std::size_t size() const { return size_; }
    T* begin() { return data_.get(); }
    T* end() { return data_.get() + size_; }

  private:
    struct Free {
        void operator()(T* p) const { std::free(p); }
    };

    static T* allocate(std::size_t bytes) {
        constexpr std::size_t large_page = std::size_t(1) << 21;
        const bool large = bytes >= large_page;
        const std::size_t unit = large ? large_page : 64;
        const std::size_t rounded = (bytes + unit - 1) / unit * unit;
        void* p = std::aligned_alloc(unit, rounded);
        if (!p) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (large) madvise(p, rounded, MADV_HUGEPAGE);
#endif
        std::memset(p, 0, rounded);
        return static_cast<T*>(p);
    }

    std::unique_ptr<T, Free> data_;
    std::size_t size_ = 0;
};
