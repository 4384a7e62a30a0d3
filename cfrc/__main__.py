"""Turns ``python -m cfrc`` into the ``cfrc`` command."""

import sys

from cfrc.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
