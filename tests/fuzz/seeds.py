"""Sound bytes of every kind that a fuzz target begins with."""

from __future__ import annotations

import json

SIGNER = "RWQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
REPORT = (
    "# Tides\n\nThe tide at *Brest* rises **7.5 m** [S1001.1]. See [a](https://e.org/b) and `x`.\n\n"
    "- one [S1001.1-S1001.3]\n  - two\n\n| a | b |\n|---|---|\n| 1 | 2 % |\n\n> quoted “words”\n\n```py\na = 1\n```\n"
    "\n1. On 4 March 2019, 4,200 ships.\n\n[1]: https://e.org/c\n[^1]: note\n"
)
PAGE = (
    "<!doctype html><html lang=en><head><title>T</title><meta name=author content=A><base href=/x/>"
    '<script type="application/ld+json">{"@type":"Article","datePublished":"2019-01-01"}</script></head><body><nav>n'
    "</nav><main><h1>H</h1><p>One <b>two</b> <a href=y>three</a><ul><li>four<li>five</ul><table><tr><th>a<th>b<tr>"
    "<td colspan=2>c</table><pre>code</pre><dl><dt>t<dd>d</dl></main></body></html>"
)
MAIL = (
    "From: a@b.c\nTo: d@e.f\nSubject: =?utf-8?q?Tide?=\nDate: Mon, 1 Jan 2019 10:00:00 +0000\nMIME-Version: 1.0\n"
    'Content-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/plain\n\nHello\n--x\n'
    "Content-Type: text/html; charset=latin-1\nContent-Transfer-Encoding: base64\n\nPGI+SGk8L2I+\n--x--\n"
)
STREAM = (
    b'data: {"choices":[{"delta":{"content":"Hello [S1001.1]"}}]}\n\ndata: {"choices":[{"delta":{"tool_calls":[{'
    b'"index":0,"id":"a","function":{"name":"search","arguments":"{\\"q\\": 1}"}}]},'
    b'"finish_reason":"tool_calls"}],"usage":'
    b'{"prompt_tokens":1,"completion_tokens":2}}\n\ndata: [DONE]\n\n'
)
PLAN = b'{"steps": [{"title": "Look", "description": "At the tide", "type": "research", "needs_search": true}]}'
SCHEMA = (
    b'{"type":"object","properties":{"name":{"type":"string","description":"d"},"year":{"type":"integer","minimum":1},'
    b'"kind":{"enum":["a","b"]},"rows":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number"}}}}}}'
)
ANSWER = json.dumps(
    {
        "results": [{"url": "https://e.org", "title": "T", "content": "c", "publishedDate": "2019", "id": "1"}],
        "web": {"results": [{"url": "https://e.org", "title": "T", "description": "<b>d</b>"}]},
        "message": {"items": [{"URL": "https://doi.org/1", "title": ["T"], "issued": {"date-parts": [[2019]]}}]},
        "query": {"search": [{"title": "T", "snippet": "s", "pageid": 1}], "pages": {"1": {"title": "T"}}},
        "organic": [{"link": "https://e.org", "title": "T", "snippet": "s"}],
        "items": [{"link": "https://e.org", "title": "T", "snippet": "s"}],
        "data": [{"url": "https://e.org", "title": "T", "abstract": "a", "year": 2019, "externalIds": {"DOI": "1"}}],
    }
).encode()
ATOM = (
    b'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/1</id><title>T</title>'
    b"<summary>S</summary><published>2019-01-01T00:00:00Z</published><author><name>A</name></author></entry></feed>"
)
MANUAL = (
    b'<?xml version="1.0"?><!DOCTYPE book [<!ENTITY a "b"><!ENTITY c SYSTEM "d">]><book lang="en"><title>T &a;</title>'
    b"<sect1><title>S</title><para>X &c; <literal>y</literal>.<footnote><para>Z.</para></footnote></para><table>"
    b"<tgroup><thead><row><entry>a</entry></row></thead><tbody><row><entry>1</entry></row></tbody></tgroup></table></sect1></book>"
)
CALENDAR = (
    b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:A\\, b\r\nDTSTART;TZID=Europe/Paris:20250520T090000\r\n"
    b'DTEND;VALUE=DATE:20250521\r\nORGANIZER;CN="A":mailto:a@b.c\r\nDESCRIPTION:C\r\n d\r\nEND:VEVENT\r\n'
    b"END:VCALENDAR\r\n"
)
PROPERTY_LIST = (
    b"<plist><dict><key>a</key><array><integer>1</integer><date>2019-01-01T00:00:00Z</date><data>AA==</data><true/>"
    b"</array></dict></plist>"
)
SITEMAP = b'<?xml version="1.0"?><urlset xmlns="a"><url><loc>https://e.org/a</loc></url></urlset>'
