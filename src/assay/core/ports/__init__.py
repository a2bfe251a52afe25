"""The protocols between Assay and everything that can be exchanged: stores, models, search, extractors, time.

An adapter implements one of these; its contract suite in tests/contracts runs over every adapter.
"""

from assay.core.ports.collections import CollectionRow as CollectionRow
from assay.core.ports.collections import Collections as Collections
from assay.core.ports.collections import Origin as Origin
from assay.core.ports.connectors import Connector as Connector
from assay.core.ports.documents import Archive as Archive
from assay.core.ports.documents import Blobs as Blobs
from assay.core.ports.documents import Extractor as Extractor
from assay.core.ports.documents import Fetcher as Fetcher
from assay.core.ports.documents import FileStamp as FileStamp
from assay.core.ports.documents import Hit as Hit
from assay.core.ports.documents import KeptPage as KeptPage
from assay.core.ports.documents import Library as Library
from assay.core.ports.documents import LibrarySearch as LibrarySearch
from assay.core.ports.documents import Member as Member
from assay.core.ports.documents import Memo as Memo
from assay.core.ports.documents import PageCache as PageCache
from assay.core.ports.documents import Query as Query
from assay.core.ports.documents import Search as Search
from assay.core.ports.journal import FINAL as FINAL
from assay.core.ports.journal import LONGEST_LEASE as LONGEST_LEASE
from assay.core.ports.journal import NOTHING as NOTHING
from assay.core.ports.journal import Action as Action
from assay.core.ports.journal import Allowance as Allowance
from assay.core.ports.journal import Commit as Commit
from assay.core.ports.journal import EventDraft as EventDraft
from assay.core.ports.journal import EventKey as EventKey
from assay.core.ports.journal import Given as Given
from assay.core.ports.journal import HoldRecord as HoldRecord
from assay.core.ports.journal import Journal as Journal
from assay.core.ports.journal import Lease as Lease
from assay.core.ports.journal import LedgerRow as LedgerRow
from assay.core.ports.journal import Memory as Memory
from assay.core.ports.journal import RunRow as RunRow
from assay.core.ports.journal import RunStatus as RunStatus
from assay.core.ports.journal import Spent as Spent
from assay.core.ports.journal import StepRecord as StepRecord
from assay.core.ports.models import Access as Access
from assay.core.ports.models import Described as Described
from assay.core.ports.models import Model as Model
from assay.core.ports.permits import Permits as Permits
from assay.core.ports.permits import Turns as Turns
from assay.core.ports.queue import PRIORITIES as PRIORITIES
from assay.core.ports.queue import Queue as Queue
from assay.core.ports.queue import QueuedRun as QueuedRun
from assay.core.ports.queue import QueueLimits as QueueLimits
from assay.core.ports.watching import Fact as Fact
from assay.core.ports.watching import SpanKind as SpanKind
from assay.core.ports.watching import Watch as Watch
from assay.core.ports.watching import WatchedSpan as WatchedSpan
from assay.core.ports.world import Clock as Clock
from assay.core.ports.world import Notices as Notices
from assay.core.ports.world import Pages as Pages
from assay.core.ports.world import World as World
