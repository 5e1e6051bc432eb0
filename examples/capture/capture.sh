#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Captures a TCP transfer, an MQTT exchange and a voice call at once, between two network
# namespaces made for it; nothing leaves the machine: capture.sh [OUTPUT]
# Needs root, and: apt-get install iproute2 python3 tcpdump mosquitto mosquitto-clients.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
output=${1:-$here/network.pcap.gz}
seconds=12
device=10.77.0.1
server=10.77.0.2

work=$(mktemp -d)
started= # processes to end
clean_up() {
    for process in $started; do
        kill "$process" 2>/dev/null || true
    done
    wait
    ip netns delete heapfit-device 2>/dev/null || true
    ip netns delete heapfit-server 2>/dev/null || true
    rm -r "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# Words, not functions: in the background, $! must be the command's own process.
on_device="ip netns exec heapfit-device"
on_server="ip netns exec heapfit-server"

ip netns add heapfit-device
ip netns add heapfit-server
ip link add eth0 netns heapfit-device type veth peer name eth0 netns heapfit-server
$on_device ip address add "$device/24" dev eth0
$on_server ip address add "$server/24" dev eth0
# Segments of the size a device sends, not the large ones the kernel passes to network cards.
$on_device ip link set eth0 up gso_max_segs 1
$on_server ip link set eth0 up gso_max_segs 1

# 96 bytes of each packet hold all its headers.
$on_server tcpdump -i eth0 -s 96 -U -w "$work/network.pcap" -Z root 2>"$work/log" &
sniffer=$!
started=$sniffer
printf 'listener 1883 %s\nallow_anonymous true\nuser root\n' "$server" >"$work/mosquitto.conf"
$on_server mosquitto -c "$work/mosquitto.conf" >>"$work/log" 2>&1 &
started="$started $!"
$on_server python3 "$here/traffic.py" serve "$server" "$seconds" &
started="$started $!"
sleep 2

$on_device mosquitto_sub -h "$server" -t 'home/#' -q 1 >/dev/null &
started="$started $!"
sleep 0.5
i=0
while [ "$i" -lt $((seconds * 10)) ]; do
    i=$((i + 1))
    printf '{"id":%d,"temperature":%d.%d}\n' "$i" $((i % 30)) $((i % 10))
    sleep 0.1
done | $on_device mosquitto_pub -h "$server" -t home/cellar/climate -q 1 -l &
publisher=$!
$on_device python3 "$here/traffic.py" fetch "$server" "$seconds" &
fetcher=$!
$on_device python3 "$here/traffic.py" voice "$server" "$seconds" &
caller=$!
$on_server python3 "$here/traffic.py" voice "$device" "$seconds" &
answerer=$!
for process in $publisher $fetcher $caller $answerer; do
    wait "$process"
done
sleep 1
kill -INT "$sniffer"
wait "$sniffer"
gzip -9 -n <"$work/network.pcap" >"$output"
