// SPDX-License-Identifier: Apache-2.0
// heaptrack's records to events.
#include "heapfit/trace/heaptrack.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "site_hash.h"
#include "wire.h"

namespace heapfit {

namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t milliseconds = 1000;               // us
constexpr std::size_t most_records = std::size_t{1} << 22; // of one letter: memory is bounded
constexpr std::uint64_t first_64_bit_address = std::uint64_t{1} << 32;

std::uint64_t number_in(Words &words, std::uint64_t line, const char *field) {
    return to_number<std::uint64_t>(words.next(), line, field, 16);
}

// FNV-1a (Fowler, Noll, Vo).
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return hash;
}

// A record counted from 1; 0 where the number names none.
template <class Record> Record record_of(const std::vector<Record> &records, std::uint64_t number) {
    return number == 0 || number > records.size() ? Record{} : records[number - 1];
}

template <class Record>
void keep(std::vector<Record> &records, const Record &record, std::uint64_t line) {
    if (records.size() == most_records) {
        refuse_line(line, "more than " + std::to_string(most_records) + " such records");
    }
    records.push_back(record);
}

constexpr std::uint64_t first_with_counted_texts = 3; // a form, of heaptrack 1.4
constexpr std::uint64_t last_form = 3;

// The text behind its length, which is in hexadecimal; of older forms the word, or all if it has
// blanks.
std::string_view text_in(Words &words, std::uint64_t line, std::uint64_t form, bool is_word) {
    if (form < first_with_counted_texts) {
        return is_word ? words.next() : words.rest();
    }
    const std::uint64_t length = number_in(words, line, "length");
    return words.next_bytes(std::min<std::uint64_t>(length, words.rest().size()));
}

} // namespace

void HeaptrackTrace::feed(std::string_view chunk) {
    splitter_.feed(chunk, [this](auto line, auto number) { take(line, number); });
}

void HeaptrackTrace::finish() {
    splitter_.finish([this](auto line, auto number) {
        cut_ = take_unfinished(line, number, [this](auto last, auto at) { take(last, at); });
    });
    heap_.finish();
}

void HeaptrackTrace::take(std::string_view line, std::uint64_t number) {
    if (line.empty() || line.front() == '#') {
        return;
    }
    Words words(line);
    const std::string_view kind = words.next();
    if (kind.size() != 1) {
        refuse_line(number, quoted(kind) + " is no record of heaptrack");
    }
    if (!is_begun_ && kind != "v") {
        refuse_line(number, "no version before the first record");
    }
    take_record(kind.front(), words, number);
}

// Records of other letters say nothing of blocks.
void HeaptrackTrace::take_record(char letter, Words &words, std::uint64_t number) {
    switch (letter) {
    case 'v':
        return begin(words, number);
    case 'X':
        header_.program = words.rest();
        return;
    case 'c':
        time_ = number_in(words, number, "time") * milliseconds;
        return;
    case 'm':
        return take_module(words, number);
    case 's':
        is_interpreted_ = true;
        return keep(texts_, hash_of(text_in(words, number, form_, false)), number);
    case 'i':
        return take_instruction(words, number);
    case 't':
        return take_path(words, number);
    case 'a':
        return take_allocation(words, number);
    case '+':
        return allocate(words, number);
    case '-':
        return release(words, number);
    default:
        return;
    }
}

void HeaptrackTrace::begin(Words &words, std::uint64_t number) {
    (void)number_in(words, number, "version");
    form_ = words.is_done() ? 1 : number_in(words, number, "form");
    if (form_ == 0 || form_ > last_form) {
        refuse_line(number, "form " + std::to_string(form_) +
                                " of heaptrack's files (this program reads 1 to 3)");
    }
    is_begun_ = true;
    header_.source = "heaptrack";
}

// `m 1 -` begins the list of modules anew.
void HeaptrackTrace::take_module(Words &words, std::uint64_t number) {
    const std::string_view path = text_in(words, number, form_, true);
    if (path == "-") {
        modules_.clear();
        return;
    }
    const std::uint64_t base = number_in(words, number, "address");
    std::uint64_t start = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t end = 0;
    while (!words.is_done()) {
        const std::uint64_t at = number_in(words, number, "address");
        start = std::min(start, at / page * page);
        end = std::max(end, at + number_in(words, number, "size"));
    }
    if (start < end) {
        modules_.insert_or_assign(base + start, end - start);
    }
}

