# SPDX-License-Identifier: Apache-2.0
"""`heapfit record` of firmware: a log, a serial line, an image in an emulator."""

import os
import pty
import signal
import socket
import stat
import struct
import threading
import time
import tty
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from frames import BASE, Recorder
from serial import serial_for_url
from serial.rfc2217 import PortManager

from heapfit.errors import HeapfitError
from heapfit.fitting.verify.firmware import Firmware
from heapfit.importers.target_log import Emulation, record_emulated, record_serial
from program import call_heapfit

ARM_IMAGE = struct.pack("<4s3B9x2H", b"\x7fELF", 1, 1, 1, 2, 40)


def log_of(events=3):
    recorder = Recorder()
    for i in range(events):
        recorder.alloc(BASE + 64 * i, 24)
    return recorder.log()


@pytest.fixture
def line():
    """A pseudo-terminal: the device's end, and the name of the host's."""
    device, host = pty.openpty()
    tty.setraw(host)
    yield device, Path(os.ttyname(host)), host
    os.close(device)


def told(*words):
    """How a command ends, and what it prints."""
    done = call_heapfit(*words)
    return done.returncode, done.stdout + done.stderr


def test_a_log_is_recorded_from_whatever_stands_before_its_frames(tmp_path):
    log = tmp_path / "uart.log"
    log.write_bytes(b"a 1 2\n" * 20_000 + log_of())
    code, printed = told("record", "--serial", log, "-o", tmp_path / "uart.parquet")
    assert code == 0
    assert "3 events (whole)" in printed
    assert "120,000 bytes of other text passed over." in printed


def test_a_line_is_heard_until_the_time_is_over(tmp_path, line):
    device, name, _ = line
    content = log_of()
    assert {10, 13, 17, 19} & set(content) or os.write(device, b"\n\r\x11\x13")
    threading.Timer(0.3, lambda: os.write(device, content)).start()  # what came before is dropped
    recording = record_serial(name, 115_200, 0.8, tmp_path / "line.parquet")
    assert recording.ending == "the time limit was reached"
    assert recording.trace.info.events == 3
    assert recording.log == tmp_path / "line.frames"
    assert recording.log.read_bytes().endswith(content)


def test_a_line_without_frames_says_what_may_be_missing(tmp_path, line):
    device, name, _ = line
    threading.Timer(0.3, lambda: os.write(device, b"Booting\n")).start()
    with pytest.raises(HeapfitError, match=r"no frames came at 115,200 baud \(never drained"):
        record_serial(name, 115_200, 0.5, tmp_path / "line.parquet")
    assert (tmp_path / "line.frames").read_bytes() == b"Booting\n"


def test_a_device_that_goes_away_leaves_what_it_said(tmp_path):
    device, host = pty.openpty()
    tty.setraw(host)
    name = Path(os.ttyname(host))

    def says_and_goes():
        time.sleep(0.3)
        os.write(device, log_of())
        time.sleep(0.3)
        os.close(device)

    speaker = threading.Thread(target=says_and_goes)
    speaker.start()
    recording = record_serial(name, 9600, 20, tmp_path / "line.parquet")
    speaker.join()
    os.close(host)
    assert (recording.ending, recording.trace.info.events) == ("the device was removed", 3)


def test_an_interrupt_ends_listening_and_keeps_what_was_heard(tmp_path, line):
    device, name, _ = line

    def says_and_interrupts():
        time.sleep(0.3)
        os.write(device, log_of())
        time.sleep(0.4)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=says_and_interrupts).start()
    recording = record_serial(name, 9600, 20, tmp_path / "line.parquet")
    assert (recording.ending, recording.trace.info.events) == ("interrupted", 3)


@pytest.mark.parametrize(
    ("device", "rate", "what"),
    [
        ("missing", 9600, "missing: is no serial line that opens at 9,600 baud: No such file"),
        ("plain", 9600, "plain: is no serial line .* configure port.*lines of this machine: "),
    ],
)
def test_what_is_no_line_is_refused(tmp_path, device, rate, what):
    (tmp_path / "plain").touch()
    with pytest.raises(HeapfitError, match=what):
        record_serial(tmp_path / device, rate, 1, tmp_path / "line.parquet")


