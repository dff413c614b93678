"""Folders of runs and tables that are damaged or too large: nothing is left out in silence."""

import gzip
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sparselaw.errors import InputError, Notice
from sparselaw.files import limited_to
from sparselaw.fitting.read import read_table
from sparselaw.fitting.trackers import read_events, read_wandb

DATA = Path(__file__).parent / "data"
GIB = 1 << 30


@pytest.fixture
def events(tmp_path):
    writer = pytest.importorskip("tensorboardX", reason="the extra tensorboard is not installed")
    folder = tmp_path / "runs" / "one"
    with writer.SummaryWriter(str(folder), write_to_disk=True) as log:
        for step in range(5):
            log.add_scalar("loss", 3.0 - 0.1 * step, step)
            log.add_scalar("run", 7.0, step)
            log.add_scalar("step", 100.0 + step, step)
    (file,) = folder.iterdir()
    return file


def test_event_files_are_read_whole(events):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read_events([events])
    assert found["loss"].tolist() == pytest.approx([3.0, 2.9, 2.8, 2.7, 2.6], rel=1e-6)
    assert found["step"].tolist() == [0, 1, 2, 3, 4]
    assert found["run (logged)"].tolist() == [7.0] * 5
    assert found["step (logged)"].tolist() == [100.0 + step for step in range(5)]


def test_every_damaged_byte_of_an_event_file_is_noticed(events):
    """Unless it is in the length of the last record, which may be half-written: that is said."""
    content = events.read_bytes()
    for place in range(0, len(content), 7):
        events.write_bytes(content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :])
        with pytest.raises(InputError, match="is damaged"):
            read_events([events])


def test_a_half_written_record_is_said(events):
    content = events.read_bytes()
    for cut in (3, 20):
        events.write_bytes(content[:-cut])
        with pytest.warns(Notice, match="half-written and left out"):
            found = read_events([events])
        assert len(found) == 5


@pytest.mark.parametrize("content", [b"", b"x", b"no event file at all, but longer than a head"])
def test_event_files_that_are_none(content, tmp_path):
    (tmp_path / "events.out.tfevents.1").write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        with pytest.raises(InputError) as refused:
            read_table(tmp_path)
    assert "events.out.tfevents.1" in str(refused.value)


def test_an_unreadable_event_file_is_named(events, monkeypatch):
    def refuse(_self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(InputError, match=r"may not be read \(Permission denied\)"):
        read_table(events.parents[1])


def test_an_unreadable_folder_of_runs_is_named(events, monkeypatch):
    locked = events.parents[1] / "locked"
    locked.mkdir()
    scandir = os.scandir

    def refusing(path):
        if str(path) == str(locked):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(InputError, match="locked: may not be read"):
        read_table(events.parents[1])


@pytest.fixture
def wandb(tmp_path):
    folder = shutil.copytree(DATA / "wandb", tmp_path / "wandb")
    return sorted(folder.glob("*.wandb"))[0]


def test_damaged_runs_of_wandb_are_noticed(wandb):
    content = wandb.read_bytes()
    assert len(read_wandb(wandb)) > 0
    for place in range(7, min(len(content), 4000), 97):
        wandb.write_bytes(content[:place] + bytes([content[place] ^ 0x41]) + content[place + 1 :])
        with warnings.catch_warnings():
            warnings.simplefilter("error", Notice)
            with pytest.raises((InputError, Notice)):
                read_table(wandb)


def field(number, content):
    return bytes([number << 3 | 2]) + varint(len(content)) + content if number < 16 else (
        varint(number << 3 | 2) + varint(len(content)) + content
    )  # fmt: skip


def varint(value):
    found = b""
    while value > 127:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])


def write_wandb(path, records):
    import zlib

    content = b":W&B" + struct.pack("<HB", 0xBEE1, 0)
    for record in records:
        check = zlib.crc32(record, zlib.crc32(b"\x01"))
        content += struct.pack("<IHB", check, len(record), 1) + record
    path.write_bytes(content)


def item(name, value):
    return field(1, field(1, name.encode()) + field(16, json.dumps(value).encode()))


def test_a_config_named_run_and_a_metric_named_run_are_kept(tmp_path):
    history = [field(2, item("loss", 3.0 - s) + item("run", 5.0) + item("_step", s)) for s in range(3)]
    write_wandb(tmp_path / "run-a.wandb", [field(5, item("run", "mine") + item("N", 10)), *history])
    found = read_wandb(tmp_path / "run-a.wandb")
    assert set(found["run"]) == {"run-a"}
    assert set(found["run (config)"]) == {"mine"}
    assert set(found["run (logged)"]) == {5.0}
    assert set(found["N"]) == {10}


def test_messages_without_an_end(tmp_path):
    for record in (
        field(2, b"\xff" * 4000),
        field(2, b"\x0a\xff\x7f"),
        b"\xff" * 500,
        field(2, field(1, b"\x0b")),
        field(2, item("loss", 3.0) + field(1, field(1, b"D") + field(16, b'"\xff\xfe"'))),
        field(2, item("loss", 3.0) + field(1, field(1, b"D\xff") + field(16, b"1"))),
    ):
        write_wandb(tmp_path / "run-a.wandb", [record])
        with pytest.raises(InputError):
            read_table(tmp_path / "run-a.wandb")


DEEP = "[" * 100_000 + "]" * 100_000


