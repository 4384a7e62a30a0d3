"""Turns contracts, proposals and ledgers into JSON and back: the forms that programs write.

``write`` makes plain JSON of the model, ``read`` makes syntax trees of a JSON text (resolved like any other),
``digests`` names a contract or proposal by its content, and ``schema`` describes the forms.
"""

from cfrc.lang.jsonforms.digests import contract_digest, domain_digest, proposal_digest
from cfrc.lang.jsonforms.write import contract_to_json, ledger_to_json, proposal_to_json

__all__ = [
    "contract_digest",
    "contract_to_json",
    "domain_digest",
    "ledger_to_json",
    "proposal_digest",
    "proposal_to_json",
]
