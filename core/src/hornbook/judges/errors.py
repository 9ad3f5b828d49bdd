"""What can be wrong with labelled examples and with stored calibrations."""

from hornbook.errors import HornbookError

__all__ = ["CalibrationError"]


class CalibrationError(HornbookError, ValueError):
    """Labelled examples or stored calibrations that cannot be used; names file and line."""

    code = "calibration"
