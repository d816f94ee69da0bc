"""Where the tests go when their modules move: into the mirrored folder, with the data that lies beside them."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath

FRONT = "wardround"


class Tests:
    """The new place of each file under tests/ that moves."""

    def __init__(self, files: Sequence[str], texts: Mapping[str, str], modules: Mapping[str, str]) -> None:
        self.files = [path for path in files if path.startswith("tests/")]
        self.texts, self.modules = texts, modules
        self.trouble: list[str] = []

    @cached_property
    def homes(self) -> dict[str, str]:
        """Old path -> new path, of those that change."""
        found = {path: self._home(path) for path in self.files if PurePosixPath(path).name.startswith("test_")}
        for path in self.files:
            if path.endswith((".jsonl", ".csv", ".json", ".txt")) and path not in found:
                users = {
                    str(PurePosixPath(new).parent)
                    for test, new in found.items()
                    if PurePosixPath(test).parent == PurePosixPath(path).parent
                    and PurePosixPath(path).name in self.texts[test]
                }
                if len(users) == 1:
                    found[path] = f"{users.pop()}/{PurePosixPath(path).name}"
                elif users and str(PurePosixPath(path).parent) not in users:
                    self.trouble.append(f"{path}: its tests part: {' '.join(sorted(users))}")
        moved = {path: new for path, new in found.items() if new != path}
        for path, new in moved.items():
            if (new in self.files and new not in moved) or list(moved.values()).count(new) > 1:
                self.trouble.append(f"{path}: {new} is there already")
        return moved

    def _home(self, path: str) -> str:
        file = PurePosixPath(path)
        folder, name = str(file.parent).removeprefix("tests").strip("/"), file.stem.removeprefix("test_")
        if not folder or folder == "cli":
            old = f"{FRONT}/{folder}/{name}.py".replace("//", "/")
            new = self.modules.get(old, old)
        else:
            stems = [old for old in self.modules if str(PurePosixPath(old).parent) == folder]
            fits = [old for old in stems if f"{name}_".startswith(f"{PurePosixPath(old).stem}_")]
            old = max(fits, key=len, default=f"{folder}/__init__.py")
            new = self.modules.get(old, old) or self._rest(folder) + "/x.py"
        package = str(PurePosixPath(new).parent)
        package = package.removeprefix(FRONT).strip("/") if package.split("/", 1)[0] == FRONT else package
        return "/".join(part for part in ("tests", package, file.name) if part)

    def _rest(self, folder: str) -> str:
        """Where most of a package went that is no more."""
        parents = [str(PurePosixPath(new).parent) for old, new in self.modules.items() if old.startswith(f"{folder}/")]
        return max(sorted(set(parents)), key=parents.count)

    def deeper(self, path: str, text: str) -> str:
        """A test's text, with its ways up to the project's folder made longer or shorter."""
        more = self.homes.get(path, path).count("/") - path.count("/")
        if not more:
            return text
        text = re.sub(r"(\(__file__\)(?:\.resolve\(\))?)((?:\.parent)+)(?![\w])", _as_number, text)
        return re.sub(
            r"(__file__\)(?:\.resolve\(\))?\.parents\[)(\d+)",
            lambda match: f"{match[1]}{int(match[2]) + more}",
            text,
        )


def _as_number(match: re.Match[str]) -> str:
    ups = match[2].count(".parent")
    return match[0] if ups == 1 else f"{match[1]}.parents[{ups - 1}]"
