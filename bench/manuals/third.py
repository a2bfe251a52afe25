"""A third manual nobody had improved the built-in model on: a mail server's, 137 pages of HTML.

25 questions have an answer and 5 have none. They were written before the built-in model was run over it for the first
time, and have not been changed since.
"""

from pathlib import Path

from manuals.facts import Fact, Manual

POSTFIX = Manual(
    package="postfix-doc",
    folder=Path("/usr/share/doc/postfix/html"),
    files="*.html",
    facts=(
        Fact("What is the maximal size of a message by default?", ("10240000",), ("postconf.5.html",)),
        Fact("How long does Postfix keep trying to deliver a message before it gives up?", ("5d", "five days")),
        Fact("How often does the queue manager scan the deferred queue?", ("300s", "queue_run_delay")),
        Fact("What is the default limit on the number of Postfix child processes?", ("100",), ("postconf.5.html",)),
        Fact("How many messages can the active queue hold at most by default?", ("20000",)),
        Fact("How long does postscreen wait for an SMTP client to speak before its turn?", ("6s", "six seconds")),
        Fact("What is backscatter mail?", ("undeliverable mail notifications",), ("BACKSCATTER_README.html",)),
        Fact("What does a panic in the log mean?", ("problem in the software itself",), ("DEBUG_README.html",)),
        Fact("After how many errors does a Postfix process terminate?", ("13",), ("DEBUG_README.html",)),
        Fact(
            "On which ports should postscreen not be used?",
            ("mail from end-user clients",),
            ("POSTSCREEN_README.html", "POSTSCREEN_3_5_README.html"),
        ),
        Fact("Which share of all spam do zombies send?", ("90%",), ("POSTSCREEN*.html",)),
        Fact("In which format must the certificate and the private key be?", ("PEM",), ("TLS*.html",)),
        Fact("May the private key of the server be encrypted?", ("must not be encrypted",), ("TLS*.html",)),
        Fact("Which queues does qshape show by default?", ("incoming",), ("QSHAPE_README.html", "qshape.1.html")),
        Fact("Which option of postsuper deletes a message?", ("-d",), ("postsuper.1.html",)),
        Fact("Which server removes the encapsulation of SMTP?", ("smtpd",), ("OVERVIEW.html",)),
        Fact("Which server puts new mail into the incoming queue?", ("cleanup",), ("OVERVIEW.html", "QSHAPE*.html")),
        Fact("What ends a request of the policy delegation protocol?", ("empty line",), ("SMTPD_POLICY_README.html",)),
        Fact("What was the ETRN command made for?", ("intermittent",), ("ETRN_README.html",)),
        Fact("Which version introduced automatic stress-adaptive behavior?", ("2.5",), ("STRESS_README.html",)),
        Fact("Which user should not be used as the maildrop user?", ("postfix user",), ("MAILDROP_README.html",)),
        Fact("What does the flush daemon maintain?", ("logfiles", "record"), ("ETRN_README.html", "flush.8.html")),
        Fact("How is local mail received while the mail system is not running?", ("maildrop", "postdrop")),
        Fact("Which databases need no postfix reload when they are changed?", ("LDAP",), ("DATABASE_README.html",)),
        Fact("Where does mail for postmaster go when maildrop delivers the domain?", ("local postmaster",)),
        Fact("What is the default size of the buffer pool in InnoDB?"),
        Fact("How much does a licence of Postfix cost per mailbox?"),
        Fact("Which port does PostgreSQL listen on by default?"),
        Fact("Who won the football world championship in 1974?"),
        Fact("What is the melting point of tungsten?"),
    ),
)
