// SPDX-License-Identifier: Apache-2.0
// Shortest ways over a net whose lines come and go: routes SEED QUERIES PLACES CACHED
// Neighbours in hash tables, a queue by distance a query, found ways kept least recently used
// first.
#include <cstdint>
#include <iostream>
#include <list>
#include <map>
#include <queue>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using Place = std::uint32_t;
using Reached = std::pair<std::uint32_t, Place>; // distance, place
using Way = std::pair<std::string, std::vector<Place>>;

class Net {
  public:
    Net(std::uint32_t seed, std::uint32_t places, std::size_t cached)
        : random_{seed}, places_{places}, cached_{cached} {
        for (Place from = 0; from < places_; ++from) {
            connect(from, (from + 1) % places_);
            connect(from, drawn(places_));
        }
    }

    void query() {
        Place from = drawn(places_), to = drawn(places_);
        std::string key = "way from " + std::to_string(from) + " to " + std::to_string(to);
        if (auto known = by_name_.find(key); known != by_name_.end()) {
            ways_.splice(ways_.begin(), ways_, known->second);
        } else {
            ways_.emplace_front(key, found(from, to));
            by_name_[key] = ways_.begin();
        }
        if (ways_.size() > cached_) {
            by_name_.erase(ways_.back().first);
            ways_.pop_back();
        }
        change();
    }

  private:
    std::uint32_t drawn(std::uint32_t below) {
        return static_cast<std::uint32_t>(random_() % below);
    }

    void connect(Place from, Place to) { lines_[from][to] = 1 + drawn(30); }

    void change() {
        Place from = drawn(places_);
        auto &around = lines_[from];
        if (around.size() > 3) {
            around.erase(around.begin());
        } else {
            connect(from, drawn(places_));
        }
    }

    std::vector<Place> found(Place from, Place to) const {
        std::map<Place, Reached> best{{from, {0, from}}};
        std::priority_queue<Reached, std::vector<Reached>, std::greater<>> next;
        next.emplace(0, from);
        while (!next.empty() && next.top().second != to) {
            auto [distance, here] = next.top();
            next.pop();
            for (auto [there, length] : lines_.at(here)) {
                Reached reached{distance + length, here};
                auto [place, is_new] = best.emplace(there, reached);
                if (is_new || reached.first < place->second.first) {
                    place->second = reached;
                    next.emplace(reached.first, there);
                }
            }
        }
        std::vector<Place> way{to};
        while (way.back() != from) {
            way.push_back(best.at(way.back()).second);
        }
        return way;
    }

    std::mt19937 random_;
    std::uint32_t places_;
    std::size_t cached_;
    std::unordered_map<Place, std::unordered_map<Place, std::uint32_t>> lines_;
    std::list<Way> ways_;
    std::unordered_map<std::string, std::list<Way>::iterator> by_name_;
};

} // namespace

int main(int count, char **words) {
    if (count != 5) {
        std::cerr << "routes SEED QUERIES PLACES CACHED\n";
        return 2;
    }
    auto number = [&](int i) { return static_cast<std::uint32_t>(std::stoul(words[i])); };
    Net net{number(1), number(3), number(4)};
    for (std::uint32_t left = number(2); left > 0; --left) {
        net.query();
    }
}