# pyserial 3.5 is older than what threading wants.
@pytest.mark.filterwarnings("ignore:set:DeprecationWarning")
def test_a_line_behind_a_terminal_server_is_heard(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        speaker = threading.Thread(target=serve_line, args=(server, log_of()))
        speaker.start()
        address = f"rfc2217://127.0.0.1:{server.getsockname()[1]}"
        recording = record_serial(address, 9600, 20, tmp_path / "line.parquet")
        speaker.join()
    assert (recording.ending, recording.trace.info.events) == ("the device was removed", 3)


def serve_line(server, content):
    """What a terminal server does by RFC 2217: settles the line's settings, then says all."""
    connection, _ = server.accept()
    with connection:
        line = PortManager(serial_for_url("loop://"), SimpleNamespace(write=connection.sendall))
        connection.settimeout(1)
        with suppress(TimeoutError):
            while asked := connection.recv(1024):
                list(line.filter(asked))
        connection.sendall(content.replace(b"\xff", b"\xff\xff"))
        time.sleep(0.3)  # what pyserial has not read when the connection ends is lost


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "firmware.elf"
    path.write_bytes(ARM_IMAGE)
    return path


def emulator_that(tmp_path, monkeypatch, does):
    """A program in the emulator's place; tests/target runs the emulator itself."""
    script = tmp_path / "bin/qemu-system-arm"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/arguments\n{does}\n')
    script.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", str(script.parent), prepend=os.pathsep)


def test_an_image_is_given_its_arguments_and_its_frames_are_taken(tmp_path, image, monkeypatch):
    (tmp_path / "frames").write_bytes(log_of())
    emulator_that(tmp_path, monkeypatch, f"cp {tmp_path}/frames heapfit.frames; exit 3")
    recording = record_emulated(Emulation(image, ("1,2", "x")), tmp_path / "run.parquet")
    assert (recording.ending, recording.trace.info.events) == ("ended with status 3", 3)
    words = (tmp_path / "arguments").read_text().splitlines()
    assert "mps2-an385" in words
    assert "enable=on,target=native,arg=firmware.elf,arg=1,,2,arg=x" in words


def test_an_image_that_does_not_end_is_ended(tmp_path, image, monkeypatch):
    (tmp_path / "frames").write_bytes(log_of())
    emulator_that(tmp_path, monkeypatch, f"cp {tmp_path}/frames uart.log; exec sleep 60")
    recording = record_emulated(Emulation(image, seconds=0.5), tmp_path / "run.parquet")
    assert recording.ending == "was ended after 0.5 s"


@pytest.mark.parametrize(
    ("content", "does", "what"),
    [
        (ARM_IMAGE, "", "firmware.elf: ended with status 0 and wrote no frames .never drained"),
        (ARM_IMAGE, "echo Booting > uart.log", "ended with status 0 and wrote no frames .never"),
        (b"\x7fELF\x02", "", "firmware.elf: is not a 32-bit Arm or RISC-V image"),
        (b"", "", "firmware.elf: is not a 32-bit Arm or RISC-V image"),
    ],
)
def test_an_image_without_frames_and_what_is_none_are_refused(
    tmp_path, image, monkeypatch, content, does, what
):
    image.write_bytes(content)
    emulator_that(tmp_path, monkeypatch, does)
    with pytest.raises(HeapfitError, match=what):
        record_emulated(Emulation(image), tmp_path / "run.parquet")
    assert not (tmp_path / "run.parquet").exists()


@pytest.mark.parametrize(
    "words", [[], ["--serial", "a", "--qemu", "b"], ["--serial", "a", "--", "b"]]
)
def test_one_thing_is_recorded(words):
    code, printed = told("record", *words)
    assert code == 2
    assert "give one of PROGRAM" in printed


@pytest.mark.parametrize(
    ("slowest", "given", "limit"),
    [(0.0, None, 600), (3.0, None, 60), (20.0, None, 100), (20.0, 5.0, 5)],
)
def test_a_run_has_five_times_the_slowest_and_a_minute_at_least(image, slowest, given, limit):
    assert Firmware("make", Emulation(image, seconds=given), slowest).limit == limit
