#!/usr/bin/env python3
"""What python-dateutil says of some thousand random recurrence rules, one line each:

    rule <TAB> dtstart <TAB> up to this year <TAB> how many <TAB> first <TAB> last <TAB> checksum of all

Local times without a zone: gaps and folds are not dateutil's business. The rules keep clear of what dateutil itself
documents as open (weeks of the year that reach over its ends, plain and numbered days of the week mixed, positions in
a first week that is cut off) and of what RFC 5545 forbids.

    dateutil_oracle.py            writes dateutil.tsv beside it
    dateutil_oracle.py --check    fails if that would change it
    dateutil_oracle.py --show RULE DTSTART

Needs python-dateutil 2.9.
"""

import datetime
import itertools
import pathlib
import random
import sys

from dateutil import rrule as dateutil_rrule
from dateutil.rrule import rrulestr

RULES = 3000
OCCURRENCES = 50
SEED = 5545
DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
# However sparse a rule is, no more years than this: dateutil walks.
YEARS = {"YEARLY": 150, "MONTHLY": 40, "WEEKLY": 20, "DAILY": 10, "HOURLY": 3, "MINUTELY": 1}


class Over(Exception):
    """A year that is too late."""


def some(choose, pool, most):
    return sorted(choose.sample(pool, choose.randint(1, min(most, len(pool)))))


def either_end(choose, highest, most):
    return some(choose, [n for n in range(-highest, highest + 1) if n], most)


def numbered(choose, freq, months):
    most = 5 if freq == "MONTHLY" or months else 53
    return [f"{choose.choice([n for n in range(-most, most + 1) if n])}{day}" for day in some(choose, DAYS, 3)]


def random_rule(choose):
    freq = choose.choice(["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY"])
    chance = lambda share: choose.random() < share
    parts, dates, times = {"FREQ": freq}, {}, {}
    if chance(0.5):
        parts["INTERVAL"] = choose.choice([2, 3, 4, 5, 6, 7, 10, 12, 15, 24, 30, 36, 90])
    if chance(0.5):
        parts["WKST"] = choose.choice(DAYS)
    if chance(0.3):
        dates["BYMONTH"] = some(choose, range(1, 13), 4)
    if freq == "YEARLY" and chance(0.15):
        dates["BYWEEKNO"] = some(choose, [n for n in range(-50, 51) if n and n not in (-1, 1)], 4)
    if freq in ("YEARLY", "HOURLY", "MINUTELY") and chance(0.15):
        dates["BYYEARDAY"] = either_end(choose, 366, 8)
    if freq != "WEEKLY" and chance(0.3):
        dates["BYMONTHDAY"] = either_end(choose, 31, 5)
    if chance(0.4):
        number = freq in ("YEARLY", "MONTHLY") and "BYWEEKNO" not in dates and chance(0.5)
        dates["BYDAY"] = numbered(choose, freq, "BYMONTH" in dates) if number else some(choose, DAYS, 5)
    if chance(0.4):
        times["BYHOUR"] = some(choose, range(24), 4)
    if chance(0.4):
        times["BYMINUTE"] = some(choose, range(60), 3)
    if chance(0.2):
        times["BYSECOND"] = some(choose, range(60), 3)
    if (dates or times) and chance(0.25):
        parts["BYSETPOS"] = either_end(choose, choose.choice([3, 10, 50]), 4)
    start = datetime.datetime(1990, 1, 1) + datetime.timedelta(seconds=choose.randrange(40 * 366 * 86400))
    if chance(0.5):
        start = start.replace(minute=0, second=0)
    if freq == "WEEKLY" and "BYSETPOS" in parts:
        week_start = DAYS.index(parts.get("WKST", "MO"))
        start -= datetime.timedelta(days=(start.weekday() - week_start) % 7)
    if chance(0.2):
        parts["COUNT"] = choose.randint(1, 60)
    elif chance(0.2):
        until = start + datetime.timedelta(days=choose.choice([1, 30, 400, 4000]), seconds=choose.randrange(86400))
        parts["UNTIL"] = until.strftime("%Y%m%dT%H%M%S")
    parts.update(dates)
    parts.update(times)
    text = lambda value: ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return ";".join(f"{name}={text(value)}" for name, value in parts.items()), start


def last_year(rule, start):
    return start.year + YEARS[rule.split(";")[0].removeprefix("FREQ=")]


def occurrences(rule, start):
    last = last_year(rule, start)
    rebuild = dateutil_rrule._iterinfo.rebuild

    def bounded(self, year, month):
        if year > last:
            raise Over
        return rebuild(self, year, month)

    dateutil_rrule._iterinfo.rebuild = bounded
    found = []
    try:
        for at in itertools.islice(rrulestr(rule, dtstart=start), OCCURRENCES):
            found.append(at)
    except Over:
        pass
    finally:
        dateutil_rrule._iterinfo.rebuild = rebuild
    return [at for at in found if at.year <= last]


def checksum(found):
    """FNV-1a over the texts."""
    value = 0xCBF29CE484222325
    for at in found:
        for byte in at.strftime("%Y%m%dT%H%M%S").encode():
            value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def lines():
    choose = random.Random(SEED)
    made = 0
    while made < RULES:
        rule, start = random_rule(choose)
        try:
            found = occurrences(rule, start)
        except ValueError:
            # dateutil refuses some rules that never happen.
            continue
        made += 1
        shown = [at.isoformat() for at in (found[0], found[-1])] if found else ["-", "-"]
        yield "\t".join([rule, start.isoformat(), str(last_year(rule, start)), str(len(found)), *shown, checksum(found)])


def main():
    if sys.argv[1:2] == ["--show"]:
        for at in occurrences(sys.argv[2], datetime.datetime.fromisoformat(sys.argv[3])):
            print(at.isoformat())
        return
    file = pathlib.Path(__file__).with_name("dateutil.tsv")
    text = "".join(f"{line}\n" for line in lines())
    if sys.argv[1:] == ["--check"]:
        if file.read_text() != text:
            sys.exit(f"{file} is not what this script writes; run it without --check")
        return
    file.write_text(text)


main()
