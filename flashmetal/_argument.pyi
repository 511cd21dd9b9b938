from typing import Any

MISSING: Any
