"""Receives webhooks of Subtext, verified with the Standard Webhooks library: pip install standardwebhooks"""

import json
import os
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

# Of your webhook endpoint. During a rotation, verify with the new one and then with the old one.
WEBHOOK = Webhook(os.environ["SUBTEXT_WEBHOOK_SECRET"])
# Deliveries come at least once: what was seen is not done again. A table, in earnest.
SEEN = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            # Over the bytes as they came; it is parsed once the signature is found right.
            event = WEBHOOK.verify(body, dict(self.headers))
        except WebhookVerificationError:
            # Anything but 2xx makes the service try again later.
            return self.answer(400)
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
