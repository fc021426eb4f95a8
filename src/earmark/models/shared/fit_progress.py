"""How far a long fit is: a bar on the terminal, and scikit-learn's own callbacks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

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


__all__ = ["CallbackSupportMixin", "fit_progress", "with_callbacks"]


@contextmanager
def fit_progress(
    estimator: Estimator, total: int, task_name: str, *, verbose: int = 0
) -> Iterator[Callable[[], None]]:
    """For one ``fit`` of so many tasks: a function to call when a task is done.

    A bar shows on stderr, on a terminal only, if ``verbose`` is positive. Callbacks set
    by ``set_callbacks`` (scikit-learn >= 1.9) are called for the fit and for each task.
    """
    context: Any = None
    if isinstance(estimator, CallbackSupportMixin):
        context = estimator._init_callback_context(max_subtasks=total)
    bar, name = None, f"{type(estimator).__name__}: {task_name}"
    if verbose > 0 and sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        bar = Progress(console=Console(stderr=True), transient=True)
        bar.add_task(name, total=total)

    def task_done() -> None:
        if bar is not None:
            bar.advance(bar.task_ids[0])
        if context is not None:
            task = context.subcontext(task_name=task_name)
            task.call_on_fit_task_begin(estimator=estimator)
            task.call_on_fit_task_end(estimator=estimator)

    with nullcontext() if bar is None else bar:
        if context is not None:
            context.call_on_fit_task_begin(estimator=estimator)
        yield task_done
        if context is not None:
            context.call_on_fit_task_end(estimator=estimator)
