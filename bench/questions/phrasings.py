"""Wordings of questions for header fields, fields that a series may lack, and topics that no document has."""

from __future__ import annotations

PHRASINGS: dict[str, tuple[str, ...]] = {
    "status": (
        "What is the status of {doc}?",
        "What status does {doc} have?",
        "Which state is {doc} in at the moment?",
        "Was {doc} accepted, rejected or something else?",
    ),
    "created": (
        "When was {doc} created?",
        "On what date was {doc} created?",
        "What is the creation date of {doc}?",
        "When was {doc} first proposed?",
    ),
    "start-date": (
        "What is the start date of {doc}?",
        "When was {doc} started?",
        "On what date was {doc} started?",
        "When was {doc} first proposed?",
    ),
    "author": (
        "Who wrote {doc}?",
        "Who are the authors of {doc}?",
        "Who is the author of {doc}?",
        "By whom was {doc} written?",
    ),
    "superseded-by": (
        "Which {series} superseded {doc}?",
        "What was {doc} superseded by?",
        "Which {series} replaced {doc}?",
    ),
    "replaces": (
        "Which {series} does {doc} replace?",
        "What did {doc} supersede?",
        "Which {series} was replaced by {doc}?",
    ),
    "requires": (
        "Which {series}s does {doc} require?",
        "What does {doc} depend on?",
        "What are the prerequisites of {doc}?",
    ),
    "type": ("What type of {series} is {doc}?", "What is the type of {doc}?"),
    "category": ("Which category does {doc} belong to?", "What is the category of {doc}?"),
    "python-version": (
        "Which Python version does {doc} target?",
        "For which version of Python was {doc} meant?",
        "What is the Python-Version of {doc}?",
    ),
    "discussions-to": ("Where is {doc} discussed?", "Where should discussions of {doc} take place?"),
    "topic": ("What is the topic of {doc}?", "Under which topic is {doc} filed?"),
    "sponsor": ("Who sponsored {doc}?", "Who is the sponsor of {doc}?"),
    "pep-delegate": ("Who is the PEP-Delegate for {doc}?",),
    "resolution": ("What is the resolution of {doc}?",),
    "last-call-deadline": ("What is the last call deadline of {doc}?",),
    "withdrawal-reason": ("What is the withdrawal reason of {doc}?",),
    "review-manager": (
        "Who was the review manager of {doc}?",
        "Who managed the review of {doc}?",
        "Which person is listed as review manager for {doc}?",
    ),
    "feature-name": (
        "What is the feature name of {doc}?",
        "Which feature name does {doc} have?",
        "Under which feature name is {doc} listed?",
    ),
    "rust-issue": (
        "What is the Rust issue of {doc}?",
        "Which issue tracks {doc}?",
        "What is the tracking issue for {doc}?",
    ),
    "bug": ("Which bug does {doc} name?", "Which bug belongs to {doc}?"),
    "upcoming-feature-flag": (
        "What is the upcoming feature flag of {doc}?",
        "Which upcoming feature flag does {doc} have?",
    ),
}
WEIGHTS = {
    "status": 4,
    "created": 4,
    "start-date": 4,
    "author": 4,
    "superseded-by": 3,
    "requires": 3,
    "rust-issue": 3,
    "feature-name": 2,
    "review-manager": 2,
    "replaces": 2,
    "python-version": 2,
}
KINDS = {
    "rust-rfcs": ("start-date", "feature-name", "rust-issue"),
    "swift-evolution": ("author", "status", "review-manager", "bug", "upcoming-feature-flag"),
}
"""The kinds asked of a series; of the others all of which it has a field."""
ABSENT = ("superseded-by", "replaces", "requires", "sponsor", "python-version", "category", "resolution", "topic")
ABSENT_IN = {
    "rust-rfcs": ("author", "status", "sponsor", "category", "superseded-by", "replaces", "review-manager"),
    "swift-evolution": ("sponsor", "category", "topic", "superseded-by", "replaces", "withdrawal-reason"),
}
"""Fields nothing is found of, where the document does not say it in prose; of other series `ABSENT`."""
MENTIONS = {
    "superseded-by": "supersed|replace|obsolet|successor",
    "replaces": "supersed|replace|obsolet",
    "requires": "requir|depend|prerequisit",
    "author": "author|written by|wrote|proposed by",
    "status": r"\bstatus|accepted|rejected|postponed",
    "review-manager": "review manager",
    "withdrawal-reason": "withdr",
}
UNKNOWN = {"rust-rfcs": ("start-date", "rust-issue"), "swift-evolution": ("status", "author")}
"""What is asked of a number nothing has; of other series `UNKNOWN_OTHERS`."""
UNKNOWN_OTHERS = ("status", "created", "author", "type")
FOREIGN = (
    "What is the boiling point of mercury at sea level?",
    "Who won the football world cup in 1998?",
    "How do I bake a sourdough bread with rye flour?",
    "What is the capital of Mongolia?",
    "Which orchestra recorded the Goldberg Variations with marimbas?",
    "How tall is the Eiffel Tower in metres?",
    "What causes migraine in teenagers?",
    "Who painted the ceiling of the Sistine Chapel?",
    "What is the average rainfall in Patagonia?",
    "How many moons does Neptune have?",
    "When did the Berlin Wall fall?",
    "What does the enzyme telomerase do in stem cells?",
    "Which vitamins are in spinach?",
    "Wie hoch ist die Zugspitze?",
    "Кто написал роман Мастер и Маргарита?",
    "长江有多长？",
)
CONVERSE = {"superseded-by": "replaces", "replaces": "superseded-by"}
