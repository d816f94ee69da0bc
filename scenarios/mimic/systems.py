"""The body system of a disease by the chapter and block of its ICD code, in the 13 systems of the case-report cases."""

from collections.abc import Sequence

_BLOOD = "Blood, Heart and Circulation"
_BONES = "Bones, Joints and Muscles"
_BRAIN = "Brain and Nerves"
_GUT = "Digestive System"
_EAR = "Ear, Nose and Throat"
_ENDOCRINE = "Endocrine System"
_EYE = "Eyes and Vision"
_IMMUNE = "Immune System"
_KIDNEY = "Kidneys and Urinary System"
_LUNG = "Lungs and Breathing"
_MOUTH = "Mouth and Teeth"
_SKIN = "Skin, Hair and Nails"
_FEMALE = "Female Reproductive System"
_MALE = "Male Reproductive System"
OTHERS = "Others"

# (first, last) three-character category of ICD-10-CM, the narrow ranges before the wide ones.
_TEN: Sequence[tuple[str, str, str]] = (
    ("A00", "A09", _GUT), ("A15", "A16", _LUNG), ("A17", "A17", _BRAIN), ("A39", "A39", _BRAIN),
    ("A46", "A46", _SKIN), ("A80", "A89", _BRAIN), ("B00", "B09", _SKIN), ("B15", "B19", _GUT), ("B35", "B36", _SKIN),
    ("B85", "B89", _SKIN), ("A00", "B99", _IMMUNE), ("C00", "C08", _MOUTH), ("C09", "C14", _EAR), ("C15", "C26", _GUT),
    ("C30", "C32", _EAR), ("C33", "C39", _LUNG), ("C40", "C41", _BONES), ("C43", "C44", _SKIN), ("C45", "C49", _BONES),
    ("C50", "C58", _FEMALE), ("C60", "C63", _MALE), ("C64", "C68", _KIDNEY), ("C69", "C69", _EYE),
    ("C70", "C72", _BRAIN), ("C73", "C75", _ENDOCRINE), ("C81", "C96", _BLOOD), ("D10", "D11", _MOUTH),
    ("D12", "D13", _GUT), ("D14", "D15", _LUNG), ("D16", "D16", _BONES), ("D22", "D23", _SKIN), ("D24", "D28", _FEMALE),
    ("D29", "D29", _MALE), ("D30", "D30", _KIDNEY), ("D31", "D31", _EYE), ("D32", "D33", _BRAIN),
    ("D34", "D35", _ENDOCRINE), ("D45", "D47", _BLOOD), ("D50", "D77", _BLOOD), ("D80", "D89", _IMMUNE),
    ("E00", "E89", _ENDOCRINE), ("F00", "F99", _BRAIN), ("G00", "G99", _BRAIN), ("H00", "H59", _EYE),
    ("H60", "H95", _EAR), ("I60", "I69", _BRAIN), ("I00", "I99", _BLOOD), ("J00", "J06", _EAR), ("J30", "J39", _EAR),
    ("J00", "J99", _LUNG), ("K00", "K14", _MOUTH), ("K20", "K95", _GUT), ("L00", "L99", _SKIN), ("M30", "M31", _BLOOD),
    ("M00", "M99", _BONES),
    ("N00", "N39", _KIDNEY), ("N40", "N53", _MALE), ("N60", "N98", _FEMALE), ("N99", "N99", _KIDNEY),
    ("O00", "O9A", _FEMALE), ("R00", "R03", _BLOOD), ("R04", "R09", _LUNG),
    ("R10", "R19", _GUT), ("R20", "R29", _BRAIN), ("R30", "R39", _KIDNEY), ("R40", "R54", _BRAIN),
    ("R55", "R55", _BLOOD), ("R56", "R56", _BRAIN), ("R70", "R79", _BLOOD), ("U07", "U07", _LUNG),
    ("S00", "S09", _BRAIN), ("S10", "S99", _BONES), ("T78", "T78", _IMMUNE),
)  # fmt: skip

# The same for ICD-9-CM.
_NINE: Sequence[tuple[str, str, str]] = (
    ("001", "009", _GUT), ("010", "012", _LUNG), ("036", "036", _BRAIN), ("045", "049", _BRAIN), ("050", "057", _SKIN),
    ("070", "070", _GUT), ("110", "111", _SKIN), ("132", "134", _SKIN), ("135", "135", _IMMUNE),
    ("001", "139", _IMMUNE),
    ("140", "145", _MOUTH), ("146", "149", _EAR), ("150", "159", _GUT), ("160", "161", _EAR), ("162", "165", _LUNG),
    ("170", "171", _BONES), ("172", "173", _SKIN), ("174", "184", _FEMALE), ("185", "187", _MALE),
    ("188", "189", _KIDNEY), ("190", "190", _EYE), ("191", "192", _BRAIN), ("193", "194", _ENDOCRINE),
    ("200", "208", _BLOOD), ("211", "211", _GUT), ("216", "216", _SKIN), ("217", "221", _FEMALE), ("222", "222", _MALE),
    ("225", "225", _BRAIN), ("226", "227", _ENDOCRINE), ("240", "278", _ENDOCRINE), ("279", "279", _IMMUNE),
    ("280", "289", _BLOOD), ("290", "319", _BRAIN), ("320", "359", _BRAIN), ("360", "379", _EYE), ("380", "389", _EAR),
    ("430", "438", _BRAIN), ("390", "459", _BLOOD), ("460", "465", _EAR), ("470", "478", _EAR), ("460", "519", _LUNG),
    ("520", "529", _MOUTH), ("530", "579", _GUT), ("580", "599", _KIDNEY), ("600", "608", _MALE),
    ("610", "629", _FEMALE), ("630", "679", _FEMALE), ("680", "709", _SKIN), ("710", "739", _BONES),
    ("781", "781", _BRAIN), ("785", "785", _BLOOD),
    ("786", "786", _LUNG), ("787", "787", _GUT), ("788", "788", _KIDNEY), ("789", "789", _GUT), ("790", "790", _BLOOD),
    ("800", "804", _BRAIN), ("805", "848", _BONES), ("850", "854", _BRAIN), ("995", "995", _IMMUNE),
)  # fmt: skip


def body_system(code: str, version: int) -> str:
    """The body system of a code (without its dot), 'Others' where the chapter names none."""
    category = code[:3]
    for first, last, system in _TEN if version == 10 else _NINE:
        if first <= category <= last:
            return system
    return OTHERS
