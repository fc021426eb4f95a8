// A zeroed array for tables that are read at random: large ones ask for large
// pages, since walking page tables would cost more than the look-up itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
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
    explicit ZeroArray(std::size_t n) : size_(n) {
        bytes_ = n * sizeof(T);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (bytes_ >= large_page) {
            map_large();
            return;
        }
#endif
        data_ = static_cast<T*>(std::calloc(n ? n : 1, sizeof(T)));
        if (!data_) throw std::bad_alloc();
    }
    ZeroArray(ZeroArray&& other) noexcept { swap(other); }
    ZeroArray& operator=(ZeroArray&& other) noexcept {
        ZeroArray taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~ZeroArray() {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (mapped_) {
            munmap(mapped_, bytes_ + large_page);
            return;
        }
#endif
        std::free(data_);
    }

    void swap(ZeroArray& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(mapped_, other.mapped_);
        std::swap(size_, other.size_);
        std::swap(bytes_, other.bytes_);
    }

    T& operator[](std::size_t k) { return data_[k]; }
    const T& operator[](std::size_t k) const { return data_[k]; }
    std::size_t size() const { return size_; }
    T* begin() { return data_; }
    const T* begin() const { return data_; }
    T* end() { return data_ + size_; }

  private:
    static constexpr std::size_t large_page = std::size_t(1) << 21;

#if defined(__linux__) && defined(MADV_HUGEPAGE)
    // Pages come zeroed from the system; begin at a boundary of large pages.
    void map_large() {
        mapped_ = mmap(nullptr, bytes_ + large_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped_ == MAP_FAILED) {
            mapped_ = nullptr;
            throw std::bad_alloc();
        }
        const std::uintptr_t start =
            (reinterpret_cast<std::uintptr_t>(mapped_) + large_page - 1) / large_page * large_page;
        madvise(reinterpret_cast<void*>(start), bytes_, MADV_HUGEPAGE);
        data_ = reinterpret_cast<T*>(start);
    }
#endif

    T* data_ = nullptr;
    void* mapped_ = nullptr;
    std::size_t size_ = 0, bytes_ = 0;
};
