"""Two manuals nobody had improved the built-in model on: a server's manual, and long prose about history and politics.

Each has 25 questions with an answer and 5 without. They were written before the built-in model was run over them for
the first time, and have not been changed since.
"""

from pathlib import Path

from manuals.facts import Fact, Manual

APACHE = Manual(
    package="apache2-doc",
    folder=Path("/usr/share/doc/apache2-doc/manual/en"),
    files="**/*.html",
    facts=(
        Fact(
            "How many requests does the server allow on a persistent connection by default?", ("100",), ("core.html",)
        ),
        Fact("How long does httpd wait for the next request on a persistent connection?", ("5",), ("core.html",)),
        Fact("What is the default length of the queue of pending connections?", ("511",), ("mpm_common.html",)),
        Fact("What is the default log level?", ("warn",), ("core.html", "logs.html", "*.html")),
        Fact("Which signal makes the server restart gracefully?", ("USR1",), ("stopping.html",)),
        Fact("What happens to the statistics of mod_status after a graceful restart?", ("not set to zero",)),
        Fact("Which port does HTTPS use?", ("443",), ("ssl_faq.html",)),
        Fact("Which version of libnghttp2 does mod_http2 need at least?", ("1.2.1",), ("http2.html",)),
        Fact("What was the default of HostnameLookups before Apache 1.3?", ("On",), ("perf-tuning.html",)),
        Fact("Which hash does htpasswd use for passwords unless told otherwise?", ("MD5",), ("htpasswd.html",)),
        Fact("What is the default cost of bcrypt in htpasswd?", ("default: 5",), ("htpasswd.html",)),
        Fact("How many characters of a password count with CRYPT?", ("8",), ("password_encryptions.html",)),
        Fact("Which HTTP status does the R flag of RewriteRule send by default?", ("302",), ("flags.html",)),
        Fact("Which characters may the name of an environment variable contain?", ("underscore",), ("env.html",)),
        Fact("What is a certification authority?", ("trusted third party",), ("glossary.html",)),
        Fact("In which three states can an entry of an HTTP cache be?", ("Stale",), ("caching.html",)),
        Fact(
            "Which virtual host is used when no ServerName matches the request?",
            ("first listed virtual host", "first virtual host"),
        ),
        Fact("What does the -k option of ab do?", ("KeepAlive",), ("ab.html",)),
        Fact("Does suEXEC allow root to run CGI programs?", ("does not allow root",), ("suexec.html",)),
        Fact("How can I make the status page refresh itself?", ("refresh=N", "?refresh"), ("mod_status.html",)),
        Fact("What is the default limit on the size of a request body?", ("1073741824",), ("core.html",)),
        Fact("Where do I see which child still serves requests from before the restart?", ("G",), ("stopping.html",)),
        Fact("In which unit does rotatelogs take the rotation time?", ("seconds",), ("rotatelogs.html",)),
        Fact("Why should .htaccess files be avoided?", ("performance",), ("htaccess.html",)),
        Fact("Which option of rotatelogs uses local time instead of GMT?", ("-l",), ("rotatelogs.html",)),
        Fact("What does a licence of Apache httpd for a company cost per year?"),
        Fact("Which default port does MySQL listen on?"),
        Fact("Who won the Nobel Prize in Physics in 1921?"),
        Fact("How high is the Zugspitze?"),
        Fact("What is the default size of the InnoDB buffer pool?"),
    ),
)
ANARCHISM = Manual(
    package="anarchism",
    folder=Path("/usr/share/doc/anarchism/html"),
    files="*.html",
    facts=(
        Fact("From which language does the word anarchy come?", ("Greek",), ("secA1.html",)),
        Fact("How many people went to the CNT's first rally after Franco's death?", ("500,000",), ("secA5.html",)),
        Fact("When were the Haymarket anarchists hanged?", ("November 11th 1887",), ("secA5.html",)),
        Fact("Who introduced anarchism in Spain?", ("Fanelli",)),
        Fact("When was Kropotkin's funeral?", ("1921",), ("secA5.html",)),
        Fact("What does Batko mean?", ("father",), ("append46.html",)),
        Fact("How many times did Hulyai Pole change hands?", ("16 times",), ("append46.html",)),
        Fact("Which battleships began the Kronstadt revolt?", ("Sevastopol",), ("append42.html", "secA5.html")),
        Fact("What were the rebel battleships of Kronstadt renamed to?", ("Marat",), ("append42.html",)),
        Fact("How many demands did the resolution of the Petropavlovsk raise?", ("15 demands",)),
        Fact("When did Francisco Ferrer found his Modern School in Barcelona?", ("1901",), ("secJ5.html",)),
        Fact("Why was Francisco Ferrer executed?", ("insurrection",), ("secJ5.html",)),
        Fact("What is the maximum pay differential in the Mondragon co-operatives?", ("9 to 1",), ("secJ5.html",)),
        Fact("How many rural collectives were created in Spain?", ("1,700",), ("secI8.html",)),
        Fact("What was the circulation of Solidaridad Obrera?", ("30,000",), ("secI8.html",)),
        Fact("Which secret police attacked the anarchists of Moscow in April 1918?", ("Cheka",), ("secA5.html",)),
        Fact("Who founded the Mexican Liberal Party?", ("Magon",), ("secA4.html",)),
        Fact("How many copies of Fra Contadini were printed in Italy in 1920?", ("100,000",), ("secA4.html",)),
        Fact("What is the basic building block of anarchist organisations?", ("affinity group",), ("secJ3.html",)),
        Fact("What did the Bolsheviks introduce in 1921?", ("New Economic Policy", "NEP")),
        Fact("When did anarchists march in Moscow for the first time since 1928?", ("1987",), ("secA5.html",)),
        Fact("What does the slogan on the banners at Kropotkin's funeral say?", ("there is no freedom",)),
        Fact("Which rent decrease did the rent strike of Barcelona demand?", ("40%",), ("secJ5.html",)),
        Fact("Who was Emma Goldman's lifelong companion?", ("Berkman",), ("secA4.html",)),
        Fact("What share of US wealth in stock did the richest 1% own in 1992?", ("39%",), ("secB7.html",)),
        Fact("What is the boiling point of ethanol?"),
        Fact("Who wrote the opera Carmen?"),
        Fact("Which port does a PostgreSQL server listen on?"),
        Fact("How many floors does the Empire State Building have?"),
        Fact("When was the first iPhone sold?"),
    ),
)
