"""Words of titles, addresses and requests by which error pages, checks for robots, log-ins and requests for consent are
recognized (`fetch.web.walls`), in the languages of Assay's own messages and a few more.
"""

import re

from assay.core.lazy import regex

# Titles and headings. A title is short, so words with a few others between them are near enough.

_PAGE = r"(?:page|file|document|article|content|url|site|post|resource|address|story)s?"
_NOT_FOUND = (
    r"^\W*(?:error\W+|http\W+|status\W+|fehler\W+|erreur\W+|errore\W+|erro\W+|fout\W+)?4(?:04|10)\W*$",
    r"\b(?:error|http|status|fehler|erreur|errore|erro|fout|ошибка|помилка|hata|błąd|エラー|错误|오류|خطأ)\W{1,3}4(?:04|10)\b",
    r"\b4(?:04|10)\W{1,3}(?:error|not found|gone|page|file|fehler|erreur)",
    r"^\W*not found\W*$|^(?:\w+ )?(?:oops|whoops|sorry)\b.{0,40}\b(?:not|n['’]t) (?:be )?(?:find|found)",
    rf"\b{_PAGE}\b.{{0,40}}\b(?:not (?:be )?found|can(?:no|['’])t be found|does(?: no|n['’])t exist)",
    rf"\b{_PAGE}\b.{{0,40}}n['’]t (?:be )?found\b",
    rf"\b{_PAGE}\b.{{0,30}}\b(?:no longer (?:exists|available|here)|not exist|is missing|is gone|has been removed)",
    rf"\b(?:can(?:no|['’])t|couldn['’]t|could not|unable to) find (?:that|the|this|your) {_PAGE}\b",
    r"\b(?:seite|datei|artikel|dokument|inhalt)\b.{0,30}\bnicht (?:mehr )?(?:gefunden|vorhanden|verfügbar|auffindbar)",
    r"\b(?:seite|datei|artikel|dokument|inhalt)\b.{0,30}\bexistiert nicht",
    r"\bpage\b.{0,25}(?:\bintrouvable|\bnon trouvée|n['’](?:existe|a) (?:pas|plus)|pas (?:été )?trouvée)",
    r"\bpágina\b.{0,30}\bno (?:se )?(?:(?:ha sido |ha )?encontrad[ao]|existe|encuentra|disponible)",
    r"\bno se (?:ha )?enc\w+ la página",
    r"\bpagina\b.{0,30}(?:\bnon (?:è stata )?trovata|\bnon esiste|\binesistente)",
    r"\bpagina\b.{0,30}(?:\bniet (?:meer )?gevonden|\bbestaat niet)",
    r"\bpágina\b.{0,30}\b(?:não (?:foi )?encontrada|não existe|inexistente)",
    r"\bnie znaleziono (?:takiej )?(?:strony|pliku)|\bstrona\b.{0,30}\bnie (?:została )?(?:znaleziona|istnieje)",
    r"\b(?:страниц[аы]|файл|документ)\b.{0,30}\b(?:не найден|не существует|удал[её]н)",
    r"\bсторінк\w+\b.{0,30}\bне (?:знайден|існує)",
    r"\bsayfa\b.{0,30}\b(?:bulunam|mevcut değil)|\bsid[ae]n?\b.{0,20}\b(?:finns inte|hittades inte|ikke (?:be )?fun)",
    r"\bsivua ei (?:löyd|löyt)|\bstránka\b.{0,25}\b(?:nenalezena|nebyla nalezena|neexistuje)",
    r"(?:ページ|ファイル|記事).{0,20}(?:見つかりません|存在しません|存在しない|ございません)",
    r"(?:页面|頁面|网页|網頁|文章).{0,15}(?:不存在|未找到|找不到|已被?删除)",
    r"(?:找不到|未找到|没有找到|沒有找到).{0,10}(?:页面|頁面|网页|網頁)|페이지.{0,15}(?:찾을 수 없|존재하지 않)",
    r"الصفحة.{0,20}(?:غير موجودة|لم يتم العثور)|لم يتم العثور على الصفحة",
    r"(?:पृष्ठ|पेज).{0,15}(?:नहीं मिला|मौजूद नहीं|उपलब्ध नहीं)",
)
NOT_FOUND = regex("|".join(_NOT_FOUND), re.IGNORECASE)
"""Titles of error pages."""
ROBOT_TITLE = regex(
    r"\bjust a moment|\bone moment,? please|checking (?:your|the) browser|\bare you (?:a )?(?:human|robot)"
    r"|(?:human|ro?bot|browser|security) (?:verification|check|challenge)\b|\bverify (?:that )?you(?: are|['’]re)"
    r"|\bnot a (?:ro)?bot\b|pardon our interruption|attention required|\baccess (?:to this page has been )?denied"
    r"|ddos[- ](?:guard|protection)",
    re.IGNORECASE,
)
"""Titles of checks for robots; who makes them writes them in English."""

# Words of the text.

ROBOT = regex(
    r"captcha|\bro?bots?\b|\bhumans?\b|\bautomated\b|unusual (?:traffic|activity)|checking (?:your|the) browser|ddos"
    r"|roboter|automatisiert|humain|humano|umano|робот|человек|机器人|人机|ロボット|로봇|روبوت|रोबोट",
    re.IGNORECASE,
)
"""A check for robots says what it is."""
CONSENT = regex(
    r"cookie|\bconsent|\bgdpr\b|\bdsgvo\b|\brgpd\b|\bprivacy\b|personal data|\bpartners?\b|\badvertis|personali[sz]"
    r"|datenschutz|einwillig|zustimm|personenbezogen|\bwerb|consente|confidentialité|données personnelles|publicit"
    r"|privacidad|consentim|datos personales|dati personali|privacidade|dados pessoais|toestemming|gegevens|advertent"
    r"|zgod|prywatno|dane osobowe|согласи|конфиденциальн|персональн|згод|çerez|gizlilik|クッキー|プライバシー|隐私|隱私"
    r"|쿠키|개인정보|ملفات تعريف الارتباط|الخصوصية|कुकी|गोपनीयता",
    re.IGNORECASE,
)
"""What a request for consent is about."""

# Words of addresses, between the signs that part them.

ERROR_PLACE = regex(r"404|not[-_]?found|(?:^|[/._-])(?:410|errors?|missing|gone)(?=$|[/._-])", re.IGNORECASE)
ERROR_END = regex(r"(?:^|[/._-])(?:404|410|not[-_]?found|errors?|missing|gone)(?:\.\w{1,5})?/?$", re.IGNORECASE)
ROBOT_PLACE = regex(r"captcha|ro?bot|human", re.IGNORECASE)
LOGIN_PLACE = regex(
    r"(?:^|[/._-])(?:\w{0,12}log[-_]?[io]n|sign[-_]?in|signup|authwall|regwall|sso|saml2?|oauth2?|openid|auth|authoriz\w+"
    r"|authenticat\w+|idp|adfs|anmelde\w*|einloggen|connexion|accedi|inloggen|wayf)(?=$|[/._-])",
    re.IGNORECASE,
)
CONSENT_PLACE = regex(
    r"(?:^|[/._-])(?:\w{0,10}consent|cmp|gdpr|dsgvo|rgpd|cookies?|cookie-?wall|\w{0,4}privacy\w{0,8}|guce|zustimmung"
    r"|datenschutz|confidentialite|privacidad)(?=$|[/._-])",
    re.IGNORECASE,
)
