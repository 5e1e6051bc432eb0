// SPDX-License-Identifier: Apache-2.0
// Dialects are lists of patterns.
#include "heapfit/trace/heap_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <span>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

// The first pattern that a line has is what it says.
constexpr auto heaplog = std::to_array<LogPattern>({
    {"hl{m,%S,%D%A", Op::alloc},
    {"hl{f,%D%A", Op::free},
    {"hl{c,%S,%D%A", Op::zeroed},
    {"hl{z,%S,%D%A", Op::zeroed},
    {"hl{r,%S,%D%O,%A}", Op::resize},
    {"hl{r,%S,%O,%A", Op::resize}, // of block 0, which is no heap
});
constexpr auto wolfssl = std::to_array<LogPattern>({
    {"Alloc: %A -> %S at %P", Op::alloc},
    {"Free: %A -> %I at ", Op::free},
});
constexpr auto nuttx = std::to_array<LogPattern>({
    {"mm_malloc: Allocated %A, size %S", Op::alloc},
    {"mm_free: Freeing %A", Op::free},
});
constexpr auto nuttx_trace = std::to_array<LogPattern>({
    {"|malloc: heap: %I size:%S, address: %A", Op::alloc},
    {"|free: heap: %I size:%S, address: %A", Op::free},
});
constexpr auto zephyr = std::to_array<LogPattern>({
    {"Memory allocated at %A, size %S", Op::alloc},
    {"Memory freed at %A", Op::free},
});
constexpr auto zephyr_list = std::to_array<LogPattern>({
    {"[heaptrace] ptr=%A size=%S heap=%X alloc_thread=%V", Op::alloc},
    {"[heaptrace] ptr=%A size=%S heap=", Op::alloc},
});
constexpr auto esp_list = std::to_array<LogPattern>({
    {"%S bytes (@ %A, %E) allocated CPU %X caller %B", Op::alloc},
    {"%S bytes (@ %A, %E) allocated", Op::alloc},
    {"%S bytes (@ %A", Op::alloc},
    {"freed by ", Op::free, Meaning::last_was_freed},
    {"ccount %I freed", Op::free, Meaning::last_was_freed}, // RISC-V's has no callers
    {"====== Heap Trace: ", Op::free, Meaning::list_begins},
    {" allocations trace (", Op::free, Meaning::list_begins},
});
constexpr auto esp_blocks = std::to_array<LogPattern>({
    {"Block %A data, size: %S bytes, Free: No", Op::alloc},
});
constexpr auto log_malloc = std::to_array<LogPattern>({
    {"+ malloc %S %A", Op::alloc},
    {"+ calloc %S %A", Op::zeroed},
    {"+ realloc %I %O %A (%I %S)", Op::resize},
    {"+ realloc -%I %O %A (%I %S)", Op::resize},
    {"+ memalign %S %A (%L)", Op::aligned},
    {"+ posix_memalign %I %A (%L %S", Op::aligned},
    {"+ valloc %S %A", Op::alloc},
    {"+ free -%I %A", Op::free},
});
constexpr auto freertos = std::to_array<LogPattern>({
    {"traceMALLOC(%A, %S", Op::alloc},
    {"traceFREE(%A", Op::free},
});
constexpr auto system_view = std::to_array<LogPattern>({
    {"HEAP: Allocated %S bytes @ %A from task \"%V", Op::alloc},
    {"HEAP: Allocated %S bytes @ %A", Op::alloc},
    {"HEAP: Freed bytes @ %A", Op::free},
});
constexpr auto mbed = std::to_array<LogPattern>({
    {"#m:%A;%B-%S", Op::alloc},
    {"#c:%A;%B-%N;%S", Op::zeroed},
    {"#r:%A;%B-%O;%S", Op::resize},
    {"#f:%I;%I-%A", Op::free},
});
constexpr auto mtrace = std::to_array<LogPattern>({
    {"(%P+%I)[%I] + %A %H", Op::alloc}, // by name: the addresses differ from run to run
    {"] - %A", Op::free},
    {"%Q] + %A %H", Op::alloc},
    {"] < %O", Op::resize, Meaning::old_block},
    {"(%P+%I)[%I] > %A %H", Op::resize},
    {"%Q] > %A %H", Op::resize},
});
constexpr auto calls = std::to_array<LogPattern>({
    {"free(%A)", Op::free}, // as half of the lines are
    {"malloc(%S) = %A", Op::alloc},
    {"malloc(%S) @ %B returned %A", Op::alloc},
    {"caps_malloc(%S, %Y) = %A", Op::alloc}, // ESP-IDF
    {"caps_malloc(%S, %Y) @ %B returned %A", Op::alloc},
    {"caps_calloc(%N, %S, %Y) = %A", Op::zeroed},
    {"caps_calloc(%N, %S, %Y) @ %B returned %A", Op::zeroed},
    {"caps_realloc(%O, %S, %Y) = %A", Op::resize},
    {"caps_realloc(%O, %S, %Y) @ %B returned %A", Op::resize},
    {"caps_aligned_alloc(%L, %S, %Y) = %A", Op::aligned},
    {"caps_aligned_calloc(%L, %N, %S, %Y) = %A", Op::aligned},
    {"malloc(%S, %X) = %A", Op::alloc},
    {"malloc(%S, %X) @ %B returned %A", Op::alloc},
    {"malloc_prefer(%S, %X) = %A", Op::alloc},
    {"malloc_r(%X, %S) = %A", Op::alloc}, // newlib's: with its state
    {"malloc0(%S) = %A", Op::zeroed},
    {"malloc_align(%S, %L) = %A", Op::aligned}, // RT-Thread
    {"zalloc(%S) = %A", Op::zeroed},
    {"valloc(%S) = %A", Op::alloc},
    {"lv_mem_alloc(%S) = %A", Op::alloc},
    {"heap_alloc(%X, %S) = %A", Op::alloc}, // Zephyr's sys_heap_alloc, RT-Thread's memheap
    {"heap_alloc(%X, %S, %X) = %A", Op::alloc},
    {"heap_aligned_alloc(%X, %L, %S) = %A", Op::aligned},
    {"heap_aligned_alloc(%X, %L, %S, %X) = %A", Op::aligned},
    {"heap_calloc(%X, %N, %S, %X) = %A", Op::zeroed},
    {"heap_realloc(%X, %O, %S) = %A", Op::resize},
    {"heap_realloc(%X, %O, %S, %X) = %A", Op::resize},
    {"tx_byte_allocate(%X, %S) = %A", Op::alloc}, // ThreadX
    {"tx_byte_allocate(%X, %S, %X) = %A", Op::alloc},
    {"tx_byte_allocate(%X, %X, %S, %X) = %A", Op::alloc},
    {"tx_byte_release(%A)", Op::free},
    {"PortMalloc(%S) = %A", Op::alloc},
    {"PortMalloc(%S) @ %B returned %A", Op::alloc},
    {"PortCalloc(%N,%S) = %A", Op::zeroed},
    {"PortCalloc(%N, %S) = %A", Op::zeroed},
    {"PortCalloc(%N, %S) @ %B returned %A", Op::zeroed},
    {"PortZalloc(%S) = %A", Op::zeroed},
    {"PortRealloc(%O,%S) = %A", Op::resize},
    {"PortRealloc(%O, %S) = %A", Op::resize},
    {"PortRealloc(%O, %S) @ %B returned %A", Op::resize},
    {"PortAlignedAlloc(%L, %S) = %A", Op::aligned},
    {"PortMallocAligned(%S, %L) = %A", Op::aligned},
    {"_Znw%F(size %S, al %L) = %A", Op::aligned},
    {"_Znw%F(%S) = %A", Op::alloc},
    {"_Zna%F(size %S, al %L) = %A", Op::aligned},
    {"_Zna%F(%S) = %A", Op::alloc},
    {"operator new(%S) = %A", Op::alloc},
    {"operator new[](%S) = %A", Op::alloc},
    {"calloc(%N,%S) = %A", Op::zeroed},
    {"calloc(%N, %S) = %A", Op::zeroed},
    {"calloc(%N, %S, %X) = %A", Op::zeroed},
    {"calloc(%N, %S) @ %B returned %A", Op::zeroed},
    {"calloc_r(%X, %N, %S) = %A", Op::zeroed},
    {"reallocarray(%O,%N,%S) = %A", Op::resize},
    {"reallocarray(%O, %N, %S) = %A", Op::resize},
    {"realloc(%O,%S) = %A", Op::resize},
    {"realloc(%O, %S) = %A", Op::resize},
    {"realloc(%O, %S, %X) = %A", Op::resize},
    {"realloc(%O, %S) @ %B returned %A", Op::resize},
    {"realloc(%O, %S) @%B returned %A", Op::resize}, // RIOT's
    {"realloc_r(%X, %O, %S) = %A", Op::resize},
    {"mem_trim(%O, %S) = %A", Op::resize}, // lwIP
    {"memalign(al %L, size %S) = %A", Op::aligned},
    {"memalign(%L, %S) = %A", Op::aligned},
    {"memalign(%L, %S, %I, %I) = %A", Op::aligned}, // ltrace guesses four arguments
    {"memalign_r(%X, %L, %S) = %A", Op::aligned},
    {"aligned_alloc(%L, %S) = %A", Op::aligned},
    {"aligned_alloc(%L, %S, %I, %I) = %A", Op::aligned},
    {"strdup(%G) = %A", Op::alloc},
    {"strdup_r(%X, %G) = %A", Op::alloc},
    {"vPortFree(%A)", Op::free},
    {"PortFreeAligned(%A)", Op::free},
    {"free_align(%A)", Op::free},
    {"free_r(%X, %A)", Op::free},
    {"heap_free(%X, %A)", Op::free},
    {"_Zdl%F(%A)", Op::free},
    {"_Zda%F(%A)", Op::free},
    {"operator delete(%A", Op::free},
    {"operator delete[](%A", Op::free},
});

