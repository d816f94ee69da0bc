"""The strata of a case report: body systems and kinds of disorder, as MedlinePlus names its health topics."""

OTHERS = "Others"

BODY_SYSTEMS = (
    "Blood, Heart and Circulation",
    "Bones, Joints and Muscles",
    "Brain and Nerves",
    "Digestive System",
    "Ear, Nose and Throat",
    "Endocrine System",
    "Eyes and Vision",
    "Immune System",
    "Kidneys and Urinary System",
    "Lungs and Breathing",
    "Mouth and Teeth",
    "Skin, Hair and Nails",
    "Male Reproductive System",
)
"""The 13 of paper 002, prompt 4: an article may be about several."""

DISORDERS = (
    "Cancers",
    "Diabetes Mellitus",
    "Genetics/Birth Defects",
    "Infections",
    "Injuries and Wounds",
    "Mental Health and Behavior",
    "Metabolic Problems",
    "Poisoning, Toxicology, Environmental Health",
    "Pregnancy and Reproduction",
    "Substance Use and Disorders",
)
"""The 10 of prompt 5: an article is about one."""
