"""How far a long fit is: a bar on the terminal, and scikit-learn's own callbacks."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self

from earmark.typing import Estimator

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9 has no callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's class of this name: nothing to call back."""

        def _init_callback_context(self, *, max_subtasks: int) -> None:
            """No context."""

    def with_callbacks(method: Any) -> Any:
        """Leave the method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "FitProgress", "with_callbacks"]


class FitProgress:
    """Report the finished tasks of one ``fit``, whose number is known.

    The bar shows on stderr, on a terminal only, if ``verbose`` is positive. The
    callbacks set by ``set_callbacks`` (scikit-learn >= 1.9) are called for the fit
    and for each task.
    """

    def __init__(
        self, estimator: Estimator, total: int, task_name: str, *, verbose: int = 0
    ) -> None:
        self._estimator = estimator
        self._total = total
        self._task_name = task_name
        self._bar = _bar() if verbose > 0 and sys.stderr.isatty() else None
        self._context: Any = None

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
            name = f"{type(self._estimator).__name__}: {self._task_name}"
            self._line = self._bar.add_task(name, total=self._total)
        if isinstance(self._estimator, CallbackSupportMixin):
            self._context = self._estimator._init_callback_context(
                max_subtasks=self._total
            )
        if self._context is not None:
            self._context.call_on_fit_task_begin(estimator=self._estimator)
        return self

    def task_done(self) -> None:
        """One more task is finished."""
        if self._bar is not None:
            self._bar.advance(self._line)
        if self._context is not None:
            task = self._context.subcontext(task_name=self._task_name)
            task.call_on_fit_task_begin(estimator=self._estimator)
            task.call_on_fit_task_end(estimator=self._estimator)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._context is not None and kind is None:
            self._context.call_on_fit_task_end(estimator=self._estimator)
        if self._bar is not None:
            self._bar.stop()


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import Progress

    return Progress(console=Console(stderr=True), transient=True)
