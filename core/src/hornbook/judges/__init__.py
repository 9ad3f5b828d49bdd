"""Judges for measured clauses, and how good they are measured to be (Forethought 3.1).

    from hornbook.judges import EmbeddingJudge, ModelJudge, calibrated

A judge scores what code cannot decide. What it says is never a proof: a clause that it
decides is *measured*, and `hornbook calibrate` finds out how often it is wrong.
"""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook.judges.embedding import Embedder, EmbeddingJudge
    from hornbook.judges.errors import CalibrationError
    from hornbook.judges.intervals import wilson
    from hornbook.judges.labelled import Labelled, read_labelled
    from hornbook.judges.measuring import (
        Measurement,
        Threshold,
        Trial,
        acalibrate,
        ameasure,
        calibrate,
        clause_named,
        measure,
    )
    from hornbook.judges.model_judge import ModelJudge
    from hornbook.judges.sentence_transformer import CrossEncoderJudge, SentenceTransformerEmbedder
    from hornbook.judges.stored import (
        Calibrations,
        calibrated,
        calibrations_file,
        clause_identity,
        judge_identity,
        store_calibration,
    )

__all__ = [
    "CalibrationError",
    "Calibrations",
    "CrossEncoderJudge",
    "Embedder",
    "EmbeddingJudge",
    "Labelled",
    "Measurement",
    "ModelJudge",
    "SentenceTransformerEmbedder",
    "Threshold",
    "Trial",
    "acalibrate",
    "ameasure",
    "calibrate",
    "calibrated",
    "calibrations_file",
    "clause_identity",
    "clause_named",
    "judge_identity",
    "measure",
    "read_labelled",
    "store_calibration",
    "wilson",
]

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "CalibrationError": "hornbook.judges.errors",
        "Calibrations": "hornbook.judges.stored",
        "CrossEncoderJudge": "hornbook.judges.sentence_transformer",
        "Embedder": "hornbook.judges.embedding",
        "EmbeddingJudge": "hornbook.judges.embedding",
        "Labelled": "hornbook.judges.labelled",
        "Measurement": "hornbook.judges.measuring",
        "ModelJudge": "hornbook.judges.model_judge",
        "SentenceTransformerEmbedder": "hornbook.judges.sentence_transformer",
        "Threshold": "hornbook.judges.measuring",
        "Trial": "hornbook.judges.measuring",
        "acalibrate": "hornbook.judges.measuring",
        "ameasure": "hornbook.judges.measuring",
        "calibrate": "hornbook.judges.measuring",
        "calibrated": "hornbook.judges.stored",
        "calibrations_file": "hornbook.judges.stored",
        "clause_identity": "hornbook.judges.stored",
        "clause_named": "hornbook.judges.measuring",
        "judge_identity": "hornbook.judges.stored",
        "measure": "hornbook.judges.measuring",
        "read_labelled": "hornbook.judges.labelled",
        "store_calibration": "hornbook.judges.stored",
        "wilson": "hornbook.judges.intervals",
    },
)
