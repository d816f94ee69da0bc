"""Small look-up tables in the form of the published ones, made up for tests."""

import json
from pathlib import Path
from typing import Any

from conformance.tables import FILES, Tables
from wardround.scenarios.published.imaging_words import ImagingWords

TESTS = {
    "Panel": (3, 1, 2, 1),
    "Sodium": (1,),
    "Potassium": (2,),
    "K": (2,),
    "TB": (9,),
    "Bilirubin, Total": (4,),
    "Bilirubin, total": (5,),
    "Creatine Kinase, MB Isoenzyme": (6,),
    "Blood Culture": (90,),
}
STUDIES = {
    "CT HEAD": {"modalities": ["CT"], "regions": ["Head"]},
    "CHEST (PA & LAT)": {"modalities": ["Radiograph"], "regions": ["Chest"]},
    "MRCP": {"modalities": ["MRCP"], "regions": ["Abdomen"]},
    "CAROTID SERIES": {"modalities": ["Carotid"], "regions": []},
}
EXAMS = {
    "Head": {"CT": ["CT HEAD"]},
    "Chest": {"Radiograph": ["CHEST (PA & LAT)"]},
    "Abdomen": {"MRI": ["MRI LIVER"], "MRCP": ["MRCP"]},
}
LOOKUP: dict[str, Any] = {
    "modality_exact_dict": {"CT": ["ct"], "MRI": ["mri"], "Ultrasound": ["us"]},
    "modality_substr_dict": {"Radiograph": ["x-ray", "angiography"], "Ultrasound": ["doppler"]},
    "modality_special_cases_dict": {"ECHO": ["echo"], "MRCP": ["mrcp"], "Carotid": ["carotid.*series"]},
    "region_exact_dict": {"Abdomen": ["gi"]},
    "region_substr_dict": {"Head": ["head", "brain", "orbit"], "Chest": ["chest"], "Abdomen": ["abdom", "liver"]},
    "unique_to_broad_modality": {"MRCP": "MRI", "ECHO": "Ultrasound"},
    "unique_modality_to_organ_mapping": {"MRCP": "Abdomen", "ECHO": "Chest", "Carotid": "Neck"},
    "diagnosis_alternatives": {"appendicitis": ["appy", ["appendix", "inflammation"]], "hypertension": ["HTN"]},
}
TABLES = Tables(
    ImagingWords(LOOKUP["modality_exact_dict"], LOOKUP["modality_substr_dict"], LOOKUP["modality_special_cases_dict"]),
    ImagingWords(LOOKUP["region_exact_dict"], LOOKUP["region_substr_dict"], {}),
    LOOKUP["unique_modality_to_organ_mapping"],
    TESTS,
    STUDIES,
    EXAMS,
    LOOKUP["unique_to_broad_modality"],
    LOOKUP["diagnosis_alternatives"],
)


def write(folder: Path) -> Path:
    """The tables as files in `folder`."""
    content = {"tests": TESTS, "lookup": LOOKUP, "studies": STUDIES, "exams": EXAMS}
    for name, file in FILES.items():
        (folder / file).write_text(json.dumps(content[name]), encoding="utf-8")
    return folder
