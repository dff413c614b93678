"""What logs look like in the wild, and what is said of each."""

import gzip
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import sparselaw as sl
from sparselaw.curves.log_tables import RunRows
from sparselaw.curves.logs import find_warmup, has_diverged, is_smoothed, make_logs, scatter
from sparselaw.curves.schedules import written_schedule


def curve(text="cosine:10000", warmup=500, every=50, seed=0, noise=3e-4, floor=3.0, first=None):
    schedule = written_schedule(text, peak=3e-4, warmup=warmup)
    step = np.arange(every if first is None else first, schedule.last + 1, every)
    low = 0.1 * (1 - schedule.rate(step) / 3e-4)
    generator = np.random.Generator(np.random.PCG64(seed))
    loss = (floor + 0.4 * (schedule.tau(step) / schedule.taus[-1]) ** -0.5 - low) * np.exp(
        noise * generator.standard_normal(step.size)
    )
    return pd.DataFrame({"step": step, "lr": schedule.rate(step), "loss": loss})


def said(found, words):
    return [w for w in found.warnings if words in w]


def test_tables_frames_arrays_and_mappings_are_one():
    one, two = curve(), curve("constant:8000", seed=1)
    long = pd.concat([one.assign(run="a"), two.assign(run="b")])
    arrays = {"a": tuple(one.to_numpy().T), "b": tuple(two.to_numpy().T)}
    results = [sl.fit_curves(source) for source in (long, {"a": one, "b": two}, arrays)]
    ends = [[c.final for c in r.curves] for r in results]
    assert ends[0] == ends[1] == ends[2]
    assert [c.run for c in results[0].curves] == ["a", "b"]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl"])
def test_files_and_folders(tmp_path, ending):
    for name, text in (("a", "cosine:10000"), ("b", "constant:8000")):
        file = tmp_path / f"{name}{ending}"
        table = curve(text).rename(columns={"lr": "learning_rate", "loss": "train/loss", "step": "_step"})
        if ending == ".jsonl":
            table.to_json(file, orient="records", lines=True)
        else:
            table.to_csv(file, index=False)
    found = sl.fit_curves(tmp_path)
    assert [c.run for c in found.curves] == ["a", "b"]
    assert said(found, "the loss is the column train/loss")
    each = sl.fit_curves([tmp_path / f"a{ending}", tmp_path / f"b{ending}"])
    assert [c.final for c in each.curves] == [c.final for c in found.curves]


def test_logs_of_one_name_in_folders_of_their_own_are_runs(tmp_path):
    for name, text in (("a", "cosine:10000"), ("b", "constant:8000")):
        (tmp_path / name).mkdir()
        curve(text).to_csv(tmp_path / name / "log.csv", index=False)
    found = sl.fit_curves(tmp_path)
    assert [c.run for c in found.curves] == ["a/log.csv", "b/log.csv"]
    assert not said(found, "steps go back")


def test_tokens_stand_for_steps():
    table = curve().rename(columns={"step": "tokens"})
    found = sl.fit_curves(table, schedules="cosine:20000")
    assert found.clock == "tokens"
    assert said(found, "no steps: tokens is taken")
    same = sl.fit_curves(curve(), schedules="cosine:20000")
    assert found.schedules[0].final == same.schedules[0].final


