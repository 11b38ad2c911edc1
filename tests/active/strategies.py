"""All strategies, for the tests that they share."""

from refpair.active import (
    MMC,
    AdaptiveActive,
    BayesRisk,
    BinaryMinimization,
    CostSensitiveUncertainty,
    RandomQuery,
    RepresentativeUncertainty,
    SpreadQuery,
    SubSampled,
)

STRATEGIES = {
    "random": RandomQuery(random_state=0),
    "spread": SpreadQuery(random_state=0),
    "binmin": BinaryMinimization(random_state=0),
    "mmc": MMC(random_state=0),
    "adaptive": AdaptiveActive(random_state=0),
    "uncertainty": CostSensitiveUncertainty("f1", n_bits=60, random_state=0),
    "estimation": CostSensitiveUncertainty("rank", n_bits=60, part="estimation", random_state=0),
    "utility": CostSensitiveUncertainty("hamming", n_bits=60, part="utility", random_state=0),
    "representative": RepresentativeUncertainty("accuracy", n_bits=60, random_state=0),
    "risk": BayesRisk("f1", random_state=0),
    "some": SubSampled(MMC(), n_candidates=100, random_state=0),
}
