"""Numbers and places as people read them: bytes, seconds, shares, lines of their code."""

from __future__ import annotations

NEVER = "never launched"  # why a kernel was not measured


def size(n: float) -> str:
    """Bytes for people."""
    for unit in ("B", "KiB", "MiB"):
        if n < 1024:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1024
    return f"{n:.2f} GiB"


def duration(s: float | None) -> str:
    """Seconds for people; "-" for None."""
    if s is None:
        return "-"
    return f"{s * 1e6:.1f} µs" if s < 1e-3 else f"{s * 1e3:.2f} ms" if s < 1 else f"{s:.2f} s"


def percent(x: float | None) -> str:
    return "-" if x is None else f"{100 * x:.0f}%"


def of_roof(x: float | None) -> str:
    """A share of the roof; data in the caches moves faster than a copy in memory does."""
    return "cached" if x is not None and x > 1.05 else percent(x)


def rate(x: float | None) -> str:
    return "-" if x is None else f"{x / 1e9:.1f} GB/s"


def short_line(where: str, most: int = 70) -> str:
    """`file.py:3 (source)` without the folders."""
    head, _, code = where.partition(" (")
    text = head.replace("\\", "/").rpartition("/")[2] + (f" ({code}" if code else "")
    return text if len(text) <= most else text[: most - 1] + "…"
