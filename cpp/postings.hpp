// The rows of each column of a CSR matrix: its transpose, in one counting sort.
#pragma once

#include <cstdint>
#include <vector>

namespace earmark {

struct Postings {
    std::vector<int64_t> start;  // n + 1
    std::vector<int32_t> row;    // nnz, ascending within a column

    Postings(const int64_t *ptr, const int32_t *idx, int64_t m, int64_t n)
        : start(n + 1, 0), row(ptr[m]) {
        for (int64_t e = 0; e < ptr[m]; ++e) ++start[idx[e] + 1];
        for (int64_t k = 0; k < n; ++k) start[k + 1] += start[k];
        std::vector<int64_t> next(start.begin(), start.end() - 1);
        for (int64_t d = 0; d < m; ++d)
            for (int64_t e = ptr[d]; e < ptr[d + 1]; ++e)
                row[next[idx[e]]++] = static_cast<int32_t>(d);
    }
};

}  // namespace earmark
