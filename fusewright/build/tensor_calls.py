"""Small builtins of Python in machine code, for what plans do with tensors all the time: views, checks of strides.

As in `launcher.py`, each does what always goes well, and leaves the rest to a function of Python. They are given the
addresses of PyTorch's C functions, and of the classes whose objects hold nothing but a tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .launcher import FASTCALL, TENSOR, MethodDef, Text, array, function, new_builtin, of_class
from .machine_code import address

DIMS = 16  # that a view may have
VIEW_NAME = "fusewright_view"
# What each names: functions in C, and two classes.
VIEW = ("reinterpret", "delete", "wrap", "tensor", "parameter")
DENSE = ("is_contiguous", "data_ptr", "is_neg", "is_zerotensor", "tensor", "parameter", "yes", "no")


def view_text() -> str:
    """A view (tensor, size, stride, start) of a tensor's memory, as LLVM IR; self[2] does what is unusual."""
    t = Text()
    for name in ("counter", "made"):
        t.put(f"%{name} = alloca i64")
    size, stride = (t.let(f"alloca i64, i64 {DIMS}") for _ in range(2))
    words = t.let(f"call ptr @PyLong_AsVoidPtr(ptr {t.let('call ptr @PyTuple_GetItem(ptr %self, i64 0)')})")
    of = {name: t.load(words, k, "ptr") for k, name in enumerate(VIEW)}
    t.when("icmp ne i64 %n, 4", "miss")
    base = t.load("%args", 0, "ptr")
    of_class(t, base, of["tensor"], of["parameter"], "miss")
    tuples = [t.load("%args", k, "ptr") for k in (1, 2)]
    dims, strides = (t.let(f"call i64 @PyTuple_Size(ptr {x})") for x in tuples)
    t.when(f"icmp ugt i64 {dims}, {DIMS}", "odd")  # -1 is no tuple
    t.when(f"icmp ne i64 {dims}, {strides}", "odd")
    k = t.loop("dims", "0", dims)
    for x, to in zip(tuples, (size, stride), strict=True):
        item = t.let(f"call ptr @PyTuple_GetItem(ptr {x}, i64 {k})")
        t.put(f"store i64 {t.number('i64', item, 'odd', 'PyLong_AsLongLong')}, ptr {t.at(to, k)}")
    t.again("dims", k)
    start = t.number("i64", t.load("%args", 3, "ptr"), "odd", "PyLong_AsLongLong")
    what = f"ptr {t.byte(base, TENSOR)}, i64 {dims}, ptr {size}, ptr {stride}, i64 {start}, ptr %made"
    status = t.let(f"call i32 {of['reinterpret']}({what})")
    t.when(f"icmp ne i32 {status}, 0", "odd")
    made = t.let("load ptr, ptr %made")
    result = t.let(f"call ptr {of['wrap']}(ptr {made})")
    t.put(f"call i32 {of['delete']}(ptr {made})")
    t.put(f"ret ptr {result}")
    t.begin("odd")
    t.put("call void @PyErr_Clear()")
    t.label("miss")
    fallback = t.let("call ptr @PyTuple_GetItem(ptr %self, i64 2)")
    t.put(f"ret ptr {t.call(fallback, '%args', '%n')}")
    return function(t, VIEW_NAME)


def _dense_text() -> str:
    """Whether all arguments are contiguous tensors with their values in memory, as LLVM IR."""
    t = Text()
    for name in ("counter", "answer", "place"):
        t.put(f"%{name} = alloca i64")
    words = t.let(f"call ptr @PyLong_AsVoidPtr(ptr {t.let('call ptr @PyTuple_GetItem(ptr %self, i64 0)')})")
    of = {name: t.load(words, k, "ptr") for k, name in enumerate(DENSE)}
    k = t.loop("tensors", "0", "%n")
    arg = t.load("%args", k, "ptr")
    of_class(t, arg, of["tensor"], of["parameter"], "no")
    t.put("store i64 0, ptr %answer")
    status = t.let(f"call i32 {of['is_contiguous']}(ptr {t.byte(arg, TENSOR)}, ptr %answer)")
    t.when(f"icmp ne i32 {status}, 0", "no")
    t.when(f"icmp eq i64 {t.let('load i64, ptr %answer')}, 0", "no")
    status = t.let(f"call i32 {of['data_ptr']}(ptr {t.byte(arg, TENSOR)}, ptr %place)")
    t.when(f"icmp ne i32 {status}, 0", "no")
    for lazy in ("is_neg", "is_zerotensor"):
        t.when(f"icmp ne i8 {t.let(f'call i8 {of[lazy]}(ptr {t.byte(arg, TENSOR)})')}, 0", "no")
    t.again("tensors", k)
    for result in ("yes", "no"):
        if result == "no":
            t.begin("no")
        t.put(f"call void @Py_IncRef(ptr {of[result]})")
        t.put(f"ret ptr {of[result]}")
    return function(t, "fusewright_dense")


def view(numbers: Sequence[int], *keep: object) -> Any:
    """A function (tensor, size, stride, start); `numbers`: as `VIEW` says; keep[0]: does what is unusual."""
    return _made(VIEW_NAME, view_text(), numbers, *keep)


def dense(numbers: Sequence[int], *keep: object) -> Any:
    """A function of tensors: whether all are contiguous, of real numbers, and nothing but their values in memory.

    `numbers`: as `DENSE` says, without the last two.
    """
    return _made("fusewright_dense", _dense_text(), [*numbers, id(True), id(False)], *keep)


def _made(name: str, ir: str, numbers: Sequence[int], *keep: object) -> Any:
    method = MethodDef(name.removeprefix("fusewright_").encode(), address(name, ir), FASTCALL, None)
    return new_builtin(method, array(numbers), *keep)


__all__ = ["DENSE", "DIMS", "VIEW", "VIEW_NAME", "dense", "view", "view_text"]
