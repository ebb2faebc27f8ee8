"""The figures of the READMEs and of docs/growing.md: `python -m tests.project.docs.figures`.

They are made of what the project has on record: the rules and their proofs, the tables of the pages
on tampering and adversity, and what `make bench` and `python -m bench.cost` wrote. A test compares.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from memoranda.kernel.rules import load_book

ROOT: Final = Path(__file__).parents[3]
PICTURE: Final = "docs/console/overview.png"
RESULTS: Final = ROOT / "bench" / "results"
_ROW: Final = re.compile(r"^\| [\w ]+: .+$", re.MULTILINE)
_ARM: Final = re.compile(r"^\| .+ \| holds \|$", re.MULTILINE)
_SIZES: Final = ((1, 10_000), (100, 10_000), (10_000, 1_000), (100_000, 1_000))
_GIGA: Final = 1e9


class Facts(NamedTuple):
    """What is on record, in numbers."""

    proved: int
    rules: int
    classes: int
    alone: int
    with_checkpoint: int
    tried: int
    lost: int
    damaged: int
    ratios: Mapping[str, str]
    bytes: float

    def ratio(self, what: str) -> str:
        """A ratio of the benchmark, to two digits."""
        return f"{float(self.ratios[what].rstrip('x')):.2g}"


def facts() -> Facts:
    """Read them."""
    rules = load_book().rule
    rows = _ROW.findall((ROOT / "docs" / "threats.md").read_text())
    found = [row.split(" | ")[1] for row in rows]
    arms = [_cells(row) for row in _ARM.findall((ROOT / "docs" / "adversity.md").read_text())]
    bench = orjson.loads((RESULTS / "latest.json").read_bytes())
    size = str(max(bench["sizes"]))
    ratios = {one["what"]: one["found"].get(size, "") for one in bench["targets"]}
    return Facts(
        proved=sum(rule.state == "proved" for rule in rules),
        rules=len(rules),
        classes=len(found),
        alone=found.count("seen"),
        with_checkpoint=found.count("with a checkpoint"),
        tried=sum(_number(arm[1]) for arm in arms),
        lost=sum(_number(arm[6]) for arm in arms),
        damaged=sum(_number(arm[8]) for arm in arms),
        ratios=ratios,
        bytes=bench["bytesPerRecord"][size]["memoranda"],
    )


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def _number(cell: str) -> int:
    return int(cell.replace(",", ""))


# ---------------------------------------------------------------------------- the READMEs


def english(f: Facts) -> str:
    """The promises, with what proves them."""
    missed = f.classes - f.alone - f.with_checkpoint
    return f"""\
| promise | on record |
|---|---|
| It does what it says. | {f.proved} of {f.rules} rules are [proved by tests](docs/rules.md) that name them, on SQLite and PostgreSQL. |
| Tampering is named. | Of {f.classes} ways to tamper with a database, `verify` names {f.alone} by itself and {f.with_checkpoint} more with a checkpoint that was kept elsewhere. It can't name [the other {missed}](docs/threats.md). |
| What was acknowledged is there. | After {f.tried:,} kills, power cuts, I/O faults and cancellations, {f.lost} acknowledged writes were lost and {f.damaged} files damaged ([how](docs/adversity.md)). |
| It costs what it must. | A durable write takes {f.ratio("one durable create, against raw apsw")} times raw SQLite writing the same rows. Beside LangGraph's SQLite store in WAL mode, with no journal, reading goes {f.ratio("get, against AsyncSqliteStore WAL")} times as fast writing {f.ratio("create, against AsyncSqliteStore WAL")} times and batches {f.ratio("create_many, against AsyncSqliteStore WAL")} times as fast. A record takes {f.bytes:,.0f} bytes ([all figures, with those that missed](docs/bench.md)). |
"""


def korean(f: Facts) -> str:
    """The same in Korean."""
    missed = f.classes - f.alone - f.with_checkpoint
    return f"""\
