# SPDX-License-Identifier: Apache-2.0
# Prints the SQL of a small device's day: settings, readings in batches, events with text of all
# lengths, the queries of a status page, and the removal of what is old. Everything follows from the
# numbers of the rows, so that each run asks for the same memory.

function status_page(time) {
    print "SELECT place, count(*), avg(value), max(value) FROM reading JOIN sensor ON sensor = sensor.id" \
        " WHERE time > " time - 200 " GROUP BY place ORDER BY 3 DESC LIMIT 5;"
    print "SELECT level, count(*), group_concat(substr(text, 1, 12)) FROM event GROUP BY level;"
    print "SELECT value FROM setting WHERE name = 'server';"
}

BEGIN {
    print "PRAGMA cache_size = -256; -- KiB: a small device's"
    print "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);"
    print "CREATE TABLE sensor (id INTEGER PRIMARY KEY, place TEXT NOT NULL, unit TEXT NOT NULL);"
    print "CREATE TABLE reading (sensor INTEGER NOT NULL, time INTEGER NOT NULL, value REAL);"
    print "CREATE TABLE event (time INTEGER NOT NULL, level INTEGER NOT NULL, text TEXT NOT NULL);"
    print "CREATE INDEX reading_by_sensor ON reading (sensor, time);"
    print "CREATE TRIGGER too_high AFTER INSERT ON reading WHEN new.value > 98 BEGIN" \
        " INSERT INTO event VALUES (new.time, 2, 'sensor ' || new.sensor || ' reads ' || new.value); END;"
    print "INSERT INTO setting VALUES ('name', 'gateway'), ('interval', '60'), ('server', 'mqtt.example');"
    for (sensor = 1; sensor <= 24; sensor++)
        printf "INSERT INTO sensor VALUES (%d, 'room %d', '%s');\n", sensor, sensor, substr("CV%", sensor % 3 + 1, 1)
    for (time = 1; time <= 1500; time++) {
        if (time % 50 == 1)
            print "BEGIN;"
        printf "INSERT INTO reading VALUES (%d, %d, %.2f);\n", time % 24 + 1, time, time * 7919 % 10007 / 100
        if (time % 10 == 0)
            printf "INSERT INTO event VALUES (%d, %d, 'step %d ' || hex(zeroblob(%d)));\n", time, time / 10 % 4, time, time * 37 % 300
        if (time % 50 == 0) {
            print "COMMIT;"
            status_page(time)
        }
        if (time % 500 == 0)
            printf "DELETE FROM event WHERE time < %d;\n", time - 300
    }
}
