// Every view, in the order of the tabs. A new one is a file and a line here.

import { budget } from "./budget.js";
import { curves } from "./curves.js";
import { failure } from "./failure.js";
import { features } from "./features.js";
import { phase } from "./phase.js";
import { runs } from "./runs.js";
import { surface } from "./surface.js";

export const VIEWS = [phase, surface, budget, runs, curves, features, failure];
