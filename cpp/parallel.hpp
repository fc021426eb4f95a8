// Run one function on several threads and bring the first error back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

// No answer depends on the number of threads, so more than this many never start.
constexpr std::size_t most_threads = 64;

inline std::size_t usable_threads(std::size_t wanted) { return std::clamp<std::size_t>(wanted, 1, most_threads); }

// Threads that are joined on every way out.
class JoiningThreads {
  public:
    ~JoiningThreads() { join(); }
    template <typename Work> void start(Work&& work) { threads_.emplace_back(std::forward<Work>(work)); }
    void join() {
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
    }

  private:
    std::vector<std::thread> threads_;
};

// Calls work(k) for k = 0 .. n_parts-1, each part on a thread of its own, the last on
// the caller's; parts whose thread the system refuses to start run there too. The caller
// must have released the GIL.
template <typename Work> void run_parts(std::size_t n_parts, Work work) {
    std::vector<std::exception_ptr> errors(n_parts);
    auto guarded = [&](std::size_t part) {
        try {
            work(part);
        } catch (...) {
            errors[part] = std::current_exception();
        }
    };
    {
        JoiningThreads threads;
        std::size_t part = 0;
        try {
            for (; part + 1 < n_parts; ++part) threads.start([&guarded, part] { guarded(part); });
        } catch (const std::system_error&) {
        }
        for (; part < n_parts; ++part) guarded(part);
    }
    for (auto& error : errors)
        if (error) std::rethrow_exception(error);
}
