// Every view, in the order of the tabs. A new one is a file and a line here.

import { phase } from "./phase.js";
import { surface } from "./surface.js";

export const VIEWS = [phase, surface];
