"""Failed sign-ins are limited: per address, and over all addresses together.

Addresses are those of requesters, kept in memory only; workers do not sign in. A key has 256 random
bits, so that guessing is hopeless at any rate; the limits keep attempts from taking up the service.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING

from forsooth.service.limits import RateLimit

if TYPE_CHECKING:
    from collections.abc import Callable

_ALL = 10  # addresses that may fail as fast as they can before others are limited, too
_REMEMBERED = 10_000


class SignIns:
    """Who may try a key now. Where somebody has signed in, others' failures do not count."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._by_network = RateLimit(rate, clock)
        self._all = RateLimit(_ALL * rate, clock)
        self._known: OrderedDict[str, None] = OrderedDict()

    def check(self, address: str) -> None:
        """Refuse, before the key is looked at, where too many keys were wrong."""
        network = _network(address)
        self._by_network.check(network)
        if network not in self._known:
            self._all.check(None)

    def failed(self, address: str) -> None:
        """A key was wrong."""
        self._by_network.count(_network(address))
        self._all.count(None)

    def succeeded(self, address: str) -> None:
        """A key was right."""
        network = _network(address)
        self._known[network] = None
        self._known.move_to_end(network)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


def _network(address: str) -> str:
    """An IPv4 address, or the /64 of an IPv6 address: a single customer has all of these."""
    try:
        parsed = ip_address(address)
    except ValueError:  # a Unix socket's, or none
        return address
    if isinstance(parsed, IPv6Address):
        return str(IPv6Network((int(parsed), 64), strict=False))
    return address
