"""Turns the texts of dates, times, durations and exact decimals into values, and those values back into texts.

The same spellings are used by string literals of the language and by JSON.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?([Zz]|[+-]\d{2}:?\d{2})", re.ASCII)
_ISO_DURATION = re.compile(
    r"(-)?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,6})?)S)?)?", re.ASCII
)
_SHORT_DURATION = re.compile(r"(-)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d{1,6})?)s)?", re.ASCII)
_DECIMAL = re.compile(r"-?\d{1,100}(\.\d{1,100})?", re.ASCII)
_RATIO = re.compile(r"(-?\d{1,200})/(\d{1,200})", re.ASCII)
_INT = re.compile(r"-?\d{1,100}", re.ASCII)
_FEW = 9  # digits of a duration's part: more than anyone means, and never an overflow


def parse_date(text: str) -> date | None:
    """``2026-12-01``, or ``None`` if the text is no date."""
    if not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def parse_time(text: str) -> datetime | None:
    """``2026-12-01T09:00:00Z`` (an offset is required: an instant is meant), in UTC, or ``None``."""
    if not _TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text.upper().replace(" ", "T")).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parse_duration(text: str) -> timedelta | None:
    """``PT1H30M``, ``P2D`` or the short ``1h30m``, ``2d``, ``90s``; ``None`` if the text is no duration."""
    match = _ISO_DURATION.fullmatch(text) or _SHORT_DURATION.fullmatch(text)
    if match is None or not any(match.groups()[1:]) or text.endswith("T"):
        return None
    sign, *parts = match.groups()
    if any(p is not None and len(p.partition(".")[0]) > _FEW for p in parts):
        return None
    weeks, days, hours, minutes = (int(p or 0) for p in parts[:4])
    whole, _, micro = (parts[4] or "0").partition(".")
    seconds = timedelta(seconds=int(whole), microseconds=int(micro.ljust(6, "0") or 0))
    try:
        total = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes) + seconds
    except OverflowError:
        return None
    return -total if sign else total


def parse_decimal(text: str) -> Fraction | None:
    """``98.70``, ``-3`` or an exact ratio ``1/3``; ``None`` if the text is no decimal."""
    if _DECIMAL.fullmatch(text):
        return Fraction(text)
    ratio = _RATIO.fullmatch(text)
    if ratio and int(ratio[2]):
        return Fraction(int(ratio[1]), int(ratio[2]))
    return None


def parse_int(text: str) -> int | None:
    return int(text) if _INT.fullmatch(text) else None


def show_time(value: datetime) -> str:
    text = value.astimezone(UTC).isoformat()
    return text.removesuffix("+00:00") + "Z"


def show_duration(value: timedelta) -> str:
    """The ISO 8601 text in days, hours, minutes and seconds."""
    sign, value = ("-", -value) if value < timedelta(0) else ("", value)
    hours, rest = divmod(value.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    fraction = f".{value.microseconds:06d}".rstrip("0") if value.microseconds else ""
    clock = "".join(f"{n}{u}" for n, u in ((hours, "H"), (minutes, "M")) if n)
    clock += f"{seconds}{fraction}S" if seconds or fraction else ""
    days = f"{value.days}D" if value.days else ""
    if not days and not clock:
        return "PT0S"
    return f"{sign}P{days}" + (f"T{clock}" if clock else "")


def show_decimal(value: Fraction | int) -> str:
    """The shortest exact decimal (``98.7``), or ``n/d`` where no finite decimal exists."""
    value = Fraction(value)
    twos = fives = 0
    rest = value.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    places = max(twos, fives)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)