def test_a_million_lines_are_read_in_chunks(tmp_path):
    rows = 1_000_000
    step = np.arange(1, rows + 1)
    schedule = written_schedule(f"cosine:{rows}", peak=3e-4, warmup=10_000)
    generator = np.random.Generator(np.random.PCG64(0))
    smooth = (
        3.0 + 0.4 * (schedule.tau(step) / schedule.taus[-1]) ** -0.5 - 0.1 * (1 - schedule.rate(step) / 3e-4)
    )
    loss = smooth * np.exp(0.02 * generator.standard_normal(rows))
    file = tmp_path / "long.csv"
    with file.open("w") as out:
        out.write("step,lr,loss,comment\n")
        for part in np.array_split(np.arange(rows), 100):
            lines = zip(step[part], schedule.rate(step[part]), loss[part], strict=True)
            out.write("".join(f"{s},{r:.6g},{v:.5g},a word or two\n" for s, r, v in lines))
    del step, loss
    tracemalloc.start()
    logs, _, _ = make_logs(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6  # the columns alone would take 24 MB, the words 60 MB more
    (log,) = logs
    assert 2_000 < log.step.size <= 8_000
    assert log.last > 0.999 * rows
    # each mean is over 128 or 256 rows: 2 % over 11 at most, 6 z
    expected = np.interp(log.step, np.arange(1, rows + 1), smooth)
    assert np.abs(np.log(log.loss / expected))[50:].max() < 6 * 0.02 / 11
    assert abs(log.schedule.warmup - 10_000) < 300


def test_warm_up_is_found_given_or_assumed():
    seen = curve(warmup=1000)
    assert find_warmup(seen["step"].to_numpy(), seen["lr"].to_numpy()) == (1000.0, False)
    late = curve(warmup=1000, first=1000)
    assert find_warmup(late["step"].to_numpy(), late["lr"].to_numpy()) == (1000.0, True)
    assert find_warmup(np.arange(50.0, 500, 50), np.ones(9)) == (0.0, False)
    assert said(sl.fit_curves(late), "a straight warm-up until there is assumed")
    assert not said(sl.fit_curves(late, warmup=1000), "warm-up")
    with_it = sl.fit_curves(seen, schedules="wsd:8000,10000").schedules[0].final
    without = sl.fit_curves(late, schedules="wsd:8000,10000").schedules[0].final
    assert with_it.best == pytest.approx(without.best, rel=1e-3)


def test_rows_without_a_loss_are_dropped_and_those_ahead_are_the_plan():
    table = curve()
    table.loc[[20, 30, 31], "loss"] = [np.nan, np.inf, -1.0]
    table.loc[120:, "loss"] = np.nan
    found = sl.fit_curves(table)
    assert said(found, "3 rows without a usable loss")
    (end,) = found.curves
    assert end.seen == pytest.approx(120 / 200)
    assert end.steps == 10_000
    assert end.final.contains(curve()["loss"].iloc[-1])


def test_steps_that_go_back_are_a_restart():
    table = curve()
    spoilt = table.iloc[80:110].assign(loss=9.0)
    restarted = pd.concat([table.iloc[:80], spoilt, table.iloc[80:]])
    found = sl.fit_curves(restarted)
    assert said(found, "steps go back once")
    assert found.curves[0].final == sl.fit_curves(table).curves[0].final


def test_a_restart_across_chunks_is_the_same():
    rows = np.column_stack([curve().to_numpy(), np.full((200, 3), np.nan)])
    back = np.concatenate([rows[:110], rows[80:]])
    whole, parts = RunRows("a"), RunRows("a")
    whole.add(back)
    for part in np.array_split(back, 7):
        parts.add(part)
    np.testing.assert_array_equal(whole.rows, parts.rows)
    assert whole.restarts == parts.restarts == 1


def test_diverged_curves_are_left_out():
    bad = curve(seed=2)
    bad.loc[150:, "loss"] *= np.linspace(1.0, 2.0, 50)
    assert has_diverged(bad["loss"].to_numpy())
    assert not has_diverged(curve()["loss"].to_numpy())
    found = sl.fit_curves({"good": curve(), "bad": bad})
    assert [c.run for c in found.curves] == ["good"]
    assert said(found, "bad: diverged, and is left out")
    assert found.status == "diverged"
    with pytest.raises(sl.InputError, match="diverged"):
        sl.fit_curves({"bad": bad})


def test_smoothing_is_seen_and_said():
    table = curve(every=25, noise=5e-3)
    assert not is_smoothed(table["loss"].to_numpy())
    smooth = table.assign(loss=table["loss"].ewm(alpha=0.1).mean())
    assert is_smoothed(smooth["loss"].to_numpy())
    found = sl.fit_curves(smooth)
    assert said(found, "looks smoothed")
    assert "half as wide again" in found.warnings[-1]


def test_smoothing_is_not_seen_where_there_is_none():
    """White noise, 300 logs of 150 points: 3 standard errors below the limit, 0.4 expected."""
    wrong = 0
    for seed in range(300):
        loss = curve(every=67, noise=3e-3, seed=seed)["loss"].to_numpy()
        wrong += is_smoothed(loss)
    assert wrong <= 3


def test_a_rate_that_rises_again_is_said():
    table = curve()
    table.loc[table["step"] > 8000, "lr"] = 2e-4
    assert said(sl.fit_curves(table), "the rate rises again after the warm-up")


def test_a_batch_that_changes_is_said():
    table = curve().assign(batch_size=256)
    assert not said(sl.fit_curves(table), "batch")
    table.loc[100:, "batch_size"] = 512
    assert said(sl.fit_curves(table), "the batch changes on the way")
    tokens = curve()
    tokens["tokens"] = np.where(tokens["step"] < 5000, tokens["step"], 2 * tokens["step"] - 5000) * 1000.0
    assert said(sl.fit_curves(tokens), "data per step change on the way")


def test_branches_count_their_trunk_once():
    trunk = curve("constant:10000")
    branch = curve("wsd:8000,10000", noise=0.0)
    same = branch["step"] <= 8000
    branch.loc[same, "loss"] = trunk.loc[same, "loss"]
    logs = make_logs({"trunk": trunk, "branch": branch})[0]
    assert logs[1].own == np.count_nonzero(same)
    assert logs[1].trunk == "trunk"
    other = make_logs({"trunk": trunk, "other": curve("constant:10000", seed=5)})[0]
    assert other[1].own == 0


def test_scatter_of_white_noise():
    loss = np.exp(0.01 * np.random.Generator(np.random.PCG64(0)).standard_normal(4000))
    assert scatter(loss) == pytest.approx(0.01, rel=0.08)  # error of a MAD of 3,000 dependent values: 2-3 %


@pytest.mark.parametrize(
    ("spoil", "settings", "words"),
    [
        (lambda t: t.drop(columns="lr"), {}, "without the schedule nothing can be said"),
        (lambda t: t.drop(columns="loss"), {}, "no column for the loss"),
        (lambda t: t.drop(columns="step"), {}, "no column for steps, tokens or samples"),
        (lambda t: t.assign(lr=0.0), {}, "is no learning rate"),
        (lambda t: t.assign(loss=np.nan), {}, "no run has a loss that can be used"),
        (lambda t: t.iloc[::40], {}, "fewer than the 8 that a fit needs"),
        (lambda t: t, {"shape": "constant"}, "is not the rate that"),
        (lambda t: t, {"shape": "cosine", "steps": 5000}, "is not the rate that"),
        (lambda t: t.drop(columns="lr"), {"shape": "cosine"}, "is missing"),
        (lambda t: t, {"schedules": "cosine"}, "is not a number"),
        (lambda t: t, {"schedules": "wsd:1000"}, "needs 2 numbers of steps"),
        (lambda t: t, {"schedules": "wsd:9000,8000"}, "steps out of order"),
        (lambda t: t, {"schedules": "zigzag:100"}, "is neither a shape nor a file"),
        (lambda t: t, {"schedules": "cosine:100,lr=-1"}, "must be positive"),
        (lambda t: t, {"schedules": ([1.0, 2.0, 1.5], [1.0, 1.0, 1.0])}, "not a list of growing steps"),
        (lambda t: t, {"columns": {"speed": "lr"}}, "is not a role"),
        (lambda t: t, {"columns": {"lr": "rate"}}, "is not in the table"),
        (lambda t: t, {"warmup": -1}, "must not be negative"),
        (lambda t: t.assign(N=1e8), {"N": 2e8, "schedules": "cosine:9000"}, "is not the size of the curves"),
        (lambda t: t, {"present": "x", "schedules": "cosine:20000"}, "is no run of the curves"),
    ],
)
def test_refusals_are_one_line(spoil, settings, words):
    with pytest.raises(sl.InputError, match=words) as error:
        sl.fit_curves(spoil(curve()), **settings)
    assert "\n" not in str(error.value)


def test_a_rate_that_is_not_logged_is_given():
    table = curve(warmup=0)
    bare = table.drop(columns="lr")
    with_it = sl.fit_curves(table, warmup=0)
    given = sl.fit_curves(bare, lr=3e-4, shape="cosine", steps=10_000)
    assert given.curves[0].final.best == pytest.approx(with_it.curves[0].final.best, rel=2e-4)
    running = sl.fit_curves(bare.iloc[:100], lr=3e-4, shape="cosine", steps=10_000)
    assert running.curves[0].seen == pytest.approx(0.5)


def test_a_broken_large_file_is_refused_in_one_line(tmp_path):
    file = tmp_path / "broken.csv.gz"
    line = b"1,2,3\n" * 2_000_000
    noise = np.random.Generator(np.random.PCG64(0)).bytes(6_000_000)
    file.write_bytes(gzip.compress(b"step,lr,loss\n" + line[:600]) + noise)
    with pytest.raises(sl.InputError) as error:
        sl.fit_curves(file)
    assert "\n" not in str(error.value)


def test_noise_is_no_misfit_and_mixed_models_are():
    noisy = curve(noise=0.03)
    assert sl.fit_curves(noisy).status == "one-curve"
    mixed = sl.fit_curves({"small": curve(floor=3.3), "large": curve(floor=3.0)})
    assert mixed.status == "misfit"
    assert said(mixed, "is N known?")


def test_a_folder_of_event_files(tmp_path):
    tensorboardX = pytest.importorskip(
        "tensorboardX", reason="tensorboardX is not installed: pip install 'sparselaw[tensorboard]'"
    )
    for name, text in (("a", "cosine:10000"), ("b", "constant:8000")):
        with tensorboardX.SummaryWriter(str(tmp_path / name)) as writer:
            for step, rate, loss in curve(text, every=100).itertuples(index=False):
                writer.add_scalar("train/loss", loss, int(step))
                if step % 200 == 0 or step < 600:
                    writer.add_scalar("train/lr", rate, int(step))  # rates less often than losses
    found = sl.fit_curves(tmp_path)
    assert [c.run for c in found.curves] == ["a", "b"]
    whole = sl.fit_curves({"a": curve(every=100), "b": curve("constant:8000", every=100)})
    for one, other in zip(found.curves, whole.curves, strict=True):
        assert one.final.best == pytest.approx(other.final.best, rel=1e-3)


def test_charts_exported_from_wandb(tmp_path):
    """One file for each chart, in it a column for each run."""
    runs = {"a": curve("cosine:10000"), "b": curve("constant:10000")}
    for metric, column in (("train/loss", "loss"), ("lr", "lr")):
        chart = pd.DataFrame({"Step": runs["a"]["step"]})
        for run, table in runs.items():
            chart[f"{run} - {metric}"] = table[column]
            chart[f"{run} - {metric}__MAX"] = table[column]
        chart.to_csv(tmp_path / f"export_{column}.csv", index=False)
    found = sl.fit_curves(tmp_path)
    same = sl.fit_curves(runs)
    assert [c.final.best for c in found.curves] == pytest.approx([c.final.best for c in same.curves])


def test_a_rate_that_is_a_setting_is_no_schedule():
    """One number for each run, as settings are listed beside checkpoints: the schedule is not known."""
    step = np.arange(100.0, 5001.0, 100.0)
    runs = {f"r{i}": (step, np.full(50, lr), 3 + (step / 1000) ** -0.5) for i, lr in enumerate((1e-4, 3e-4))}
    with pytest.raises(sl.InputError, match="is one number for each run: a setting, not its schedule"):
        make_logs(runs)
    assert [log.schedule.peak for log in make_logs(runs, shape="constant")[0]] == [1e-4, 3e-4]
    same = {name: (step, np.full(50, 3e-4), loss) for name, (_, _, loss) in runs.items()}
    assert len(make_logs(same)[0]) == 2
