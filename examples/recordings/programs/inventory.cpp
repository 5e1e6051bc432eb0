// SPDX-License-Identifier: Apache-2.0
// A shop's stock and its orders: inventory SEED STEPS ARTICLES LINES
// Articles in a map by name, orders in a deque, lines in vectors, reports in strings.
#include <cstdint>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

struct Article {
    std::string name;
    std::string text;
    int stock = 0;
};

struct Line {
    std::shared_ptr<Article> article;
    int count = 0;
};

struct Order {
    std::string customer;
    std::vector<Line> lines;
};

class Shop {
  public:
    Shop(std::uint32_t seed, std::uint32_t articles, std::uint32_t lines)
        : random_{seed}, articles_{articles}, lines_{lines} {}

    void step() {
        switch (drawn(4)) {
        case 0:
            stock_up();
            break;
        case 1:
            deliver();
            break;
        default:
            order();
        }
        if (drawn(50) == 0) {
            report();
        }
    }

  private:
    std::uint32_t drawn(std::uint32_t below) {
        return static_cast<std::uint32_t>(random_() % below);
    }

    std::string word(std::uint32_t longest) { return std::string(1 + drawn(longest), 'w'); }

    std::string name() { return "article-" + std::to_string(drawn(articles_)); }

    void stock_up() {
        auto &place = stock_[name()];
        if (!place || drawn(10) == 0) {
            place = std::make_shared<Article>(Article{word(24), word(120), 0});
        }
        place->stock += 3;
    }

    void order() {
        Order made{word(30), {}};
        for (std::uint32_t left = 1 + drawn(lines_); left > 0; --left) {
            if (auto found = stock_.find(name()); found != stock_.end()) {
                made.lines.push_back({found->second, 1});
            }
        }
        if (!made.lines.empty()) {
            open_.push_back(std::move(made));
        }
    }

    void deliver() {
        for (std::uint32_t left = drawn(7); left > 0 && !open_.empty(); --left) {
            for (auto &line : open_.front().lines) {
                line.article->stock -= line.count;
                if (line.article->stock < -40) {
                    stock_.erase(line.article->name);
                }
            }
            open_.pop_front();
        }
    }

    void report() {
        std::map<int, std::vector<std::string>> by_stock;
        for (const auto &[name, article] : stock_) {
            by_stock[article->stock / 4].push_back(name + ": " + article->text.substr(0, 30));
        }
        latest_.clear();
        for (const auto &[stock, names] : by_stock) {
            latest_ += std::to_string(stock) + " " + names.front() + "\n";
        }
    }

    std::mt19937 random_;
    std::uint32_t articles_;
    std::uint32_t lines_;
    std::map<std::string, std::shared_ptr<Article>> stock_;
    std::deque<Order> open_;
    std::string latest_;
};

} // namespace

int main(int count, char **words) {
    if (count != 5) {
        std::cerr << "inventory SEED STEPS ARTICLES LINES\n";
        return 2;
    }
    auto number = [&](int i) { return static_cast<std::uint32_t>(std::stoul(words[i])); };
    Shop shop{number(1), number(3), number(4)};
    for (std::uint32_t left = number(2); left > 0; --left) {
        shop.step();
    }
}
