"""The names of document formats in lists."""

from assay import plugins
from assay.cli.library import format_name


def test_every_format_that_is_read_has_a_name() -> None:
    extractors = [plugins.load("extractors", name) for name in plugins.names("extractors")]
    media_types = {extractor.media_type for extractor in extractors}
    assert len(media_types) > 10
    assert {media_type for media_type in media_types if format_name(media_type) == media_type} == set()


def test_an_unknown_one_stays() -> None:
    assert format_name("application/x-odd") == "application/x-odd"