struct Dialect {
    std::string_view source;
    std::span<const LogPattern> patterns;
    std::string_view note;     // what its sizes are, where they are not requests
    std::string_view end = {}; // the line that ends a whole one; "" = none does
};

// What stands behind a call that has its callers in lines of their own.
constexpr auto callers = std::to_array<LogPattern>({
    {"backtrace: %B", Op::alloc}, // Zephyr's heaptrace
    {"(%P+%I)[%I]", Op::alloc},   // log-malloc2
    {")[%Q]", Op::alloc},         // the same, of a function without a name
});

// Who asked, right behind a request.
constexpr auto askers = std::to_array<LogPattern>({
    {"caller %C", Op::alloc},
    {"caller=%C", Op::alloc},
    {"caller: %C", Op::alloc},
    {"called from %C", Op::alloc},
    {"from %C", Op::alloc},
    {"by %C", Op::alloc},
    {"@ %C", Op::alloc},
});

constexpr std::string_view node_table = "NuttX's memdump";
constexpr std::string_view rounded_up =
    "Sizes are those of chunks, which the heap had rounded up: requests are less.";
constexpr std::string_view what_is_live =
    "A list tells what was live then, not what had come and gone before.";

constexpr auto dialects = std::to_array<Dialect>({
    {"heaplog", heaplog, ""},
    {"wolfSSL's memory log", wolfssl, ""},
    {"NuttX's memory log", nuttx, rounded_up},
    {"NuttX's trace", nuttx_trace, rounded_up},
    {"Zephyr's heap listener", zephyr, rounded_up},
    {"Zephyr's heaptrace dump", zephyr_list, what_is_live},
    {"ESP-IDF's heap trace", esp_list, what_is_live},
    {"ESP-IDF's heap dump", esp_blocks, what_is_live},
    {"log-malloc2", log_malloc, ""},
    {"FreeRTOS's trace macros", freertos,
     "Sizes are those of blocks, header and rounding included: requests are less."},
    {"SystemView's heap events", system_view, ""},
    {"Mbed's memory trace", mbed, ""},
    {"mtrace", mtrace, "", "= End"},
    {"a log of calls", calls, ""},
});

