"""Takes the webhooks of Subtext that somebody has verified, and reads the transcript that each tells of."""

import json
import os
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

# Deliveries come at least once: what was seen is not done again. A table, in earnest.
SEEN = set()


def listen(verify):
    """Listens until it is ended. `verify(headers, body)` gives the event, or None where the signature is wrong."""

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            # Verified over the bytes as they came; they are parsed once the signature is found right.
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            event = verify(self.headers, body)
            if event is not None:
                take(self.headers["webhook-id"], event)
            # Anything but 2xx makes the service try again later.
            self.send_response(400 if event is None else 204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver)
    print(json.dumps({"listening": {"port": server.server_port}}), flush=True)
    server.serve_forever()


def take(event_id, event):
    if event_id not in SEEN and event["type"] == "transcriptions.transcription.completed":
        data = event["data"]
        # The URLs live for five minutes: fetch the content now, and keep that.
        with urllib.request.urlopen(data["files"]["txt"]["url"]) as response:
            text = response.read().decode()
        told = {"videoId": data["videoId"], "language": data["language"], "text": text}
        print(json.dumps(told), flush=True)
    SEEN.add(event_id)
