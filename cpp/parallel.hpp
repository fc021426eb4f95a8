// Run one function on several threads and bring the first error back.
#pragma once

#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

// Calls work(k) for k = 0 .. n_parts-1, each part on a thread of its own, the
// last on the caller's. The caller must have released the GIL.
template <typename Work> void run_parts(std::size_t n_parts, Work work) {
    std::vector<std::exception_ptr> errors(n_parts);
    auto guarded = [&](std::size_t part) {
        try {
            work(part);
        } catch (...) {
            errors[part] = std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t part = 0; part + 1 < n_parts; ++part) threads.emplace_back(guarded, part);
    if (n_parts > 0) guarded(n_parts - 1);
    for (auto& thread : threads) thread.join();
    for (auto& error : errors)
        if (error) std::rethrow_exception(error);
}
