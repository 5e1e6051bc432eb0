// SPDX-License-Identifier: Apache-2.0
// Kaufman and Roberts: the chance q(j) that j units are in use follows, up to a factor, from
//
//   j q(j) = sum over k of offered[k] demand[k] q(j - demand[k]),    q(0) = 1
//
// and class k is refused in the last demand[k] states. The q(j) may grow like e^offered, so all are
// scaled down whenever one is large; what then underflows is below 1e-300 of the whole.
#include "heapfit/simulate/closed_form.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t most_units = 1 << 26;
constexpr double large = 1e150;

struct Class {
    std::size_t demand;
    double weight; // offered * demand
};

void check_offer(double offered) {
    if (!std::isfinite(offered) || offered < 0) {
        throw Error("closed form: offered traffic must be a number from 0, not " +
                    std::to_string(offered));
    }
}

// The classes that ever fit, with traffic; the largest demand first, so that a step waits for the
// one before it only at its end.
std::vector<Class> check_classes(std::uint64_t units, std::span<const std::uint64_t> demand,
                                 std::span<const double> offered) {
    if (units > most_units) {
        throw Error("closed form: " + std::to_string(units) + " units are more than 2^26");
    }
    if (demand.size() != offered.size()) {
        throw Error("closed form: there must be one offer for each demand");
    }
    std::vector<Class> classes;
    for (std::size_t k = 0; k < demand.size(); k++) {
        check_offer(offered[k]);
        if (demand[k] == 0) {
            throw Error("closed form: a demand must be 1 unit or more");
        }
        if (demand[k] <= units && offered[k] > 0) {
            classes.push_back({demand[k], offered[k] * static_cast<double>(demand[k])});
        }
    }
    std::ranges::sort(classes, std::ranges::greater{}, &Class::demand);
    return classes;
}

// q(0) .. q(units), up to a common factor. Zeros lie before them, so that no step asks whether a
// class fits yet.
class Occupancy {
  public:
    Occupancy(std::size_t units, const std::vector<Class> &classes)
        : before_(classes.empty() ? 0 : classes.front().demand), q_(before_ + units + 1, 0.0) {
        q_[before_] = 1.0;
        for (std::size_t j = 1; j <= units; j++) {
            double *own = &q_[before_ + j];
            double sum = 0;
            for (const Class &one : classes) {
                sum += one.weight * *(own - one.demand);
            }
            *own = sum * (1.0 / static_cast<double>(j));
            if (*own > large) {
                scale_down(before_ + j);
            }
        }
    }

    [[nodiscard]] std::span<const double> values() const { return std::span(q_).subspan(before_); }

  private:
    void scale_down(std::size_t last) {
        const double factor = 1.0 / q_[last];
        for (std::size_t i = first_; i <= last; i++) {
            q_[i] *= factor;
        }
        while (q_[first_] == 0.0) {
            first_++;
        }
    }

    std::size_t before_; // zeros
    std::vector<double> q_;
    std::size_t first_ = 0; // all before it are 0
};

} // namespace

double erlang_b(std::uint64_t servers, double offered) {
    check_offer(offered);
    double refused = 1.0;
    for (std::uint64_t n = 1; n <= servers; n++) {
        refused = offered * refused / (static_cast<double>(n) + offered * refused);
    }
    return refused;
}

std::vector<double> kaufman_roberts(std::uint64_t units, std::span<const std::uint64_t> demand,
                                    std::span<const double> offered) {
    const Occupancy occupancy(units, check_classes(units, demand, offered));
    const std::span<const double> q = occupancy.values();
    // tail[j] = q(units) + ... + q(units - j): small terms are summed apart from large ones.
    std::vector<double> tail(q.size());
    std::partial_sum(q.rbegin(), q.rend(), tail.begin());
    std::vector<double> refused;
    for (const std::uint64_t one : demand) {
        refused.push_back(one > units ? 1.0 : tail[one - 1] / tail.back());
    }
    return refused;
}

} // namespace heapfit
