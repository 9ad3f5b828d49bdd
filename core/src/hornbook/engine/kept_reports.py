"""What a contract said of an output that is kept on disk, so that no judge is asked again."""

from collections.abc import Mapping
from typing import Any, cast

from hornbook import canon
from hornbook.contracts.judge import Calibration, Rate
from hornbook.contracts.report import ContractReport, Verdict

__all__ = ["read_report", "written_report"]


def written_report(report: ContractReport) -> str:
    """The report of an output that met its contract, as canonical JSON."""
    verdicts = [verdict.as_dict() for verdict in report.verdicts]
    return canon.dumps(
        {
            "contract": report.contract,
            "digest": report.digest,
            "step": report.step,
            "verdicts": verdicts,
        }
    ).decode()


def read_report(written: str) -> ContractReport:
    """The report that `written_report` wrote; evidence that is no plain data is described.

    Raises:
        ValueError: it is not what `written_report` writes.
    """
    try:
        data = cast("Mapping[str, Any]", canon.decode(canon.loads(written)))
        return ContractReport(
            contract=data["contract"],
            digest=data["digest"],
            step=data["step"],
            ok=True,
            verdicts=tuple(_verdict(one) for one in data["verdicts"]),
        )
    except (canon.CanonError, AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"this is no report: {error}") from error


def _verdict(data: Mapping[str, Any]) -> Verdict:
    fields: dict[str, Any] = {**data, "calibration": _calibration(data["calibration"])}
    return Verdict(**fields)


def _calibration(data: Mapping[str, Any] | None) -> Calibration | None:
    if data is None:
        return None
    fields: dict[str, Any] = {name: _rate(value) for name, value in data.items()}
    return Calibration(**fields)


def _rate(value: Any) -> Any:
    return Rate(**cast("dict[str, Any]", value)) if isinstance(value, dict) else value
