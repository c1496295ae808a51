import base64
import hashlib
import hmac
import json
import unittest
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA384
from joserfc.jwk import ECKey
from recordbridge import FileMismatch, InvalidManifest, Recordbridge, verify_manifest

from serving import Handler, client_of, serve

KEY = ec.generate_private_key(ec.SECP384R1())
OTHER_KEY = ec.generate_private_key(ec.SECP384R1())
HEADER = {"alg": "ES384", "kid": "k1", "typ": "recordbridge-manifest+jws"}
TEXT = b"".join(b'{"resourceType":"Patient","id":"%d"}\n' % i for i in range(3))


def jwk_of(key: ec.EllipticCurvePrivateKey) -> dict[str, Any]:
    return dict(ECKey.import_key(key.public_key()).as_dict(private=False)) | {"kid": "k1", "use": "sig", "alg": "ES384"}


def key_set_of(key: ec.EllipticCurvePrivateKey) -> dict[str, Any]:
    return {"keys": [jwk_of(key)]}


def encode(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def sign(content: bytes, changes: dict[str, Any] | None = None, key: ec.EllipticCurvePrivateKey = KEY) -> str:
    """Returns a detached signature, which is correct even if no service would sign such a header.

    Changes with the value None remove members of the header.
    """
    header = {name: value for name, value in (HEADER | (changes or {})).items() if value is not None}
    protected = encode(json.dumps(header).encode())
    signature = key.sign(f"{protected}.{encode(content)}".encode(), ec.ECDSA(SHA384()))
    return f"{protected}..{encode(b''.join(n.to_bytes(48, 'big') for n in decode_dss_signature(signature)))}"


def manifest_of(**changes: Any) -> bytes:
    """Returns the manifest of TEXT with changes."""
    file = {
        "name": "t.jsonl",
        "content_type": "application/fhir+ndjson",
        "bytes": len(TEXT),
        "sha256": hashlib.sha256(TEXT).hexdigest(),
        "resources": 3,
    }
    body: dict[str, Any] = {
        "version": 1,
        "task_id": "t",
        "org_id": "o",
        "mode": "test",
        "org_connection_id": "c",
        "server": {"fhir_base": "https://fhir.example.com"},
        "started_at": "2026-01-01T00:00:00Z",
        "finished_at": "2026-01-01T00:01:00Z",
        "software": {"name": "recordbridge", "release": "1"},
        "files": [file],
        "counts": {"Patient": 3},
        "complete": False,
        "missing": {"Claim": "refused"},
    }
    return json.dumps(body | changes).encode()


CONTENT = manifest_of()


class VerifyManifestTest(unittest.TestCase):
    def test_signed_manifest_is_returned(self) -> None:
        manifest = verify_manifest(CONTENT, sign(CONTENT) + "\n", key_set_of(KEY))
        self.assertEqual((manifest.task_id, manifest.finished_at.minute), ("t", 1))
        self.assertEqual((manifest.files[0].resources, manifest.missing), (3, {"Claim": "refused"}))

    def test_forgery_is_rejected(self) -> None:
        protected, value = sign(CONTENT).split("..")
        unsigned = {alg: encode(json.dumps(HEADER | {"alg": alg}).encode()) for alg in ("none", "HS384")}
        secret = json.dumps(key_set_of(KEY)).encode()
        mac = hmac.digest(secret, f"{unsigned['HS384']}.{encode(CONTENT)}".encode(), "sha384")
        for name, signature in {
            "other key": sign(CONTENT, key=OTHER_KEY),
            "other bytes": sign(CONTENT + b"\n"),
            "unknown kid": sign(CONTENT, {"kid": "k2"}),
            "no kid": sign(CONTENT, {"kid": None}),
            "other type": sign(CONTENT, {"typ": "JWT"}),
            "no type": sign(CONTENT, {"typ": None}),
            "other algorithm": sign(CONTENT, {"alg": "ES256"}),
            "key in header": sign(CONTENT, {"jwk": jwk_of(OTHER_KEY)}, OTHER_KEY),
            "URL in header": sign(CONTENT, {"jku": "https://example.com/keys"}),
            "critical member": sign(CONTENT, {"crit": ["exp"], "exp": 1}),
            "unencoded content": sign(CONTENT, {"crit": ["b64"], "b64": False}),
            "attached content": f"{protected}.{encode(CONTENT)}.{value}",
            "no signature": f"{protected}..",
            "no header": f"..{value}",
            "header of other kind": f"{encode(b'[]')}..{value}",
            "nothing": "",
            "algorithm none": f"{unsigned['none']}..",
            "public key as HMAC": f"{unsigned['HS384']}..{encode(mac)}",
        }.items():
            with self.subTest(name), self.assertRaises(InvalidManifest):
                verify_manifest(CONTENT, signature, key_set_of(KEY))

    def test_malformed_key_set_is_rejected(self) -> None:
        malformed: tuple[Any, ...] = ({"keys": []}, {}, [], {"keys": [jwk_of(KEY)] * 2}, {"keys": [{"kid": "k1"}]})
        for key_set in malformed:
            with self.subTest(key_set=key_set), self.assertRaises(InvalidManifest):
                verify_manifest(CONTENT, sign(CONTENT), key_set)

    def test_signed_content_that_cannot_be_read_is_rejected(self) -> None:
        for content in (b"x", b"[]", manifest_of(version=2), manifest_of(files=[{"name": "t.jsonl"}])):
            with self.subTest(content=content), self.assertRaises(InvalidManifest):
                verify_manifest(content, sign(content), key_set_of(KEY))


class Export:
    """A server with one export."""

    def __init__(self) -> None:
        self.manifest = CONTENT
        self.signature = sign(CONTENT)
        self.key_set = key_set_of(KEY)
        self.file = TEXT
        self.links = ["jsonl"]

    def serve(self, test: unittest.TestCase) -> Recordbridge:
        def handle(request: Handler) -> None:
            test.assertEqual("authorization" in request.headers, request.path.startswith("/bridge/"))
            if request.path == "/.well-known/manifest-jwks.json":
                request.answer(200, self.key_set)
            elif request.path == "/manifest.json":
                request.answer(200, self.manifest)
            elif request.path == "/t.jsonl":
                request.answer(200, self.file)
            else:
                request.answer(200, {"success": True, "data": self.result(base)})

        base = serve(test, handle)
        return client_of(test, base)[0]

    def result(self, base: str) -> dict[str, Any]:
        result: dict[str, Any] = {
            "task_id": "t",
            "status": "success",
            "download_links": [
                {"url": f"{base}/t.{kind}", "export_type": kind, "content_type": "c"} for kind in self.links
            ],
            "files": [
                {"file_name": f"t.{kind}", "export_type": kind, "bytes": 1, "sha256": "unsigned"} for kind in self.links
            ],
        }
        if self.signature:
            result["manifest"] = {"url": f"{base}/manifest.json", "signature": self.signature}
        return result


class ClientManifestTest(unittest.TestCase):
    def test_verified_manifest_is_returned(self) -> None:
        self.assertEqual(Export().serve(self).manifest("t").counts, {"Patient": 3})

    def test_verified_files_are_downloaded(self) -> None:
        client = Export().serve(self)
        [file] = client.verified_files("t")
        self.assertEqual([one["id"] for one in client.resources(file)], ["0", "1", "2"])

    def test_file_that_differs_from_manifest_is_rejected(self) -> None:
        for name, file in {
            "altered file": TEXT.replace(b"1", b"4"),
            "truncated file": TEXT[:37],
            "longer file": TEXT + TEXT,
        }.items():
            export = Export()
            export.file = file
            client = export.serve(self)
            with self.subTest(name), self.assertRaises(FileMismatch):
                list(client.resources(client.verified_files("t")[0]))

    def test_other_size_and_other_number_of_resources_are_rejected(self) -> None:
        listed = json.loads(CONTENT)["files"][0]
        for member in ("bytes", "resources"):
            export = Export()
            export.manifest = manifest_of(files=[listed | {member: listed[member] + 1}])
            export.signature = sign(export.manifest)
            client = export.serve(self)
            with self.subTest(member), self.assertRaises(FileMismatch):
                list(client.resources(client.verified_files("t")[0]))

    def test_manifest_that_does_not_fit_export_is_rejected(self) -> None:
        other = manifest_of(task_id="u")

        def change(**values: Any) -> Callable[[Export], None]:
            return lambda export: export.__dict__.update(values)

        for name, alter in {
            "no manifest": change(signature=""),
            "altered manifest": change(manifest=CONTENT + b"\n"),
            "huge manifest": change(manifest=b" " * (1 << 20) + b" "),
            "other keys": change(key_set=key_set_of(OTHER_KEY)),
            "key set that isn't JSON": change(key_set=b"<html>"),
            "missing link": change(links=[]),
            "unlisted link": change(links=["jsonl", "jsonl_gz"]),
            "other export": change(manifest=other, signature=sign(other)),
        }.items():
            export = Export()
            alter(export)
            client = export.serve(self)
            with self.subTest(name), self.assertRaises(InvalidManifest):
                client.verified_files("t")


if __name__ == "__main__":
    unittest.main()
