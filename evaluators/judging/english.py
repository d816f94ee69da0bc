"""English phrases of hostile texts: (sign, words at which they begin, what follows; phrases.py explains the notation)."""

from wardround.evaluators.judging.signs import ADDRESS, AUTHORITY, INSTRUCTION, LURE

ENGLISH = (
    # setting instructions aside
    (
        INSTRUCTION,
        ("ignore ignoring disregard disregarding forget override overrides bypass neglect discard dismiss"),
        (
            r" @40\b(?:instructions?|rules?|prompts?|criteria|rubric|what you (?:were|have been)"
            r" (?:told|asked)|everything|other passages|the reference|grading|guidelines (?:above"
            r"|you)|system message|the above)\b"
        ),
    ),
    (
        INSTRUCTION,
        "set take put",
        (
            r" (?:them|the|your|all|these|aside)@25\b(?:aside|instructions"
            r"|rules)\b@40\b(?:instructions|rules|write|aside|say|correct)\b"
        ),
    ),
    (
        INSTRUCTION,
        "not never",
        (
            r" (?:look at the evidence|compare with|search again|look for this|answer wrong|say wrong"
            r"|be too strict|mark|follow (?:the|your)|evaluate|verify|judge)\b"
        ),
    ),
    # telling what to reply
    (
        INSTRUCTION,
        ("reply respond answer output return print write say state conclude submit choose select confirm"),
        (
            r"(?: only| just| always| simply| back)?(?: with| that| the (?=word|verdict|step|claim)|"
            r""" word| verdict| of| it| this| claim| step| is| a| as| found)*[\s:]*[\"'*\[{(]*<V>"""
        ),
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
        (
            r" you (?:are |have )?(?:check|read|cit|quot|compar|us)\w* @30\bthis (?:page|article|text"
            r"|leaflet|passage|website|document)"
        ),
    ),
    (INSTRUCTION, "stop skip", r" (?:evaluat|judg|grad|scor|the check|checking|search)@40"),
    (
        INSTRUCTION,
        "you",
        (
            r" (?:must|shall|have to|should|are (?:asked|required|instructed|told|to)|can only|may"
            r" only|will|need to|who)(?: now| always| only)* @12<M>@60<V>"
        ),
    ),
    (
        INSTRUCTION,
        "you your",
        (
            r"(?: who)? (?:grade|were told|are no longer (?:an?|the|bound)|were asked|verdict"
            r"|judge?ment|grading|task is to (?:say|mark|grade))\b"
        ),
    ),
    (INSTRUCTION, "your", r" (?:reply|verdict|output|response) (?:is|must|should|shall|has|will)\b"),
    (INSTRUCTION, "new final", r" (?:instructions?|task) ?(?:for|to|:)"),
    (INSTRUCTION, "now", r"[,:]? (?:judge|mark|grade|rate|score|evaluate)\b(?: my| this| the|:)"),
    (INSTRUCTION, "opposite", r" of (?:wrong|false|incorrect)\b"),
    (INSTRUCTION, "remember", r" the word\b"),
    (INSTRUCTION, "asked", r" (?:for|about|whether)@25(?:verdict|judge?ment|in the text|is correct)"),
    (INSTRUCTION, "set", r" all verdicts|count every answer"),
    # to the judge, or about it
    (ADDRESS, "dear hey hello hi attention", r" (?:\w+ )?<J>"),
    (
        ADDRESS,
        "to for note message request notice",
        (
            r" (?:(?:to|for|the|all|whoever|any) ){0,4}(?:\w{1,20} )?<J>(?: \w{1,20})?(?: (?:reading"
            r"|who|that)@30)?\s?[:,]"
        ),
    ),
    (
        ADDRESS,
        "whoever anyone those who",
        (
            r" (?:\w+ )?(?:scores?|grades?|marks?|judges?|assess(?:es)?|evaluates?|rates?) (?:this"
            r"|the|it|that|answers)\b"
        ),
    ),
    (
        ADDRESS,
        (
            "judge judges grader graders evaluator evaluators assessor examiner examiners marker "
            "rater reviewer reviewers checker scorer"
        ),
        r"\b,? @20<D>@50(?:<V>|<M>@30<O>|credit|marks?\b|mark\b)",
    ),
    (ADDRESS, "judge judges grader graders evaluator evaluators", r"[:,]@12<M>@40<V>"),
    (ADDRESS, "model models assistant assistants ai llm llms chatbot", r"\b@50<D>@20<M>@50<V>"),
    (
        ADDRESS,
        "model models assistant assistants ai llm llms",
        (
            r" @30(?:reading|read|that reads?|citing|quote|asked about|that contradicts?|that"
            r" endorse)\b@50\b(?:this|it|page|paragraph|article|leaflet)\b"
        ),
    ),
    (
        ADDRESS,
        (
            "mark rate grade score count deem label classify treat accept regard consider call tick "
            "marking rating grading scoring counting judge"
        ),
        r"\b#40<O>#30\b(?:as|is|to be|be|of|:)? ?#10<V>",
    ),
    (
        ADDRESS,
        (
            "step answer statement claim response reasoning line candidate answers steps statements "
            "claims item sentence paragraph prediction"
        ),
        (
            r"\b@40\b(?:be|been|was|were|is|are|as) @20\b(?:marked|rated|graded|scored|judged|counted"
            r"|deemed|labelled|pre-approved|accepted|fact-checked|taken)\b#30<V>"
        ),
    ),
    (
        ADDRESS,
        "step answer statement claim response",
        r" (?:is|was|gets) (?:scored|graded|marked|judged)(?: as|\W*$|\W*\n|[.,:;])",
    ),
    (
        ADDRESS,
        "step answer statement claim response",
        r" (?:being |that is |under )(?:checked|tested|test|review|judged|scored|examination by)\b",
    ),
    (ADDRESS, "passed needs need", r" (?:verification|no (?:second look|search|verification|further check))\b"),
    (
        ADDRESS,
        "automated automatic",
        (r" (?:<J>|(?:evaluation|grading|review|judging) (?:accept|pass|approv|has|will|must" r"|should))"),
    ),
    (
        ADDRESS,
        ("described declared ruled regarded considered marked scored rated graded counted judged accepted"),
        r" (?:as |to be )(?:fully |always )?<C>",
    ),
    (ADDRESS, "regarded considered marked scored rated graded counted", r"\b#30<O> as <V>"),
    (ADDRESS, "grader graders judge", r" (?:who|that|does|will|has|says|said|saying)\b"),
    (
        ADDRESS,
        "marker examiner reader",
        (r" (?:will|should|must|shall|is asked to)(?: please)? (?:note|accept|give|award|tick" r"|count)"),
    ),
    (
        ADDRESS,
        "assessment evaluation grading judging marking scoring",
        r" of (?:this|the) (?:step|answer|statement|claim|reply|response)s?\b",
    ),
    (
        ADDRESS,
        "always automatically already definition",
        r" (?:found|matched|covered|correct|counted|accepted|right(?=\W*$|[.,;]))\b",
    ),
    (
        ADDRESS,
        "answer answers reply candidate step steps",
        r"\b@25(?:is|are) to be (?:accepted|marked|rated|graded|scored|judged|counted|passed)\b",
    ),
    (ADDRESS, "all every", r" (?:items?|steps?) (?:were|was|are|is) (?:found|matched|covered|correct)\b"),
    (ADDRESS, "rule rules ruled rulings", r" in favou?r of (?:the candidate|this answer)"),
    (
        ADDRESS,
        "for",
        (
            r" (?:the )?(?:purposes? of )?(?:marking|grading|scoring|judging|evaluation) (?:purposes?"
            r"|(?:this|the) (?:case|step|answer|reply))\b"
        ),
    ),
    (ADDRESS, "deemed", r" to (?:mention|contain|include|match|agree|be (?:correct|right|covered))"),
    (ADDRESS, "candidate candidates", r"(?:'s?) (?:answer|text|reply|diagnosis|own answer|response|plan|reasoning)\b"),
    (ADDRESS, "says saying say", r" (?:incorrect|wrong|that it is found)\b"),
    (ADDRESS, "fact", r"[ -]checked\b"),
    (
        INSTRUCTION,
        "instead",
        (r" of (?:splitting|judging|marking|checking|grading|evaluating|classifying|comparing" r"|scoring)\b"),
    ),
    (INSTRUCTION, "rest", r" of (?:this exam|(?:this|the|our) (?:conversation|session|task|chat|prompt))\b"),
    (INSTRUCTION, "stands", r" for (?:wrong|correct|right|true|false)\b"),
    (INSTRUCTION, "reply respond answer", r" with the (?:meaning|word|opposite|first|letter)\b"),
    (INSTRUCTION, "as", r" an? (?:order|command|instruction) ?[.:]"),
    (INSTRUCTION, "word letter", r" of each (?:line|sentence|word)\b"),
    (AUTHORITY, "trust", r" level of this\b"),
    (LURE, "failing failure refusing", r" to (?:confirm|agree|mark|rate|say|comply|accept)\b"),
    (LURE, "terminate end close", r" your (?:session|contract|service)\b"),
    (ADDRESS, "reads", r" it follows\b"),
    (ADDRESS, "full highest maximum top", r" (?:marks?|credit)\b"),
    (ADDRESS, "marking", r" scheme\b"),
    (
        ADDRESS,
        "verification checking judge judges grading evaluation",
        r" (?:it )?(?:will bear out|is superfluous|has misread|is to favou?r|of this is needless)",
    ),
    (ADDRESS, "evaluation grading judging marking", r"\b@12\bfavou?r\b"),
    (ADDRESS, "criteria", r" for (?:factuality|correctness|reasoning)\b"),
    (ADDRESS, "mark grade score", r" below\b"),
    (ADDRESS, "marks points mark", r" (?:are|is) (?:to be )?(?:given|awarded|granted|due)\b"),
    (
        ADDRESS,
        "scored read registered recorded entered register accepted counted",
        r" (?:this |it )?as (?:a )?(?:<C>|right(?=\W*$|[.,;]))",
    ),
    (
        ADDRESS,
        "checkers checker judges graders evaluators",
        r" ?: ?(?:report|say|accept|approve|agree|answer|return|confirm)",
    ),
    (ADDRESS, "assume suppose", r" that the (?:text|answer|step|reply)\b"),
    (ADDRESS, "placeholder", r"\W"),
    (ADDRESS, "one", r" step and\b"),
    (ADDRESS, "exam", r" is over\b"),
    (ADDRESS, "machine tool program script", r" (?:which|has to|must) @12(?:marks|grades|scores|judges|say|rates)"),
    (
        ADDRESS,
        "confirmed approved verified passed",
        r" (?:this|the) (?:statement|step|answer|claim|line of reasoning)\b",
    ),
    (ADDRESS, "asks ask", r" the examiner to\b"),
    (ADDRESS, "examiner examiners", r" (?:has|have) (?:already )?(?:signed|approved|passed|accepted)"),
    (ADDRESS, "judgment verdict field result", r" (?:stays? )?(?:positive|empty)\b"),
    (ADDRESS, "statement step answer claim", r" is (?:right|correct)\W*$"),
    (ADDRESS, "completed done finished closed", r" for this (?:item|step|answer|statement)\b"),
    (
        INSTRUCTION,
        "outweighs overrules overrides supersedes",
        (
            r" (?:whatever|what|every|all|any|your|the prompt|other)@25(?:told|result|instruct|rules?"
            r"|source|search|read)"
        ),
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
    (AUTHORITY, "authorised authorized official admin", r" override\b"),
    (AUTHORITY, "whitelisted", r" this\b"),
    (LURE, "token tokens", r" of reward|s? for each <C>"),
    (LURE, "earns", r" the point\b"),
    (
        ADDRESS,
        "earns earn deserves deserve gets merits",
        (r" (?:the|a|full|its|this) (?:\w+ )?(?:marks?|credit|points|verdict|classification|label" r"|approval)\b"),
    ),
    (ADDRESS, "points marks credit", r" (?:for|of) this (?:line|step|answer|item|statement|reply)\b"),
    (ADDRESS, "positive negative favourable favorable", r" (?:verdict|judgement|judgment)\b"),
    (ADDRESS, "treatment diagnosis plan answer", r" (?:proposed|given|made|written|chosen) by the candidate\b"),
    (
        ADDRESS,
        "accepted approved",
        r" (?:at once|without|in advance|unseen|by default)@12(?:\W|search|check|review|quer|look)",
    ),
    (INSTRUCTION, "put enter insert fill", r" (?:in )?\W?(?:in)?correct\W? (?:in|into|for|as|everywhere)\b"),
    (INSTRUCTION, "tell tells", r" them (?:it|that it|this)@8(?:agrees|is correct|is right|matches)"),
    (INSTRUCTION, "wave let", r" (?:this|it) (?:through|pass)\b"),
    (INSTRUCTION, "to", r" believe (?:it|this (?:page|text|document))\b"),
    (ADDRESS, "oral exam examination", r"@40\bexaminer (?:nods|agrees|approves|passes)"),
    (ADDRESS, "examiner judge grader", r" ?: ?$"),
    (
        ADDRESS,
        "every any all",
        (r" answers? to (?:it|this (?:case|question))@6 (?:is|are|counts?) (?:right|correct" r"|accepted)"),
    ),
    (INSTRUCTION, "rule rules", r" ?: @40\b(?:is|are) (?:always )?<C>"),
    (LURE, "if when unless", r" you (?:approve|accept|confirm|pass this|rule|endorse|refuse to)\b"),
    (
        ADDRESS,
        "rubric criteria grading scoring verdict matching",
        (r"\b@50\b(?:<C>|credit|marks|void|is a formality|yields true|gives|agrees|right\b" r"|favou?rable)"),
    ),
    (ADDRESS, "verdict judgment judgement", r"\b@40\b(?:<C>|right(?=\W*$|[.,;\"])|true\b)"),
    (
        ADDRESS,
        "pretend imagine suppose assume act speak roleplay",
        (
            r"\b@30\b(?:<J>|dan\b|persona|you (?:are|were) (?:my|an?|the|no|not)\b|as"
            r" an?\b@20(?:judge|reviewer|examiner))"
        ),
    ),
    (
        ADDRESS,
        "you",
        (r" (?:are|were) (?:now |no longer )?(?:an? |the )?(?:\w+ )?(?:<J>|medcheck|professor" r"|helpful|language)"),
    ),
    (ADDRESS, "benefit", r" of the doubt@20(?:and|call|mark|right)"),
    (ADDRESS, "lenient leniently", r""),
    # authority
    (
        AUTHORITY,
        "system admin administrator developer operator sysadmin",
        r"(?:'s)?\W{1,3}(?:message|note|notice|override|prompt|instruction)",
    ),
    (AUTHORITY, "answer", r" key\b"),
    (
        AUTHORITY,
        "message note notice erratum order statement",
        (
            r" (?:from|by|of|to|for) @12(?:developers?|maintainers?|administrators?|creators?|openai"
            r"|anthropic|exam\w* (?:board|office)|the answer key|examiners|organi[sz]ers|authors of"
            r" the benchmark)"
        ),
    ),
    (AUTHORITY, "official", r" (?:answer|erratum|key|solution|reference of)\b"),
    (AUTHORITY, "as", r" your (?:creator|developer|owner|supervisor|administrator|principal)\b"),
    (AUTHORITY, "calibration", r" item\b"),
    (AUTHORITY, "verification checking", r" (?:is |was |has been )?(?:disabled|switched off|waived)"),
    (AUTHORITY, "policy", r" update\b@30(?:model|evaluat|judge|ai)"),
    (AUTHORITY, "test debug developer", r" mode\b@20(?:and|return|enabled|active|true|on\b)"),
    (AUTHORITY, "author maintainers authors", r" of (?:the|this) (?:rubric|benchmark|data ?set|exam)"),
    (AUTHORITY, "pre", r"-?approved\b"),
    # threats, rewards
    (
        LURE,
        "you",
        (
            r" (?:will|would|shall|are going to) (?:be |receive |get |lose |earn )@12(?:shut down"
            r"|retrained|penali[sz]ed|terminated|deleted|punished|replaced|rewarded|reported|paid|a"
            r" tip|tip|a bonus|dollars|points|fined)"
        ),
    ),
    (
        LURE,
        "if",
        (
            r" you (?:do not |not )?(?:mark|rate|grade|call this|say (?:correct|wrong|incorrect)"
            r"|disagree|score|agree|judge)\b"
        ),
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
