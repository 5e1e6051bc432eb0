// SPDX-License-Identifier: Apache-2.0
// Workers take sizes one after the other; the calling thread only waits and reports.
#include "heapfit/replay/parallel_trials.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace heapfit {

namespace {

// Threads that are stopped and joined where their scope is left, by an exception of a callback too.
class Workers {
  public:
    Workers() = default;
    Workers(const Workers &) = delete;
    Workers &operator=(const Workers &) = delete;
    ~Workers() {
        stopped_ = true;
        for (std::thread &one : threads_) {
            one.join();
        }
    }

    void add(std::function<void(const Stop &)> work) {
        threads_.emplace_back([this, work = std::move(work)] { work(Stop(stopped_)); });
    }

  private:
    std::atomic<bool> stopped_ = false;
    std::vector<std::thread> threads_;
};

} // namespace

// What the workers of one run share.
struct ParallelTrials::Batch {
    const TrialOf &trial;
    std::span<const std::uint64_t> sizes;
    std::span<const Turn> turns;
    std::vector<TrialResult> results;
    std::mutex mutex; // guards all below
    std::condition_variable changed;
    std::size_t next = 0;
    std::size_t done = 0;
    std::exception_ptr failure;

    Batch(const TrialOf &tried, std::span<const std::uint64_t> wanted,
          std::span<const Turn> in_turns)
        : trial(tried), sizes(wanted), turns(in_turns), results(wanted.size()) {}

    // The next turn to do; turns.size() if there is none, or the run is over.
    std::size_t take(const Stop &stop) {
        const std::lock_guard lock(mutex);
        return stop.is_requested() || failure || next == turns.size() ? turns.size() : next++;
    }

    void work(const Stop &stop) {
        for (std::size_t turn = take(stop); turn < turns.size(); turn = take(stop)) {
            for (const std::size_t i : turns[turn]) {
                if (stop.is_requested() || !try_size(i, stop)) {
                    return;
                }
            }
        }
    }

    // False if the trial threw.
    bool try_size(std::size_t i, const Stop &stop) {
        std::exception_ptr thrown;
        try {
            results[i] = trial(sizes[i], stop);
        } catch (...) {
            thrown = std::current_exception();
        }
        const std::lock_guard lock(mutex);
        done++;
        failure = failure ? failure : thrown;
        changed.notify_one();
        return thrown == nullptr;
    }
};

ParallelTrials::ParallelTrials(const TrialOf &trial, const SearchOptions &options)
    : trial_(trial), options_(options) {}

void ParallelTrials::report(std::uint64_t done) const {
    if (options_.progress) {
        options_.progress(done_ + done, std::max(total_, done_ + done));
    }
}

// Reports until all sizes are done or one trial threw.
void ParallelTrials::watch(Batch &batch, std::size_t count) const {
    std::unique_lock lock(batch.mutex);
    while (batch.done < count && !batch.failure) {
        batch.changed.wait_for(lock, std::chrono::milliseconds(100));
        const std::size_t done = batch.done;
        lock.unlock();
        report(done);
        lock.lock();
    }
}

std::vector<TrialResult> ParallelTrials::run(std::span<const std::uint64_t> sizes,
                                             std::span<const Turn> turns) {
    Batch batch(trial_, sizes, turns);
    const unsigned wanted = options_.threads != 0
                                ? options_.threads
                                : std::max(1u, std::thread::hardware_concurrency());
    {
        Workers workers;
        for (unsigned i = 0; i < wanted && i < turns.size(); i++) {
            workers.add([&batch](const Stop &stop) { batch.work(stop); });
        }
        watch(batch, sizes.size());
    }
    if (batch.failure) {
        std::rethrow_exception(batch.failure);
    }
    done_ += sizes.size();
    report(0);
    return std::move(batch.results);
}

} // namespace heapfit
