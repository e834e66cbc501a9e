"""The launch of a GPU kernel as a builtin of Python: what a call does on the host, in machine code.

The builtin takes a kernel's buffers (tensors, or their addresses), values of size symbols, and host scalars. It looks
for an *entry*, the launch prepared for these sizes and this alignment, copies its arguments, puts the addresses in, and
calls `cuLaunchKernel` (`cuLaunchKernelEx`, of what may begin before the launch before it has ended) without the
interpreter's lock. Whatever is unusual (no entry, an argument of another type, another device, a failed launch) is
left to Python: `miss(*args)` makes the whole call, `resume(keep, first, scratch, *args)` the launches from number
`first` on, with the scratch memory that there is (or None).

There is one function for all kernels, compiled when the first one is launched. Of CPython it uses what is exported and
documented from 3.10 on. An entry is copied before anything else can run, so that Python may drop it at any time; the
objects that it names are kept alive by `keep`. Of its words only the number of launches that are left to it is written
to, while the interpreter's lock is held, so that threads need no other.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Sequence
from typing import Any

from ..core.log import LOG
from .machine_code import address

# Words of 8 bytes. A site: addresses (of functions in C; of Python's objects, or 0; of a function that says where a
# tensor's data is, or 0, and the two classes that it is asked about), the device, how many arguments there are of each
# kind, whether the last two are the place and size of memory that scratch memory may be taken from, the first entry;
# then for each buffer 15, or 0 if its alignment does not matter.
SITE = (
    *(
        "launch",
        "follow",
        "current",
        "stream",
        "empty",
        "capturing",
        "data_ptr",
        "miss",
        "resume",
        "none",
        "no",
        "index",
    ),
    *("address", "tensor", "parameter", "device", "args", "pointers", "symbols", "room", "head"),
)
# An entry: the next one; what it is for (alignment, stream, or -1 for any); how often it may be used before Python is
# to be asked again, or -1; its length in words; how many launches, host scalars, pieces of scratch memory and words of
# arguments; which of those the pieces begin at; whether it is not for recordings; bytes of scratch memory, and what
# `empty` takes (three objects); the object to keep; where its parts begin. Then the size symbols.
ENTRY = (
    *("next", "alignment", "on", "left", "length", "launches", "hosts", "pieces", "words", "scratch", "live", "bytes"),
    *("size", "stride", "dtype", "keep", "launches_at", "hosts_at", "pieces_at", "words_at"),
)
LAUNCH = ("handle", "blocks", "threads", "shared", "attributes")  # for each launch; its one attribute's address, or 0
HOST = ("type", "word", "arg")  # for each host scalar: its type's number, its place, which one of the call's it is
TYPES = ("f64", "f32", "i64", "i32")
ANY = -1
TYPE, TENSOR = 8, 16  # bytes from where an object begins to its type, and from where a tensor does to the one of C++

NAME = "fusewright_launch"
_DECLARED = """\
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyLong_AsVoidPtr(ptr)
declare i64 @PyLong_AsUnsignedLongLong(ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare ptr @PyLong_FromLongLong(i64)
declare double @PyFloat_AsDouble(ptr)
declare ptr @PyErr_Occurred()
declare void @PyErr_Clear()
declare ptr @PyObject_VectorcallDict(ptr, ptr, i64, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""


class Text:
    """Writes the function: `done`, `failed` and so on are its labels."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names = 0

    def put(self, line: str) -> None:
        self.lines.append(f"  {line}")

    def label(self, name: str) -> None:
        """Begin a block, which what is before falls into."""
        self.put(f"br label %{name}")
        self.begin(name)

    def begin(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def let(self, value: str) -> str:
        self.names += 1
        self.put(f"%t{self.names} = {value}")
        return f"%t{self.names}"

    def at(self, base: str, index: str | int) -> str:
        """The address of a word."""
        return self.let(f"getelementptr i64, ptr {base}, i64 {index}")

    def byte(self, base: str, offset: int) -> str:
        """The address some bytes on."""
        return self.let(f"getelementptr i8, ptr {base}, i64 {offset}")

    def load(self, base: str, index: str | int, kind: str = "i64") -> str:
        return self.let(f"load {kind}, ptr {self.at(base, index)}")

    def when(self, condition: str, then: str) -> None:
        """Go to a label if a condition (`icmp eq i64 1, 2`) holds."""
        holds = self.let(condition)
        self.names += 1
        self.put(f"br i1 {holds}, label %{then}, label %go{self.names}")
        self.begin(f"go{self.names}")

    def loop(self, name: str, begin: str, end: str) -> str:
        """Begin a loop over begin, ..., end - 1; its counter. `again` ends it."""
        self.put(f"store i64 {begin}, ptr %counter")
        self.label(name)
        k = self.let("load i64, ptr %counter")
        self.when(f"icmp sge i64 {k}, {end}", f"{name}.end")
        return k

    def again(self, name: str, k: str) -> None:
        self.put(f"store i64 {self.let(f'add i64 {k}, 1')}, ptr %counter")
        self.label(f"{name}.again")
        self.put(f"br label %{name}")
        self.begin(f"{name}.end")

    def call(self, fn: str, args: str, n: str | int) -> str:
        """Call an object of Python with an array of others."""
        return self.let(f"call ptr @PyObject_VectorcallDict(ptr {fn}, ptr {args}, i64 {n}, ptr null)")

    def number(self, kind: str, value: str, odd: str, function: str) -> str:
        """The number that an object of Python is; to the label `odd` if it is none of that type."""
        x = self.let(f"call {kind} @{function}(ptr {value})")
        self.names += 1
        name = f"number{self.names}"
        is_error = f"fcmp oeq double {x}, -1.0" if kind == "double" else f"icmp eq i64 {x}, -1"
        self.put(f"br i1 {self.let(is_error)}, label %{name}.maybe, label %{name}")
        self.begin(f"{name}.maybe")
        self.when(f"icmp ne ptr {self.let('call ptr @PyErr_Occurred()')}, null", odd)
        self.label(name)
        return x

    def copy(self, to: str, source: str, words: str) -> None:
        size = self.let(f"shl i64 {words}, 3")
        self.put(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {size}, i1 false)")


def text() -> str:
    """The function, as LLVM IR."""
    t = Text()
    for name in ("counter", "low", "found", "raw", "base", "scratch", "result"):
        t.put(f"%{name} = alloca i64")
    t.put("%config = alloca [7 x i64]")
    t.put("%status = alloca i32")
    t.put("store ptr null, ptr %scratch")
    site = t.let(f"call ptr @PyLong_AsVoidPtr(ptr {t.let('call ptr @PyTuple_GetItem(ptr %self, i64 0)')})")
    of = {name: t.load(site, k, "ptr" if k < SITE.index("device") else "i64") for k, name in enumerate(SITE[:-1])}
    t.when(f"icmp ne i64 %n, {of['args']}", "miss")
    _device(t, of, site)
    given = _given(t, of, site)
    found = _search(t, of, site, given)

    # The launch: its arguments, on the stack.
    length = t.load(found, ENTRY.index("length"))
    entry = t.let(f"alloca i64, i64 {length}")
    t.copy(entry, found, length)
    named = ("size", "stride", "dtype", "keep")
    part = {name: t.load(entry, k, "ptr" if name in named else "i64") for k, name in enumerate(ENTRY)}
    values = t.at(entry, part["words_at"])
    t.copy(values, given, of["pointers"])
    t.put(f"call void @Py_IncRef(ptr {part['keep']})")
    _live(t, of, part, site)
    _hosts(t, of, part, entry, values)
    _scratch(t, of, part, entry, values)
    table = t.let(f"alloca ptr, i64 {part['words']}")
    k = t.loop("table", "0", part["words"])
    t.put(f"store ptr {t.at(values, k)}, ptr {t.at(table, k)}")
    t.again("table", k)

    state = t.let("call ptr @PyEval_SaveThread()")
    stream = t.let("load ptr, ptr %raw")
    launches = t.at(entry, part["launches_at"])
    k = t.loop("launches", "0", part["launches"])
    one = t.at(launches, t.let(f"mul i64 {k}, {len(LAUNCH)}"))
    handle = t.load(one, 0, "ptr")
    blocks, threads, shared = (t.let(f"trunc i64 {t.load(one, j)} to i32") for j in (1, 2, 3))
    where = f"ptr {handle}, i32 {blocks}, i32 1, i32 1, i32 {threads}, i32 1, i32 1, i32 {shared}, ptr {stream}"
    attributes = t.load(one, LAUNCH.index("attributes"))
    t.when(f"icmp ne i64 {attributes}, 0", "follow")
    status = t.let(f"call i32 {of['launch']}({where}, ptr {table}, ptr null)")
    t.put(f"store i32 {status}, ptr %status")
    t.put("br label %launched")
    t.begin("follow")
    status = t.let(f"call i32 {of['follow']}(ptr {_config(t, one, stream)}, ptr {handle}, ptr {table}, ptr null)")
    t.put(f"store i32 {status}, ptr %status")
    t.label("launched")
    t.when(f"icmp ne i32 {t.let('load i32, ptr %status')}, 0", "failed")
    t.again("launches", k)
    t.put(f"call void @PyEval_RestoreThread(ptr {state})")
    t.put(f"call void @Py_IncRef(ptr {of['none']})")
    t.put(f"store ptr {of['none']}, ptr %result")
    t.put("br label %done")

    t.begin("failed")  # launch number k; this one and those behind it are for Python
    t.put(f"call void @PyEval_RestoreThread(ptr {state})")
    t.put("store ptr null, ptr %result")
    more = t.let("add i64 %n, 3")
    rest = t.let(f"alloca ptr, i64 {more}")
    first = t.let(f"call ptr @PyLong_FromLongLong(i64 {k})")
    t.when(f"icmp eq ptr {first}, null", "done")
    scratch = t.let("load ptr, ptr %scratch")
    none = t.let(f"icmp eq ptr {scratch}, null")
    memory = t.let(f"select i1 {none}, ptr {of['none']}, ptr {scratch}")
    for j, x in enumerate((part["keep"], first, memory)):
        t.put(f"store ptr {x}, ptr {t.at(rest, j)}")
    t.copy(t.at(rest, 3), "%args", "%n")
    t.put(f"store ptr {t.call(of['resume'], rest, more)}, ptr %result")
    t.put(f"call void @Py_DecRef(ptr {first})")
    t.label("done")
    result, scratch = t.let("load ptr, ptr %result"), t.let("load ptr, ptr %scratch")
    t.put(f"call void @Py_DecRef(ptr {part['keep']})")
    t.when(f"icmp eq ptr {scratch}, null", "leave")
    t.put(f"call void @Py_DecRef(ptr {scratch})")
    t.label("leave")
    t.put(f"ret ptr {result}")

    t.begin("forget")  # a host scalar is not what was expected
    t.put(f"call void @Py_DecRef(ptr {part['keep']})")
    t.label("odd")
    t.put("call void @PyErr_Clear()")
    t.label("miss")
    t.put(f"ret ptr {t.call(of['miss'], '%args', '%n')}")
    return function(t, NAME)


def _device(t: Text, of: dict[str, str], site: str) -> None:
    """The device is the current one; %raw: its stream."""
    index = t.at(site, SITE.index("index"))
    t.when(f"icmp eq ptr {of['current']}, null", "here")
    answer = t.call(of["current"], index, 0)
    t.when(f"icmp eq ptr {answer}, null", "odd")
    device = t.let(f"call i64 @PyLong_AsLongLong(ptr {answer})")
    t.put(f"call void @Py_DecRef(ptr {answer})")
    t.when(f"icmp ne i64 {device}, {of['device']}", "odd")
    t.label("here")
    answer = t.call(of["stream"], index, 1)
    t.when(f"icmp eq ptr {answer}, null", "odd")
    t.put(f"store ptr {t.let(f'call ptr @PyLong_AsVoidPtr(ptr {answer})')}, ptr %raw")
    t.put(f"call void @Py_DecRef(ptr {answer})")
    t.when(f"icmp ne ptr {t.let('call ptr @PyErr_Occurred()')}, null", "odd")


def of_class(t: Text, arg: str, *classes: str) -> None:
    """Go to the last label if an object is of none of these classes."""
    kind = t.let(f"load ptr, ptr {t.byte(arg, TYPE)}")
    *which, other = classes
    either = [t.let(f"icmp eq ptr {kind}, {c}") for c in which]
    t.when(f"xor i1 true, {t.let(f'or i1 {either[0]}, {either[1]}')}", other)


def _given(t: Text, of: dict[str, str], site: str) -> str:
    """The call's addresses and sizes, as an array; %low: their alignment."""
    given = t.let(f"alloca i64, i64 {of['args']}")
    t.put("store i64 0, ptr %low")
    k = t.loop("pointers", "0", of["pointers"])
    arg, to = t.load("%args", k, "ptr"), t.at(given, k)
    t.when(f"icmp eq ptr {of['address']}, null", "number")
    of_class(t, arg, of["tensor"], of["parameter"], "number")
    status = t.let(f"call i32 {of['address']}(ptr {t.byte(arg, TENSOR)}, ptr {to})")
    t.when(f"icmp ne i32 {status}, 0", "odd")
    t.put("br label %given")
    t.begin("number")
    n = t.number("i64", arg, "odd", "PyLong_AsUnsignedLongLong")
    t.put(f"store i64 {n}, ptr {to}")
    t.label("given")
    p = t.load(given, k)
    counts = t.let(f"and i64 {p}, {t.load(site, t.let(f'add i64 {k}, {len(SITE)}'))}")
    before = t.let("load i64, ptr %low")
    t.put(f"store i64 {t.let(f'or i64 {before}, {counts}')}, ptr %low")
    t.again("pointers", k)
    k = t.loop("symbols", of["pointers"], t.let(f"add i64 {of['pointers']}, {of['symbols']}"))
    n = t.number("i64", t.load("%args", k, "ptr"), "odd", "PyLong_AsLongLong")
    t.put(f"store i64 {n}, ptr {t.at(given, k)}")
    t.again("symbols", k)
    return given


def _search(t: Text, of: dict[str, str], site: str, given: str) -> str:
    """The entry for this alignment, stream and sizes; to `miss` if there is none, or Python is to be asked again."""
    low, raw = t.let("load i64, ptr %low"), t.let("load i64, ptr %raw")
    sizes = t.at(given, of["pointers"])
    t.put(f"store ptr {t.load(site, SITE.index('head'), 'ptr')}, ptr %found")
    t.label("search")
    entry = t.let("load ptr, ptr %found")
    t.when(f"icmp eq ptr {entry}, null", "miss")
    t.when(f"icmp ne i64 {t.load(entry, ENTRY.index('alignment'))}, {low}", "other")
    on = t.load(entry, ENTRY.index("on"))
    elsewhere = t.let(f"icmp ne i64 {on}, {raw}")
    t.when(f"and i1 {elsewhere}, {t.let(f'icmp ne i64 {on}, {ANY}')}", "other")
    k = t.loop("compare", "0", of["symbols"])
    known = t.load(t.at(entry, len(ENTRY)), k)
    t.when(f"icmp ne i64 {known}, {t.load(sizes, k)}", "other")
    t.again("compare", k)
    t.put("br label %hit")
    t.begin("other")
    t.put(f"store ptr {t.load(entry, ENTRY.index('next'), 'ptr')}, ptr %found")
    t.put("br label %search")
    t.begin("hit")
    left = t.load(entry, ENTRY.index("left"))
    t.when(f"icmp eq i64 {left}, {ANY}", "lasting")
    t.when(f"icmp eq i64 {left}, 0", "miss")
    t.put(f"store i64 {t.let(f'sub i64 {left}, 1')}, ptr {t.at(entry, ENTRY.index('left'))}")
    t.label("lasting")
    return entry


def _config(t: Text, one: str, stream: str) -> str:
    """The CUlaunchConfig (`run/dependent.py`) of a launch: numbers of 32 bits, two in a word, and addresses."""
    blocks, threads, shared, attributes = (t.load(one, k) for k in range(1, len(LAUNCH)))
    threads = t.let(f"or i64 {t.let(f'shl i64 {threads}, 32')}, 1")
    address = t.let(f"ptrtoint ptr {stream} to i64")
    words = [t.let(f"or i64 {blocks}, {1 << 32}"), threads, str(1 << 32 | 1), shared, address, attributes, "1"]
    for k, word in enumerate(words):
        t.put(f"store i64 {word}, ptr {t.at('%config', k)}")
    return "%config"


def _live(t: Text, of: dict[str, str], part: dict[str, str], site: str) -> None:
    """To `forget` if launches are being recorded and the entry is not for that."""
    t.when(f"icmp eq i64 {part['live']}, 0", "made")
    answer = t.call(of["capturing"], t.at(site, SITE.index("index")), 0)
    t.when(f"icmp eq ptr {answer}, null", "forget")
    t.put(f"call void @Py_DecRef(ptr {answer})")
    t.when(f"icmp ne ptr {answer}, {of['no']}", "forget")
    t.label("made")


def _hosts(t: Text, of: dict[str, str], part: dict[str, str], entry: str, values: str) -> None:
    """Put the host scalars into their places."""
    first = t.let(f"add i64 {of['pointers']}, {of['symbols']}")
    table = t.at(entry, part["hosts_at"])
    k = t.loop("hosts", "0", part["hosts"])
    one = t.at(table, t.let(f"mul i64 {k}, {len(HOST)}"))
    kind, to = t.load(one, 0), t.at(values, t.load(one, 1))
    value = t.load("%args", t.let(f"add i64 {first}, {t.load(one, 2)}"), "ptr")
    t.when(f"icmp sge i64 {kind}, {TYPES.index('i64')}", "integer")
    x = t.number("double", value, "forget", "PyFloat_AsDouble")
    t.when(f"icmp eq i64 {kind}, {TYPES.index('f32')}", "single")
    t.put(f"store double {x}, ptr {to}")
    t.put("br label %placed")
    t.begin("single")
    y = t.let(f"fptrunc double {x} to float")
    t.put(f"store float {y}, ptr {to}")
    t.put("br label %placed")
    t.begin("integer")
    n = t.number("i64", value, "forget", "PyLong_AsLongLong")
    t.put(f"store i64 {n}, ptr {to}")
    t.when(f"icmp eq i64 {kind}, {TYPES.index('i64')}", "placed")
    narrow = t.let(f"sext i32 {t.let(f'trunc i64 {n} to i32')} to i64")
    t.when(f"icmp ne i64 {narrow}, {n}", "forget")
    t.label("placed")
    t.again("hosts", k)


def _scratch(t: Text, of: dict[str, str], part: dict[str, str], entry: str, values: str) -> None:
    """Take scratch memory from what there is, or allocate it, %scratch; put its pieces into their places."""
    t.when(f"icmp eq i64 {part['bytes']}, 0", "ready")
    t.when(f"icmp eq i64 {of['room']}, 0", "fresh")
    room = t.number("i64", t.load("%args", t.let("sub i64 %n, 1"), "ptr"), "forget", "PyLong_AsLongLong")
    t.when(f"icmp sgt i64 {part['bytes']}, {room}", "fresh")
    base = t.number("i64", t.load("%args", t.let("sub i64 %n, 2"), "ptr"), "forget", "PyLong_AsUnsignedLongLong")
    t.put(f"store i64 {base}, ptr %base")
    t.put("br label %place")
    t.begin("fresh")
    memory = t.call(of["empty"], t.at(entry, ENTRY.index("size")), 3)
    t.put(f"store ptr {memory}, ptr %scratch")
    t.put("store ptr null, ptr %result")
    t.when(f"icmp eq ptr {memory}, null", "done")
    answer = t.call(of["data_ptr"], "%scratch", 1)
    t.when(f"icmp eq ptr {answer}, null", "done")
    t.put(f"store i64 {t.let(f'call i64 @PyLong_AsUnsignedLongLong(ptr {answer})')}, ptr %base")
    t.put(f"call void @Py_DecRef(ptr {answer})")
    t.label("place")
    base = t.let("load i64, ptr %base")
    offsets, first = t.at(entry, part["pieces_at"]), part["scratch"]
    k = t.loop("pieces", "0", part["pieces"])
    there = t.let(f"add i64 {base}, {t.load(offsets, k)}")
    t.put(f"store i64 {there}, ptr {t.at(values, t.let(f'add i64 {first}, {k}'))}")
    t.again("pieces", k)
    t.label("ready")


def function(t: Text, name: str) -> str:
    body = "\n".join(t.lines)
    return f"{_DECLARED}\ndefine ptr @{name}(ptr %self, ptr %args, i64 %n) {{\nentry:\n{body}\n}}\n"


class MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


FASTCALL = 0x80
_lock = threading.Lock()
_method: list[MethodDef] = []
_failed: list[Exception] = []


def supported() -> bool:
    """Whether this interpreter is one that the function is written for."""
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    return sys.implementation.name == "cpython" and ctypes.sizeof(ctypes.c_void_p) == 8 and locked


def builtin(words: ctypes.Array[Any], *keep: object) -> Any:
    """The builtin of a site, which is an array as `SITE` says. `keep`: whatever the site names, and is kept alive.

    Raises CompilerError or RuntimeFault, at every call the same.
    """
    with _lock:
        if _failed:
            raise _failed[0]
        if not _method:
            try:
                _method.append(MethodDef(b"launch", address(NAME, text()), FASTCALL, None))
            except Exception as e:
                LOG.warning("GPU kernels are launched by Python, which takes longer: %s", e)
                _failed.append(e)
                raise
    return new_builtin(_method[0], words, *keep)


def new_builtin(method: MethodDef, words: ctypes.Array[Any], *keep: object) -> Any:
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return new(ctypes.addressof(method), (ctypes.addressof(words), words, *keep, method), None)


def array(numbers: Sequence[int]) -> ctypes.Array[Any]:
    """Words, from numbers that have 64 bits or a sign."""
    return (ctypes.c_uint64 * max(1, len(numbers)))(*(n & (1 << 64) - 1 for n in numbers))


__all__ = ["ANY", "ENTRY", "HOST", "LAUNCH", "NAME", "SITE", "TYPES", "array", "builtin", "supported", "text"]