// ltrace writes a call in two lines where another line comes between them:
//   malloc(24 <unfinished ...>        <... malloc resumed> ) = 0x55b01fc2b2a0
constexpr std::string_view first_half = " <unfinished ...>";
constexpr std::string_view second_half = "<... ";
constexpr std::string_view second_half_end = " resumed>";
constexpr std::size_t most_halves = 4096;
constexpr std::size_t most_unsized = 4096; // calls that wait for the meaning of their sizes
constexpr std::size_t longest_names = 120; // characters of a note
constexpr std::size_t most_times = 20'000; // that are kept
constexpr std::size_t longest_call = 1024; // that a line in pieces may have across two

// A call by its thread, if the line begins with one, and its function.
std::string key_of(std::string_view line, std::string_view function) {
    const std::string_view thread = line.substr(0, line.find(' '));
    const bool is_number = thread.find_first_not_of("0123456789") == thread.npos;
    return std::string(is_number ? thread : "") + ' ' + std::string(function);
}

// Whether a line has a number and all words of a description: it may be a call in another form.
bool has_words_of(std::string_view line, std::string_view pattern) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    bool has_words = false;
    for (std::size_t at = 0; at < pattern.size();) {
        const std::string_view word = pattern.substr(
            at, std::min(pattern.find_first_not_of(letters, at), pattern.size()) - at);
        if (word.size() > 1 && line.find(word) == line.npos) {
            return false;
        }
        has_words = has_words || word.size() > 1;
        at += word.size();
        at += at < pattern.size() && pattern[at] == '%' ? 2 : 1;
    }
    return has_words && line.find_first_of("0123456789") != line.npos;
}

