"""What a build can be told."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.scenarios.mimic.badrow import OnBadRow

RuleSet = Literal["default", "published"]


class Options(BaseModel):
    """The settings of a build; `None` of a size means what the rule set has."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mimic: Path
    tables: dict[str, str] = Field(default_factory=dict, description="Files that are called otherwise, by table.")
    version: str = Field(default="", description="The release, where the folder does not tell it.")
    pool: str | None = Field(default=None, description="A file of diseases, 'all', or None for the project's own.")
    gem: Path | None = Field(default=None, description="A map from ICD-9-CM to ICD-10-CM.")
    lookup: Path | None = Field(default=None, description="The published look-up tables, for the published rules.")
    rules: RuleSet = "default"
    without: tuple[str, ...] = Field(default=(), description="Rules switched off.")
    series: bool = Field(default=True, description="Keep repeated results; False keeps the first of each test.")
    min_per_disease: int | None = Field(default=None, ge=1)
    per_disease: int = Field(default=100, ge=1)
    limit: int | None = Field(default=None, ge=1)
    seed: int = 0
    on_bad_row: OnBadRow = "stop"
    data_class: Literal["public", "restricted"] = "restricted"

    @property
    def at_least(self) -> int:
        """The fewest admissions of a disease: more than 10 in the paper's text, 10 in its data."""
        return self.min_per_disease or (10 if self.rules == "published" else 11)
