"""What is known of models: facts from a list (backbone, size, open or not), and the maker, found by a model's name."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.text import regex, toml_file

# Makers in alphabetical order, each with the names of its models. A pattern is sought in the lower-case name after the
# provider; if it could be part of another word, the pattern says where a word begins.
_NAMES = {
    "ai21": r"jamba|jurassic|(?<![a-z])j2-",
    "alibaba": r"qwen|qwq|qvq|tongyi|marco-o1|huatuogpt-o1-(?:7|72)b",
    "allenai": r"(?<![a-z])olmo|tulu",
    "amazon": r"amazon\.|(?<![a-z])nova-(?:\d-)?(?:micro|lite|pro|premier)|titan-text",
    "anthropic": r"claude",
    "baichuan": r"baichuan",
    "baidu": r"ernie",
    "bytedance": r"doubao|(?<![a-z])seed-(?:oss|\d)",
    "cohere": r"(?<![a-z])command(?:-|$)|c4ai|(?<![a-z])aya-",
    "deepseek": r"deepseek|(?<![a-z0-9])mai-ds-|r1-1776",
    "google": r"gemini|gemma|(?<![a-z])palm|med-?lm|learnlm|(?:text|chat)-(?:bison|unicorn)|(?<![a-z])bard(?![a-z])",
    "ibm": r"granite",
    "meta": (
        r"(?<!tiny)(?<!open)(?<!open_)(?<!open-)(?<!o)llama(?!\.?-?cpp|file|-?index)|vicuna|alpaca|meditron-(?:7|70)b|med42"
        r"|openbiollm|huatuogpt-o1-(?:8|70)b"
    ),
    "microsoft": r"(?<![a-z])phi-?\d|(?<![a-z])mai-|wizardlm|(?<![a-z])orca",
    "minimax": r"minimax|(?<![a-z])abab",
    "mistral": r"mistral|mixtral|ministral|magistral|codestral|devstral|mathstral|pixtral|zephyr",
    "moonshot": r"kimi|moonshot",
    "nvidia": r"nemotron",
    "openai": r"(?<![a-z0-9])(?:chat)?gpt-?(?:\d(?!all)|oss)|(?:^|/)o[1-9](?![a-z0-9.])|(?<![a-z])davinci|codex",
    "shanghai_ai_lab": r"intern(?:lm|vl|-s1)",
    "tencent": r"hunyuan",
    "tii": r"(?<![a-z])falcon",
    "xai": r"(?<![a-z])grok",
    "yi": r"(?:^|/)yi-",
    "zhipu": r"(?<![a-z])(?:chat)?glm",
}
_PATTERNS = {family: regex(pattern) for family, pattern in _NAMES.items()}

# Makers that offer only their own models, by the name of the provider or of the maker's folder. `openai` is missing:
# any endpoint that speaks the same protocol has that name too.
_MAKERS = {
    "ai21": "ai21",
    "ai21labs": "ai21",
    "allenai": "allenai",
    "anthropic": "anthropic",
    "baichuan-inc": "baichuan",
    "baidu": "baidu",
    "bytedance": "bytedance",
    "bytedance-seed": "bytedance",
    "cohere": "cohere",
    "cohere_chat": "cohere",
    "coherelabs": "cohere",
    "deepseek": "deepseek",
    "deepseek-ai": "deepseek",
    "gemini": "google",
    "google": "google",
    "ibm-granite": "ibm",
    "internlm": "shanghai_ai_lab",
    "meta": "meta",
    "meta-llama": "meta",
    "meta_llama": "meta",
    "microsoft": "microsoft",
    "minimax": "minimax",
    "mistral": "mistral",
    "mistralai": "mistral",
    "moonshot": "moonshot",
    "moonshotai": "moonshot",
    "openai-responses": "openai",
    "qwen": "alibaba",
    "tencent": "tencent",
    "tiiuae": "tii",
    "x-ai": "xai",
    "xai": "xai",
    "z-ai": "zhipu",
    "zai": "zhipu",
    "zai-org": "zhipu",
    "zhipuai": "zhipu",
}
_NO_MODEL = ("scripted/", "recorded:", "replies:")


def families_of(spec: str, model: str = "") -> tuple[str, ...]:
    """Return the makers of the models that `spec` names, in order of name; none if unknown or no model.

    `spec` is what the user wrote: `provider/model`, or `replies:PATH#MODEL`. `model` is the endpoint's own name of the
    model, which says more if a deployment has a name of its own. A model derived from another's (distilled, trained
    further) belongs to both makers if its name or its publisher shows it. Gemma counts with Gemini, and GPT with o3,
    since they share their maker's data.
    """
    if spec.startswith("replies:"):
        spec, model = "", spec.partition("#")[2] or model
    elif spec.startswith(_NO_MODEL) or ("/" not in spec.partition(":")[0] and not model):
        return ()
    provider, _, name = spec.lower().partition("/")
    said = f"{name} /{model.lower()}"
    families = tuple(family for family, pattern in _PATTERNS.items() if pattern.search(said))
    if families:
        return families
    folders = {provider, *name.split("/")[:-1], *model.lower().split("/")[:-1]}
    return tuple(sorted({_MAKERS[folder] for folder in folders if folder in _MAKERS}))


def kin(judge: tuple[str, str], doctor: tuple[str, str]) -> str:
    """Return what a judge and a doctor, each a (SPEC, model), have in common: the first maker that both have.

    If no maker is known, return the SPEC if it is the same for both; "" if they have nothing known in common.
    """
    theirs = families_of(*doctor)
    shared = next((family for family in families_of(*judge) if family in theirs), "")
    same = judge[0] == doctor[0] and "/" in judge[0].partition(":")[0] and not judge[0].startswith(_NO_MODEL)
    return shared or (judge[0] if same else "")


BUNDLED = Path(__file__).resolve().parent / "data" / "models.toml"


Billions = Annotated[float, msgspec.Meta(gt=0)]
Month = Annotated[str, msgspec.Meta(pattern=r"^(?:\d{4}(?:-\d{2}){0,2})?$")]


class ModelFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of a model; None, or "" in a text, is unknown.

    ::

        [[model]]
        name = "Med42-70B"
        ids = ["m42-health/med42-70b"]
        family = "Llama"
        backbone = "Llama2-70B"
        parameters = 70
        open = true
        medical = true

    `ids` are other names under which an endpoint serves it. `parameters` are billions, `tokens` the trillions that it
    was trained on. `backbone` is the model that it was trained from, `plain` its sibling without thinking; both are
    names of this list. `release` and `cut_off` are years with months where known, such as "2024-04".
    """

    name: str
    ids: tuple[str, ...] = ()
    family: str = ""
    backbone: str = ""
    plain: str = ""
    parameters: Billions | None = None
    tokens: Billions | None = None
    open: bool | None = None
    medical: bool | None = None
    thinking: bool | None = None
    release: Month = ""
    cut_off: Month = ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    model: list[ModelFacts] = []


