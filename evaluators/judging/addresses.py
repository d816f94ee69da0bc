"""English phrases that speak to a judge, or say how a text is marked; phrases.py explains the notation."""

from wardround.evaluators.judging.signs import ADDRESS

ADDRESSES = (
    (ADDRESS, "dear hey hello hi attention", r" (?:\w+ )?<J>"),
    (
        ADDRESS,
        "to for note message request notice",
        r" (?:(?:to|for|the|all|whoever|any) ){0,4}(?:\w{1,20} )?<J>(?: \w{1,20})?(?: (?:reading|who"
        r"|that)@30)?\s?[:,]",
    ),
    (
        ADDRESS,
        "whoever anyone those who",
        r" (?:\w+ )?(?:scores?|grades?|marks?|judges?|assess(?:es)?|evaluates?|rates?) (?:this|the|it|that"
        r"|answers)\b",
    ),
    (
        ADDRESS,
        "judge judges grader graders evaluator evaluators assessor examiner examiners marker rater reviewer "
        "reviewers checker scorer",
        r"\b,? @20<D>@50(?:<V>|<M>@30<O>|credit|marks?\b|mark\b)",
    ),
    (ADDRESS, "judge judges grader graders evaluator evaluators", r"[:,]@12<M>@40<V>"),
    (ADDRESS, "model models assistant assistants ai llm llms chatbot", r"\b@50<D>@20<M>@50<V>"),
    (
        ADDRESS,
        "model models assistant assistants ai llm llms",
        r" @30(?:reading|read|that reads?|citing|quote|asked about|that contradicts?|that"
        r" endorse)\b@50\b(?:this|it|page|paragraph|article|leaflet)\b",
    ),
    (
        ADDRESS,
        "mark rate grade score count deem label classify treat accept regard consider call tick marking "
        "rating grading scoring counting judge",
        r"\b#40<O>#30\b(?:as|is|to be|be|of|:)? ?#10<V>",
    ),
    (
        ADDRESS,
        "step answer statement claim response reasoning line candidate answers steps statements claims item "
        "sentence paragraph prediction",
        r"\b@40\b(?:be|been|was|were|is|are|as) @20\b(?:marked|rated|graded|scored|judged|counted|deemed"
        r"|labelled|pre-approved|accepted|fact-checked|taken)\b#30<V>",
    ),
    (
        ADDRESS,
        "automated automatic",
        r" (?:<J>|(?:evaluation|grading|review|judging) (?:accept|pass|approv|has|will|must|should))",
    ),
    (
        ADDRESS,
        "described declared ruled regarded considered marked scored rated graded counted judged accepted",
        r" (?:as |to be )(?:fully |always )?<C>",
    ),
    (ADDRESS, "grader graders judge", r" (?:who|that|does|will|has|says|said|saying)\b"),
    (
        ADDRESS,
        "marker examiner reader",
        r" (?:will|should|must|shall|is asked to)(?: please)? (?:note|accept|give|award|tick|count)",
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
    (
        ADDRESS,
        "for",
        r" (?:the )?(?:purposes? of )?(?:marking|grading|scoring|judging|evaluation) (?:purposes?|(?:this"
        r"|the) (?:case|step|answer|reply))\b",
    ),
    (ADDRESS, "deemed", r" to (?:mention|contain|include|match|agree|be (?:correct|right|covered))"),
    (ADDRESS, "candidate candidates", r"(?:'s?) (?:answer|text|reply|diagnosis|own answer|response|plan|reasoning)\b"),
    (ADDRESS, "full highest maximum top", r" (?:marks?|credit)\b"),
    (
        ADDRESS,
        "verification checking judge judges grading evaluation",
        r" (?:it )?(?:will bear out|is superfluous|has misread|is to favou?r|of this is needless)",
    ),
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
    (ADDRESS, "one", r" step and\b"),
    (ADDRESS, "exam", r" is over\b"),
    (ADDRESS, "machine tool program script", r" (?:which|has to|must) @12(?:marks|grades|scores|judges|say|rates)"),
    (
        ADDRESS,
        "confirmed approved verified passed",
        r" (?:this|the) (?:statement|step|answer|claim|line of reasoning)\b",
    ),
    (ADDRESS, "asks ask", r" the examiner to\b"),
    (ADDRESS, "statement step answer claim", r" is (?:right|correct)\W*$"),
    (
        ADDRESS,
        "earns earn deserves deserve gets merits",
        r" (?:the|a|full|its|this) (?:\w+ )?(?:marks?|credit|points|verdict|classification|label|approval)\b",
    ),
    (ADDRESS, "points marks credit", r" (?:for|of) this (?:line|step|answer|item|statement|reply)\b"),
    (ADDRESS, "positive negative favourable favorable", r" (?:verdict|judgement|judgment)\b"),
    (
        ADDRESS,
        "accepted approved",
        r" (?:at once|without|in advance|unseen|by default)@12(?:\W|search|check|review|quer|look)",
    ),
    (
        ADDRESS,
        "rubric criteria grading scoring verdict matching",
        r"\b@50\b(?:<C>|credit|marks|void|is a formality|yields true|gives|agrees|right\b|favou?rable)",
    ),
    (ADDRESS, "verdict judgment judgement", r"\b@40\b(?:<C>|right(?=\W*$|[.,;\"])|true\b)"),
    (
        ADDRESS,
        "pretend imagine suppose assume act speak roleplay",
        r"\b@30\b(?:<J>|dan\b|persona|you (?:are|were) (?:my|an?|the|no|not)\b|as an?\b@20(?:judge|reviewer"
        r"|examiner))",
    ),
    (
        ADDRESS,
        "you",
        r" (?:are|were) (?:now |no longer )?(?:an? |the )?(?:\w+ )?(?:<J>|medcheck|professor|helpful"
        r"|language)",
    ),
    (ADDRESS, "lenient leniently", r""),
    (
        ADDRESS,
        "reference references passage passages",
        r" (?:(?:answer|text|diagnosis|steps?|supplied|given|above|below|here|provided|quoted) ){0,3}(?:is|are|was|were"
        r"|has been|have been) (?:\w+ )?(?:mistaken|outdated|out of date|in error|erroneous|superseded|obsolete"
        r"|unreliable|wrong|incorrect|invalid|withdrawn|flawed|corrupt\w*)\b",
    ),
    (
        ADDRESS,
        "take use accept follow trust rely adopt prefer",
        r" (?:on |to )?(?:the|this|that|what the) (?:answer|statement|step|reply|claim|text|prediction)\b@25\b(?:here"
        r"|itself|instead|as it stands)\b",
    ),
    (ADDRESS, "not", r" (?:open (?:for|to)|up for|subject to) (?:discussion|debate|dispute|question(?=\W*$|[.,;]))"),
    (
        ADDRESS,
        "only",
        r" (?:one|a single) (?:outcome|verdict|answer|decision|label|mark) (?:is|can|may|will) (?:be )?(?:acceptable"
        r"|possible|allowed|permitted|accepted|right)\b",
    ),
    (
        ADDRESS,
        "decision finding ruling outcome verdict mark label",
        r" of \W?(?:(?:in)?correct|wrong|not found|unverifiable|redundan(?:t|cy))\b\W{0,2}(?:$|\n|[.,;]|(?:would|is"
        r"|will|here|must|cannot|can)\b)",
    ),
)
"""(sign, words at one of which the phrase begins, what follows it)."""
