"""Once: a value that is made once, however many threads ask for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Once"]

T = TypeVar("T")


class _Attempt:
    def __init__(self) -> None:
        self.ended = threading.Event()
        self.error: Exception | None = None


class Once(Generic[T]):
    """A value that is made by the first thread that asks, while the others wait for it.

    A failure reaches all who waited for that attempt and is then forgotten: who asks later tries
    again.

    Attributes
    ----------
    value
        None until it is made.
    """

    def __init__(self) -> None:
        self.value: T | None = None
        self._attempt: _Attempt | None = None
        self._lock = threading.Lock()

    def get(self, make: Callable[[], T]) -> T:
        """Return the value, made by `make` if this thread is the first to ask."""
        while self.value is None:
            attempt, is_mine = self._join()
            if attempt is None:
                break
            if is_mine:
                self._make(attempt, make)
            else:
                attempt.ended.wait()
                if attempt.error is not None:
                    raise attempt.error
        return self.value  # type: ignore[return-value]

    def _join(self) -> tuple[_Attempt | None, bool]:
        with self._lock:
            if self.value is not None:
                return None, False
            if self._attempt is not None:
                return self._attempt, False
            self._attempt = _Attempt()
            return self._attempt, True

    def _make(self, attempt: _Attempt, make: Callable[[], T]) -> None:
        try:
            self.value = make()
        except Exception as error:
            attempt.error = error
            raise
        finally:
            # An interrupt leaves neither a value nor an error: one of those who wait takes over.
            with self._lock:
                self._attempt = None
            attempt.ended.set()
