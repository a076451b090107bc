"""RSA blind signatures (RFC 9474), RSABSSA-SHA384-PSS-Randomized: the worker's side, and checking.

A worker's device blinds a message, the issuer signs what it cannot read, and the device takes the
blinding away. The blinded message is uniformly random whatever the message is. So not even
unlimited computing power links a signature to the request that it came from.

The message is the campaign's digest, prepared with 32 random bytes in front, the serial.
"""

from __future__ import annotations

import base64
import math
import secrets
from dataclasses import dataclass
from hashlib import sha384
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA384

from forsooth.errors import ForsoothError
from forsooth.io import strict

SCHEME = "RSABSSA-SHA384-PSS-Randomized"
EXPONENT = 65537
SERIAL_BYTES = 32  # the random prefix of RFC 9474
_SALT_BYTES = 48  # as long as the hash: PSS, not PSSZERO
_HASH_BYTES = 48
_FEWEST_BITS, _MOST_BITS = 2048, 4096


@dataclass(frozen=True)
class IssuingKey:
    """The public key of an issuer."""

    n: int

    @property
    def size(self) -> int:
        """Bytes of a signature, and of a blinded message."""
        return (self.n.bit_length() + 7) // 8

    def to_json(self) -> dict[str, str]:
        """As the campaign's document has it; n and e as in a JSON Web Key."""
        n, e = (_base64url(_bytes(number)) for number in (self.n, EXPONENT))
        return {"scheme": SCHEME, "n": n, "e": e}

    @staticmethod
    def from_json(data: Any) -> IssuingKey:
        """Read a key; one that this client does not understand is refused."""
        text = strict.string(data["n"], "the issuing key")
        key = IssuingKey(int.from_bytes(_from_base64url(text)))
        bits = key.n.bit_length()
        if key.to_json() != data or not _FEWEST_BITS <= bits <= _MOST_BITS or key.n % 2 == 0:
            raise ForsoothError(
                f"the issuing key must be for {SCHEME}, with e = {EXPONENT} and {_FEWEST_BITS} to "
                f"{_MOST_BITS} bits: nothing was sent"
            )
        return key

    def verifies(self, signature: bytes, prepared: bytes) -> bool:
        """Is this a signature of the prepared message?"""
        key = rsa.RSAPublicNumbers(EXPONENT, self.n).public_key()
        pss = padding.PSS(padding.MGF1(SHA384()), _SALT_BYTES)
        try:
            key.verify(signature, prepared, pss, SHA384())
        except InvalidSignature:
            return False
        return True


def new_serial() -> str:
    """A random serial, as it is sent: 43 letters, digits, - or _."""
    return _base64url(secrets.token_bytes(SERIAL_BYTES))


def prepare(serial: str, digest: str) -> bytes:
    """The message that is signed. A serial has one spelling only, or it could be used twice."""
    prefix = _from_base64url(serial)
    if len(prefix) != SERIAL_BYTES or _base64url(prefix) != serial:
        raise ForsoothError("the serial is not 32 bytes in base64url")
    return prefix + bytes.fromhex(digest)


def blind(key: IssuingKey, prepared: bytes) -> tuple[bytes, int]:
    """What the issuer is to sign, and the inverse that takes the blinding away."""
    while math.gcd(r := 1 + secrets.randbelow(key.n - 1), key.n) != 1:
        pass
    inverse = pow(r, -1, key.n)
    return blinded_with(key, encoded(key, prepared, secrets.token_bytes(_SALT_BYTES)), r), inverse


def blinded_with(key: IssuingKey, message: bytes, r: int) -> bytes:
    """An encoded message under the blinding factor r."""
    hidden = int.from_bytes(message) * pow(r, EXPONENT, key.n) % key.n
    return hidden.to_bytes(key.size)


def unblinded(key: IssuingKey, signed: bytes, inverse: int) -> bytes:
    """The signature of the message, from the signature of the blinded message."""
    return (int.from_bytes(signed) * inverse % key.n).to_bytes(key.size)


def finalize(key: IssuingKey, prepared: bytes, signed: bytes, inverse: int) -> bytes:
    """The signature, which is checked: an issuer that signed something else is found out."""
    signature = unblinded(key, signed, inverse)
    if len(signed) != key.size or not key.verifies(signature, prepared):
        raise ForsoothError(
            "the service did not sign with the key that the campaign announces: nothing was sent"
        )
    return signature


def encoded(key: IssuingKey, prepared: bytes, salt: bytes) -> bytes:
    """EMSA-PSS (RFC 8017, 9.1.1) with SHA-384."""
    bits = key.n.bit_length() - 1
    length = (bits + 7) // 8
    hashed = sha384(bytes(8) + sha384(prepared).digest() + salt).digest()
    block = (b"\x01" + salt).rjust(length - _HASH_BYTES - 1, b"\x00")
    mask = _mgf1(hashed, len(block))
    masked = bytearray(a ^ b for a, b in zip(block, mask))
    masked[0] &= 0xFF >> (8 * length - bits)
    return bytes(masked) + hashed + b"\xbc"


def _mgf1(seed: bytes, length: int) -> bytes:
    blocks = range(-(-length // _HASH_BYTES))
    return b"".join(sha384(seed + block.to_bytes(4)).digest() for block in blocks)[:length]


def _bytes(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8)


def _base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _from_base64url(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
    except ValueError:
        raise ForsoothError("this is not base64url") from None
