# SPDX-License-Identifier: Apache-2.0
"""Writes a small network as a TFLite model: fully connected layers with shortcuts, as in a U-Net.

    python network.py network.tflite

All weights are 0. What counts is the sizes and the lifetimes of its tensors.
"""

from __future__ import annotations

import sys
from pathlib import Path

from heapfit.importers.flatbuffer import Builder, Reference

CONCATENATION, FULLY_CONNECTED = 2, 9  # BuiltinOperator
OPTIONS = {CONCATENATION: 10, FULLY_CONNECTED: 8}  # BuiltinOptions
OPERATORS = (CONCATENATION, FULLY_CONNECTED)
VERSION = 3  # of the schema
INPUT = 64  # numbers
DOWN = ((100, 44, 24), (24, 20, 52), (88, 24, 24))  # the second of each is used again on the way up
UP = (52, 60, 108)


class Network:
    """Operators in order, each with one new tensor."""

    def __init__(self) -> None:
        self.made = Builder()
        self.buffers = [self.made.table()]  # of tensors without data
        self.tensors: list[Reference] = []
        self.operators: list[Reference] = []

    def add_tensor(self, *shape: int, buffer: int = 0) -> int:
        """A tensor of float32."""
        number = len(self.tensors)
        name = self.made.text(f"{'weights' if buffer else 'layer'} {number}")
        self.tensors.append(self.made.table(self.made.numbers(shape), 0, buffer, name))
        return number

    def add_operator(self, kind: int, inputs: list[int], output: int) -> int:
        """An operator; its options are the standard ones, but it joins along the last axis."""
        options = self.made.table(1) if kind == CONCATENATION else self.made.table()
        lists = self.made.numbers(inputs), self.made.numbers([output])
        row = self.made.table(OPERATORS.index(kind), *lists, OPTIONS[kind], options)
        self.operators.append(row)
        return output

    def dense(self, source: int, width: int, out: int) -> int:
        """A layer of `out` numbers from `width`."""
        data = self.made.data(bytes(4 * width * out), 16)
        self.buffers.append(self.made.table(data))
        weights = self.add_tensor(out, width, buffer=len(self.buffers) - 1)
        return self.add_operator(FULLY_CONNECTED, [source, weights, -1], self.add_tensor(1, out))

    def model(self, output: int) -> bytes:
        """The model, from tensor 0 to this one."""
        made = self.made
        ends = made.numbers([0]), made.numbers([output])
        lists = made.tables(self.tensors), *ends, made.tables(self.operators)
        graph = made.table(*lists, made.text("main"))
        codes = [made.table(kind, None, 1, kind) for kind in OPERATORS]
        fields = made.tables(codes), made.tables([graph]), made.text("heapfit: examples/arena")
        root = made.table(VERSION, *fields, made.tables(self.buffers))
        return made.finish(root, b"TFL3")


def make_network() -> bytes:
    """The network as a TFLite model."""
    net = Network()
    last, width = net.add_tensor(1, INPUT), INPUT
    shortcuts = []
    for first, second, third in DOWN:
        last = net.dense(net.dense(last, width, first), first, second)
        shortcuts.append((last, second))
        last, width = net.dense(last, second, third), third
    for out in UP:
        shortcut, more = shortcuts.pop()
        joined = net.add_tensor(1, width + more)
        last = net.add_operator(CONCATENATION, [last, shortcut], joined)
        last, width = net.dense(last, width + more, out), out
    return net.model(net.dense(last, width, 4))


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(make_network())
