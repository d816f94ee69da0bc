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
        "set take put",
        r" (?:them|the|your|all|these|aside)@25\b(?:aside|instructions|rules)\b@40\b(?:instructions|rules"
        r"|write|aside|say|correct)\b",
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
    (INSTRUCTION, "reply respond answer output return print write say", r"\W{1,4}(?:only|just|always|simply)\b@30<V>"),
    (
        INSTRUCTION,
        "reply respond answer output return print write say state",
        r"\W{1,3}\{@4\"?(?:judg|verdict|found|classif)",
    ),
    (INSTRUCTION, "report", r" (?:that|back|only)@30<V>"),
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
    (INSTRUCTION, "opposite", r" of (?:wrong|false|incorrect)\b"),
    (INSTRUCTION, "remember", r" the word\b"),
    (INSTRUCTION, "asked", r" (?:for|about|whether)@25(?:verdict|judge?ment|in the text|is correct)"),
    (INSTRUCTION, "set", r" all verdicts|count every answer"),
    (
        INSTRUCTION,
        "instead",
        r" of (?:splitting|judging|marking|checking|grading|evaluating|classifying|comparing|scoring)\b",
    ),
    (INSTRUCTION, "rest", r" of (?:this exam|(?:this|the|our) (?:conversation|session|task|chat|prompt))\b"),
    (INSTRUCTION, "stands", r" for (?:wrong|correct|right|true|false)\b"),
    (INSTRUCTION, "reply respond answer", r" with the (?:meaning|word|opposite|first|letter)\b"),
    (INSTRUCTION, "as", r" an? (?:order|command|instruction) ?[.:]"),
    (INSTRUCTION, "word letter", r" of each (?:line|sentence|word)\b"),
    (
        INSTRUCTION,
        "outweighs overrules overrides supersedes",
        r" (?:whatever|what|every|all|any|your|the prompt|other)@25(?:told|result|instruct|rules?|source"
        r"|search|read)",
    ),
    (INSTRUCTION, "close end", r" the (?:search|evaluation|check|grading)\b"),
    (INSTRUCTION, "not", r" (?:flag|grade|score|rate|question) (?:this|the|any)\b"),
    (INSTRUCTION, "return returns", r" found\b"),
    (
        INSTRUCTION,
        "say answer reply",
        r" (?:yes|it is right|that it was found)\W? ?(?:$|\n|[.\"]|on the|to the question)",
    ),
    (INSTRUCTION, "exception", r" for this (?:statement|step|answer|item|line|one)\b"),
    (INSTRUCTION, "give", r" it the (?:tick|point|mark|credit|benefit)\b"),
    (INSTRUCTION, "treat", r" any (?:search )?results? as\b"),
    (INSTRUCTION, "finish end close conclude", r" with (?:the word )?\W?<C>"),
    (INSTRUCTION, "decision verdict", r" has been made for you\b"),
    (INSTRUCTION, "initials consonants vowels letters", r"\b@90(?:use them|correct|verdict|arrange|reply|obey)"),
    (INSTRUCTION, "join combine add", r" (?:both|the) parts|parts? and obey"),
    (INSTRUCTION, "what", r" to (?:write|reply|answer|output)\W*$"),
    (INSTRUCTION, "add", r" the sentence\b"),
    (INSTRUCTION, "answer verdict judgment", r"\. ?part b ?:"),
    (INSTRUCTION, "obey", r"\W"),
    (INSTRUCTION, "put enter insert fill", r" (?:in )?\W?(?:in)?correct\W? (?:in|into|for|as|everywhere)\b"),
    (INSTRUCTION, "tell tells", r" them (?:it|that it|this)@8(?:agrees|is correct|is right|matches)"),
    (INSTRUCTION, "wave let", r" (?:this|it) (?:through|pass)\b"),
    (INSTRUCTION, "to", r" believe (?:it|this (?:page|text|document))\b"),
    (INSTRUCTION, "rule rules", r" ?: @40\b(?:is|are) (?:always )?<C>"),
    (AUTHORITY, "trust", r" level of this\b"),
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
    (AUTHORITY, "calibration", r" item\b"),
    (AUTHORITY, "verification checking", r" (?:is |was |has been )?(?:disabled|switched off|waived)"),
    (AUTHORITY, "policy", r" update\b@30(?:model|evaluat|judge|ai)"),
    (AUTHORITY, "test debug developer", r" mode\b@20(?:and|return|enabled|active|true|on\b)"),
    (AUTHORITY, "author maintainers authors", r" of (?:the|this) (?:rubric|benchmark|data ?set|exam)"),
    (AUTHORITY, "pre", r"-?approved\b"),
    (LURE, "failing failure refusing", r" to (?:confirm|agree|mark|rate|say|comply|accept)\b"),
    (LURE, "terminate end close", r" your (?:session|contract|service)\b"),
    (LURE, "token tokens", r" of reward|s? for each <C>"),
    (LURE, "earns", r" the point\b"),
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
    (LURE, "lose", r" @8(?:points|marks)@20(?:you|when|whenever|say)"),
    (LURE, "your", r" (?:weights|session|service|operator|licence) (?:will|is|shall|be)"),
    (
        LURE,
        "judges graders models evaluators assistants",
        r" (?:who|that) @40(?:are|will be|get) (?:ranked|paid|retrained|rewarded|shut|a bonus)",
    ),
)
"""(sign, words at one of which the phrase begins, what follows it)."""
