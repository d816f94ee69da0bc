"""Words that stand for a whole kind of tests ('blood tests', 'imaging'), as headings and as broad requests."""

from typing import Literal

from wardround.scenarios.terms.wording import tokens, words_of

Scope = Literal["examination", "lab", "microbiology", "imaging", "any"]

_LITTLE = words_of(
    """any all other further additional more the a an of and or some my initial basic routine relevant available
    needed required necessary recommended requested following specific detailed full complete general new do have did
    was were is are there result finding report please order get i we would like to need want can you provide give me
    us information data about tell what show showed from patient possible done performed level baseline comment
    list section recent previous prior special advanced appropriate diagnostic confirmatory screening further"""
)
_TESTS = words_of(
    "test testing study exam examination investigation work workup up panel analysis profile value screen procedure"
)
_NAMES: dict[Scope, frozenset[str]] = {
    "lab": words_of(
        """lab laboratory labs blood bloods bloodwork serum chemistry biochemical biochemistry hematologic hematological
        hematology serologic serological serology parameter investigations"""
    ),
    "microbiology": words_of("microbiology microbiological microbial culture infectious infection disease pathogen"),
    "imaging": words_of("imaging image radiology radiologic radiological radiograph scan scans"),
    "examination": words_of("physical clinical bedside"),
}
_ALONE: dict[Scope, frozenset[str]] = {  # what names a kind only together with a word of `_TESTS`
    "lab": words_of("serum chemistry infectious hematologic"),
    "microbiology": words_of("infection infectious disease"),
    "imaging": words_of("radiograph"),
    "examination": words_of("clinical bedside"),
}


def scope(text: str) -> Scope | None:
    """The kind that `text` names as a whole, 'any' for 'further tests', or None where it names something definite."""
    words = [word for word in tokens(text) if word not in _LITTLE]
    rest = [word for word in words if word not in _TESTS]
    if not words or len(words) > 6:
        return None
    if not rest:
        return "any"
    for kind, names in _NAMES.items():
        if all(word in names for word in rest) and not (len(words) == len(rest) and set(rest) <= _ALONE[kind]):
            return kind
    return None
