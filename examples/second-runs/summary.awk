# SPDX-License-Identifier: Apache-2.0
# Sums readings by sensor and kind, keeps the last notes, prints a table now and then: -v kept=N -v every=N
{
    key = $2 "/" $3
    sum[key] += $4
    count[key]++
    note = ""
    for (i = 5; i <= NF; i++) {
        note = note (i > 5 ? "-" : "") toupper(substr($i, 1, 3))
        words[$i]++
    }
    last[$2, ++number[$2] % kept] = note
}
NR % every == 0 {
    line = ""
    for (key in sum) {
        line = line sprintf("%s %.2f;", key, sum[key] / count[key])
    }
    print length(line)
    delete sum
    delete count
}
END {
    print length(words), length(last)
}
