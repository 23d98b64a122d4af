"""How a decision is looked at: as a picture in a notebook, as a table in pandas."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._types import Decision, Result

# Hues that neighbours do not share: each is the golden angle on from the last.
_ANGLE = 137.508


class DecisionViews:
    """What a Decision can do beside holding its fields."""

    def to_pandas(self: Decision) -> Any:
        """The shares as a table, a row for each application; needs pandas."""
        import pandas

        columns = ["id", "option", "containers", "actual", "theoretical", "loss", "adjusted", "forced"]
        frame = pandas.DataFrame([{c: getattr(s, c) for c in columns} for s in self.shares], columns=columns)
        return frame.set_index("id").dropna(axis="columns", how="all")

    def _repr_html_(self: Decision) -> str:
        """Every server as a row of containers in the colours of their applications, and what waits with its reason."""
        hues = {share.id: n * _ANGLE % 360 for n, share in enumerate(self.shares)}
        servers: dict[str, list[str]] = {}
        for application, placed in self.allocation.items():
            for server, count in placed.items():
                box = (f'<span title="{html.escape(application, quote=True)}" style="display:inline-block;padding:0 .4em;margin:1px;'
                       f'border-radius:2px;background:hsl({hues.get(application, 0):.0f} 60% 80%);color:#000">'
                       f"{html.escape(application)} &times; {count}</span>")
                servers.setdefault(server, []).append(box)
        rows = "".join(f"<tr><th scope=row style='text-align:left'>{html.escape(s)}</th><td style='text-align:left'>{''.join(servers[s])}</td></tr>"
                       for s in sorted(servers))
        waiting = "".join(f"<li><b>{html.escape(w.id)}</b>: {html.escape(w.reason.text)}</li>" for w in [*self.waiting, *self.suspended])
        bound = "" if self.bound is None else f", at most {self.bound:.4g} is possible"
        return (f"<p>{html.escape(self.status)}: {self.objective:.4g}{bound}</p><table>{rows}</table>" +
                (f"<p>Waiting:</p><ul>{waiting}</ul>" if waiting else ""))


class ResultViews:
    """What a Result can do beside holding its fields."""

    def to_pandas(self: Result) -> Any:
        """The jobs as a table, a row for each; needs pandas."""
        import pandas

        return pandas.DataFrame([vars(job) for job in self.jobs]).set_index("id")
