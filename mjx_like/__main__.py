"""`python -m mjx_like`."""

import sys

from mjx_like.cli import main

if __name__ == "__main__":
    sys.exit(main())
