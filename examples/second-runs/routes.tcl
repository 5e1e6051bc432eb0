# SPDX-License-Identifier: Apache-2.0
# A routing table of dictionaries, fed and asked by a fixed random sequence:
# jimsh routes.tcl NETS STEPS LIFE SEED
lassign $argv nets steps life state
proc draw {n} { ;# Park and Miller 1988
    global state
    set state [expr {$state * 16807 % 2147483647}]
    return [expr {$state % $n}]
}

set routes [dict create]
set log {}
for {set time 0} {$time < $steps} {incr time} {
    set net "10.[draw $nets].[draw 4].0/24"
    if {[draw 3] > 0} {
        dict set routes $net [list next 192.168.0.[draw 250] metric [draw 16] until [expr {$time + [draw $life]}]]
    } elseif {[dict exists $routes $net]} {
        lappend log "$time: $net by [dict get $routes $net next]"
    }
    if {$time % 100 == 99} {
        foreach {net route} $routes {
            if {[dict get $route until] < $time} { dict unset routes $net }
        }
        set log [lrange $log end-40 end]
    }
}
puts "[dict size $routes] routes, [string length [join $log \n]]"
