"""`python -m fusewright`: the command line."""

from fusewright.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
