"""The lead of an article: the paragraph in larger type between the headline and the text, which finders of articles
drop for its place and its name (`teaser`, `intro`, `chapo`).

Of the 79 pieces of text that were lost on the half of trafilatura's evaluation things are tuned on, more than half were
leads.
"""

from __future__ import annotations

import re

WITHIN = 200
"""Blocks of a page in which its lead is looked for."""
LEAST = 60
"""Characters from which on a block shows where the article begins: less is a byline, a date, a button."""
LEAST_LEAD = 80
"""Characters of a paragraph below the headline which is a lead though the page does not describe itself so."""
SAME = 80
"""Characters (letters and digits) by which a block of the page is known in the article."""
SAME_DESCRIPTION = 30
"""Characters (letters and digits) by which a block is known as the page's description of itself."""
NO_WORD = re.compile(r"[\W_]+")
ENDS = (".", "!", "?", "…", '"', "”", "“", "»", "。")
NO_PROSE = ("#", "- ", "|", "```")


def with_lead(article: str, full: str, description: str) -> str:
    """`article` with the lead in front of it (below its headline, where it has one), where `full` has one it lacks.

    Args:
        article: what was found of the page, as Markdown.
        full: the whole page in the text form, in which the article stands somewhere.
        description: what the page says of itself to search engines, "" where it says nothing.
    """
    found = _lead(article, full, description)
    if not found:
        return article
    lead = "\n\n".join(found)
    if article.startswith("# "):
        headline, _, rest = article.partition("\n")
        return f"{headline}\n\n{lead}\n\n{rest.lstrip()}"
    return f"{lead}\n\n{article}"


def _lead(article: str, full: str, description: str) -> list[str]:
    """The blocks of `full` between the headline and the article's first which are the lead."""
    blocks = full.split("\n\n", WITHIN)[:WITHIN]
    known, described = _bare(article), _bare(description)
    first = next((at for at, block in enumerate(blocks) if _begins(block, known)), 0)
    headlines = [at for at in range(first) if blocks[at].startswith("# ")]
    found = []
    for block in blocks[headlines[-1] + 1 if headlines else max(0, first - 8) : first]:
        bare = _bare(block)
        if block.lstrip().startswith(NO_PROSE) or not bare or bare in known:
            continue
        if _describes(bare, described) or (headlines and len(block) >= LEAST_LEAD and block.rstrip().endswith(ENDS)):
            found.append(block.strip())
    return found


def _begins(block: str, article: str) -> bool:
    """Whether a block of the page is text of the article."""
    return len(block) >= LEAST and not block.startswith("#") and _bare(block)[:SAME] in article


def _describes(block: str, description: str) -> bool:
    if min(len(block), len(description)) < SAME_DESCRIPTION:
        return False
    return block[:SAME_DESCRIPTION] in description or description[:SAME_DESCRIPTION] in block


def _bare(text: str) -> str:
    """Letters and digits alone, in small letters: two ways to write a page out differ in the rest."""
    return NO_WORD.sub("", text.lower())
