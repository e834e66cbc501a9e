from __future__ import annotations
from typing import Any
def page(r: Any) -> str:
    return ""
