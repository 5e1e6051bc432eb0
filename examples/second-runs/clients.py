# SPDX-License-Identifier: Apache-2.0
"""Loads on servers: one function for each protocol, which talks to 127.0.0.1 in a seeded order."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from random import Random

from inputs import WORDS, sentence

HOST = "127.0.0.1"
PATIENCE = 5.0  # seconds for one answer


def connected(port: int) -> socket.socket:
    stream = socket.create_connection((HOST, port), PATIENCE)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


def datagrams(port: int) -> socket.socket:
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.connect((HOST, port))
    link.settimeout(PATIENCE)
    return link


def read_exactly(stream: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = stream.recv(count - len(data))
        if not more:
            raise ConnectionError("the server closed")
        data += more
    return data


# HTTP: kept-open connections, several requests under way at once.


def http(random: Random, port: int, requests: int, clients: int, pages: int) -> None:
    streams = [connected(port) for _ in range(clients)]
    left = requests
    while left > 0:
        asking = random.sample(range(clients), random.randint(1, clients))
        for one in asking:
            agent = sentence(random, 12)
            path = f"/{random.randrange(pages)}.html"
            streams[one].sendall(
                f"GET {path} HTTP/1.1\r\nHost: device\r\nUser-Agent: {agent}\r\n\r\n".encode()
            )
        for one in asking:
            _read_page(streams[one])
            if random.random() < 0.05:
                streams[one].close()
                streams[one] = connected(port)
        left -= len(asking)


def _read_page(stream: socket.socket) -> None:
    head = b""
    while b"\r\n\r\n" not in head:
        head += read_exactly(stream, 1)
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            read_exactly(stream, int(line.split(b":")[1]))


# Redis: strings, lists and hashes that come, grow and go.


def redis(random: Random, port: int, commands: int, clients: int, keys: int, value: int) -> None:
    streams = [connected(port) for _ in range(clients)]
    for _ in range(commands):
        stream = random.choice(streams)
        stream.sendall(_packed(_redis_command(random, keys, value)))
        stream.recv(1 << 16)


def _redis_command(random: Random, keys: int, value: int) -> list[str]:
    key = str(random.randrange(keys))
    data = "x" * random.randint(1, value)
    return random.choice(
        [
            ["SET", f"s:{key}", data],
            ["GET", f"s:{key}"],
            ["APPEND", f"s:{key}", data[:20]],
            ["DEL", f"s:{key}", f"h:{random.randrange(keys)}"],
            ["LPUSH", f"l:{key}", data],
            ["LTRIM", f"l:{key}", "0", "20"],
            ["HSET", f"h:{key}", random.choice(WORDS), data],
            ["SETEX", f"t:{key}", "1", data],
        ]
    )


def _packed(words: list[str]) -> bytes:
    return b"".join(
        [f"*{len(words)}\r\n".encode(), *(f"${len(w)}\r\n{w}\r\n".encode() for w in words)]
    )


# MQTT 3.1.1: subscribers that come and go, publishers, messages kept for later subscribers.


def mqtt(random: Random, port: int, messages: int, clients: int, topics: int, text: int) -> None:
    links = [_Mqtt(port, f"client-{i}", random) for i in range(clients)]
    for link in links:
        link.subscribe(random.randrange(topics))
    for number in range(messages):
        link = random.choice(links)
        link.publish(random.randrange(topics), sentence(random, text), random.random() < 0.2)
        for one in links:
            one.answer()
        if random.random() < 0.02:
            one = random.randrange(clients)
            links[one].stream.close()
            links[one] = _Mqtt(port, f"client-{one}-{number}", random)
            links[one].subscribe(random.randrange(topics))


class _Mqtt:
    def __init__(self, port: int, name: str, random: Random) -> None:
        self.stream, self.random = connected(port), random
        self.stream.sendall(_mqtt_packet(0x10, b"\0\4MQTT\4\2\0\x3c" + _mqtt_text(name)))
        read_exactly(self.stream, 4)

    def subscribe(self, topic: int) -> None:
        filters = (f"plant/{topic % 7}/#", f"plant/+/{topic}", f"plant/{topic % 7}/{topic}")
        asked = _mqtt_text(self.random.choice(filters)) + b"\1"
        self.stream.sendall(_mqtt_packet(0x82, b"\0\1" + asked))

    def publish(self, topic: int, text: str, is_kept: bool) -> None:
        told = _mqtt_text(f"plant/{topic % 7}/{topic}") + b"\0\7" + text.encode()
        self.stream.sendall(_mqtt_packet(0x33 if is_kept else 0x32, told))

    def answer(self) -> None:
        """Reads what has come, and acknowledges messages."""
        self.stream.settimeout(0.0005)
        try:
            while True:
                head = read_exactly(self.stream, 1)[0]
                self.stream.settimeout(PATIENCE)
                body = read_exactly(self.stream, self._length())
                if head >> 4 == 3 and head & 6:
                    topic = struct.unpack(">H", body[:2])[0]
                    self.stream.sendall(b"\x40\2" + body[2 + topic : 4 + topic])
                self.stream.settimeout(0)
        except (BlockingIOError, TimeoutError):
            self.stream.settimeout(PATIENCE)

    def _length(self) -> int:
        length = shift = 0
        while True:
            byte = read_exactly(self.stream, 1)[0]
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return length


def _mqtt_text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def _mqtt_packet(head: int, body: bytes) -> bytes:
    length, digits = len(body), bytearray()
    while True:
        digits.append(length & 127 | (128 if length > 127 else 0))
        length >>= 7
        if length == 0:
            return bytes([head]) + bytes(digits) + body


# CoAP: reads, resources made and removed, observers, larger bodies in blocks.


def coap(random: Random, port: int, requests: int, clients: int, resources: int) -> None:
    links = [datagrams(port) for _ in range(clients)]
    for number in range(requests):
        link = random.choice(links)
        resource = f"r{random.randrange(resources)}"
        kind = random.choice(("get", "get", "put", "put", "delete", "observe"))
        for message in _coap_messages(random, number, kind, resource):
            link.send(message)
            link.settimeout(PATIENCE)
            link.recv(4096)
        _drain(link)


def _drain(link: socket.socket) -> None:
    link.settimeout(0)
    try:
        while True:
            link.recv(4096)
    except BlockingIOError:
        return


def _coap_messages(random: Random, number: int, kind: str, resource: str) -> Iterator[bytes]:
    code = {"get": 1, "put": 3, "delete": 4, "observe": 1}[kind]
    observe = [(6, b"")] if kind == "observe" else []
    path = random.choice(("time", "")) if kind == "observe" else resource
    body = sentence(random, 100).encode() if kind == "put" else b""
    blocks = [body[i : i + 64] for i in range(0, len(body), 64)] or [b""]
    for index, block in enumerate(blocks):
        more = 8 if index + 1 < len(blocks) else 0
        options = [*observe, (11, path.encode())] if path else list(observe)
        if len(blocks) > 1:
            options.append((27, bytes([index << 4 | more | 2])))  # blocks of 64 bytes
        token = struct.pack(">H", number & 0xFFFF)
        head = struct.pack(">BBH", 0x42, code, (number * 64 + index) & 0xFFFF) + token
        yield head + _coap_options(options) + (b"\xff" + block if block else b"")


def _coap_options(options: list[tuple[int, bytes]]) -> bytes:
    told, last = b"", 0
    for number, value in options:
        delta, last = number - last, number
        told += bytes([min(delta, 13) << 4 | len(value)])
        told += (bytes([delta - 13]) if delta >= 13 else b"") + value
    return told


# SNMP version 2c: walks over a part of the tree, by single and by bulk requests.


def snmp(random: Random, port: int, walks: int, steps: int, bulk: int) -> None:
    link = datagrams(port)
    starts = (
        (1, 3, 6, 1, 2, 1),
        (1, 3, 6, 1, 2, 1, 2),
        (1, 3, 6, 1, 2, 1, 4),
        (1, 3, 6, 1, 2, 1, 25),
    )
    for walk in range(walks):
        place = bytes([43, *random.choice(starts)[2:]])
        for step in range(steps):
            link.send(_snmp_request(walk * 100 + step, place, random.randint(0, bulk)))
            place = _last_name(link.recv(65535))


def _snmp_request(number: int, name: bytes, repeats: int) -> bytes:
    binding = _ber(0x30, _ber(6, name) + b"\5\0")
    counts = _ber(2, b"\0") + _ber(2, bytes([repeats]))
    kind = 0xA5 if repeats else 0xA1
    body = _ber(2, struct.pack(">I", number)) + counts + _ber(0x30, binding)
    return _ber(0x30, b"\2\1\1" + _ber(4, b"public") + _ber(kind, body))


def _ber(tag: int, body: bytes) -> bytes:
    length = len(body)
    return bytes([tag, length] if length < 128 else [tag, 0x82, length >> 8, length & 255]) + body


def _last_name(answer: bytes) -> bytes:
    """The object of the last binding of an answer."""
    bindings = _items(_items(_items(answer)[0][1])[2][1])[3][1]
    return _items(_items(bindings)[-1][1])[0][1]


def _items(data: bytes) -> list[tuple[int, bytes]]:
    items, at = [], 0
    while at < len(data):
        tag, length, at = data[at], data[at + 1], at + 2
        if length >= 128:
            more = length & 127
            length, at = int.from_bytes(data[at : at + more]), at + more
        items.append((tag, data[at : at + length]))
        at += length
    return items


CLIENTS: dict[str, Callable[..., None]] = {
    "http": http,
    "redis": redis,
    "mqtt": mqtt,
    "coap": coap,
    "snmp": snmp,
}
