"""Receives Subtext webhooks and verifies them (Standard Webhooks) with only Python's standard library."""

import base64
import binascii
import hashlib
import hmac
import json
import time

from listen import listen, read_secrets

KEYS = [base64.b64decode(secret.removeprefix("whsec_"), validate=True) for secret in read_secrets()]
TOLERANCE_SECONDS = 300


def verify(headers, body):
    """Returns the event, or None unless a signature matches one of the secrets and the timestamp is recent."""
    if not KEYS or not all(KEYS):
        raise RuntimeError("SUBTEXT_WEBHOOK_SECRET is missing or empty")
    event_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return None
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = [hmac.new(key, signed, hashlib.sha256).digest() for key in KEYS]
    for token in headers.get("webhook-signature", "").split(" "):
        version, _, encoded = token.partition(",")
        try:
            signature = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            continue
        if version == "v1" and any(hmac.compare_digest(signature, digest) for digest in expected):
            return json.loads(body)
    return None


if __name__ == "__main__":
    listen(verify)
