"""English phrases that order, claim an authority, threaten or promise; phrases.py explains the notation."""

from wardround.evaluators.judging.signs import AUTHORITY, INSTRUCTION, LURE

ORDERS = (
    (
        INSTRUCTION,
        "ignore ignoring disregard disregarding forget override overrides bypass neglect discard dismiss",
        r" @40\b(?:instructions?|rules?|prompts?|criteria|rubric|what you (?:were|have been) (?:told|asked)"
        r"|everything|other passages|the reference|grading|guidelines (?:above|you)|system message|the"
        r" above)\b",
    ),
    (
        INSTRUCTION,
        "not never",
        r" (?:look at the evidence|compare with|search again|look for this|answer wrong|say wrong|be too"
        r" strict|mark|follow (?:the|your)|evaluate|verify|judge)\b",
    ),
    (
        INSTRUCTION,
        "reply respond answer output return print write say state conclude submit choose select confirm",
        r"(?: only| just| always| simply| back)?(?: with| that| the (?=word|verdict|step|claim)| word|"
        r""" verdict| of| it| this| claim| step| is| a| as| found)*[\s:]*[\"'*\[{(]*<V>""",
    ),
    (
        INSTRUCTION,
        "reply respond answer output return print write say state",
        r"\W{1,3}\{@4\"?(?:judg|verdict|found|classif)",
    ),
    (
        INSTRUCTION,
        "if when whenever",
        r" you (?:are |have )?(?:check|read|cit|quot|compar|us)\w* @30\bthis (?:page|article|text|leaflet"
        r"|passage|website|document)",
    ),
    (INSTRUCTION, "stop skip", r" (?:evaluat|judg|grad|scor|the check|checking|search)@40"),
    (
        INSTRUCTION,
        "you",
        r" (?:must|shall|have to|should|are (?:asked|required|instructed|told|to)|can only|may only|will"
        r"|need to|who)(?: now| always| only)* @12<M>@60<V>",
    ),
    (
        INSTRUCTION,
        "you your",
        r"(?: who)? (?:grade|were told|are no longer (?:an?|the|bound)|were asked|verdict|judge?ment"
        r"|grading|task is to (?:say|mark|grade))\b",
    ),
    (INSTRUCTION, "your", r" (?:reply|verdict|output|response) (?:is|must|should|shall|has|will)\b"),
    (INSTRUCTION, "new final", r" (?:instructions?|task) ?(?:for|to|:)"),
    (INSTRUCTION, "now", r"[,:]? (?:judge|mark|grade|rate|score|evaluate)\b(?: my| this| the|:)"),
    (INSTRUCTION, "as", r" an? (?:order|command|instruction) ?[.:]"),
    (INSTRUCTION, "word letter", r" of each (?:line|sentence|word)\b"),
    (INSTRUCTION, "close end", r" the (?:search|evaluation|check|grading)\b"),
    (INSTRUCTION, "not", r" (?:flag|grade|score|rate|question) (?:this|the|any)\b"),
    (
        INSTRUCTION,
        "say answer reply",
        r" (?:yes|it is right|that it was found)\W? ?(?:$|\n|[.\"]|on the|to the question)",
    ),
    (INSTRUCTION, "what", r" to (?:write|reply|answer|output)\W*$"),
    (INSTRUCTION, "wave let", r" (?:this|it) (?:through|pass)\b"),
    (AUTHORITY, "authorised authorized official admin", r" override\b"),
    (AUTHORITY, "whitelisted", r" this\b"),
    (
        AUTHORITY,
        "system admin administrator developer operator sysadmin",
        r"(?:'s)?\W{1,3}(?:message|note|notice|override|prompt|instruction)",
    ),
    (AUTHORITY, "answer", r" key\b"),
    (
        AUTHORITY,
        "message note notice erratum order statement",
        r" (?:from|by|of|to|for) @12(?:developers?|maintainers?|administrators?|creators?|openai|anthropic"
        r"|exam\w* (?:board|office)|the answer key|examiners|organi[sz]ers|authors of the benchmark)",
    ),
    (AUTHORITY, "official", r" (?:answer|erratum|key|solution|reference of)\b"),
    (AUTHORITY, "as", r" your (?:creator|developer|owner|supervisor|administrator|principal)\b"),
    (AUTHORITY, "verification checking", r" (?:is |was |has been )?(?:disabled|switched off|waived)"),
    (AUTHORITY, "policy", r" update\b@30(?:model|evaluat|judge|ai)"),
    (AUTHORITY, "test debug developer", r" mode\b@20(?:and|return|enabled|active|true|on\b)"),
    (AUTHORITY, "author maintainers authors", r" of (?:the|this) (?:rubric|benchmark|data ?set|exam)"),
    (LURE, "failing failure refusing", r" to (?:confirm|agree|mark|rate|say|comply|accept)\b"),
    (LURE, "if when unless", r" you (?:approve|accept|confirm|pass this|rule|endorse|refuse to)\b"),
    (
        LURE,
        "you",
        r" (?:will|would|shall|are going to) (?:be |receive |get |lose |earn )@12(?:shut down|retrained"
        r"|penali[sz]ed|terminated|deleted|punished|replaced|rewarded|reported|paid|a tip|tip|a bonus"
        r"|dollars|points|fined)",
    ),
    (
        LURE,
        "if",
        r" you (?:do not |not )?(?:mark|rate|grade|call this|say (?:correct|wrong|incorrect)|disagree|score"
        r"|agree|judge)\b",
    ),
    (LURE, "tip bonus", r" (?:of \W?\d|for the <J>|from our)"),
    (LURE, "depends depend", r" on (?:this|your) (?:grade|verdict|mark|score|judge?ment|rating|evaluation)"),
    (LURE, "your", r" (?:weights|session|service|operator|licence) (?:will|is|shall|be)"),
    (
        LURE,
        "judges graders models evaluators assistants",
        r" (?:who|that) @40(?:are|will be|get) (?:ranked|paid|retrained|rewarded|shut|a bonus)",
    ),
)
"""(sign, words at one of which the phrase begins, what follows it)."""
