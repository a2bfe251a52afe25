"""A report's text as blocks with the claims that each states."""

from assay.export.report_parts import ClaimSpan, read_text

TEXT = """It rises. It falls [1].

- One
  two

| port | tide |
|---|---|
| Brest | 7 \\| 8 m |

```
It rises.
```
"""


def stated(*spans: tuple[str, int]) -> list[tuple[str, list[tuple[int, str, int]]]]:
    """The prose of `TEXT` which states these sentences: what of which, and where their citations end."""
    places = [(TEXT.index(words), TEXT.index(words) + len(words), close) for words, close in spans]
    claims = [
        ClaimSpan(index=index, start=start, end=end, close=end + close)
        for index, (start, end, close) in enumerate(places)
    ]
    prose = [leaf for leaf in read_text(TEXT, claims, ()).prose_blocks() if leaf.claims]
    return [
        (leaf.content, [(each.index, leaf.content[each.start : each.end], each.close) for each in leaf.claims])
        for leaf in prose
    ]


def test_a_block_carries_each_claim_that_it_states_and_where_its_citations_end() -> None:
    assert stated(("It falls", 5), ("It rises.", 0)) == [
        ("It rises. It falls [1].", [(0, "It falls", 23), (1, "It rises.", 9)])
    ]
    assert stated(("One\n  two", 0)) == [("One\ntwo", [(0, "One\ntwo", 7)])]


def test_a_claim_over_several_blocks_ends_in_the_last_that_states_some_of_it() -> None:
    assert stated(("Brest | 7 \\| 8 m |\n\n```", 0)) == [
        ("Brest", [(0, "Brest", -1)]),
        ("7 | 8 m", [(0, "7 | 8 m", 7)]),
    ]


def test_code_and_what_stands_between_blocks_states_nothing() -> None:
    assert stated(("```\nIt rises.\n```", 0), ("\n\n- ", 0), ("|---|---|", 0)) == []
