// The documents of one call: views of Python strings or of Arrow buffers.
#pragma once

#include "bindings.hpp"
#include "compiler.hpp"
#include "text_unicode.hpp"

namespace text {

enum class Kind : std::uint8_t { ascii, latin1, ucs2, ucs4, utf8 };

struct Text {
    const void* data;
    std::uint64_t length; // in units of the kind
    Kind kind;
    bool fold; // still to be lower-cased by the scanner
};

// Holds references to what it points at, so that the GIL can be released while
// the text is read. Python strings are read where they are, in the width that
// the interpreter stores; nothing is converted or cached in them.
class Texts {
  public:
    explicit Texts(bool lowercase) : lowercase_(lowercase) {}
    Texts(const Texts&) = delete;
    Texts& operator=(const Texts&) = delete;
    ~Texts() {
        for (PyObject* object : owned_) Py_DECREF(object);
    }

    // -1, or the first row that is not a string (or, from Arrow, not UTF-8). The list is
    // taken here, under the interpreter's lock: what becomes of it later does not matter.
    std::int64_t add_list(nb::list items) {
        const Py_ssize_t n = PyList_GET_SIZE(items.ptr());
        texts_.reserve(texts_.size() + n);
        owned_.reserve(owned_.size() + n);
        for (Py_ssize_t row = 0; row < n; ++row) {
            PyObject* item = PyList_GET_ITEM(items.ptr(), row);
            if (!PyUnicode_Check(item)) return row;
            Py_INCREF(item);
            owned_.push_back(item);
            texts_.push_back(view(item, lowercase_));
            check_length(texts_.back().length, texts_.size() - 1);
        }
        return -1;
    }

    template <typename Offset> std::int64_t add_arrow(In<Offset> offsets, In<std::uint8_t> bytes, nb::object owner) {
        const std::size_t n = offsets.shape(0) == 0 ? 0 : offsets.shape(0) - 1;
        texts_.reserve(texts_.size() + n);
        Py_INCREF(owner.ptr());
        owned_.push_back(owner.ptr());
        for (std::size_t row = 0; row < n; ++row) {
            const std::uint64_t begin = offsets.data()[row], end = offsets.data()[row + 1];
            if (end < begin || end > bytes.shape(0))
                throw std::invalid_argument("the offsets of the Arrow column are broken");
            check_length(end - begin, texts_.size());
            const unsigned char* data = bytes.data() + begin;
            const bool ascii = all_ascii(data, end - begin);
            if (!ascii && !valid_utf8(data, end - begin)) return row;
            ascii_ = ascii_ && ascii;
            texts_.push_back({data, end - begin, ascii ? Kind::ascii : Kind::utf8, lowercase_});
        }
        return -1;
    }

    // Lower-case by Python the documents that one table entry a character cannot.
    // Needs the Unicode tables; called once, after the documents were added.
    void lower_special() {
        if (!lowercase_ || ascii_) return;
        for (Text& t : texts_) {
            if (t.kind == Kind::ascii || !t.fold || !has_special(t)) continue;
            nb::object plain = nb::steal(
                t.kind == Kind::utf8 ? PyUnicode_DecodeUTF8(static_cast<const char*>(t.data), t.length, "strict")
                                     : PyUnicode_FromKindAndData(width(t.kind), t.data, t.length));
            if (!plain.is_valid()) throw nb::python_error();
            nb::object lowered = plain.attr("lower")();
            t = view(lowered.ptr(), false);
            owned_.push_back(lowered.release().ptr());
        }
    }

    bool ascii() const { return ascii_; }
    std::size_t size() const { return texts_.size(); }
    const Text& operator[](std::size_t row) const { return texts_[row]; }

    // Ask for the beginning of a document that will be read soon.
    void fetch(std::size_t row) const {
        if (row >= texts_.size()) return;
        const char* data = static_cast<const char*>(texts_[row].data);
        const std::uint64_t n = std::min<std::uint64_t>(texts_[row].length, 1024);
        for (std::uint64_t k = 0; k < n; k += 64) prefetch(data + k);
    }

    // Bounds of contiguous parts of about equal text; n_parts + 1 numbers.
    std::vector<std::size_t> parts(std::size_t n_parts) const {
        require(ascii_ || tables().ready(), "texts: the Unicode tables must be set before text beyond ASCII is read.");
        std::uint64_t total = 0, done = 0;
        for (const Text& t : texts_) total += t.length + 16;
        std::vector<std::size_t> bounds = {0};
        for (std::size_t row = 0; row < size(); ++row) {
            done += texts_[row].length + 16;
            while (bounds.size() < n_parts && done * n_parts >= total * bounds.size()) bounds.push_back(row + 1);
        }
        while (bounds.size() < n_parts + 1) bounds.push_back(size());
        bounds.back() = size();
        return bounds;
    }

  private:
    // Places in a document are kept in 32 bits, with up to four bytes a character.
    static void check_length(std::uint64_t length, std::size_t row) {
        if (length >= std::uint64_t(1) << 28)
            throw std::length_error("document " + std::to_string(row) + ": expected fewer than 2^28 characters, got " +
                                    std::to_string(length) + "; split it.");
    }

    Text view(PyObject* item, bool fold) {
#if PY_VERSION_HEX < 0x030C0000
        if (PyUnicode_READY(item) < 0) throw nb::python_error();
#endif
        const std::uint64_t length = PyUnicode_GET_LENGTH(item);
        Kind kind = Kind::ascii;
        if (!PyUnicode_IS_ASCII(item)) {
            ascii_ = false;
            const int stored = PyUnicode_KIND(item);
            kind = stored == 1 ? Kind::latin1 : stored == 2 ? Kind::ucs2 : Kind::ucs4;
        }
        return {PyUnicode_DATA(item), length, kind, fold};
    }

    static int width(Kind kind) { return kind == Kind::ucs4 ? 4 : kind == Kind::ucs2 ? 2 : 1; }

    template <typename Unit> static bool any_special(const void* data, std::uint64_t n) {
        const Unit* units = static_cast<const Unit*>(data);
        for (const std::uint32_t c : tables().special()) {
            const Unit wanted = static_cast<Unit>(c);
            if (wanted != c) continue; // too wide for this string
            bool found = false;        // no early exit: the loop runs in wide registers
            for (std::uint64_t k = 0; k < n; ++k) found |= units[k] == wanted;
            if (found) return true;
        }
        return false;
    }

    static bool has_special(const Text& t) {
        if (t.kind == Kind::latin1) return any_special<std::uint8_t>(t.data, t.length);
        if (t.kind == Kind::ucs2) return any_special<std::uint16_t>(t.data, t.length);
        if (t.kind == Kind::ucs4) return any_special<std::uint32_t>(t.data, t.length);
        const unsigned char* p = static_cast<const unsigned char*>(t.data);
        const unsigned char* const end = p + t.length;
        while (p < end)
            if (tables().flags(get_utf8(p)) & is_special) return true;
        return false;
    }

    bool lowercase_;
    bool ascii_ = true;
    std::vector<Text> texts_;
    std::vector<PyObject*> owned_;
};

} // namespace text
