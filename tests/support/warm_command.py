"""A command as a fork of the warm process, for a library which insists on starting a program: see `warm.line`.

python -I -S warm_command.py SOCKET WORDS...

It hands on what it was given (environment, folder, descriptors), and signals; it ends as the command does.
"""

import json
import os
import signal
import socket
import struct
import sys
import tempfile

TOLD = struct.Struct("ii")


def begun(line: socket.socket, words: list[str]) -> int:
    """The pid of the fork."""
    wanted = {"arguments": words, "env": {**os.environ}, "cwd": os.getcwd()}
    wanted |= {"session": False, "terminal": False, "limits": {}, "program": "", "packages": ""}
    with tempfile.TemporaryFile() as file:
        file.write(json.dumps(wanted).encode())
        file.flush()
        socket.send_fds(line, [b"!"], [file.fileno(), 0, 1, 2])
        _, pid = TOLD.unpack(line.recv(TOLD.size, socket.MSG_WAITALL))
    return int(pid)


def main() -> int:
    where, *words = sys.argv[1:]
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(where)
        pid = begun(line, words)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: os.kill(pid, number))
        _, code = TOLD.unpack(line.recv(TOLD.size, socket.MSG_WAITALL))
    return int(code) if code >= 0 else 128 - int(code)


if __name__ == "__main__":
    sys.exit(main())
