"""A payment with the client of openapi-generator's python."""

import os
import sys
import time
from uuid import uuid4

import orgwallet_api

from sign import sign

env = os.environ
configuration = orgwallet_api.Configuration(host=env["BASE_URL"], access_token=env["API_KEY"], ssl_ca_cert=env["CA_FILE"])
with orgwallet_api.ApiClient(configuration) as client:
    transactions = orgwallet_api.TransactionsApi(client)
    request = orgwallet_api.CreateTransactionRequest.from_json(env["PAYMENT"])
    created = transactions.create_transaction(str(uuid4()), request).data.actual_instance
    payload = created.signing_payloads.actual_instance.initiator_payload
    signature = orgwallet_api.SignTransactionRequest(type="initiator", signature=sign(env["PRIVATE_KEY"], payload))
    transactions.sign_transaction(created.id, str(uuid4()), signature)
    execution = orgwallet_api.ExecuteRequest(type="approve")
    paid = transactions.execute_transaction(created.id, str(uuid4()), execution).data.actual_instance
    while paid.execution_status == "processing":
        time.sleep(1)
        paid = transactions.get_transaction(created.id).data.actual_instance
    print(created.id, paid.execution_status.value)
    proposals = orgwallet_api.ProposalsApi(client).list_proposals().data
    print(*sorted(proposal.actual_instance.kind for proposal in proposals))
