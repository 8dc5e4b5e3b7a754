"""Signs a payload of the service as its API takes it."""

import json

from eth_abi import encode
from eth_account import Account


def sign(private_key: str, payload: str) -> str:
    """The signature of typed data (JSON text), encoded together with the address: 0x hex."""
    wallet = Account.from_key(private_key)
    signed = wallet.sign_typed_data(full_message=json.loads(payload))
    return "0x" + encode(["address", "bytes"], [wallet.address, signed.signature]).hex()
