"""Receives webhooks of Subtext with nothing but Python's standard library, after the Standard Webhooks text."""

import base64
import binascii
import hashlib
import hmac
import json
import os
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

# Of your webhook endpoint; during a rotation the new and the old one, parted by a space.
SECRETS = os.environ["SUBTEXT_WEBHOOK_SECRET"].split(" ")
KEYS = [base64.b64decode(secret.removeprefix("whsec_"), validate=True) for secret in SECRETS]
TOLERANCE_SECONDS = 300
# Deliveries come at least once: what was seen is not done again. A table, in earnest.
SEEN = set()


def is_right(headers, body):
    """Whether any of the signatures fits any of the secrets, and it was signed just now."""
    event_id, timestamp = headers["webhook-id"] or "", headers["webhook-timestamp"] or ""
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = [hmac.new(key, signed, hashlib.sha256).digest() for key in KEYS]
    for token in (headers["webhook-signature"] or "").split(" "):
        version, _, encoded = token.partition(",")
        try:
            given = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            continue
        if version == "v1" and any(hmac.compare_digest(given, digest) for digest in expected):
            return True
    return False


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not is_right(self.headers, body):
            # Anything but 2xx makes the service try again later.
            return self.answer(400)
        event = json.loads(body)
        event_id = self.headers["webhook-id"]
        if event_id not in SEEN and event["type"] == "transcriptions.transcription.completed":
            data = event["data"]
            # The URLs live for five minutes: fetch the content now, and keep that.
            with urllib.request.urlopen(data["files"]["txt"]["url"]) as response:
                text = response.read().decode()
            told = {"videoId": data["videoId"], "language": data["language"], "text": text}
            print(json.dumps(told), flush=True)
        SEEN.add(event_id)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver)
print(json.dumps({"listening": {"port": server.server_port}}), flush=True)
server.serve_forever()
