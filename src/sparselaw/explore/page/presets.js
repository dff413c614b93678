// States worth seeing: the paper's own. A preset is what it changes of the usual state.

export const PRESETS = [
  ["Figure 1: the phase diagram", { view: "phase" }],
  ["Figure 2: collapse and double descent", { view: "surface", along: "xi", N: "16,32,64,128" }],
  ["Figure 5: model sweep, sparse", { view: "surface", along: "N", D: "50000", low: "4", high: "256", dimension: "10000", sizes: "4,8,16,32,64,128,256", seeds: "20" }],
  ["Figure 5: data sweep, sparse", { view: "surface", along: "D", N: "16000", low: "10", high: "1280", dimension: "10000", sizes: "10,40,160,640", seeds: "20" }],
  ["Figure 5: model sweep, dense", { view: "surface", inputs: "dense", along: "N", D: "50000", low: "4", high: "256", dimension: "10000", sizes: "4,16,64", seeds: "8" }],
  ["Figure 5: data sweep, dense", { view: "surface", inputs: "dense", along: "D", N: "16000", low: "10", high: "1280", dimension: "10000", sizes: "10,40,160", seeds: "8" }],
  ["Figure 3: the compute frontier", { view: "budget", budget: "1e9", cost: "direct" }],
  ["Table 4: how often gradient descent diverges", { view: "failure", alpha1: "2", alpha2: "-1.2", dimension: "5000", threshold: "1.0005" }],
  ["Its theorem, where it can be seen", { view: "failure", alpha1: "1.5", alpha2: "-2", threshold: "2" }],
];