std::optional<std::size_t> dialect_of(std::string_view line) {
    if (line.find("alloc resumed>") != line.npos) {
        return dialects.size() - 1; // calls
    }
    for (std::size_t i = 0; i < dialects.size(); i++) {
        std::string_view rest = line;
        HeapCall call;
        if (take_next_call(rest, dialects[i].patterns, call) && call.op != Op::free) {
            return i;
        }
    }
    return std::nullopt;
}

// A sentence on requests whose names are not known, with how many lines call each.
std::string describe_unread(const std::map<std::string, std::uint64_t> &unread) {
    std::uint64_t count = 0;
    std::string names;
    for (const auto &[name, lines] : unread) {
        count += lines;
        names += (names.empty() ? "" : ", ") + name;
    }
    return counted(count, "line looks", "lines look") +
           " like requests of another name, and are not read: " + names.substr(0, longest_names) +
           ".";
}

// Adds the callers that a line behind a call tells; SystemView's are names of files with lines.
void add_callers(std::string_view line, HeapCall &call) {
    HeapCall told;
    if (line.starts_with('/') && line.find(':') != line.npos && line.find(' ') == line.npos) {
        constexpr auto place = std::to_array<LogPattern>({{"/%P", Op::alloc}});
        if (take_next_call(line, place, told)) {
            call.add_caller(told.callers[0]);
        }
    } else if (take_next_call(line, callers, told)) {
        std::ranges::for_each(told.callers, [&call](auto caller) { call.add_caller(caller); });
    }
}

// Adds who asked, if a line says so right behind a request: by an address with 0x, or by a name
// that is its last word, in a bracket or before another sign.
void add_asker(std::string_view behind, HeapCall &call) {
    constexpr std::string_view before = " \t,;([";
    constexpr std::string_view signs = ",;([)]|";
    behind.remove_prefix(std::min(behind.find_first_not_of(before), behind.size()));
    for (const LogPattern &asker : askers) {
        HeapCall told;
        std::string_view rest = behind;
        if (!behind.starts_with(asker.words) || !take_next_call(rest, std::span(&asker, 1), told)) {
            continue;
        }
        const std::string_view place = behind.substr(asker.words.size());
        const std::size_t next = rest.find_first_not_of(" \t\r");
        const bool is_last = next == rest.npos || signs.find(rest[next]) != signs.npos;
        if (place.starts_with("0x") || (is_last && place.find_first_of("0123456789") != 0)) {
            call.add_caller(told.callers[0]);
        }
        return;
    }
}

