"""YAML, TOML, settings and plain XML as keys and values under their path, and lists of objects as rows."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.sources import Extracted, Fetched
from assay.core.tables.cells import TablePiece, read_tables
from assay.evidence.ingest import extractor_for
from assay.evidence.segment import segment
from assay.fetch.data_files import DATA_SUFFIXES, read_data
from assay.fetch.data_trees import MAX_CHARS, MAX_DEPTH, DataBranch, DataEntry, tree_document
from assay.fetch.text import CodeExtractor, TextExtractor


def read(text: str, name: str) -> Extracted:
    (found,) = CodeExtractor().extract(text.encode(), name)
    return found


def lines(text: str, name: str) -> list[str]:
    found = read(text, name)
    assert found.syntax == "markdown", "not read as data"
    return [line for line in found.text.splitlines() if line]


@pytest.mark.parametrize("suffix", DATA_SUFFIXES)
def test_every_suffix_has_this_reader(suffix: str) -> None:
    page = Fetched(url="http://x", final_url=f"http://x/a{suffix}", status=200, media_type="", body=b"", fetched_at="")
    assert isinstance(extractor_for(page, [TextExtractor(), CodeExtractor()]), CodeExtractor)


# YAML


def test_yaml_is_keys_under_their_path() -> None:
    text = "lamp:\n  bulb: 40 W\n  mount:\n    bolts: 6\n    metal: brass\nkeeper: Ada\n"
    assert lines(text, "a.yaml") == ["keeper: Ada", "# lamp", "bulb: 40 W", "## mount", "bolts: 6", "metal: brass"]


def test_a_key_alone_in_its_object_is_joined_with_it() -> None:
    assert lines("a:\n  b:\n    c: 1\nd: {}\ne: []\nf:\n", "a.yml") == [
        "a.b.c: 1",
        "d: (empty)",
        "e: (empty)",
        "f: (empty)",
    ]


def test_a_list_of_objects_is_rows_that_a_question_can_pick() -> None:
    found = read("crew:\n- name: Ida\n  age: 40\n- name: Jon\n  age: 31\n  boat: {length: 7}\n", "a.yaml")
    assert found.text == "# crew\n\n| name: Ida | age: 40 |\n| name: Jon | age: 31 | boat.length: 7 |\n"
    pieces = [
        TablePiece(str(at), span.text, span.start, span.heading)
        for at, span in enumerate(segment(found.text, found.syntax))
    ]
    (table,) = read_tables(pieces)
    assert (table.heads, table.column(1), table.heading) == (("name", "age", "boat.length"), ("40", "31"), ("crew",))


def test_objects_of_different_kinds_have_headings_by_their_names() -> None:
    text = "steps:\n- name: Fetch\n  uses: git\n- run: |\n    make\n    make test\n- id: last\n  tags: [a, b]\n"
    assert lines(text, "a.yaml") == [
        *(
            "# steps",
            "## Fetch",
            "name: Fetch",
            "uses: git",
            "## steps 2",
            "### run",
            "```",
            "make",
            "make test",
            "```",
        ),
        *("## last", "id: last", "tags: a, b"),
    ]


def test_comments_stand_above_their_key_or_behind_its_value() -> None:
    text = "# The tower,\n# built by Ole.\n\n# Ask first.\nheight: 31  # m (2019)\n# width: 4\nage: 90 # years\n# end\n"
    assert lines(text, "a.yaml") == [
        *("The tower, built by Ole.", "Ask first.", "height: 31 (m (2019))", "Commented out: width: 4"),
        *("age: 90 (years)", "end"),
    ]
    assert lines("a: # on a key\n  - 1 # one\n  - 2\nb: 'x # y'\n", "a.yaml") == [
        "b: x # y",
        "# a",
        "on a key",
        "- 1 (one)",
        "- 2",
    ]


def test_an_alias_names_what_it_refers_to() -> None:
    text = "log: &l {size: 3, files: 2}\nport: &p 80\nx: {<<: *l, to: *p, at: 1}\n"
    assert lines(text, "a.yaml") == ["port: 80", "# log", "size: 3", "files: 2", "# x", "<<: as log", "to: 80", "at: 1"]


def test_several_documents_are_named_by_what_they_say_of_themselves() -> None:
    text = "kind: Service\nmetadata: {name: tides, space: sea}\nports: [{p: 1}]\n---\na: 1\n---\n"
    assert lines(text, "a.yaml")[:2] == ["# Service tides", "kind: Service"]
    assert lines("a: 1\nb: 2\n---\na: 3\nb: 4\n", "a.yaml") == ["| a: 1 | b: 2 |", "| a: 3 | b: 4 |"]


def test_text_of_several_lines_is_paragraphs() -> None:
    text = "about: |\n  It stands on the rock.\n  It is lit.\n\n  Nobody lives there.\n"
    assert lines(text, "a.yaml") == ["# about", "It stands on the rock. It is lit.", "Nobody lives there."]


BOMBS = {
    "aliases.yaml": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "\n".join(f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]" for n in range(20)),
    "long.yaml": "a: &a " + "x" * 200_000 + "\nb: [" + "*a, " * 50_000 + "]\n",
    "keys of keys.yaml": "- {"
    + "k" * 1_000
    + ": {"
    + ", ".join(f"k{n}: 1" for n in range(20_000))
    + "}, x: 1}\n- {x: 1}\n",
    "paths.yaml": "".join(" " * n + "k" * 290 + f"{n}:\n{' ' * n} x: 1\n" for n in range(40))
    + "".join(" " * 40 + f"k{n}: {{x: [[{n}]], y: 2}}\n" for n in range(6_000)),
    "deep.yaml": "[" * 100_000,
    "closed.yaml": "[" * 5_000 + "]" * 5_000,
    "dashes.yaml": "- " * 50_000,
    "keys.yaml": "? " * 50_000,
    "deep.toml": "a = " + "[" * 100_000,
    "dotted.toml": "\n".join(f"{'a.' * 19}k{n} = {n}" for n in range(6_000)),
    "long.toml": f"[{'a.' * 120_000}a]\nk = 1\n" * 2,
    "quotes.toml": "a = " + "'" * 300_000,
    "deep.xml": "<a>" * 100_000,
    "closed.xml": "<a>" * 240 + "</a>" * 240,
    "wide.xml": "<a>" + "<b><c/></b>" * 45_000 + "</a>",
    "laughs.xml": '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;"><!ENTITY d "&c;&c;">]><a><e>&d;</e></a>',
    "file.xml": '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a><e>&b;</e><f>1</f></a>',
    "deep.plist": "<plist>" + "<array>" * 50_000 + "</array>" * 50_000 + "</plist>",
    "spaces.ini": "a = " + "x # " * 120_000,
    "backslashes.properties": "a\\\n" * 160_000,
    "quoted.ini": 'a = "' + "x # " * 124_000,
    "comments.ini": "# a\n" * 124_000,
    "comments.yaml": "# a\n" * 120_000 + "b: 1\n",
    "continued.ini": "a = b\n" + " c\n" * 160_000,
    "repeated.xml": "<a>" + "<r>" + "<b>1</b><c>2</c>" * 14_000 + "</r>" * 1 + "<r><b>1</b></r></a>",
    "brackets.ini": "[" * 300_000,
    "open.toml": 'a = ["""\n' + '\\"""\n' * 99_000,
    "headings.yaml": "[" * 40 + "{a: b}," * 60_000 + "]" * 40,
    "names.bib": "@string{n={" + "y" * 199 + "}}" + ("@a{k,x=" + "#".join(["n"] * 20) + "}\n") * 9_000,
    "inner quotes.toml": 'a = ["' + '"\\' * 240_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_hostile_files_take_neither_long_nor_much(name: str) -> None:
    began = time.process_time()
    found = read(BOMBS[name], name)
    assert len(found.text) < 20 * MAX_CHARS
    assert "root:" not in found.text
    assert time.process_time() - began < 5  # a bound on the square of the length, not a measurement


def test_what_is_too_deep_or_too_long_stays_as_it_is() -> None:
    deep = "".join(" " * level + f"k{level}:\n{' ' * level} x: 1\n" for level in range(MAX_DEPTH + 2))
    for text, name in ((deep, "a.yaml"), ("a: 1\n" * (MAX_CHARS // 5 + 1), "a.yaml")):
        assert (read(text, name).syntax, read(text, name).text) == ("code", text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a: {{ .Values.x }}\n{{- if }}\n", "helm.yaml"),
        ("just words", "a.yaml"),
        ("{a: 1}: b\n", "keys.yaml"),
        ("a = 1\nthis is none\n", "a.toml"),
        ("server {\n  listen 80;\n  root /x;\n}\n", "nginx.conf"),
        ("<a><b></a>", "a.xml"),
        ("no markup", "a.xml"),
        ("", "a.ini"),
    ],
)
def test_what_is_not_as_its_name_says_stays_as_it_is(text: str, name: str) -> None:
    found = read(text, name)
    assert (found.syntax, found.text) == ("code", text)


# TOML


def test_toml_has_tables_and_lists_of_tables() -> None:
    text = (
        '# The boat\nname = "Tern"\n[hull] # of oak\nlength = 1_240.50\n"keel depth" = 0x1F\nbuilt = 1998-05-12\n'
        '[[sail]]\nname = "jib"\narea = 12\n[[sail]]\nname = "main"\narea = 30\nparts.mast = "pine"\n'
        '[crew.first]\nnames = [ # in order\n  "Ada", "Bo",\n]\nnote = """\nShe is\nfast."""\n# last\n'
    )
    assert lines(text, "a.toml") == [
        *("The boat", "name: Tern", "# hull", "of oak", "length: 1_240.50", "keel depth: 0x1F", "built: 1998-05-12"),
        *("# sail", "| name: jib | area: 12 |", "| name: main | area: 30 | parts.mast: pine |", "# crew.first"),
        *("in order", "names: Ada, Bo", "## note", "She is fast.", "last"),
    ]


def test_a_table_of_a_list_belongs_to_its_last_item() -> None:
    text = "[[a]]\nx = 1\n[a.b]\ny = 2\n[[a]]\nx = 3\n[a.b]\ny = 4\n"
    assert lines(text, "a.toml") == ["# a", "| x: 1 | b.y: 2 |", "| x: 3 | b.y: 4 |"]


# settings


def test_ini_files_have_sections_continued_values_and_switched_off_ones() -> None:
    text = (
        "; The harbour\n[lamp]\n; in W\npower = 40 # at night\n;colour = red\nhosts =\n    a.example\n    b.example\n"
        '[remote "x"]\n\turl = "ssh://y"\n\tfetch: all\n'
    )
    assert lines(text, "a.ini") == [
        *(
            "# lamp",
            "The harbour",
            "in W",
            "power: 40 (at night)",
            "Commented out: colour = red",
            "hosts: a.example, b.example",
        ),
        *('# remote "x"', "url: ssh://y", "fetch: all"),
    ]


def test_settings_of_comments_alone_are_text() -> None:
    assert lines("# Nothing is\n# switched on.\n#port = 1\n", "a.conf") == [
        "Nothing is switched on.",
        "Commented out: port = 1",
    ]


def test_properties_have_escapes_and_long_lines() -> None:
    text = "! About\na.b = \\u00fcber\\\n    all\nurl:http\\://x/?a=b\nkey\nspaced value # 1\n"
    assert lines(text, "a.properties") == [
        "About",
        "a.b: überall",
        "url: http://x/?a=b",
        "key: (empty)",
        "spaced: value # 1",
    ]


def test_a_backslash_joins_lines_where_it_is_no_path() -> None:
    assert lines("[a]\nb = C:\\data\\\nc = 1\n", "a.ini") == ["# a", "b: C:\\data\\", "c: 1"]
    assert lines("[Service]\nExecStart=/bin/x \\\n  -v\nType=simple\n", "a.service") == [
        *("# Service", "ExecStart: /bin/x -v", "Type: simple"),
    ]


def test_environment_files_lose_export_and_quotes() -> None:
    assert lines('export A=1\nB=\'x y\'\nC="a # b" # c\nD="it\'s" # d\n', "prod.env") == [
        "A: 1",
        "B: x y",
        "C: a # b (c)",
        "D: it's (d)",
    ]


# XML


def test_xml_is_keys_rows_and_attributes() -> None:
    text = (
        '<?xml version="1.0"?>\n<!-- Counted by Per -->\n<shop site="Oster" xmlns="http://x"><boss>Ida</boss>'
        '<price currency="DKK">5.00</price><plants><plant id="1"><name>Fir</name></plant>'
        '<plant id="2"><name>Elm &amp; oak</name></plant></plants><note>See <b>page</b> 2.</note><none/>'
        "<!-- the end --></shop>"
    )
    assert lines(text, "a.xml") == [
        *("# shop", "Counted by Per", "site: Oster", "boss: Ida", "price: 5.00", "price.currency: DKK"),
        *(
            "note: See page 2.",
            "none: (empty)",
            "## plants.plant",
            "| id: 1 | name: Fir |",
            "| id: 2 | name: Elm & oak |",
        ),
        "the end",
    ]


def test_elements_of_one_name_are_a_list() -> None:
    assert lines("<a><b>1</b><b>2</b><c><b x='1'>t</b><b>u</b></c></a>", "a.xml") == [
        *("# a", "b: 1, 2", "## c.b", "| x: 1 | b: t |", "| b: u |"),
    ]


def test_a_name_that_comes_again_in_a_row_keeps_both_values() -> None:
    text = '<a><r name="x"><name>1</name><b>2</b><name>3</name></r><r name="y"><b>4</b></r></a>'
    assert lines(text, "a.xml") == ["# a.r", "| name: x | name (2): 1 | b: 2 | name (3): 3 |", "| name: y | b: 4 |"]


def test_ampersands_need_no_escape() -> None:
    assert lines("<a><b>Bell & Sons</b><c>x&#233;&amp;y</c></a>", "a.xml") == ["# a", "b: Bell & Sons", "c: x\u00e9&y"]


def test_a_property_list_is_what_it_holds() -> None:
    text = '<?xml version="1.0"?><plist><dict><key>Name</key><string>Tern</string><key>On</key><true/></dict></plist>'
    assert lines(text, "Info.plist") == ["Name: Tern", "On: true"]


# whatever is in a file

KEYS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=12)
TREES: st.SearchStrategy[str | DataBranch] = st.recursive(
    st.text(max_size=40),
    lambda inner: st.one_of(
        st.lists(st.tuples(KEYS, inner), max_size=4).map(
            lambda pairs: DataBranch([DataEntry(*pair) for pair in pairs])
        ),
        st.lists(inner, max_size=4).map(
            lambda items: DataBranch([DataEntry("", item) for item in items], is_list=True)
        ),
    ),
    max_leaves=12,
)


def words(tree: str | DataBranch) -> list[str]:
    """The words of a tree that must be in its text: in a row, a key without a value is left out."""
    if isinstance(tree, str):
        return ["".join(filter(str.isalnum, word)) for word in tree.split()]
    inner = [(entry.key, words(entry.value)) for entry in tree.entries]
    return [word for key, found in inner if any(found) for word in (*words(key), *found)]


@given(TREES)
def test_every_word_of_a_tree_is_in_a_passage(tree: str | DataBranch) -> None:
    if (found := tree_document(DataBranch([DataEntry("k", tree)]), "a.yaml", "YAML", MAX_CHARS)) is None:
        return
    spans = segment(found.text, found.syntax)
    data = found.text.encode()
    assert all(data[span.start : span.end].decode() == span.text for span in spans)
    seen = "".join(filter(str.isalnum, "".join(span.text for span in spans)))
    assert [word for word in words(tree) if word not in seen] == []


PIECES = st.sampled_from(
    [
        *(
            "a",
            "b",
            ": ",
            "= ",
            "- ",
            "\n",
            "  ",
            "# c\n",
            "&x ",
            "*x",
            "[",
            "]",
            "{",
            "}",
            ",",
            '"',
            "'",
            "|\n",
            ">\n",
            "---\n",
        ),
        *(
            '"""',
            "[[t]]\n",
            "[t.u]\n",
            "\\",
            "<a>",
            "</a>",
            "<b c='1'/>",
            "<!-- d -->",
            "&e;",
            "<plist>",
            "<key>k</key>",
            "1",
        ),
        *("<dict>", "</dict>", "</plist>", "\u00fc", "\r\n", "\t", "? ", "!t ", "<![CDATA[x]]>", "<?xml?>"),
    ]
)


@given(
    st.lists(PIECES, max_size=40).map("".join), st.sampled_from(["yaml", "toml", "ini", "properties", "xml", "plist"])
)
def test_any_text_is_read_or_left_as_it_is(text: str, suffix: str) -> None:
    found = read(text, f"a.{suffix}")
    assert (found.syntax, found.text) == ("code", text) or read_data(text, f"a.{suffix}") == found
