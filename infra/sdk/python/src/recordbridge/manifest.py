"""Verifies the signed manifests of exports."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey
from joserfc.util import urlsafe_b64decode

from .errors import InvalidManifest

VERSION = 1
# The type separates manifests from everything else that a key signs.
HEADER = {"alg": "ES384", "typ": "recordbridge-manifest+jws"}


@dataclass(frozen=True)
class ManifestFile:
    """An exported file. sha256 is in hex."""

    name: str
    content_type: str
    bytes: int
    sha256: str
    resources: int


@dataclass(frozen=True)
class Manifest:
    """A signed description of an export."""

    task_id: str
    org_id: str
    mode: str
    org_connection_id: str
    # The server from which the record was collected: fhir_base, fhir_version, software and network, if known.
    server: Mapping[str, str]
    started_at: datetime
    finished_at: datetime
    options: Mapping[str, Any]
    # Name and release of the software that created the export.
    software: Mapping[str, str]
    files: tuple[ManifestFile, ...]
    # The number of resources by type.
    counts: Mapping[str, int]
    complete: bool
    # The reason by resource type, if the record is incomplete.
    missing: Mapping[str, str]


def verify_manifest(content: bytes, signature: str, key_set: Mapping[str, Any]) -> Manifest:
    """Verifies a manifest's detached signature with a JWK Set, and returns the manifest.

    Pass the content as downloaded. Raises InvalidManifest if the manifest can't be verified or read.
    """
    try:
        _verify_signature(content, signature.strip(), key_set)
        return _manifest_from(json.loads(content))
    # ValueError and the others are for input that isn't a signature, a JWK Set or a manifest.
    except (JoseError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidManifest(f"the manifest can't be verified: {error}") from error


def _verify_signature(content: bytes, signature: str, key_set: Mapping[str, Any]) -> None:
    """Verifies a JWS with detached content (RFC 7515, appendix F)."""
    protected, attached, _ = signature.split(".")
    if attached:
        raise ValueError("the signature isn't detached")
    header = json.loads(urlsafe_b64decode(protected.encode()))
    # Other members could supply a key or a URL, or change how the signature is verified.
    key_id = header["kid"]
    if header != HEADER | {"kid": key_id}:
        raise ValueError("the protected header isn't a manifest's")
    keys = [key for key in key_set["keys"] if key.get("kid") == key_id]
    if len(keys) != 1:
        raise ValueError(f"the JWK Set has {len(keys)} keys with the ID {key_id!r}")
    jws.deserialize_compact(signature, ECKey.import_key(keys[0]), [HEADER["alg"]], payload=content)


def _manifest_from(body: Any) -> Manifest:
    if body["version"] != VERSION:
        raise ValueError(f"unsupported version {body['version']}")
    files = tuple(
        ManifestFile(one["name"], one["content_type"], one["bytes"], one["sha256"], one["resources"])
        for one in body["files"]
    )
    if any(len(one.sha256) != 64 for one in files):  # without a digest, a file would not be checked
        raise ValueError("a file has no SHA-256")
    return Manifest(
        task_id=body["task_id"],
        org_id=body["org_id"],
        mode=body["mode"],
        org_connection_id=body["org_connection_id"],
        server=body["server"],
        started_at=datetime.fromisoformat(body["started_at"]),
        finished_at=datetime.fromisoformat(body["finished_at"]),
        options=body.get("options", {}),
        software=body["software"],
        files=files,
        counts=body["counts"],
        complete=body["complete"],
        missing=body.get("missing", {}),
    )