// What a printed size has of its block's header: blocks that touch leave no room for one. 0 where
// none do, as of heap_3, or nothing is freed, as of heap_1, whose blocks have none.
std::uint64_t find_header(std::span<const std::pair<HeapCall, std::uint64_t>> calls) {
    constexpr std::uint64_t least_unit = 4;
    std::map<std::uint64_t, std::uint64_t> live; // end by address
    bool has_freed = false;
    bool has_touched = false;
    for (const auto &[call, line] : calls) {
        if (call.op == Op::free) {
            has_freed = live.erase(call.address) != 0 || has_freed;
        } else if (call.size % least_unit != 0) {
            return 0;
        } else if (call.address != 0) {
            const std::uint64_t end = call.address + call.size;
            const auto own = live.insert_or_assign(call.address, end).first;
            has_touched = has_touched || live.contains(end) ||
                          (own != live.begin() && std::prev(own)->second == call.address);
        }
    }
    const bool is_wide = !live.empty() && live.rbegin()->first > UINT32_MAX;
    return has_freed && has_touched ? (is_wide ? 16 : 8) : 0;
}

} // namespace

HeapLogTrace::HeapLogTrace(OnUnknown on_unknown, const std::vector<OwnLine> &own, Equal freed)
    : heap_(on_unknown) {
    const bool by_size = !has_addresses(own);
    if (by_size) {
        pairs_.emplace(freed);
    }
    std::ranges::transform(own, std::back_inserter(own_texts_),
                           [by_size](const OwnLine &line) { return to_pattern(line, by_size); });
    for (std::size_t i = 0; i < own.size(); i++) {
        own_.push_back({own_texts_[i], own[i].op, Meaning::call, true});
    }
    // What begins with more words is looked for first: dealloc has alloc in it.
    std::ranges::stable_sort(own_, std::ranges::greater{},
                             [](const LogPattern &one) { return one.words.size(); });
    header_.source = own.empty() ? "" : "a log";
}

std::span<const LogPattern> HeapLogTrace::patterns() const {
    return own_.empty() && dialect_ ? dialects[*dialect_].patterns : own_;
}

bool has_heap_log(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const std::string_view line = bytes.substr(0, end);
        if (dialect_of(line) || NodeTable::begun_by(line)) {
            return true;
        }
        bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
    }
    return false;
}

void HeapLogTrace::feed(std::string_view chunk) {
    splitter_.feed(chunk, [this](auto line, auto number) { take(line, number); });
}

void HeapLogTrace::finish() {
    splitter_.finish([this](auto line, auto number) { take_last(line, number); });
    apply_held();
    apply_unsized();
    end_table(lines_);
    heap_.finish();
}

// A last line that lacks its newline and tells nothing was cut, unless it is a shell's prompt.
void HeapLogTrace::take_last(std::string_view line, std::uint64_t number) {
    constexpr std::string_view prompts = "#$%>:\x1b";
    take(line, number);
    const std::size_t last = line.find_last_not_of(" \t");
    if (is_other_ && number > 1 && last != line.npos && prompts.find(line[last]) == line.npos &&
        !is_ended_) {
        damage_ = cut_inside(number);
    }
}

void HeapLogTrace::take(std::string_view line, std::uint64_t number) {
    std::string joined; // of a line in pieces: a call may begin in one and end in the next
    goes_on_ = number == lines_;
    lines_ = number;
    if (goes_on_ && !rest_.empty()) {
        joined = rest_.append(line);
        line = joined;
    }
    rest_.clear();
    if (line.find('<') == line.npos) { // no half of a call
        take_whole(line, number);
    } else if (const std::size_t end = line.find(first_half); end != line.npos) {
        keep_half(line.substr(0, end));
    } else if (line.find(second_half) != line.npos) {
        take_whole(join_halves(line), number);
    } else {
        take_whole(line, number);
    }
}

