"""Files of klines and ticks as DataFrames: Parquet where pyarrow or polars can read it, and CSV elsewhere."""

from __future__ import annotations

import importlib.util
import io
from typing import TYPE_CHECKING, Any, Literal, Sequence

from ._contract import KLINE_COLUMNS
from ._frames import TICK_COLUMNS, known_spreads, to_pandas

if TYPE_CHECKING:
    import pandas

_KLINES = ["time", *KLINE_COLUMNS]


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


#: What to ask the service for.
FILE_FORMAT: Literal["parquet", "csv"] = "parquet" if _installed("pyarrow") or _installed("polars") else "csv"


def _scale(type: Any) -> int | None:
    """Digits after the point of a decimal type of pyarrow or polars; None for another type."""
    scale = getattr(type, "scale", None)
    return scale if isinstance(scale, int) else None


def _rounded(values: Any, scale: int | None) -> Any:
    # A decimal can be a little off as a floating-point number. Rounded, it is the one that JSON has.
    return values if scale is None else values.round(scale)


def _of_pyarrow(content: bytes, names: Sequence[str]) -> dict[str, Any]:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(io.BytesIO(content))
    columns: dict[str, Any] = {}
    for name in names:
        column = table.column(name)
        kind = column.type
        if name == "time":
            columns[name] = column.cast(pyarrow.timestamp("ms")).cast(pyarrow.int64()).to_numpy()
        elif pyarrow.types.is_integer(kind):
            columns[name] = column.to_numpy()
        else:
            columns[name] = _rounded(column.cast(pyarrow.float64()).to_numpy(zero_copy_only=False), _scale(kind))
    return columns


def _of_polars(content: bytes, names: Sequence[str]) -> dict[str, Any]:
    import polars

    frame = polars.read_parquet(io.BytesIO(content))
    columns: dict[str, Any] = {}
    for name in names:
        column = frame[name]
        kind = column.dtype
        if name == "time":
            columns[name] = column.dt.epoch("ms").to_numpy()
        elif kind.is_integer():
            columns[name] = column.to_numpy()
        else:
            columns[name] = _rounded(column.cast(polars.Float64).to_numpy(), _scale(kind))
    return columns


def _of_parquet(content: bytes, names: Sequence[str]) -> "pandas.DataFrame":
    """Columns of a file; ``time`` is in milliseconds."""
    read = _of_pyarrow if _installed("pyarrow") else _of_polars
    return to_pandas().DataFrame(read(content, names))


def _of_csv(content: bytes, names: Sequence[str]) -> "pandas.DataFrame":
    # The fast parser of pandas can be off by the last bit.
    return to_pandas().read_csv(io.BytesIO(content), usecols=names, float_precision="round_trip")[[*names]]


def file_frame(content: bytes, start: int, end: int) -> "pandas.DataFrame":
    """The klines of a file with start <= time < end, Unix seconds, as ``klines_frame`` makes them of records."""
    pd = to_pandas()
    if FILE_FORMAT == "csv":
        frame = _of_csv(content, _KLINES)
    else:
        frame = _of_parquet(content, _KLINES)
        frame = frame.assign(time=frame["time"] // 1000)
    if frame["tick_volume"].dtype.kind == "i":
        # A file has 32 bits.
        frame = frame.astype({"tick_volume": "int64"})
    frame = frame[(frame["time"] >= start) & (frame["time"] < end)]
    frame = frame.assign(
        time=pd.to_datetime(frame["time"], unit="s", utc=True),
        spread=known_spreads(frame["spread"]),
        real_volume=frame["real_volume"].astype("float64"),
    )
    return frame.set_index("time")


def _to_digits(values: Any, digits: int) -> Any:
    """Rounded as the service rounds: halves go up."""
    power = float(f"1e{digits}")
    return (values * power + 0.5) // 1 / power


def tick_file_frame(content: bytes, start: int, end: int, digits: int) -> "pandas.DataFrame":
    """
    The ticks of a file with start <= time < end, Unix milliseconds, as ``ticks_frame`` makes them of records. A file has bid and ask
    alone, with all digits that the source gave: here they are rounded to those of the instrument, and the others are made of them.
    """
    pd = to_pandas()
    if FILE_FORMAT == "csv":
        frame = _of_csv(content, TICK_COLUMNS)
    else:
        frame = _of_parquet(content, ["time", "bid", "ask"]).rename(columns={"time": "time_msc"})
        bid, ask = _to_digits(frame["bid"], digits), _to_digits(frame["ask"], digits)
        mid, spread = _to_digits((bid + ask) / 2, digits + 1), _to_digits(ask - bid, digits + 1)
        frame = frame.assign(bid=bid, ask=ask, mid=mid, spread=spread)
    frame = frame[(frame["time_msc"] >= start) & (frame["time_msc"] < end)]
    frame = frame.assign(time_msc=pd.to_datetime(frame["time_msc"], unit="ms", utc=True))
    return frame.set_index("time_msc")


def join_frames(frames: Sequence["pandas.DataFrame"], empty: "pandas.DataFrame") -> "pandas.DataFrame":
    """Parts of a window in one frame, with the attributes of ``empty``, which is that of a window without rows."""
    filled = [frame for frame in frames if len(frame) > 0]
    if not filled:
        return empty
    joined = filled[0] if len(filled) == 1 else to_pandas().concat(filled)
    joined.attrs.update(empty.attrs)
    return joined
