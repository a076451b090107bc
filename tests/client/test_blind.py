"""RSA blind signatures: the vectors of RFC 9474, and what is refused."""

from __future__ import annotations

import json
import secrets
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from forsooth.client import blind
from forsooth.errors import ForsoothError
from forsooth.service.issuing import signed_with
from tests.clients.javascript import PACKAGE

RFC = json.loads((PACKAGE / "vectors" / "verification" / "rfc9474.json").read_text())
P, Q = int(RFC["p"], 16), int(RFC["q"], 16)
KEY = blind.IssuingKey(P * Q)
DIGEST = "ab" * 32


def private(p: int, q: int) -> rsa.RSAPrivateNumbers:
    d = pow(blind.EXPONENT, -1, (p - 1) * (q - 1))
    public = rsa.RSAPublicNumbers(blind.EXPONENT, p * q)
    return rsa.RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), public)


@pytest.mark.parametrize("vector", RFC["vectors"], ids=lambda vector: vector["name"])
def test_the_vectors_of_the_rfc(vector: dict[str, str]) -> None:
    """All four; the two without a salt differ in the encoding only, and we verify none of them."""
    assert f"{KEY.n:x}" == RFC["n"]
    prepared = bytes.fromhex(vector["msg_prefix"] + RFC["msg"])
    salt, inverse = bytes.fromhex(vector["salt"]), int(vector["inv"], 16)
    message = blind.encoded(KEY, prepared, salt)
    blinded = blind.blinded_with(KEY, message, pow(inverse, -1, KEY.n))
    assert blinded.hex() == vector["blinded_msg"]
    signed = signed_with(private(P, Q), blinded)
    assert signed.hex() == vector["blind_sig"]
    signature = blind.unblinded(KEY, signed, inverse)
    assert signature.hex() == vector["sig"]
    assert KEY.verifies(signature, prepared) == bool(salt)
    if salt:
        assert blind.finalize(KEY, prepared, signed, inverse) == signature


def token() -> tuple[bytes, bytes, int]:
    prepared = blind.prepare(blind.new_serial(), DIGEST)
    return (prepared, *blind.blind(KEY, prepared))


def test_every_request_fits_every_token() -> None:
    """For each request and each token there is a blinding that leads from one to the other.

    So even with the private key and all that was sent, every assignment is equally consistent.
    """
    numbers = private(P, Q)
    made = [token() for _ in range(2)]
    signed = [
        blind.finalize(KEY, prepared, signed_with(numbers, blinded), inverse)
        for prepared, blinded, inverse in made
    ]
    for _, blinded, _ in made:
        for signature, (prepared, _, _) in zip(signed, made):
            by_request = int.from_bytes(signed_with(numbers, blinded))
            factor = by_request * pow(int.from_bytes(signature), -1, KEY.n) % KEY.n
            inverse = pow(factor, -1, KEY.n)
            found = blind.finalize(KEY, prepared, by_request.to_bytes(KEY.size), inverse)
            assert found == signature


def test_a_signature_by_another_key_is_found_out() -> None:
    prepared, blinded, inverse = token()
    other = rsa.generate_private_key(blind.EXPONENT, KEY.n.bit_length() // 2).private_numbers()
    signed = secrets.randbelow(other.public_numbers.n).to_bytes(KEY.size)
    for bad in (signed, blinded, blinded[:-1], bytes(KEY.size)):
        with pytest.raises(ForsoothError, match="did not sign with the key that the campaign"):
            blind.finalize(KEY, prepared, bad, inverse)


@pytest.mark.parametrize("message", [0, KEY.n, KEY.n + 1], ids=["0", "n", "n + 1"])
def test_only_numbers_below_n_are_signed(message: int) -> None:
    with pytest.raises(ForsoothError, match="a number below n"):
        signed_with(private(P, Q), message.to_bytes(KEY.size))


def test_a_serial_has_one_spelling() -> None:
    """Base64 has two spare bits here: other spellings of the same bytes would be further tokens."""
    serial = blind.new_serial()
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    accepted = []
    for last in alphabet:
        try:
            blind.prepare(serial[:-1] + last, DIGEST)
        except ForsoothError:
            continue
        accepted.append(last)
    assert len(accepted) == 16  # four bits of the last character belong to the bytes
    for bad in ("", serial + "=", serial + "A", serial[:-1], serial.replace(serial[0], " ")):
        with pytest.raises(ForsoothError):
            blind.prepare(bad, DIGEST)


@pytest.mark.parametrize(
    "change",
    [
        {"scheme": "RSABSSA-SHA384-PSSZERO-Deterministic"},
        {"e": "Aw"},
        {"n": blind.IssuingKey(2**1024 + 1).to_json()["n"]},
        {"n": blind.IssuingKey(2**3071).to_json()["n"]},
        {"n": "A" + KEY.to_json()["n"]},
        {"more": "x"},
    ],
)
def test_other_keys_are_refused(change: dict[str, Any]) -> None:
    given = KEY.to_json()
    assert blind.IssuingKey.from_json(given) == KEY
    with pytest.raises(ForsoothError, match="issuing key must be|not base64url"):
        blind.IssuingKey.from_json(given | change)