| 약속 | 근거 |
|---|---|
| 말한 대로 동작합니다. | 규칙 {f.rules}개 중 {f.proved}개를 SQLite와 PostgreSQL 양쪽에서 [테스트로 증명](docs/rules.md)했습니다. |
| 변조를 찾아냅니다. | 데이터베이스를 변조하는 {f.classes}가지 방법 중 {f.alone}가지는 `verify`만으로, {f.with_checkpoint}가지는 다른 곳에 보관한 체크포인트로 찾아냅니다. [{missed}가지는 찾지 못합니다](docs/threats.md). |
| 저장됐다고 답한 것은 남아 있습니다. | 강제 종료, 정전, 입출력 오류, 취소를 {f.tried:,}번 겪는 동안 저장 확인을 받은 쓰기 중 {f.lost}건이 사라졌고 파일 {f.damaged}개가 손상됐습니다([방법](docs/adversity.md)). |
| 필요한 만큼만 비용이 듭니다. | 디스크까지 내려가는 쓰기 한 번은 같은 행을 쓰는 순수 SQLite의 {f.ratio("one durable create, against raw apsw")}배 걸립니다. 저널이 없는 LangGraph의 SQLite 저장소(WAL 모드)와 비교하면 읽기는 {f.ratio("get, against AsyncSqliteStore WAL")}배, 쓰기는 {f.ratio("create, against AsyncSqliteStore WAL")}배, 묶음 쓰기는 {f.ratio("create_many, against AsyncSqliteStore WAL")}배 속도이며, 레코드 하나에 {f.bytes:,.0f}바이트를 씁니다([목표에 못 미친 것까지 모든 수치](docs/bench.md)). |
"""


# ------------------------------------------------------------------------ docs/growing.md


def cost(found: Mapping[str, Any]) -> str:
    """What a thing costs, on both databases."""
    few, many = (f"{found[size]:,}" for size in ("few", "many"))
    rows = (
        ("a scope, with one memory in it", "scope_bytes", "bytes"),
        ("a memory", "memory_bytes", "bytes"),
        ("a recall of ten", "recall_bytes", "bytes"),
        ("a write that is alone", "remember_ms", "ms"),
        (f"a recall of ten, in a scope of {few} memories", "recall_ms_few", "ms"),
        (f"a recall of ten, in a scope of {many} memories", "recall_ms_many", "ms"),
    )
    lines = ["| | SQLite | PostgreSQL, in the client |", "|---|--:|--:|"]
    for what, name, unit in rows:
        digits = 0 if unit == "bytes" else 1
        cells = [f"{found[kind][name]:,.{digits}f} {unit}" for kind in ("sqlite", "postgresql")]
        lines.append(f"| {what} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def model(found: Mapping[str, Any]) -> str:
    """What the model makes of that, each memory recalled twice a year and all recalls kept."""
    lines = [
        "Disk after a year in which each memory was in two recalls of ten, all of them kept:\n",
        "| scopes | memories in each | SQLite | PostgreSQL |",
        "|--:|--:|--:|--:|",
    ]
    for scopes, memories in _SIZES:
        cells = []
        for kind in ("sqlite", "postgresql"):
            one = found[kind]
            each = one["memory_bytes"] + one["recall_bytes"] / 5
            total = scopes * (one["scope_bytes"] + memories * each)
            cells.append(
                f"{total / _GIGA:,.2f} GB" if total < 10 * _GIGA else f"{total / _GIGA:,.0f} GB"
            )
        lines.append(f"| {scopes:,} | {memories:,} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------- writing


def pages() -> Sequence[tuple[Path, str]]:
    """Each page, as it should be."""
    known, costs = facts(), orjson.loads((RESULTS / "cost.json").read_bytes())
    growing = ROOT / "docs" / "growing.md"
    both = _filled(_filled(growing.read_text(), "cost", cost(costs)), "model", model(costs))
    return [
        *(
            (ROOT / name, _filled(_pictured((ROOT / name).read_text(), seen), "figures", made))
            for name, made, seen in (
                ("README.md", english(known), "The console: what is remembered, and what waits"),
                ("README.ko.md", korean(known), "콘솔: 기억한 것과 기다리는 결정"),
            )
        ),
        (growing, both),
    ]


def _pictured(page: str, seen: str) -> str:
    """A page with the picture of the console, once there is one."""
    line = f"![{seen}]({PICTURE})\n"
    return _filled(page, "picture", line if (ROOT / PICTURE).is_file() else "")


def _filled(page: str, name: str, text: str) -> str:
    """A page with another text between its marks."""
    pattern = rf"(<!-- {name}: make readme -->\n).*?(<!-- /{name} -->)"
    made, count = re.subn(pattern, lambda m: f"{m[1]}{text}{m[2]}", page, flags=re.DOTALL)
    assert count == 1, f"the marks of {name}"
    return made


if __name__ == "__main__":
    for path, text in pages():
        path.write_text(text)
