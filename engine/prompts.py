"""Loads the prompts: Markdown files with strict placeholders, each of which the user can replace."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.engine.text import file_text, suggestion

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text with placeholders `{name}`; every other brace is plain text."""

    name: str
    text: str

    @property
    def fields(self) -> frozenset[str]:
        """The names of its placeholders."""
        return frozenset(_PLACEHOLDER.findall(self.text))

    def render(self, **values: str) -> str:
        """The text with every placeholder filled; braces inside a value are never read as placeholders."""
        return _PLACEHOLDER.sub(lambda match: values[match[1]], self.text)


class Prompts:
    """All prompts of a run by name: 'game/start' is the file `prompts/game/start.md` of the package that uses it."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._prompts = {name: Prompt(name, text) for name, text in texts.items()}

    def __getitem__(self, name: str) -> Prompt:
        try:
            return self._prompts[name]
        except KeyError:
            raise UsageError(f"there is no prompt {name!r}; there are: {', '.join(sorted(self._prompts))}") from None

    def __contains__(self, name: str) -> bool:
        return name in self._prompts

    def texts(self) -> dict[str, str]:
        """Name to text, in order of name."""
        return {name: prompt.text for name, prompt in sorted(self._prompts.items())}

    def of(self, folder: str) -> Sequence[str]:
        """The texts of one folder, such as a scenario's, in order of name."""
        return [text for name, text in self.texts().items() if name.startswith(f"{folder}/")]

    @classmethod
    def load(cls, folders: Iterable[Path], override: Path | None = None) -> "Prompts":
        """Read the packages' folders, then replace prompts by those of the user's folder (`override`).

        Raises UsageError if a user's file replaces no prompt, or if its placeholders differ from those of the prompt it
        replaces: a prompt without the text to be read would run, but its result would mean nothing.
        """
        texts: dict[str, str] = {}
        for folder in folders:
            texts.update(_read(folder))
        if override is None:
            return cls(texts)
        if not override.is_dir():
            raise UsageError(f"--prompts {override}: there is no such folder")
        for name, text in _read(override).items():
            if name not in texts:
                group, _, last = name.rpartition("/")
                there = [
                    one for one in sorted(texts) if one.startswith(f"{group}/") or one.endswith(f"/{last}")
                ] or sorted({one.rpartition("/")[0] for one in texts})
                raise UsageError(f"{override / name}.md replaces no prompt{suggestion(name, there)}")
            own, wanted = Prompt(name, text).fields, Prompt(name, texts[name]).fields
            if own != wanted:
                raise UsageError(
                    f"{override / name}.md: placeholders must be {_list(wanted)}; "
                    f"missing: {_list(wanted - own)}; unknown: {_list(own - wanted)}"
                )
            texts[name] = text
        return cls(texts)


def _read(folder: Path) -> dict[str, str]:
    texts = {}
    for path in sorted(folder.rglob("*.md")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        texts[name] = file_text(path).strip("\n")
    return texts


def _list(names: Iterable[str]) -> str:
    return ", ".join("{" + name + "}" for name in sorted(names)) or "none"
