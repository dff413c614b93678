"""No test reads or writes the runs that the user keeps."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.getbasetemp() / "user"
    folder.mkdir(exist_ok=True)
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA", "WIN_PD_OVERRIDE_LOCAL_APPDATA"):
        monkeypatch.setenv(name, str(folder))