void HeapLogTrace::take_whole(std::string_view line, std::uint64_t number) {
    if (!dialect_ && own_.empty()) {
        dialect_ = dialect_of(line);
        header_.source = dialect_ ? dialects[*dialect_].source : header_.source;
    }
    if (!dialect_ && own_.empty()) {
        pass_over(!take_listed(line, number));
        keep_rest(line, line.size());
        return;
    }
    const std::size_t size = line.size();
    std::string blanks; // descriptions have these
    if (!own_.empty() && line.find('\t') != line.npos) {
        blanks = line;
        std::ranges::replace(blanks, '\t', ' ');
        line = blanks;
    }
    const std::string_view whole = line;
    HeapCall call;
    bool has_call = take_next_call(line, patterns(), call);
    if (!has_call && held_ && own_.empty()) {
        add_callers(line, held_->first);
    }
    pass_over(!has_call);
    if (!has_call) {
        look_at(line);
        last_line_.clear();
    } else if (is_repeated(whole, call)) {
        return;
    }
    for (; has_call; has_call = take_next_call(line, patterns(), call)) {
        apply_held();
        if (own_.empty() && call.op != Op::free && call.callers[0] == 0) {
            add_asker(line, call);
        }
        held_ = {call, number};
    }
    keep_rest(line, size);
}

// Whether a line is as the one before, with the time and the address of its call: a logger wrote it
// twice, since nothing lies between by which the address could be given or freed again.
bool HeapLogTrace::is_repeated(std::string_view line, const HeapCall &call) {
    const bool is_exact = call.unit != 0 && call.address != 0;
    const bool is_same = is_exact && line == last_line_;
    repeated_ += is_same;
    last_line_ = is_exact ? line : std::string_view();
    return is_same;
}

// The lines behind a call may have its callers. FreeRTOS's first calls wait until it is known what
// their sizes are.
void HeapLogTrace::apply_held() {
    if (!held_) {
        return;
    }
    unsized_.push_back(*held_);
    held_.reset();
    const bool has_chunks = dialect_ && dialects[*dialect_].patterns.data() == freertos.data();
    if (!has_chunks || header_bytes_ || unsized_.size() >= most_unsized) {
        apply_unsized();
    }
}

void HeapLogTrace::apply_unsized() {
    if (!header_bytes_ && dialect_ && dialects[*dialect_].patterns.data() == freertos.data()) {
        header_bytes_ = find_header(unsized_);
    }
    std::ranges::for_each(unsized_, [this](auto &one) { apply(one.first, one.second); });
    unsized_.clear();
}

// What a line without a call says of those that are not in the log: of a list's records, or of a
// request whose name is not known.
void HeapLogTrace::look_at(std::string_view line) {
    const auto number_behind = [line](std::string_view words, std::uint64_t &number) {
        const std::size_t at = line.find(words);
        const std::size_t start = at == line.npos ? at : line.find_first_of("0123456789", at);
        if (start != line.npos) {
            (void)std::from_chars(line.data() + start, line.data() + line.size(), number);
        }
    };
    is_ended_ = is_ended_ || (dialect_ && !line.empty() && line == dialects[*dialect_].end);
    number_behind("total allocations:", said_allocations_);
    number_behind("total frees:", said_frees_);
    is_overflowed_ = is_overflowed_ || line.find("has overflowed") != line.npos;
    if (std::ranges::any_of(own_texts_, [line](auto &own) { return has_words_of(line, own); })) {
        alike_ = alike_lines_ == 0 ? quoted(line) : alike_;
        alike_lines_++;
    }
    const std::size_t result = std::min(line.find(") = 0x"), line.find(" returned 0x"));
    const std::size_t bracket = line.find('(');
    if (result == line.npos || bracket == line.npos || bracket > result || !own_.empty()) {
        return;
    }
    const std::string_view words = line.substr(0, bracket);
    const std::string_view name = words.substr(words.find_last_of(" \t>:*]") + 1);
    for (const std::string_view verb : {"lloc", "dup", "_new", "memalign", "_get"}) {
        if (name.find(verb) != name.npos && unread_.size() < most_halves) {
            unread_[std::string(name)]++;
            return;
        }
    }
}

