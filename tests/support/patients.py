"""Cases for tests of scenarios, with a sentinel in every text, and how to look for them."""

from wardround.scenarios.case import Case

ADMISSION = Case.model_validate(
    {
        "id": "SENTINEL-ID",
        "opening": "OPENING-TEXT pain in the belly",
        "complaint": "COMPLAINT-TEXT belly ache",
        "history": {"Social history": "HISTORY-SOCIAL smoker", "Past medical history": "HISTORY-PAST none"},
        "examination": [
            {"section": "Vital signs", "text": "EXAM-VITAL 38.1"},
            {"section": "Abdomen", "text": "EXAM-ABDOMEN guarding", "normal": False},
        ],
        "labs": [
            {"name": "Lipase", "value": "LAB-LIPASE", "unit": "U/L", "low": 0, "high": 60, "flag": "high"},
            {"name": "Sodium", "value": "LAB-SODIUM", "unit": "mmol/L"},
        ],
        "microbiology": [
            {
                "test": "Blood culture",
                "specimen": "MICRO-SPECIMEN",
                "organism": "MICRO-ORGANISM",
                "comment": "MICRO-COMMENT",
            }
        ],
        "imaging": [{"exam": "CT abdomen", "modality": "CT", "region": "Abdomen", "report": "IMAGE-CT stranding"}],
        "investigations": [{"name": "Biopsy", "text": "INVESTIGATION-BIOPSY"}],
        "ancillary": "- Ancillary Tests:\n  - ANCILLARY-TEXT",
        "truth": {
            "diagnosis": "TRUTH-DIAGNOSIS",
            "synonyms": ["TRUTH-SYNONYM"],
            "codes": ["TRUTH:CODE"],
            "treatment": "TRUTH-TREATMENT",
            "differential": "TRUTH-DIFFERENTIAL",
            "reasoning": "TRUTH-REASONING",
        },
        "group": "GROUP-NAME",
        "category": {"body_systems": ["CATEGORY-SYSTEM"], "disorders": ["CATEGORY-DISORDER"]},
        "provenance": {"source": "PROVENANCE-SOURCE", "record": "PROVENANCE-RECORD", "licence": "PROVENANCE-LICENCE"},
        "data_class": "public",
    }
)
