"""The verdicts of the embedded verifier: what it certifies, and above all what it does not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.verify.claim_check import decide
from assay.verify.verifier.index import index_evidence
from assay.verify.verifier.signs import claim_words
from assay.verify.verifier.verdicts import Tree, features, load_model, weigh

TEXT = (
    "The Sydney Harbour Bridge is a steel arch bridge across Sydney Harbour which carries trains and cars between the "
    "central business district and the North Shore. It was designed and built by the British firm Dorman Long of "
    "Middlesbrough and opened in 1932. Traffic over the bridge rose by 4 percent in 2019. "
    "The council approved the plan."
)
TRUE = "The Sydney Harbour Bridge was built by the British firm Dorman Long of Middlesbrough and opened in 1932."


def test_what_the_text_says_scores_higher_than_what_it_does_not() -> None:
    true, other = weigh(TRUE, TEXT), weigh("Tigers hunt at night in the forests of Sumatra.", TEXT)
    assert true.score > 0.5 > other.score
    assert other.verdict == "unsupported"


@pytest.mark.parametrize(
    ("edited", "reason"),
    [
        (TRUE.replace("1932", "1952"), "1952"),
        (TRUE.replace("Middlesbrough", "Sheffield"), "Sheffield"),
        (TRUE.replace("was built", "was never built"), "denies something"),
        ("Traffic over the bridge fell by 4 percent in 2019.", "fell"),
        ("The council rejected the plan.", "rejected"),
    ],
)
def test_an_edited_sentence_is_not_called_supported_because_words_overlap(edited: str, reason: str) -> None:
    for found in (weigh(edited, TEXT), decide(edited, TEXT)):
        assert found.verdict != "supported"
        assert any(reason in each for each in found.reasons)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Man bites dog.", "Dog bites man."),
        ("Anna Smith defeated Maria Jones.", "In the final Maria Jones defeated Anna Smith."),
        ("All members approved the plan.", "Some members approved the plan."),
        ("The drug cures migraine.", "The drug may cure migraine."),
        ("It surveys people from 140 countries.", "It surveys people from more than 140 countries."),
        ("Ann Lee is mayor of Bern.", "Ann Lee is a former mayor of Bern."),
        ("It was not unsafe.", "It was not safe."),
        ("The mistral rises seven metres.", "The tide rises seven metres. The mistral blows from the north."),
    ],
)
def test_words_which_are_all_there_do_not_make_it_supported(claim: str, text: str) -> None:
    assert weigh(claim, text).verdict != "supported"


@given(
    st.integers(0, len(TRUE.split()) - 1), st.sampled_from(["not", "never", "only", "Berlin", "1871", "copper", "few"])
)
@settings(max_examples=scaled(40), deadline=None)
def test_a_word_put_in_is_never_supported(at: int, word: str) -> None:
    words = TRUE.split()
    assert weigh(" ".join([*words[:at], word, *words[at:]]), TEXT).verdict != "supported"


@pytest.mark.parametrize(
    "claim",
    [
        "The Sydney Harbour Bridge is a steel arch bridge across Sydney Harbour.",
        "The Sydney Harbour Bridge carries trains and cars.",
        "In 2019 traffic over the bridge rose by four percent.",
    ],
)
def test_a_shortened_sentence_is_supported(claim: str) -> None:
    assert weigh(claim, TEXT).verdict == "supported"


def test_the_deterministic_rules_decide_first() -> None:
    assert decide("The council approved the plan.", TEXT).rule == "verbatim"
    wrong = decide(TRUE.replace("1932", "1952"), TEXT)
    assert wrong.verdict in ("unsupported", "contradicted")
    assert wrong.rule in ("number", "date")
    assert wrong.score < 0.5


@pytest.mark.parametrize("claim", ["", "…", "and of the"])
def test_a_claim_without_words_is_not_decided(claim: str) -> None:
    assert weigh(claim, TEXT).verdict == "unchecked"


@pytest.mark.parametrize(
    "claim", ["Die Brücke wurde im Jahr 1932 nach acht Jahren Bauzeit eröffnet.", "この橋は1932年に開通した。"]
)
def test_another_language_is_not_decided(claim: str) -> None:
    found = weigh(claim, TEXT)
    assert found.verdict == "unchecked"
    assert "English" in found.reasons[0]


@pytest.mark.parametrize(("claim", "text"), [("word " * 1_001, TEXT), (TRUE, "word " * 80_001)])
def test_what_is_too_long_is_not_decided(claim: str, text: str) -> None:
    found = decide(claim, text)
    assert (found.verdict, found.rule) == ("unchecked", "length")
    assert "characters" in found.reasons[0]


@given(st.text(max_size=300), st.text(max_size=600))
@settings(max_examples=scaled(60), deadline=None)
def test_any_texts_give_a_verdict(claim: str, text: str) -> None:
    found = decide(claim, text)
    assert 0 < found.score < 1
    assert found.reasons
    assert found == decide(claim, text)


@given(st.permutations(TEXT.split()[:24]))
@settings(max_examples=scaled(20), deadline=None)
def test_the_features_are_those_of_the_model(words: list[str]) -> None:
    read = index_evidence(TEXT)
    found = features(claim_words(" ".join(words), read), read)
    assert set(found) == set(load_model().features)


def test_the_model_is_whole() -> None:
    shipped = load_model()
    assert len(shipped.features) == len(shipped.mean) == len(shipped.scale) == len(shipped.weight)
    assert all(scale > 0 for scale in shipped.scale)
    assert 0 < shipped.unsupported < 0.5 < shipped.supported < 1
    assert shipped.veto < 0
    for tree in shipped.trees:
        inner = [at for at, feature in enumerate(tree.feature) if feature >= 0]
        assert all(tree.left[at] > at and tree.right[at] > at for at in inner)  # every walk ends


def test_a_tree_goes_left_up_to_its_threshold() -> None:
    tree = Tree(feature=(0, -1, -1), threshold=(0.5, 0, 0), left=(1, 0, 0), right=(2, 0, 0), value=(0, -1.0, 1.0))
    assert [tree.evaluate([value]) for value in (0.4, 0.5, 0.6)] == [-1.0, -1.0, 1.0]


def test_more_of_the_evidence_missing_scores_lower() -> None:
    sentence = "Dorman Long of Middlesbrough designed and built the steel bridge."
    cut = TEXT.replace(
        "It was designed and built by the British firm Dorman Long of Middlesbrough and opened in 1932.", ""
    )
    assert weigh(sentence, TEXT).score > weigh(sentence, cut).score


GERMAN = "Die meisten Gäste sind mit dem Hafen zufrieden. Der Hafen ist seit 1932 offen, und die Brücke nicht."


@pytest.mark.parametrize("claim", ["Alle Gäste sind mit dem Hafen zufrieden.", "The harbour is open.", "Hafen offen."])
def test_evidence_in_another_language_is_not_weighed(claim: str) -> None:
    weighed = weigh(claim, GERMAN)
    assert (weighed.verdict, weighed.is_compared) == ("unchecked", False)


def test_an_english_sentence_with_words_of_other_languages_is_weighed() -> None:
    text = "Marlow sold three pumps to Tern without notice to Kestrel."
    assert weigh(text, f"{text} The board heard of it in May.").is_compared


def test_a_short_sentence_in_another_language_is_not_weighed() -> None:
    assert not weigh("Alle Gäste sind zufrieden.", "Die meisten Gäste sind zufrieden.").is_compared
    assert weigh("Most guests agree.", "Most guests agree.").is_compared


def test_a_whole_sentence_with_an_all_that_the_evidence_lacks_is_not_supported() -> None:
    text = "The council approved the plan for the bridge in 2019."
    assert weigh("In 2019 the council approved the plan for the bridge.", text).verdict == "supported"
    assert weigh("In 2019 all the council approved the plan for the bridge.", text).verdict == "unchecked"


def test_what_is_only_expected_is_not_supported_as_done() -> None:
    text = "The harbour company expects sales of 300 million crowns in 2028."
    assert weigh("The harbour company had sales of 300 million crowns in 2028.", text).verdict == "unchecked"
