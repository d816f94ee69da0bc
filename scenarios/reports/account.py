"""What a build from case reports did: the flow table for people, and the account that lies beside the cases."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

from wardround.engine.records import Json
from wardround.scenarios.flow import Step, table
from wardround.scenarios.reports.options import Options


@dataclass(slots=True)
class Account:
    """`spent` is what the calls of the run cost; `dropped` every case or article that a model was asked about and lost.

    `unsupported` maps a kept case to its sentences that could not be found in the article.
    """

    run: str
    model: str
    options: Options
    steps: Sequence[Step]
    articles: int
    cases: Mapping[str, int]
    open: int
    seed: int = 0
    source: str = ""
    spent: Mapping[str, Json] = field(default_factory=dict)
    skipped: Sequence[tuple[str, str]] = ()
    dropped: Sequence[Mapping[str, Json]] = ()
    unsupported: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def json(self) -> dict[str, Json]:
        """The whole account."""
        return {
            "source": self.source,
            "run": self.run,
            "model": self.model,
            "articles": self.articles,
            "cases": sum(self.cases.values()),
            "kinds": dict(self.cases),
            "open": self.open,
            "seed": self.seed,
            "flow": [step.json() for step in self.steps],
            "spent": dict(self.spent),
            "skipped": [{"article": name, "why": why} for name, why in self.skipped],
            "dropped": list(self.dropped),
            "unsupported": {name: list(found) for name, found in self.unsupported.items()},
            "options": self.options.model_dump(mode="json"),
            "versions": {
                "wardround": version("wardround"),
                "lxml": version("lxml"),
                "rapidfuzz": version("rapidfuzz"),
                "python": platform.python_version(),
            },
        }

    def text(self, most: int = 5) -> str:
        """The table for people, with the first reasons."""
        said = [f"{self.source}: {self.articles:,} articles read, run {self.run or '(none)'}, model {self.model}"]
        said += table([step.json() for step in self.steps])
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.cases.items())
        said.append(f"{sum(self.cases.values()):,} cases ({kinds})")
        if self.open:
            said.append(f"{self.open:,} articles are not finished")
        if not any(self.cases.values()):
            said.append(f"no case was built: {self._why()}")
        lost = [f"  {drop['id']}, rule {drop['rule']}: {drop['why']}" for drop in self.dropped[:most]]
        if lost:
            more = f"; {len(self.dropped) - most:,} more in the account" * (len(self.dropped) > most)
            said += [f"dropped after the model was asked ({len(self.dropped):,}{more}):", *lost]
        return "\n".join(said)

    def _why(self) -> str:
        last = next((step for step in self.steps if step.seen and not step.out), None)
        if last is None:
            return "the source holds no articles"
        return f"rule {last.rule} ({last.what}) dropped the last {last.dropped:,}"
