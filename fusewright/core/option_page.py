"""The table of options for people: how each is written, and the page `docs/options.md`."""

from __future__ import annotations

from dataclasses import Field

from fusewright.core.options import DISABLE, ENABLE, TABLE
from fusewright.core.switches import ALIASES, KINDS, STAGES


def spelling(row: Field) -> str:
    """How an option is written in the environment: `FUSEWRIGHT_DISABLE=pool`, `FUSEWRIGHT_RNG=philox|eager`."""
    kind, choices, env = row.metadata["kind"], row.metadata["choices"], row.metadata["env"]
    if kind in ("switch", "check"):
        return f"{DISABLE if row.default else ENABLE}={row.name}"
    if kind == "choice":
        return f"{env}={'|'.join(choices)}"
    what = {"path": "<path>", "count": "<integer>", "dump": "<stage>[@<group>][:<directory>],..."}
    what["names"] = "<name>,..."
    return f"{DISABLE}=<kind>:<name>,..." if kind == "disable" else f"{env}={what[kind]}"


def default_text(row: Field) -> str:
    """The default of an option, as the tables print it."""
    if row.metadata["kind"] in ("switch", "check"):
        return "on" if row.default else "off"
    return (
        "unset" if row.default is None else ",".join(row.default) or "none" if row.default == () else str(row.default)
    )


def markdown_table() -> str:
    """The table of options for the documentation."""
    lines = ["| option | default | environment | changes code | meaning |", "| --- | --- | --- | --- | --- |"]
    for row in TABLE:
        env = spelling(row).replace("|", "\\|")
        code = "yes" if row.metadata["affects_code"] else "no"
        lines.append(f"| `{row.name}` | {default_text(row)} | `{env}` | {code} | {row.metadata['doc']} |")
    return "\n".join(lines) + "\n"


def markdown() -> str:
    """`docs/options.md`: the table, the names that `disable` takes, and the stages that `dump` knows."""
    kinds = "\n".join(f"- `{kind}:` {what}" for kind, what in KINDS.items())
    stages = "\n".join(f"| `{stage}` | {what} |" for stage, what in STAGES.items())
    also = ", ".join(f"`{name}` for {'everything' if name == 'all' else '+'.join(of)}" for name, of in ALIASES.items())
    return _PAGE.format(table=markdown_table(), kinds=kinds, stages=stages, aliases=also)


_PAGE = """# Options

Written by `fusewright options --markdown`; the table is `fusewright/core/options.py`.

An option is set in the environment, for a block or a function with `fusewright.options(...)`, or for one compiled
function with `torch.compile(..., backend="fusewright", options={{...}})`. What holds is what was in force when the
function was *compiled*; only the memory pool asks at every call. A name that does not exist is an error that suggests
the nearest one. Options that change code say so below: kernels, in memory and on disk, are found by their content and
never mixed.

`torch.compile(..., mode=...)`, and `fusewright.compile(..., mode=...)`, is short for options: "reduce-overhead" for
`cuda_graphs`, "max-autotune" for `cuda_graphs` and `autotune`, "max-autotune-no-cudagraphs" for `autotune`.

{table}
## Doing without parts: `disable`

`FUSEWRIGHT_DISABLE` takes switches of the table above and these names, `options(disable=...)` only these:

{kinds}

A group has the name of its graph (`forward0`, `backward1`, `inference2`) and a number, in the order they run:
`forward0.g3`. Its structure hash is the same in every process that runs the same program; `FUSEWRIGHT_DUMP=groups`
prints both. A group that is disabled, or for which there is no fuel, keeps its number.

## Seeing the stages: `dump`

`FUSEWRIGHT_DUMP=loop` prints to stderr. `loop@forward0.g3` is for one group, `loop@forward0.g2-g5` for some,
`loop@forward*` for all forward graphs, `loop@3fa0c41b22e9` for a structure, `loop@softmax` for every group with such an
operator; several `@` mean any of them. `graph,loop:DIR` writes files into a directory, numbered in the order of the
pipeline; a directory also holds for the stages before it that have none.

| stage | what |
| --- | --- |
{stages}

Short: {aliases}.
"""
