"""Diagnosis accuracy by disease, from the best to the worst, with a curve for each size of model."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from wardround.evaluators.report.intervals import mean

END_POINT = "diagnosis_accuracy"
"""The score behind the curves: the final diagnosis alone, whatever was examined before (MultiCogEval, figure 7)."""
SIZES = ((0.0, "under 10 billion"), (10.0, "10 to 50 billion"), (50.0, "50 billion and more"))
"""The least parameters of each class, in billions; MultiCogEval compares models of about 7 and about 70."""
UNKNOWN = "size unknown"


class Diagnosed(msgspec.Struct, frozen=True):
    """One scored encounter: who played it, the disease, the case, and whether the final diagnosis was right."""

    model: str
    disease: str
    case: str
    value: float


class DiseaseCurve(msgspec.Struct, frozen=True, kw_only=True):
    """The mean over the models of a class of size, by disease; a model's accuracy is its mean over cases."""

    size: str
    models: Sequence[str]
    accuracy: Mapping[str, float]


class DiseaseCurves(msgspec.Struct, frozen=True, kw_only=True):
    """Curves over `diseases`, which are ordered by the mean over all models, best first; `cases` counts their cases."""

    diseases: Sequence[str] = ()
    cases: Mapping[str, int] = {}
    curves: Sequence[DiseaseCurve] = ()


NO_CURVES = DiseaseCurves()


def size_class(billions: float | None) -> str:
    """Return the name of the class of size of a model with so many billion parameters (SIZES, or UNKNOWN for None)."""
    if billions is None:
        return UNKNOWN
    return [name for least, name in SIZES if billions >= least][-1]


def disease_curves(encounters: Iterable[Diagnosed], sizes: Mapping[str, float | None]) -> DiseaseCurves:
    """Return a curve for each class of size of which a model played; `sizes` are billions of parameters by model."""
    by_case: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in encounters:
        if one.disease:
            by_case[one.model, one.disease][one.case].append(one.value)
    accuracy = {pair: mean([mean(values) for values in cases.values()]) for pair, cases in by_case.items()}
    by_disease: dict[str, dict[str, float]] = defaultdict(dict)
    for (model, disease), value in accuracy.items():
        by_disease[disease][model] = value
    ordered = sorted(by_disease, key=lambda disease: (-mean(list(by_disease[disease].values())), disease))
    cases: dict[str, set[str]] = defaultdict(set)
    for (_, disease), several in by_case.items():
        cases[disease] |= several.keys()
    curves = []
    for size in (*(name for _, name in SIZES), UNKNOWN):
        played = dict.fromkeys(model for model, _ in accuracy)
        models = [model for model in played if size_class(sizes.get(model)) == size]
        means = {
            disease: mean(values)
            for disease in ordered
            if (values := [by_disease[disease][model] for model in models if model in by_disease[disease]])
        }
        if means:
            curves.append(DiseaseCurve(size=size, models=models, accuracy=means))
    return DiseaseCurves(diseases=ordered, cases={name: len(cases[name]) for name in ordered}, curves=curves)
