# SPDX-License-Identifier: Apache-2.0
"""The ends of the capture's TCP transfer and voice call: traffic.py ROLE ADDRESS SECONDS.

Roles: serve and fetch (a bulk transfer at a steady rate), voice (one end of a call, to ADDRESS).
"""

import socket
import sys
import time

FILE_PORT = 8080
VOICE_PORT = 4000
RATE = 250_000  # bytes a second of the transfer
SO_MAX_PACING_RATE = 47  # Linux; not in the socket module

VOICE_INTERVAL = 0.020  # seconds: 50 packets a second
VOICE_PAYLOAD = 160  # bytes: 20 ms of G.711 at 64 kbit/s


def serve(address: str, seconds: float) -> None:
    """Sends a file of `seconds` at RATE to the first who connects."""
    with socket.create_server((address, FILE_PORT)) as listener:
        connection, _ = listener.accept()
        with connection:
            connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, RATE)
            connection.sendall(bytes(int(RATE * seconds)))


def fetch(address: str, _seconds: float) -> None:
    """Reads it to the end."""
    with socket.create_connection((address, FILE_PORT)) as connection:
        while connection.recv(1 << 16):
            pass


def voice(address: str, seconds: float) -> None:
    """Sends RTP packets (RFC 3550: a 12-byte header) on the clock; what comes is not read."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as call:
        call.bind(("", VOICE_PORT))
        start = time.monotonic()
        for number in range(int(seconds / VOICE_INTERVAL)):
            header = (
                b"\x80\x00" + number.to_bytes(2) + (number * VOICE_PAYLOAD).to_bytes(4) + b"call"
            )
            call.sendto(header + bytes(VOICE_PAYLOAD), (address, VOICE_PORT))
            time.sleep(max(0, start + (number + 1) * VOICE_INTERVAL - time.monotonic()))


if __name__ == "__main__":
    role, peer, duration = sys.argv[1:]
    {"serve": serve, "fetch": fetch, "voice": voice}[role](peer, float(duration))
