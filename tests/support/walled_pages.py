"""Pages as they really come in place of an article: made as well-known systems make them, in our own words."""

from __future__ import annotations

FACT = "In the old harbor the highest tide on record was 5.2 metres, in March 1838. Fishermen kept their own records."
MENU = "<nav>" + "".join(f'<a href="/topic/{n}">Topic number {n} of the paper</a>' for n in range(40)) + "</nav>"
NEWS = (
    "<ul>"
    + "".join(f'<li><a href="/story/{n}">Another story of today, the {n}th</a></li>' for n in range(25))
    + "</ul>"
)
FOOT = "<footer><p>The Harbor Post, 1 Quay Street. All rights reserved. Terms, privacy, cookies, imprint.</p></footer>"


def document(body: str, head: str = "", title: str = "The Harbor Post", language: str = "en") -> str:
    """A whole page."""
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>{head}</head>'
        f"<body>{body}</body></html>"
    )


# Error pages with status 200.

WORDPRESS = document(
    f'<header><a href="/">The Harbor Post</a></header>{MENU}<main id="primary"><section class="error-404 not-found">'
    '<header class="page-header"><h1 class="page-title">Oops! That page can&rsquo;t be found.</h1></header>'
    "<div><p>It looks like nothing was found at this location. Maybe try one of the links below or a search?</p>"
    f'<form role="search"><input type="search"></form><h2>Recent posts</h2>{NEWS}</div></section></main>{FOOT}',
    title="Page not found &#8211; The Harbor Post",
)
BARE_404 = "<html><head><title>404 Not Found</title></head><body><h1>404 Not Found</h1><hr></body></html>"
GERMAN = document(
    f"{MENU}<main><h1>Die gewünschte Seite wurde nicht gefunden</h1><p>Bitte prüfen Sie die Adresse, oder suchen Sie"
    f" weiter.</p>{NEWS}</main>{FOOT}",
    title="Hafenblatt",
    language="de",
)
JAPANESE = document(
    "<h1>お探しのページは見つかりませんでした</h1><p>URLをご確認ください。</p>",
    title="港新聞",
    language="ja",
)
RUSSIAN = document("<main><h1>Страница не найдена</h1><p>Проверьте адрес.</p></main>", title="Порт", language="ru")
NEXT_JS = document(
    '<div id="__next"><h1>404</h1><h2>This page could not be found.</h2></div>',
    title="404",
)

# Checks for robots.

CLOUDFLARE = document(
    '<div class="main-wrapper"><h1>harbor.example</h1><p>Checking if the connection is secure. harbor.example needs'
    " to review the security of your connection before proceeding.</p></div><noscript>Enable JavaScript and cookies to"
    ' continue</noscript><script>window._cf_chl_opt={cType:"managed"};</script>'
    '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script>',
    title="Just a moment...",
)
INCAPSULA = (
    '<html><head><meta name="ROBOTS" content="NOINDEX, NOFOLLOW"></head><body><iframe src="/_Incapsula_Resource?x=1"'
    ' width="100%" height="100%">Request unsuccessful. Automated access stopped. Incident 7-1</iframe></body></html>'
)
ANUBIS = document(
    '<h1>Making sure you\'re not a bot!</h1><p id="status">Calculating...</p><p>The administrator protects this server'
    ' against scraping.</p><script src="/.within.website/x/cmd/anubis/static/js/main.mjs"></script>',
    title="Making sure you're not a bot!",
)
LETTERS = document(
    "<h4>Type the letters you see in this picture</h4><p>We need to be sure that you are not a robot.</p>"
    '<form action="/errors/validateCaptcha"><img src="/captcha.jpg"><input type="text" name="letters">'
    "<button>Continue</button></form>",
    title="The Harbor Shop",
)

# Log-ins.

LOGIN = document(
    f'{MENU}<main><h1>Welcome back</h1><p>Please sign in to read this page.</p><form action="/session" method="post">'
    '<label>E-mail<input type="email"></label><label>Password<input type="password"></label><button>Sign in</button>'
    f"</form><p>No account yet? Register in a minute.</p></main>{FOOT}",
    title="Harbor Members",
)
AUTHWALL = document(
    "<main><h1>Join to see more</h1><p>Agree and join. Already a member? Continue with your provider.</p>"
    "<button>Continue</button></main>",
    title="Harbor Network",
)

# Requests for consent.

CONSENT_PAGE = document(
    '<div class="wrapper"><h1>Before you continue</h1><p>We, Harbor Media, and our 842 partners use cookies and similar'
    " technologies to store and read information on your device, and process personal data such as your IP address."
    "</p><p>We do so to personalise advertising and content, to measure advertising, and to know our audience."
    " You may withdraw your consent at any time in the privacy dashboard.</p><p>If you reject all, we use no cookies"
    ' for these additional purposes.</p><form method="post"><button name="agree">Accept all</button>'
    '<button name="reject">Reject all</button><a href="/manage">Manage privacy settings</a></form></div>',
    title="The Harbor Post",
)
BANNER = (
    '<div id="onetrust-consent-sdk"><div role="dialog" aria-label="Privacy"><h2>We value your privacy</h2><p>We and our'
    " partners use cookies to personalise advertising. You can change your consent whenever you like.</p>"
    "<button>Accept all</button><button>Reject all</button></div></div>"
)

# Pages that have one of these as their subject, and are short.

SUBJECTS = {
    "/docs/http/404": document(
        "<main><h1>404 Not Found</h1><p>The status 404 says that a server has nothing at this place. It does not tell"
        " whether that is for ever: 410 does.</p></main>",
        title="404 Not Found - Manual of the web",
    ),
    "/blog/chocolate-chip-cookies": document(
        "<main><h1>Chocolate chip cookies</h1><p>These cookies need butter, sugar and flour. Bake the cookies for ten"
        " minutes.</p><button>Print</button></main>",
        title="Chocolate chip cookies",
    ),
    "/glossary/cookie": document(
        "<main><h1>Cookie</h1><p>A cookie is a small piece of data that a site stores in a browser. Consent to cookies"
        " is asked for in the European Union.</p><button>Share</button></main>",
        title="Cookie - Glossary",
    ),
    "/glossary/captcha": document(
        "<main><h1>Captcha</h1><p>A captcha tells humans from robots by a task that is hard for programs.</p></main>",
        title="Captcha - Glossary",
    ),
    "/contact": document(
        "<main><h1>The harbor office</h1><p>Open from eight to noon. Write to us if your boat needs a berth.</p><form>"
        '<input type="text" name="name"><input type="email"><textarea></textarea><script '
        'src="https://www.google.com/recaptcha/api.js"></script><button>Send</button></form></main>',
        title="Contact",
    ),
    "/members/login/help": document(
        '<main><h1>Log in</h1><p>Your password was sent by post.</p><input type="password"></main>', title="Log in"
    ),
    "/forum/1": document(
        '<header><form><input type="text"><input type="password"></form></header>'
        f"<main><h1>Tides</h1><p>{FACT}</p></main>",
        title="Tides - Harbor forum",
    ),
    "/news/protected": document(
        f"<main><h1>Tides</h1><p>{FACT}</p></main>"
        '<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>',
        title="Tides of the north",
    ),
    "/file": document(f"<main><h1>Tides</h1><p>{FACT}</p></main>{FOOT}{BANNER}", title="Tides of the north"),
    "/blog/not-a-word": document(
        "<main><h1>Why our lost page was found</h1><p>For a year the page on tides was in nobody's index.</p></main>",
        title="Why our lost page was found",
    ),
}
