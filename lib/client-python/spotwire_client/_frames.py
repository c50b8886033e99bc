"""Records as DataFrames of pandas, which is needed here alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

from ._contract import KLINE_COLUMNS
from ._error import InvalidArgumentError

if TYPE_CHECKING:
    import pandas

#: Columns of a DataFrame of ticks, and the time before them.
TICK_COLUMNS = ["time_msc", "bid", "ask", "mid", "spread"]
#: The field with the time of a record, and its unit.
_TIMES = {"time": "s", "time_msc": "ms"}


def to_pandas() -> Any:
    """The module, which is needed for frames alone. Raises invalid_argument without it."""
    try:
        import pandas
    except ImportError as missing:
        raise InvalidArgumentError("DataFrames need pandas: pip install pandas") from missing
    return pandas


def to_frame(records: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None) -> "pandas.DataFrame":
    """
    Records as a DataFrame: one row each, indexed by their time in UTC if they have one. For streams, pass the ``data`` of the
    messages. Raises invalid_argument without pandas.
    """
    pd = to_pandas()
    frame = pd.DataFrame.from_records(list(records), columns=columns)
    for name, unit in _TIMES.items():
        if name in frame.columns:
            frame[name] = pd.to_datetime(frame[name], unit=unit, utc=True)
            return frame.set_index(name)
    return frame


def ticks_frame(ticks: Iterable[Mapping[str, Any]], ticker: str) -> "pandas.DataFrame":
    """Ticks of one ticker, which is in ``attrs``, not in a column."""
    frame = to_frame(({name: tick[name] for name in TICK_COLUMNS} for tick in ticks), TICK_COLUMNS)
    frame.attrs.update(ticker=ticker)
    return frame.astype({name: "float64" for name in TICK_COLUMNS[1:] if frame[name].dtype == object})


def klines_frame(klines: Iterable[Mapping[str, Any]], ticker: str, timeframe: str) -> "pandas.DataFrame":
    """Klines of one ticker and timeframe; both are in ``attrs``, not in columns. A spread that is 0 or unknown is NaN."""
    columns = ["time", *KLINE_COLUMNS]
    frame = to_frame(({name: kline[name] for name in columns} for kline in klines), columns)
    frame.attrs.update(ticker=ticker, timeframe=timeframe)
    # Nothing says that columns without a value hold numbers.
    frame = frame.astype({name: "float64" for name in KLINE_COLUMNS if frame[name].dtype == object})
    frame["spread"] = known_spreads(frame["spread"])
    return frame


def known_spreads(spreads: Any) -> Any:
    """Spreads with NaN in place of 0, which records and CSV have where no source knows the spread."""
    numbers = spreads.astype("float64")
    return numbers.where(numbers != 0)
