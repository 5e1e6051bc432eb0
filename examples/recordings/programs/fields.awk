# SPDX-License-Identifier: Apache-2.0
# Sessions put together from readings: fields by sensor, closed when their sensor is silent for long.
{
    seen[$2] = $1
    told[$2] = told[$2] substr($0, 1, 60) ";"
    count[$2, $3]++
    if (length(told[$2]) > longest)
        told[$2] = substr(told[$2], index(told[$2], ";") + 1)
}
NR % every == 0 {
    for (sensor in seen)
        if ($1 - seen[sensor] > silence) {
            n = split(told[sensor], parts, ";")
            last = parts[n - 1]
            for (i = 1; i < n; i++)
                if (match(parts[i], /alarm|closed|open/))
                    gsub(/[aeiou]/, "-", parts[i])
            delete seen[sensor]
            delete told[sensor]
        }
}
END { for (sensor in told) print sensor, length(told[sensor]) }
