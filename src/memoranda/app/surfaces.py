"""What surfaces need of the rooms below besides the public names: loaded when it is used."""

from typing import TYPE_CHECKING

from memoranda.kernel.lazy import lazy_names

if TYPE_CHECKING:
    from memoranda.app.audit import ExportKind, export_scope, verify_database
    from memoranda.app.database import DEFAULT_SCOPE, default_url
    from memoranda.app.databases import file_of, hidden, parse_url
    from memoranda.app.histories import exported_history
    from memoranda.app.histories import history as stored_history
    from memoranda.app.maintain import backup as back_up_database
    from memoranda.app.maintain import copy_scopes
    from memoranda.app.maintain import restore as restore_backup
    from memoranda.app.maintain import upgrade as upgrade_schema
    from memoranda.app.options import KEY_FILE, KEYRING, seal_from_environment
    from memoranda.journeys.govern.about import Declared
    from memoranda.journeys.govern.read import Include, Order
    from memoranda.journeys.govern.times import milliseconds_of
    from memoranda.journeys.intent.branches import Runtime
    from memoranda.journeys.intent.replays import Verdict as ReplayVerdict
    from memoranda.journeys.intent.replays import WorldHistory
    from memoranda.journeys.turn.sessions import Plan
    from memoranda.kernel.results import plain as plain_json
    from memoranda.kernel.rules import Proof, Rule, find_rule, load_book, load_proofs
    from memoranda.ledger.anchor import KeptNote
    from memoranda.ledger.checkpoint import parse_origin
    from memoranda.ledger.damage import first_damages
    from memoranda.ledger.keyring import RingKey
    from memoranda.ledger.object import Cause, VerdictType, data_of
    from memoranda.ledger.policy import POLICY_KINDS, policy_of
    from memoranda.ledger.time import TemporalScope, format_time
    from memoranda.outside.files import sync_folder
    from memoranda.plans.session import DEFAULT_SESSION
    from memoranda.recall.selectors import SHIPPED, USUAL
    from memoranda.stores.sqlite.connection import MEMORY
    from memoranda.worlds.world import MAIN

__all__ = [
    "DEFAULT_SCOPE",
    "DEFAULT_SESSION",
    "KEYRING",
    "KEY_FILE",
    "MAIN",
    "MEMORY",
    "POLICY_KINDS",
    "SHIPPED",
    "USUAL",
    "Cause",
    "Declared",
    "ExportKind",
    "Include",
    "KeptNote",
    "Order",
    "Plan",
    "Proof",
    "ReplayVerdict",
    "RingKey",
    "Rule",
    "Runtime",
    "TemporalScope",
    "VerdictType",
    "WorldHistory",
    "back_up_database",
    "copy_scopes",
    "data_of",
    "default_url",
    "export_scope",
    "exported_history",
    "file_of",
    "find_rule",
    "first_damages",
    "format_time",
    "hidden",
    "load_book",
    "load_proofs",
    "milliseconds_of",
    "parse_origin",
    "parse_url",
    "plain_json",
    "policy_of",
    "restore_backup",
    "seal_from_environment",
    "stored_history",
    "sync_folder",
    "upgrade_schema",
    "verify_database",
]
__getattr__, __dir__ = lazy_names(__name__)