// Of the interpreted form: a site is the function and its line, since addresses differ from run to
// run and modules are not told.
void HeaptrackTrace::take_instruction(Words &words, std::uint64_t number) {
    const std::uint64_t address = number_in(words, number, "address");
    std::uint64_t name = record_of(texts_, number_in(words, number, "module"));
    if (words.is_done()) {
        name = (name ^ address % page) * 3;
    } else {
        name = (name ^ record_of(texts_, number_in(words, number, "function"))) * 5;
        if (!words.is_done()) {
            (void)number_in(words, number, "file");
            name ^= number_in(words, number, "line");
        }
    }
    keep(instructions_, hfit_site_hash(name, 0), number);
}

// A raw path has the byte before the one that its call returns to, by which sites are named.
void HeaptrackTrace::take_path(Words &words, std::uint64_t number) {
    const std::uint64_t call = number_in(words, number, "address");
    keep(paths_, is_interpreted_ ? record_of(instructions_, call) : site_at(call + 1), number);
}

std::uint32_t HeaptrackTrace::site_at(std::uint64_t address) const {
    const auto behind = modules_.upper_bound(address);
    if (behind == modules_.begin()) {
        return 0;
    }
    const auto &[start, extent] = *std::prev(behind);
    return address - start < extent ? hfit_site_hash(address - start, extent) : 0;
}

void HeaptrackTrace::take_allocation(Words &words, std::uint64_t number) {
    Allocation allocation;
    allocation.size = number_in(words, number, "size");
    allocation.site = record_of(paths_, number_in(words, number, "path"));
    is_interpreted_ = true;
    keep(allocations_, allocation, number);
}

void HeaptrackTrace::allocate(Words &words, std::uint64_t number) {
    const std::uint64_t first = number_in(words, number, "size");
    Request request;
    request.time = time_;
    if (words.is_done()) {
        Allocation &allocation = allocation_of(first, number);
        request.id = number_block(allocation);
        request.size = allocation.size;
        request.site = allocation.site;
    } else {
        request.size = first;
        request.site = record_of(paths_, number_in(words, number, "path"));
        request.id = number_in(words, number, "address");
        if (request.id >= first_64_bit_address) {
            header_.pointer_bits = 64;
        }
    }
    if (pool_size_ == 0 && heap_.builder().allocations() == 0 &&
        hfit_is_emergency_size(request.size)) {
        pool_ = request.id;
        pool_size_ = request.size;
        return;
    }
    heap_.allocate(request, number);
}

// Of the interpreted form: the last of the blocks that are alike.
void HeaptrackTrace::release(Words &words, std::uint64_t number) {
    Request request;
    request.op = Op::free;
    request.time = time_;
    request.id = number_in(words, number, "address");
    if (is_interpreted_) {
        const std::uint32_t block = last_block(allocation_of(request.id, number));
        request.id = block == 0 ? no_block : block;
    }
    if (pool_size_ == 0 || request.id != pool_ || heap_.builder().is_live(pool_)) {
        heap_.release(request, number);
    }
}

std::uint32_t HeaptrackTrace::number_block(Allocation &allocation) {
    if (unused_ == 0) {
        before_.push_back(0);
        unused_ = static_cast<std::uint32_t>(before_.size());
    }
    const std::uint32_t block = unused_;
    unused_ = before_[block - 1];
    before_[block - 1] = allocation.last;
    allocation.last = block;
    return block;
}

// 0 if none is live; its number may be given anew.
std::uint32_t HeaptrackTrace::last_block(Allocation &allocation) {
    const std::uint32_t block = allocation.last;
    if (block != 0) {
        allocation.last = before_[block - 1];
        before_[block - 1] = unused_;
        unused_ = block;
    }
    return block;
}

HeaptrackTrace::Allocation &HeaptrackTrace::allocation_of(std::uint64_t index,
                                                          std::uint64_t number) {
    if (index >= allocations_.size()) {
        refuse_line(number, "allocation " + std::to_string(index) + " was not told before");
    }
    return allocations_[index];
}

std::vector<std::string> HeaptrackTrace::notes() const {
    std::vector<std::string> told{
        "heaptrack tells a resize as a free and an allocation, and alignments not at all."};
    if (is_interpreted_) {
        told.emplace_back("Of blocks of one size and call path, the last one is taken as freed: "
                          "record with heaptrack --raw to know.");
    }
    if (pool_size_ != 0) {
        told.push_back(emergency_pool_note(pool_size_));
    }
    const std::vector<std::string> inferred = heap_.notes();
    told.insert(told.end(), inferred.begin(), inferred.end());
    if (!cut_.empty()) {
        told.push_back("The rest is left out, from " + cut_);
    }
    return told;
}

} // namespace heapfit
