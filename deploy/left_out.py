"""What of the dependencies stays out of an artifact, each with its reason. Tests hold it to what functions use."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path, PurePath

# botocore describes 400 services in 27 MB, and looks through the folder of them all when it makes a client.
# X-Ray's SDK makes a client of its own where it is imported.
OURS = frozenset({"dynamodb", "events", "lambda", "pinpoint-sms-voice-v2", "s3", "secretsmanager", "stepfunctions"})
SERVICES = OURS | {"xray"}

PATTERNS = (
    "bin",  # commands; they name the Python of the machine that built
    "*/tests",  # of jsonschema, referencing, certifi
    "boto3/examples",
    "phonenumbers/geodata",  # 19 MB: places' names, which `phonenumbers.geocoder` alone reads
    "phonenumbers/carrierdata",  # by number range, and wrong for every ported number: `phonenumbers.carrier` reads it
)


def is_left_out(file: PurePath) -> bool:
    """Whether no function needs a file. file: its path from the folder that packages are installed in."""
    if file.parts[:2] == ("botocore", "data") and len(file.parts) > 3:
        return file.parts[2] not in SERVICES
    return any(fnmatchcase(file.as_posix(), f"{pattern}/*") for pattern in PATTERNS)


def leave_out(dependencies: Path) -> None:
    """Delete from installed dependencies what no function needs, and the folders that are empty then."""
    for path in sorted(dependencies.rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif is_left_out(path.relative_to(dependencies)):
            path.unlink()
