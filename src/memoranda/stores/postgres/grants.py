"""The rights of the roles that use a database: SQL for its owner to run, after each upgrade.

The role of a program reads all, adds what is new, and changes what has to change: never the body of
an entry to anything but nothing, never the schema. A role that only reads may do that alone.
"""

import re
from typing import Final

from memoranda.kernel.errors import InvalidOption

_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_$]*")
_MOST_BYTES: Final = 63
_APP: Final = """\
GRANT USAGE ON SCHEMA memoranda TO {role};
GRANT SELECT ON memoranda.migrations TO {role};
GRANT SELECT, INSERT, UPDATE (revoked_at, minute, requests)
  ON memoranda.access_keys TO {role};
GRANT SELECT, INSERT ON memoranda.journals TO {role};
GRANT UPDATE (size, head, head_at, indexed, tokenizer, documents, length, revision, keywords)
  ON memoranda.journals TO {role};
GRANT SELECT, INSERT, UPDATE (salt, body) ON memoranda.entries TO {role};
GRANT SELECT, INSERT ON memoranda.nodes TO {role};
GRANT SELECT, INSERT, UPDATE ON memoranda.versions TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.tags TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.segments TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.postings TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.documents TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.threads TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.derivations TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.retries TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.marks TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.vectors TO {role};
GRANT SELECT, INSERT, UPDATE (note, at) ON memoranda.checkpoints TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.memories TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.item_keywords TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.item_postings TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.item_origins TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.cycle_salts TO {role};
GRANT SELECT, INSERT, UPDATE (session_id, body, cycle), DELETE ON memoranda.sessions TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.sessions_aside TO {role};
GRANT SELECT, INSERT, DELETE ON memoranda.recordings TO {role};
GRANT SELECT, INSERT, UPDATE (holder, until, due, attempts, report), DELETE
  ON memoranda.leases TO {role};
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA memoranda TO {role};
"""
_READER: Final = """\
GRANT USAGE ON SCHEMA memoranda TO {role};
GRANT SELECT ON ALL TABLES IN SCHEMA memoranda TO {role};
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA memoranda TO {role};
"""


def grants(role: str, *, reads_only: bool = False) -> str:
    """What lets a role in that is there already; InvalidOption for a name that no role can have."""
    if not role or "\x00" in role or len(role.encode()) > _MOST_BYTES:
        raise InvalidOption("role", f"a role has a name of 1 to {_MOST_BYTES} bytes")
    named = role if _PLAIN.fullmatch(role) else '"' + role.replace('"', '""') + '"'
    return (_READER if reads_only else _APP).replace("{role}", named)
