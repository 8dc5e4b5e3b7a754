"""A payment by Dave, a member of the demo organization, with a generated client (docs/generated-clients.md):

python docs/examples/pay.py ACCOUNT_ID POLICY_ID TO WEI
"""

import json
import os
import ssl
import sys
import time
from uuid import uuid4

from orgwallet_client import AuthenticatedClient
from orgwallet_client.api.transactions import create_transaction, execute_transaction, get_transaction, sign_transaction
from orgwallet_client.models import CreateTransactionRequest, Error, ExecuteRequest, SignTransactionRequest
from orgwallet_client.models import TransactionSignatureType, VoteType

from sign import sign

account_id, policy_id, to, wei = sys.argv[1:5]
with open(os.path.join(os.environ.get("ORGWALLET_DATA_DIR", ".data"), "demo.json")) as file:
    demo = json.load(file)
dave = demo["members"][0]

client = AuthenticatedClient(
    base_url=demo["baseUrl"],
    token=demo["apiKeys"][0]["key"],
    verify_ssl=ssl.create_default_context(cafile=demo["caFile"]),
)


def data_of(answer):
    """The data of an answer. Exits with the reason of a refusal."""
    if isinstance(answer, Error):
        sys.exit(f"{answer.error.code}: {answer.error.message}")
    return answer.data


# 1. Request it. A program that pays stores the idempotency keys first: with the same key nothing is paid twice.
request = CreateTransactionRequest(
    account_id=account_id,
    policy_id=policy_id,
    network_id=demo["networks"][0]["id"],
    initiator_wallet_address=dave["walletAddress"],
    description="Lunch",
    to=to,
    value=wei,
    data="0x",
)
transaction = data_of(create_transaction.sync(client=client, body=request, x_idempotency_key=str(uuid4())))
print(f"{transaction.id}: {transaction.summary}")

# 2. Compare what is to be signed with what was asked for, and sign it.
payload = transaction.signing_payloads.initiator_payload
message = json.loads(payload)["message"]
if (message["to"].lower(), message["value"], message["data"]) != (to.lower(), wei, "0x"):
    sys.exit(f"this is another payment: {message}")
signature = SignTransactionRequest(
    type_=TransactionSignatureType.INITIATOR, signature=sign(dave["privateKey"], payload)
)
data_of(sign_transaction.sync(transaction.id, client=client, body=signature, x_idempotency_key=str(uuid4())))

# 3. Execute it, and wait for the chain.
approve = ExecuteRequest(type_=VoteType.APPROVE)
transaction = data_of(
    execute_transaction.sync(transaction.id, client=client, body=approve, x_idempotency_key=str(uuid4()))
)
while transaction.execution_status == "processing":
    time.sleep(1)
    transaction = data_of(get_transaction.sync(transaction.id, client=client))
if transaction.execution_status != "completed":
    sys.exit(f"{transaction.execution_status}: {transaction.failure}")
print(f"completed in block {transaction.result.block_number}: {transaction.result.transaction_hash}")
