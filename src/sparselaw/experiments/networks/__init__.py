"""Networks trained end to end on sparse inputs, on a grid of widths and data sizes."""

from sparselaw.experiments.networks.network import Adam as Adam
from sparselaw.experiments.networks.network import Momentum as Momentum
from sparselaw.experiments.networks.network import Network as Network
from sparselaw.experiments.networks.network import network_tasks as network_tasks
from sparselaw.experiments.networks.network import train_networks as train_networks
