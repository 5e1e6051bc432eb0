// SPDX-License-Identifier: Apache-2.0
// Orders come, wait in a queue by due time, and are reported as JSON when they leave. record.py puts
// "var load = {...};" before it.
var state = load.seed;
function draw(n) { // Park and Miller 1988
    state = state * 16807 % 2147483647;
    return state % n;
}

var parts = ['valve', 'pump', 'meter', 'gate', 'relay', 'motor', 'plate', 'cable'];
var queue = [];
var customers = {};

function enter(time) {
    var lines = [];
    var count = 1 + draw(load.lines);
    for (var i = 0; i < count; i++) {
        lines.push({ part: parts[draw(parts.length)], number: 1 + draw(9), note: 'line ' + i + ' of ' + time });
    }
    queue.push({ due: time + draw(load.wait), customer: 'c' + draw(load.customers), lines: lines });
}

function leave(order) {
    var told = JSON.stringify(order);
    var customer = customers[order.customer] || { orders: 0, last: null };
    customers[order.customer] = customer;
    customer.orders++;
    customer.last = JSON.parse(told).lines.map(function (line) { return line.number + ' ' + line.part; }).join(', ');
}

for (var time = 0; time < load.steps; time++) {
    enter(time);
    queue = queue.filter(function (order) {
        if (order.due > time) {
            return true;
        }
        leave(order);
        return false;
    });
}
print(queue.length, Object.keys(customers).length);
