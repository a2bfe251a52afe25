"""Structs are ready before threads decode them: without that these processes end with a segmentation fault."""

from __future__ import annotations

import subprocess
import sys

FRESH = """
import sys, threading, types, msgspec
from assay.core.json_decoders import ready_types
sys.setswitchinterval(1e-6)
SOURCE = '''
from __future__ import annotations
import msgspec
class C(msgspec.Struct):
    y: tuple[str, ...] = ()
    z: dict[str, list[int]] = {}
class B(msgspec.Struct):
    c: C
    d: tuple[C, ...] = ()
class A(msgspec.Struct):
    b: B
    bs: list[tuple[int, B]] = []
'''
for number in range(150):
    module = sys.modules[f"assay.fresh{number}"] = types.ModuleType(f"assay.fresh{number}")
    exec(SOURCE, module.__dict__)
    ready_types()
    together, found = threading.Barrier(8), []
    def work():
        together.wait()
        found.append(msgspec.json.decode(b'{"b": {"c": {"y": ["a"]}, "d": [{}]}}', type=module.A).b.c.y)
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert found == [("a",)] * 8
print("whole")
"""
NEVER = """
from __future__ import annotations
import array, msgspec
from assay.core.json_decoders import ready_types
class Odd(msgspec.Struct):
    held: array.array[int]
    later: NotThere
Odd.__module__ = "assay.odd"
ready_types()
ready_types()
print("whole")
"""


def output_of(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_many_threads_may_decode_a_type_for_the_first_time() -> None:
    assert output_of(FRESH) == "whole\n"


def test_what_is_never_decoded_is_left_alone() -> None:
    assert output_of(NEVER) == "whole\n"
