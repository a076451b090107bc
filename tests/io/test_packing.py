from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from forsooth import Answers, ForsoothError, Mechanism, Scale, mechanisms
from forsooth.io import packing

UINT8, UINT16 = np.dtype(np.uint8), np.dtype(np.uint16)


def holding(bits: int) -> np.dtype[np.unsignedinteger]:
    return UINT8 if bits <= 8 else UINT16


def table(rows: int, width: int, bits: int, seed: int = 0) -> NDArray[np.unsignedinteger]:
    return np.random.default_rng(seed).integers(0, 2**bits, (rows, width), holding(bits))


def as_one_number(values: list[int], bits: int) -> bytes:
    """The definition: the report is one long little-endian number."""
    number = sum(value << place * bits for place, value in enumerate(values))
    return number.to_bytes(-(-len(values) * bits // 8), "little")


@settings(deadline=None)
@given(st.data(), st.integers(1, 16))
def test_what_is_packed_comes_back(data: st.DataObject, bits: int) -> None:
    values = data.draw(st.lists(st.integers(0, 2**bits - 1), min_size=1, max_size=40))
    packed = packing.pack(np.array([values], holding(bits)), bits)
    assert packed.tobytes() == as_one_number(values, bits)
    assert packing.unpack(packed, len(values), bits, holding(bits)).tolist() == [values]


@pytest.mark.parametrize("bits", range(1, 17))
@pytest.mark.parametrize("width", [1, 5, 8, 1000])
def test_the_compiled_twins_agree(bits: int, width: int) -> None:
    compiled = packing._compiled()
    if compiled is None:
        pytest.skip("numba is not here: there is nothing to compare")
    values = table(7, width, bits)
    empty = np.zeros((7, packing.packed_size(width, bits)), np.uint8)
    packed = packing.pack_twin(values, bits, empty.copy())
    assert np.array_equal(compiled[0](values, bits, empty), packed)
    for unpack in (compiled[1], packing.unpack_twin):
        assert np.array_equal(unpack(packed, bits, np.empty_like(values)), values)


@pytest.mark.parametrize("bits", [2, 3, 8, 11])
def test_large_tables_go_the_same_way(bits: int) -> None:
    """Large enough for the compiled twin and for more than one block of the readable one."""
    values = table(1500, 999, bits)
    packed = packing.pack(values, bits)
    if bits % 8:
        assert np.array_equal(packed, packing.pack_twin(values, bits, np.zeros_like(packed)))
        again = packing.unpack_twin(packed, bits, np.empty_like(values))
        assert np.array_equal(again, values)
    assert np.array_equal(packing.unpack(packed, 999, bits, values.dtype), values)


@pytest.mark.parametrize("dtype", ["int64", "float64", "uint16", "uint8"])
def test_whole_bytes_are_little_endian(dtype: str) -> None:
    values = np.array([[1, 2, 100], [4, 5, 6]], dtype)
    bits = 8 * values.itemsize
    packed = packing.pack(values, bits)
    assert packed.tobytes() == values.astype(values.dtype.newbyteorder("<")).tobytes()
    assert np.array_equal(packing.unpack(packed, 3, bits, values.dtype), values)


@pytest.mark.parametrize("bits", [1, 2, 3, 9])
def test_every_bit_after_the_last_value_is_refused(bits: int) -> None:
    packed = packing.pack(table(3, 5, bits), bits)
    for bit in range(5 * bits, 8 * packed.shape[1]):
        forged = packed.copy()
        forged[1, bit // 8] |= 1 << bit % 8
        with pytest.raises(ForsoothError, match="report 2 has bits set after its last value"):
            packing.unpack(forged, 5, bits, holding(bits))


def test_another_length_is_refused() -> None:
    with pytest.raises(ForsoothError, match="5 values of 3 bits do not take 3 bytes"):
        packing.unpack(np.zeros((1, 3), np.uint8), 5, 3, UINT8)


def test_a_value_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ForsoothError, match="the value 8 does not fit into 3 bits"):
        packing.pack(np.array([[1, 8]], np.uint8), 3)


@pytest.mark.parametrize(("symbols", "bits"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (257, 9)])
def test_bits_of_a_symbol(symbols: int, bits: int) -> None:
    assert packing.symbol_bits(symbols) == bits


SCALE = Scale.parse("0..4")


@pytest.mark.parametrize(
    ("mechanism", "bits"),
    [
        (mechanisms.rr(SCALE, 1.0), 3),
        (mechanisms.grr(Scale.parse("0..3"), 1.0), 2),
        (mechanisms.two_layer(Scale.parse("no,yes"), 1.0), 2),
        (mechanisms.build("rr", SCALE, 1.0, tasks=9, unit="worker"), 3),
        (mechanisms.lp(SCALE, 1.0), 64),
        (mechanisms.mf(SCALE, 1.0, tasks=9, d=2), 64),
        (mechanisms.mf_safe(SCALE, 1.0, tasks=9, d=2), 64),
    ],
    ids=["rr", "grr", "two-layer", "sampled", "lp", "mf", "mf-safe"],
)
def test_bits_of_a_mechanism(mechanism: Mechanism, bits: int) -> None:
    assert mechanism.bits == bits
    assert mechanism.report_bytes(9) == -(-9 * bits // 8)


@settings(deadline=None, max_examples=30)
@given(st.dictionaries(st.sampled_from(["q1", "q2", "q3", "q4", "q5"]), st.integers(0, 4)))
def test_the_length_tells_nothing_about_the_answers(row: dict[str, object]) -> None:
    tasks = ["q1", "q2", "q3", "q4", "q5"]
    answers = Answers.of({"ann": row}, SCALE, tasks=tasks)
    reports = mechanisms.rr(SCALE, 1.0).perturb(answers)
    (report,) = reports.to_arrow()["report"].to_pylist()
    assert len(report) == 2
