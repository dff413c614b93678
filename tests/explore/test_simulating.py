"""Loss surface and trials in a real browser."""

DESK = {"viewport": {"width": 1280, "height": 900}}


def start(page):
    page.get_by_role("button", name="Start", exact=True).click()


def test_the_surface_marks_its_peak_and_says_where_to_be_careful(watch):
    page = watch(**DESK).open("?view=surface&D=300&low=4&high=300")
    assert "K(D)" in page.inner_text(".marks")
    assert "unlimited data" in page.inner_text(".legend")
    assert "double-descent peak" in page.inner_text(".extra")
    page.get_by_role("button", name="Show as table").click()
    assert "double-descent peak" in page.inner_text(".scroll table")


def test_points_appear_keep_their_parameters_and_fade(watch):
    watched = watch(**DESK)
    page = watched.open("?view=surface&surface=leading&D=100&low=4&high=100&sizes=4,40&seeds=4")
    page.wait_for_selector(".estimate:has-text('8 runs in 2 cells, about')")
    start(page)
    page.wait_for_selector(".simulate[data-state=done]")
    assert page.inner_text(".estimate") == "Done: 8 runs."
    assert "simulated, D = 100" in page.inner_text(".legend")
    page.get_by_role("button", name="Show as table").click()
    rows = page.locator(".scroll tbody tr:has-text('simulated')").all_inner_texts()
    assert len(rows) == 2
    page.fill("[data-control=alpha1] input[type=number]", "1.2")
    watched.settled("alpha1=1.2")
    page.wait_for_selector(".legend:has-text('at α₁ = 1, α₂ = 0.3')")
    assert page.locator(".scroll tbody tr:has-text('simulated')").count() == 2
    page.get_by_role("button", name="Clear points").click()
    page.wait_for_selector(".legend:not(:has-text('simulated'))")


def test_a_simulation_is_cancelled_and_keeps_what_is_finished(watch, served):
    page = watch(**DESK).open("?view=surface&surface=leading&D=100&low=4&high=100&sizes=4:64:5&seeds=900")
    start(page)
    page.wait_for_selector(".estimate:has-text('runs done')")
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector(".simulate[data-state=cancelled]")
    assert "finished runs are kept" in page.inner_text(".estimate")
    assert "simulated" in page.inner_text(".legend")
    assert page.get_by_role("button", name="Start", exact=True).is_enabled()
    assert served.session.idle.wait(60)


def test_what_cannot_be_simulated_is_refused_before_it_starts(watch):
    watched = watch(**DESK)
    refusals = {
        "seeds=90000": "ask for at most",
        "seeds=0": "must be at least 1",
        "sizes=4,x": "is not a number",
    }
    for query, words in refusals.items():
        page = watched.open(f"?view=surface&surface=leading&D=100&low=4&high=100&{query}")
        page.wait_for_selector(f".estimate:has-text('{words}')")
        assert page.get_by_role("button", name="Start", exact=True).is_disabled()
