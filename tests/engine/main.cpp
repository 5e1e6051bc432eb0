// SPDX-License-Identifier: Apache-2.0
// Runs the tests of test_NAME.cpp:  engine_tests NAME
#include "check.hpp"

int main(int count, char **words) {
    const std::string wanted = count > 1 ? "/test_" + std::string(words[1]) + ".cpp" : ".cpp";
    int ran = 0;
    for (const auto &[file, name, run] : heapfit::test::all()) {
        if (file.ends_with(wanted)) {
            std::printf("%s\n", name);
            std::fflush(stdout);
            run();
            ran++;
        }
    }
    return ran > 0 ? 0 : 1;
}