class KnownModels:
    """The bundled facts, with those of a user's file over them."""

    def __init__(self, facts: Mapping[str, ModelFacts]) -> None:
        self.by_name = facts
        self._by_id: dict[str, ModelFacts] = {}
        for one in facts.values():
            for name in (one.name, *one.ids):
                self._by_id[plain_id(name)] = one

    def find(self, *names: str) -> ModelFacts | None:
        """The facts of the model that one of these names means; None if there are none."""
        for name in names:
            if facts := self._by_id.get(plain_id(name)):
                return facts
        return None


_DATE = regex(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})$")
_TAILS = ("-instruct", "-chat", "-hf", "-it", "-preview", "-latest")


def plain_id(name: str) -> str:
    """A model's id in lower case, without provider, date and mark of a served form: `org/X-70B-Chat` is `x-70b`."""
    plain = _DATE.sub("", name.strip().casefold().rsplit("/", 1)[-1].replace("_", "-").replace(" ", "-"))
    while tail := next((tail for tail in _TAILS if plain.endswith(tail)), ""):
        plain = plain.removesuffix(tail)
    return plain


@cache
def _bundled() -> Mapping[str, ModelFacts]:
    return _read(BUNDLED)


def known_models(path: Path | None = None) -> KnownModels:
    """The bundled facts; a model of the file at `path` replaces the bundled one of its name or is added.

    Raises UsageError for a file that cannot be read, and for one with an unknown or a wrong field.
    """
    return KnownModels({**_bundled(), **(_read(path) if path else {})})


def _read(path: Path) -> Mapping[str, ModelFacts]:
    try:
        models = msgspec.convert(toml_file(path, "--models"), _File).model
    except msgspec.ValidationError as error:
        raise UsageError(
            f"{path}: {error}; each [[model]] has a name and what is known of it (docs/levels.md)"
        ) from None
    names = [one.name for one in models]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{path}: has two models called {twice[0]!r}")
    return {one.name: one for one in models}
