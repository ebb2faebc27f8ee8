"""What surfaces need of the rooms below besides the public names: loaded when it is used."""

from typing import TYPE_CHECKING

from memoranda.kernel.lazy import lazy_names

if TYPE_CHECKING:
    from memoranda.app.audit import ExportKind, export_scope, verify_database
    from memoranda.app.database import DEFAULT_ACTOR, DEFAULT_SCOPE
    from memoranda.app.databases import file_of, hidden, is_server, parse_url
    from memoranda.app.doorkeeper import AppOf, LocalPrincipal, Service, no_app
    from memoranda.app.histories import exported_history
    from memoranda.app.histories import history as stored_history
    from memoranda.app.maintain import backup as back_up_database
    from memoranda.app.maintain import copy_scopes
    from memoranda.app.maintain import restore as restore_backup
    from memoranda.app.maintain import upgrade as upgrade_schema
    from memoranda.app.maintain import work as work_on_jobs
    from memoranda.app.moving_in import ExportFormat, move_in
    from memoranda.app.opening import default_url
    from memoranda.app.options import KEY_FILE, KEYRING, seal_from_environment
    from memoranda.app.service.operation import Operation
    from memoranda.app.service.operations import OPERATIONS
    from memoranda.app.service.schema import Schemas
    from memoranda.app.service.telemetry import continued
    from memoranda.app.witness import opened_witness
    from memoranda.journeys.access.gate import PER_MINUTE
    from memoranda.journeys.audit.witness import Witness
    from memoranda.journeys.govern.about import Declared
    from memoranda.journeys.govern.read import Include, Order
    from memoranda.journeys.govern.times import milliseconds_of
    from memoranda.journeys.intent.branches import Runtime
    from memoranda.journeys.intent.replays import Verdict as ReplayVerdict
    from memoranda.journeys.intent.replays import WorldHistory
    from memoranda.journeys.turn.sessions import Plan
    from memoranda.kernel.access import RIGHTS, Principal, Right
    from memoranda.kernel.clock import format_time
    from memoranda.kernel.results import plain as plain_json
    from memoranda.kernel.rules import Proof, Rule, find_rule, load_book, load_proofs
    from memoranda.ledger.anchor import KeptNote
    from memoranda.ledger.checkpoint import parse_origin
    from memoranda.ledger.damage import first_damages
    from memoranda.ledger.keyring import RingKey
    from memoranda.ledger.object import Cause, VerdictType, data_of
    from memoranda.ledger.policy import EVERY, POLICY_KINDS, policy_of
    from memoranda.ledger.time import TemporalScope
    from memoranda.outside.files import sync_folder
    from memoranda.plans.session import DEFAULT_SESSION
    from memoranda.recall.frame import quotable
    from memoranda.recall.selectors import SHIPPED, USUAL
    from memoranda.stores.postgres.grants import grants
    from memoranda.stores.sqlite.connection import MEMORY
    from memoranda.worlds.world import MAIN

__all__ = [
    "DEFAULT_ACTOR",
    "DEFAULT_SCOPE",
    "DEFAULT_SESSION",
    "EVERY",
    "KEYRING",
    "KEY_FILE",
    "MAIN",
    "MEMORY",
    "OPERATIONS",
    "PER_MINUTE",
    "POLICY_KINDS",
    "RIGHTS",
    "SHIPPED",
    "USUAL",
    "AppOf",
    "Cause",
    "Declared",
    "ExportFormat",
    "ExportKind",
    "Include",
    "KeptNote",
    "LocalPrincipal",
    "Operation",
    "Order",
    "Plan",
    "Principal",
    "Proof",
    "ReplayVerdict",
    "Right",
    "RingKey",
    "Rule",
    "Runtime",
    "Schemas",
    "Service",
    "TemporalScope",
    "VerdictType",
    "Witness",
    "WorldHistory",
    "back_up_database",
    "continued",
    "copy_scopes",
    "data_of",
    "default_url",
    "export_scope",
    "exported_history",
    "file_of",
    "find_rule",
    "first_damages",
    "format_time",
    "grants",
    "hidden",
    "is_server",
    "load_book",
    "load_proofs",
    "milliseconds_of",
    "move_in",
    "no_app",
    "opened_witness",
    "parse_origin",
    "parse_url",
    "plain_json",
    "policy_of",
    "quotable",
    "restore_backup",
    "seal_from_environment",
    "stored_history",
    "sync_folder",
    "upgrade_schema",
    "verify_database",
    "work_on_jobs",
]
__getattr__, __dir__ = lazy_names(__name__)