// The site of a request by its callers: one alone, or the hash of all, which is kept.
std::uint32_t HeapLogTrace::name_site(const Callers &callers) {
    if (callers[1] == 0) {
        return callers[0];
    }
    std::uint32_t hash = 0x811c9dc5; // FNV-1a of their bytes
    for (const std::uint32_t caller : callers) {
        for (unsigned shift = 0; shift < 32; shift += 8) {
            hash = (hash ^ ((caller >> shift) & 0xff)) * 0x01000193;
        }
    }
    if (chains_.size() < most_halves || chains_.contains(hash)) {
        chains_[hash] = callers;
        return hash;
    }
    return callers[0];
}

// Keeps what is behind the last call of a text of so many bytes, if it may be a piece of a line.
void HeapLogTrace::keep_rest(std::string_view line, std::size_t size) {
    if (size > longest_line / 2) { // as all pieces but the last are
        rest_ = line.substr(line.size() - std::min(line.size(), longest_call));
    }
}

// Counts lines without a call, a line in pieces once.
void HeapLogTrace::pass_over(bool is_other) {
    other_lines_ -= goes_on_ && is_other_;
    is_other_ = is_other && (!goes_on_ || is_other_);
    other_lines_ += is_other_;
}

// NuttX lists what is free in a table of its own, too.
bool HeapLogTrace::take_listed(std::string_view line, std::uint64_t number) {
    if (line.find("Dump ") != line.npos) {
        lists_free_ = line.find(" free ") != line.npos;
    }
    std::optional<NodeTable> begun = NodeTable::begun_by(line);
    if (begun) {
        apply_held();
        end_table(number);
        table_ = lists_free_ ? std::nullopt : std::move(begun);
        return true;
    }
    return table_ && table_->take(line);
}

void HeapLogTrace::end_table(std::uint64_t number) {
    if (!table_) {
        return;
    }
    heap_.begin_list(number);
    has_order_ = table_->has_order();
    for (const Node &node : table_->nodes()) {
        Request request;
        request.id = node.address;
        request.size = node.size;
        request.thread = static_cast<std::uint32_t>(node.task);
        request.site = name_site(node.callers);
        heap_.allocate(request, number);
        header_.source = node_table;
    }
    table_.reset();
}

void HeapLogTrace::keep_half(std::string_view text) {
    const std::string_view call = text.substr(0, text.rfind('('));
    const std::size_t start = call.find_last_of(" >\t\"");
    if (halves_.size() < most_halves) {
        halves_[key_of(text, call.substr(start == call.npos ? 0 : start + 1))] = text;
    }
}

std::string HeapLogTrace::join_halves(std::string_view line) {
    const std::size_t start = line.find(second_half) + second_half.size();
    const std::size_t end = line.find(second_half_end, start);
    const auto half = end == line.npos
                          ? halves_.end()
                          : halves_.find(key_of(line, line.substr(start, end - start)));
    if (half == halves_.end()) {
        return std::string(line);
    }
    line.remove_prefix(
        std::min(line.find_first_not_of(' ', end + second_half_end.size()), line.size()));
    std::string joined = std::move(half->second) + std::string(line);
    halves_.erase(half);
    return joined;
}

void HeapLogTrace::apply(HeapCall call, std::uint64_t number) {
    if (pairs_) {
        call.old = call.op == Op::resize && call.old != 0 ? pairs_->release(call.old) : 0;
        call.address =
            call.op == Op::free ? pairs_->release(call.size) : pairs_->allocate(call.size);
    }
    Request request;
    request.op = call.op;
    request.id = call.address;
    request.size = call.size - std::min(call.size, header_bytes_.value_or(0));
    request.alignment = call.alignment;
    request.time = carry_on(call);
    if (call.unit != 0 && times_.size() < most_times) {
        times_.try_emplace(number, request.time);
    }
    request.thread = static_cast<std::uint32_t>(call.thread);
    request.site = name_site(call.callers);
    request.served = call.served;
    request.needs = call.needs;
    if (call.served != 0) {
        heap_.builder().tell_served();
    }
    if (call.needs != 0) {
        heap_.builder().tell_needs();
    }
    switch (call.meaning) {
    case Meaning::old_block:
        old_ = call.old;
        return;
    case Meaning::last_was_freed:
        heap_.free_last_some_time();
        return;
    case Meaning::list_begins:
        heap_.begin_list(number);
        listed_ = 0;
        return;
    case Meaning::call:
        break;
    }
    if (call.op == Op::free) {
        heap_.release(request, number);
    } else if (call.op == Op::resize) {
        heap_.resize(call.old == 0 ? old_ : call.old, request, number);
        old_ = 0;
    } else {
        heap_.allocate(request, number);
        listed_++;
    }
}

