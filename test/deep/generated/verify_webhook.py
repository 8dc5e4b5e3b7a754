"""Verifies a request of a webhook with the library of Standard Webhooks: its file, then the secrets."""
import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

with open(sys.argv[1], encoding="utf-8") as file:
    request = json.load(file)
body = request["body"].encode()
for secret in sys.argv[2:]:
    print(Webhook(secret).verify(body, request["headers"])["type"])
    try:
        Webhook(secret).verify(body + b" ", request["headers"])
        print("accepted a changed body")
    except WebhookVerificationError:
        pass
