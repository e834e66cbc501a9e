"""The logger: plain `logging` under the name "fusewright".

`info`: a graph was compiled; `warning`: a fallback, a deviation that a check found, a directory that cannot be written;
`debug`: every stage, under "fusewright.stage.<stage>", so that one can be asked for. `TORCH_LOGS="fusewright"` (or
"+fusewright" for debug) turns it on the way PyTorch's own are, which take the name of any package.
"""

from __future__ import annotations

import logging

LOG = logging.getLogger("fusewright")
LOG.addHandler(logging.NullHandler())  # what is a warning is also a Python warning: not both on stderr by default