// The time of a call by a clock that may be a counter of 16 or 32 bits: where it falls from the
// last eighth of its range into the first it began again, and lines of several tasks may change
// places.
std::uint64_t HeapLogTrace::carry_on(const HeapCall &call) {
    const auto is_in = [](std::uint64_t time, std::uint64_t begin, std::uint64_t end) {
        return begin <= time && time < end;
    };
    highest_ = std::max(highest_, call.time);
    for (const unsigned bits : {16U, 32U}) {
        const std::uint64_t range = call.unit << bits;
        const std::uint64_t eighth = range / 8;
        if (range == 0 || highest_ >= range) {
            continue;
        }
        if (is_in(last_time_, range - eighth, range) && call.time < eighth) {
            carried_ += range;
            wraps_++;
        } else if (carried_ != 0 && last_time_ < eighth && call.time >= range - eighth) {
            return call.time + carried_ - range;
        }
        break;
    }
    last_time_ = call.time;
    return std::min(call.time, UINT64_MAX - carried_) + carried_;
}

std::vector<std::string> HeapLogTrace::notes() const {
    std::vector<std::string> told;
    if (header_bytes_.value_or(0) != 0) {
        told.push_back("Sizes are those of blocks, which touch: " + std::to_string(*header_bytes_) +
                       " B of header are taken off each. Requests are a few bytes less.");
    } else if (dialect_ && !dialects[*dialect_].note.empty()) {
        told.emplace_back(dialects[*dialect_].note);
    }
    if (header_.source == node_table) {
        told.emplace_back(what_is_live);
        told.emplace_back(rounded_up);
        if (!has_order_) {
            told.emplace_back("Blocks come as they lie in memory: the order of their requests is "
                              "not told.");
        }
    }
    const std::vector<std::string> inferred = heap_.notes();
    told.insert(told.end(), inferred.begin(), inferred.end());
    const std::uint64_t said_live = said_allocations_ - std::min(said_frees_, said_allocations_);
    if (is_overflowed_ || said_live > listed_) {
        told.push_back("The list is not whole: " + counted(said_live, "block was", "blocks were") +
                       " live, and " + std::to_string(listed_) + " are listed" +
                       (is_overflowed_ ? ", since its records were full." : "."));
    }
    if (!unread_.empty()) {
        told.push_back(describe_unread(unread_));
    }
    if (repeated_ != 0) {
        told.push_back(counted(repeated_, "line is", "lines are") + " repeated, taken once.");
    }
    if (wraps_ != 0) {
        told.push_back("The clock's counter of 16 or 32 bits began again " +
                       counted(wraps_, "time.", "times."));
    }
    if (alike_lines_ != 0) {
        told.push_back(counted(alike_lines_, "line has", "lines have") +
                       " the words of a description, but another form, and nothing is read of: " +
                       alike_ + ".");
    }
    if (other_lines_ != 0) {
        told.push_back(counted(other_lines_, "line", "lines") + " of other text passed over.");
    }
    if (!damage_.empty()) {
        told.push_back("The rest is left out, from " + damage_);
    } else if (dialect_ && !dialects[*dialect_].end.empty() && !is_ended_) {
        told.push_back("The line " + quoted(dialects[*dialect_].end) +
                       " is missing: the log was cut short, or the program did not end it.");
    }
    return told;
}

} // namespace heapfit
