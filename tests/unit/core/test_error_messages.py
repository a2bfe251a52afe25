"""What errors say to a person."""

from assay.core.errors import LeaseHeld, UnknownName
from assay.core.name_suggestions import MAX_NAMES_LISTED


def test_all_names_are_listed_where_they_are_few() -> None:
    assert str(UnknownName("strategy", "zzz", ["b", "a"])) == "no strategy named 'zzz'; use one of: a, b"


def test_a_list_which_is_cut_short_says_so() -> None:
    names = [f"{number:03d}" for number in range(MAX_NAMES_LISTED + 1)]
    message = str(UnknownName("run", "zzz", names, "(try again)"))
    assert message.endswith(f"{names[MAX_NAMES_LISTED - 1]}, … (try again)")
    assert names[MAX_NAMES_LISTED] not in message


def test_of_many_names_with_dots_the_group_which_is_meant_is_listed_or_the_groups() -> None:
    names = ["home", *(f"limits.{number:03d}" for number in range(MAX_NAMES_LISTED)), "agents.tools", "agents.pace"]
    assert str(UnknownName("setting", "agnets.qqq", names)).endswith("; use one of: agents.pace, agents.tools")
    assert str(UnknownName("setting", "zzz", names)).endswith("; use one of: agents.*, home, limits.*")


def test_who_executes_a_run_is_named_without_its_start() -> None:
    error = LeaseHeld("b7r657zktd", "process 12 on harbor since 1795252848.16")
    assert str(error) == "run b7r657zktd is running in process 12 on harbor"
    assert error.holder.endswith("1795252848.16")
