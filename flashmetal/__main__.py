"""`python -m flashmetal`: the same as the `flashmetal` command."""

import sys

from .cli import main

sys.exit(main())
