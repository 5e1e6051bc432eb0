-- SPDX-License-Identifier: Apache-2.0
-- Keeps the last readings of each sensor from lines on standard input, and prints a status page now
-- and then: lua5.4 gateway.lua KEPT EVERY
local kept, every = tonumber(arg[1]), tonumber(arg[2])
local sensors = {}

local function take(line)
    local time, name, kind, value, note = line:match("^(%d+) (%S+) (%S+) (%S+) (.*)$")
    local sensor = sensors[name] or { readings = {}, kinds = {} }
    sensors[name] = sensor
    sensor.kinds[kind] = (sensor.kinds[kind] or 0) + 1
    local readings = sensor.readings
    readings[#readings + 1] = { time = tonumber(time), kind = kind, value = tonumber(value), note = note }
    if #readings > kept then
        table.remove(readings, 1)
    end
end

local function page()
    local lines = {}
    for name, sensor in pairs(sensors) do
        local sum = 0
        for _, reading in ipairs(sensor.readings) do
            sum = sum + reading.value
        end
        lines[#lines + 1] = string.format("%s: %.2f of %d", name, sum / #sensor.readings, #sensor.readings)
    end
    table.sort(lines)
    return table.concat(lines, "\n")
end

local count = 0
for line in io.lines() do
    take(line)
    count = count + 1
    if count % every == 0 then
        print(#page())
    end
end