def test_deep_nesting_is_refused_everywhere(tmp_path):
    deep = field(2, field(1, field(1, b"loss") + field(16, DEEP[:20_000].encode() + b"]" * 20_000)))
    write_wandb(tmp_path / "x.wandb", [deep])
    (tmp_path / "x.json").write_text(DEEP)
    (tmp_path / "y.json").write_text('{"a":' * 50_000 + "1" + "}" * 50_000)
    (tmp_path / "x.jsonl").write_text('{"a":' * 50_000 + "1" + "}" * 50_000 + "\n")
    for name in ("x.wandb", "x.json", "y.json", "x.jsonl"):
        with pytest.raises(InputError) as refused:
            read_table(tmp_path / name)
        assert "\n" not in str(refused.value)


def test_columns_given_twice_in_a_folder_and_in_a_chart(tmp_path):
    (tmp_path / "a.csv").write_text("N,D,loss,loss\n1,2,3,4\n2,3,4,5\n")
    (tmp_path / "b.csv").write_text("N,D,loss\n1,2,3\n")
    with pytest.raises(InputError, match="has the column loss twice"):
        read_table(tmp_path)
    (tmp_path / "a.csv").write_text("Step,one - loss,one - loss\n1,2,3\n2,3,4\n")
    (tmp_path / "b.csv").unlink()
    with pytest.raises(InputError, match="has the column one - loss twice"):
        read_table(tmp_path)


@pytest.mark.parametrize("name", ["x.csv.gz", "x.json.gz", "x.jsonl.gz", "x.tsv.gz"])
@pytest.mark.parametrize("cut", [5, 12, 25, -3])
def test_damaged_gz(name, cut, tmp_path):
    content = gzip.compress(b"N,D,loss\n" + b"1,2,3\n" * 40)
    for damaged in (content[:cut], content[:14] + b"\xee\xee" + content[16:], b"no gzip at all"):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(InputError):
            read_table(tmp_path / name)


def fitted(path, *options, memory=3 * GIB):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    done = subprocess.run(
        [sys.executable, "-m", "sparselaw", "fit", str(path), *options],
        capture_output=True, text=True, preexec_fn=limit, timeout=120,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_one_cell_far_out_in_a_sheet(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="the extra excel is not installed")
    book = openpyxl.Workbook()
    for row in (("N", "D", "loss"), (1, 2, 3.0), (2, 3, 2.5)):
        book.active.append(row)
    book.save(tmp_path / "x.xlsx")
    assert len(read_table(tmp_path / "x.xlsx")) == 2
    book.active["XFD1048576"] = 1
    book.save(tmp_path / "x.xlsx")
    assert "a sheet of 1048576 rows and 16384 columns needs" in fitted(tmp_path / "x.xlsx")


def test_packed_tables_have_a_limit(tmp_path):
    for name, part in {  # parts that are packed once and follow each other unpack as one file
        "x.csv": b"100,200,3\n" * 100_000,
        "y.csv": b"7" * 1_000_000,
        "x.json": b" " * 1_000_000,
    }.items():
        start = gzip.compress(b"N,D,loss\n") if name == "x.csv" else b""
        path = tmp_path / f"{name}.gz"
        path.write_bytes(start + 600 * gzip.compress(part, compresslevel=1))
        assert "--max-size" in fitted(path)
    with (
        zipfile.ZipFile(tmp_path / "x.xlsx", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("xl/worksheets/sheet1.xml", "w") as member,
    ):
        for _ in range(600):
            member.write(b" " * 1_000_000)
    assert "--max-size" in fitted(tmp_path / "x.xlsx")


def test_a_column_of_one_value_in_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    same = pyarrow.array(np.ones(1_000_000))
    table = pyarrow.table({"N": same, "D": same, "loss": same})
    with parquet.ParquetWriter(tmp_path / "x.parquet", table.schema) as file:
        for _ in range(30):
            file.write_table(table)
    assert "--max-size" in fitted(tmp_path / "x.parquet")
    nested = pyarrow.table({"N": [[1, 2], [3]], "D": [{"a": 1}, {"a": 2}], "loss": [1.0, 2.0]})
    parquet.write_table(nested, tmp_path / "y.parquet")
    fitted(tmp_path / "y.parquet")


def test_the_limit_of_a_line_and_of_standard_input(tmp_path, monkeypatch):
    (tmp_path / "x.csv").write_text("N,D,loss\n" + "1" * 7_000_000 + ",2,3\n")
    with pytest.raises(InputError, match="has a line of more than 1 MB"), limited_to(8 << 20):
        read_table(tmp_path / "x.csv")
    with open(tmp_path / "x.csv", "rb") as file:
        monkeypatch.setattr("sys.stdin", type("In", (), {"buffer": file}))
        with pytest.raises(InputError, match="what is piped in needs"), limited_to(1 << 20):
            read_table("-")


def test_real_tables_are_read_as_before(tmp_path):
    frame = pd.DataFrame({"N": [1e6, 2e6], "D": [1e8, 2e8], "loss": [3.0, 2.9]})
    frame.to_csv(tmp_path / "x.csv.gz", index=False)
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_json(tmp_path / "x.jsonl.gz", lines=True, orient="records")
    for name in ("x.csv.gz", "x.csv", "x.jsonl.gz"):
        pd.testing.assert_frame_equal(read_table(tmp_path / name), frame, check_dtype=False)
