"""Beyond the paper: trained networks. Does the theory of frozen features survive feature learning?

The statements that are judged here were found by small experiments before this code was written. They are
tried again on new seeds, at the settings of those experiments and at one more.
"""

from __future__ import annotations

from sparselaw.experiments.paper import network_data_side, network_facts, network_width_side
from sparselaw.experiments.paper.item import Context, Item, Result
from sparselaw.experiments.paper.network_picture import draw
from sparselaw.experiments.paper.network_runs import run_all


def make(context: Context) -> Result:
    found = run_all(context)
    quantities = [
        network_data_side.bound(found),
        *network_data_side.flat(found),
        *network_data_side.levels(found),
        *network_width_side.widths(found),
        *network_width_side.peak(found),
        network_width_side.one_unit(found),
        network_data_side.momentum(found["momentum"]),
        *network_facts.facts(found),
        network_facts.transformer(found),
    ]
    if "dense" in found:
        quantities.append(network_data_side.dense(found["dense"]))
    return Result(
        quantities=quantities,
        rows=[row for experiment in found.values() for row in experiment.rows()],
        caption=(
            "Left: loss over the unseen variance of the same data, networks trained end to end (bars: 95 % "
            "over seeds). Middle: two-layer linear networks of m = 256 outputs at their exact optimum, and "
            "frozen features; lines: closed form. Right: facts, the error rate of trained embeddings beside "
            "what was not seen, and of frozen ones against their width."
        ),
        draw=lambda figure: draw(figure, found),
        size=(11.0, 4.0),
        notes=[
            "No statement here is the paper's, which freezes the first layer: they were found by earlier, "
            "smaller experiments. The verdict compares with the earlier number.",
            "A cell whose training loss is above 5 % of its loss is left out of a slope; where too few are "
            "left, no exponent is given.",
        ],
    )


ITEM = Item(name="beyond-networks", title="Trained networks: what survives feature learning", make=make)
