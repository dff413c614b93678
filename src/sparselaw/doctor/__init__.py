"""Is this installation sound? What it stands on, and a short self-test against stored values."""

from sparselaw.doctor.health import Health, examine

__all__ = ["Health", "examine"]
