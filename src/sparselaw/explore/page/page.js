// The page of `sparselaw explore`: questions over HTTP, the state in the address bar.

import { overHttp } from "./api.js";
import { start } from "./main.js";
import { addressBar } from "./state.js";

start(document.getElementById("explore"), { transport: overHttp, place: addressBar });
