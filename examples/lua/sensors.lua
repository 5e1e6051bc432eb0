-- SPDX-License-Identifier: Apache-2.0
-- A gateway's evening: lines from sensors are parsed, kept in tables by sensor, summed up every few
-- hundred lines, and old readings dropped. The lines come from a fixed random sequence.

local KEPT = 60 -- readings of each sensor
local places = { "cellar", "kitchen", "roof", "garden", "workshop", "garage", "attic", "hall" }
local kinds = { temperature = "C", humidity = "%", pressure = "hPa", battery = "V" }
local kind_names = { "temperature", "humidity", "pressure", "battery" }

-- Park and Miller 1988: the same numbers from every Lua.
local state = 42
local function draw(n)
    state = state * 16807 % 2147483647
    return state % n
end

local function next_line(time)
    local place = places[draw(#places) + 1]
    local kind = kind_names[draw(#kind_names) + 1]
    local value = draw(4000) / 100
    if draw(50) == 0 then
        return string.format("%d %s/%s garbled#%d", time, place, kind, draw(1000))
    end
    return string.format("time=%d sensor=%s/%s value=%.2f unit=%s", time, place, kind, value, kinds[kind])
end

local function parse(line)
    local reading = {}
    for key, value in line:gmatch("(%w+)=(%S+)") do
        reading[key] = value
    end
    reading.value = tonumber(reading.value)
    return reading.sensor and reading.value and reading or nil
end

local sensors = {}
local bad = {}

local function keep(reading)
    local readings = sensors[reading.sensor]
    if not readings then
        readings = {}
        sensors[reading.sensor] = readings
    end
    readings[#readings + 1] = reading
    if #readings > KEPT then
        table.remove(readings, 1)
    end
end

local function report()
    local lines = {}
    for sensor, readings in pairs(sensors) do
        local sum, lowest, highest = 0, math.huge, -math.huge
        for _, reading in ipairs(readings) do
            sum = sum + reading.value
            lowest = math.min(lowest, reading.value)
            highest = math.max(highest, reading.value)
        end
        lines[#lines + 1] = string.format(
            '{"sensor":"%s","mean":%.2f,"min":%.2f,"max":%.2f}', sensor, sum / #readings, lowest, highest)
    end
    table.sort(lines)
    return "[" .. table.concat(lines, ",") .. "]"
end

local length = 0
for time = 1, 12000 do
    local line = next_line(time)
    local reading = parse(line)
    if reading then
        keep(reading)
    else
        bad[#bad % 100 + 1] = line
    end
    if time % 400 == 0 then
        length = length + #report()
    end
end
print(string.format("%d bytes of reports", length))
