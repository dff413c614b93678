"""Drawing sparse and dense inputs, and the sums over coordinates that go with them."""
