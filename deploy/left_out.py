"""What of the dependencies stays out of an artifact, each with its reason. Tests hold it to what functions use."""

from __future__ import annotations

import shutil
from pathlib import Path

# botocore describes 400 services in 27 MB, and looks through the folder of them all when it makes a client.
SERVICES = frozenset({"dynamodb", "events", "lambda", "pinpoint-sms-voice-v2", "s3", "secretsmanager", "stepfunctions"})

PATTERNS = (
    "bin",  # commands; they name the Python of the machine that built
    "*/tests",  # of jsonschema, referencing, certifi
    "boto3/examples",
    "phonenumbers/geodata",  # 19 MB: places' names, which `phonenumbers.geocoder` alone reads
    "phonenumbers/carrierdata",  # by number range, and wrong for every ported number: `phonenumbers.carrier` reads it
)


def leave_out(dependencies: Path) -> None:
    """Delete from installed dependencies what no function needs."""
    services = (path for path in (dependencies / "botocore" / "data").iterdir() if path.is_dir())
    unused = [path for path in services if path.name not in SERVICES]
    for path in unused + [path for pattern in PATTERNS for path in dependencies.glob(pattern)]:
        shutil.rmtree(path)
