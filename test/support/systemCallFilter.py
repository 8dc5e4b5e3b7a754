"""Runs a program as systemd would with SystemCallFilter=, SystemCallErrorNumber=EPERM and RestrictAddressFamilies=.

systemCallFilter.py FILTERS FAMILIES PROGRAM ARGUMENT…: FILTERS and FAMILIES are separated by spaces, as in a unit. What a set of system
calls contains, systemd-analyze says.
"""

import ctypes
import errno
import os
import socket
import subprocess
import sys

ALLOW = 0x7FFF0000
EQUAL = 4
UNKNOWN = -1
ALL_FAMILIES = 46


class Comparison(ctypes.Structure):
    _fields_ = [
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("datum_a", ctypes.c_uint64),
        ("datum_b", ctypes.c_uint64),
    ]


def refuse(number):
    return 0x00050000 | number


def calls_of(name):
    """The system calls of a set such as @system-service, or the one with that name."""
    if not name.startswith("@"):
        return {name}
    shown = subprocess.run(
        ["systemd-analyze", "syscall-filter", name], check=True, capture_output=True, text=True
    ).stdout
    members = [line.strip() for line in shown.splitlines() if line.startswith("    ")]
    return set().union(*(calls_of(member) for member in members if not member.startswith("#")))


library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
library.seccomp_init.restype = ctypes.c_void_p


def load(default, rules):
    """Loads a filter: the default action, and (action, system call, comparisons)."""
    context = ctypes.c_void_p(library.seccomp_init(default))
    for action, call, comparisons in rules:
        number = library.seccomp_syscall_resolve_name(call.encode())
        if number == UNKNOWN:
            continue
        array = (Comparison * len(comparisons))(*comparisons)
        failed = library.seccomp_rule_add_array(context, action, number, len(comparisons), array)
        if failed:
            raise OSError(-failed, f"no rule for {call}")
    if library.seccomp_load(context):
        raise OSError("the filter was not loaded")


filters, families, *program = sys.argv[1:]
allowed = calls_of("@default")
for word in filters.split():
    allowed = allowed - calls_of(word[1:]) if word.startswith("~") else allowed | calls_of(word)
known = {int(getattr(socket, name)) for name in families.split()}
load(
    ALLOW,
    [
        (refuse(errno.EAFNOSUPPORT), "socket", [Comparison(0, EQUAL, family, 0)])
        for family in range(ALL_FAMILIES)
        if family not in known
    ],
)
load(refuse(errno.EPERM), [(ALLOW, call, []) for call in sorted(allowed)])
os.execvp(program[0], program)
