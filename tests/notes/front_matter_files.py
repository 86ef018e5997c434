"""Ten front matters as people write them: what an edit of one property must leave alone."""

DAILY = """\
---
date: 2026-05-01
tags: [daily, journal/2026]   # the template adds these
mood: good
sleep: 7.5
weather: "rain, then sun"
done: no
---

# Friday

- [ ] water the plants
"""

ZETTEL = """\
---
id: 202605011230
title: "Links: the unit of thought"
aliases:
  - Link as unit
  - "Units: links"
tags:
  - zettel
  - note/permanent
up: "[[Index of ideas]]"
related:
  - "[[Evergreen notes]]"
  - '[[It''s all links|links]]'
---
Every link is a sentence not yet written.

---

A rule above.
"""

BOOK = """\
---
# bibliographic
title: The Left Hand of Darkness
author: Le Guin, Ursula K.
isbn: 0441478123
published: 1969-03
rating: 5
pages: 1_000
series:
# mine
started: 2026-02-30
finished:
shelf: 'to "re-read"'
---
Notes on the book.
"""

PROJECT = """\
---
status: active # one of active, paused, done
deadline: 2026-12-01T17:00:00
budget: 1_000
owner: "[[Ada Lovelace]]"
team: [ "[[Bob]]", '[[Chloé]]' ]
progress: 0.4
public: false
version: 1.10
tags:
- project
- client/acme # billing

links: { repo: https://example.org/a.git, board: "x#y" }
---

## Goal

Ship.
"""

BLOCKS = """\
---
summary: |
  First line
    indented
  last line

quote: >-
  folded
  text
kept: |+
  two blank lines follow


cssclasses:
  - wide
steps:
  - |
    one
    two
  - three
end: here
---
Body
"""

PERSON = """\
---
entity: person
name: "Dr. Strange: Stephen"
aliases: []
born: 1930-11-18
phone: +44 20 7946 0958
postcode: 01067
country: NO
email: strange@example.org
likes: tea, toast
null key: ~
---

## Observations

- Prefers tea
"""

WINDOWS = (
    "---\r\ntitle: Written on Windows\r\ntags:\r\n  - one\r\n  - two\r\n# a remark\r\nauthor: 'J. Doe'\r\n"
    "empty:\r\ncount: 12\r\n---\r\n\r\nBody\r\nwith lines\r\n"
)

UNICODE = """\
\ufeff---
titel: Über die Brücke 😀
стих: "ночь, улица, фонарь"
東京: [駅, 塔]
naïve: café
emoji: 👨‍👩‍👧
größe: 1,5
---
Текст
"""

NESTED = """\
---
location:
  lat: 52.5
  lon: 13.4 # Berlin
  names: [Berlin, "Berlín"]
people:
  - name: Ada
    role: lead
  - name: Bob
matrix: [[1, 2], [3, 4]]
up: [[Home]]
defaults: &base
  a: 1
other: *base
note: !important read this
2024: a year
---
Body
"""

BLOG = """\
---
layout:   post
title:   'Why "plain text"?'
date: 2026-04-01 10:30:00 +0200
categories: [writing,   tools]
draft: yes
description: A long sentence that somebody
  wrapped by hand
permalink: /2026/why/
"quoted key": value
comments: on

# --- social ---
image: ""
---
Once upon a time.
"""

FILES = {
    "daily": DAILY,
    "zettel": ZETTEL,
    "book": BOOK,
    "project": PROJECT,
    "blocks": BLOCKS,
    "person": PERSON,
    "windows": WINDOWS,
    "unicode": UNICODE,
    "nested": NESTED,
    "blog": BLOG,
}
