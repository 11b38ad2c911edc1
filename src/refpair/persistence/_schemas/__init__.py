"""All classes that a file can hold, and nothing else can come out of one."""

from refpair.persistence._codec import Schema
from refpair.persistence._labels import LABEL_FORMAT
from refpair.persistence._schemas.bits import BIT_SCHEMAS
from refpair.persistence._schemas.codes import CODE_SCHEMAS
from refpair.persistence._schemas.csrpe import CSRPE_SCHEMAS
from refpair.persistence._schemas.label_models import LABEL_MODEL_SCHEMAS
from refpair.persistence._schemas.learners import LEARNER_SCHEMAS
from refpair.persistence._schemas.models import MODEL_SCHEMAS
from refpair.persistence._schemas.posterior import POSTERIOR_SCHEMAS

__all__ = ["MODELS", "SCHEMAS"]

MODELS = ("Logistic", *(schema.cls.__name__ for schema in (*CSRPE_SCHEMAS, *MODEL_SCHEMAS)))

SCHEMAS: dict[str, Schema] = {
    schema.cls.__name__: schema
    for schema in (
        LABEL_FORMAT,
        *BIT_SCHEMAS,
        *CODE_SCHEMAS,
        *CSRPE_SCHEMAS,
        *LABEL_MODEL_SCHEMAS,
        *LEARNER_SCHEMAS,
        *MODEL_SCHEMAS,
        *POSTERIOR_SCHEMAS,
    )
}
