"""Takes the webhooks of Subtext that a caller verifies, and reads the transcript that each reports."""

import json
import os
import sys
import threading
import traceback
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY_BYTES = 1_000_000
TIMEOUT_SECONDS = 30

# An event may come more than once. Use a table with a unique column in production.
SEEN = set()
SEEN_LOCK = threading.Lock()
WORKERS = ThreadPoolExecutor(max_workers=4)


def read_secrets():
    """Of your webhook endpoint; during a rotation the new and the old one, separated by a space."""
    secrets = os.environ.get("SUBTEXT_WEBHOOK_SECRET", "").split()
    if not secrets:
        print("SUBTEXT_WEBHOOK_SECRET is missing: every webhook is answered 500", file=sys.stderr, flush=True)
    return secrets


def listen(verify):
    """Listens until it is stopped. `verify(headers, body)` returns the event, or None if the signature is wrong."""

    class Receiver(BaseHTTPRequestHandler):
        # For each read and write of the connection.
        timeout = TIMEOUT_SECONDS

        def do_POST(self):
            self.send_response(self.receive())
            self.end_headers()

        def receive(self):
            length = self.headers.get("content-length", "")
            if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
                return 413
            # Verified over the bytes as they came; they are parsed once the signature is found right.
            body = self.rfile.read(int(length))
            try:
                event = verify(self.headers, body)
            except Exception:
                # Anything but 2xx makes the service try again later; 500 says that the fault is on this side.
                traceback.print_exc()
                return 500
            if event is None:
                return 400
            event_id = self.headers["webhook-id"]
            with SEEN_LOCK:
                is_new = event_id not in SEEN
                SEEN.add(event_id)
            # In another thread: the work may take longer than the service waits for the response.
            if is_new:
                WORKERS.submit(handle_once, event_id, event)
            return 204

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver)
    print(json.dumps({"listening": {"port": server.server_port}}), flush=True)
    server.serve_forever()


def handle_once(event_id, event):
    try:
        handle_event(event)
    except Exception:
        # Redelivered from the dashboard, it is handled again. A job queue would retry by itself.
        with SEEN_LOCK:
            SEEN.discard(event_id)
        traceback.print_exc()


def handle_event(event):
    if event["type"] != "transcriptions.transcription.completed":
        return
    data = event["data"]
    # The URLs live for five minutes: fetch the content now, and keep that. An error status raises.
    with urllib.request.urlopen(data["files"]["txt"]["url"], timeout=TIMEOUT_SECONDS) as response:
        text = response.read().decode()
    print(json.dumps({"videoId": data["videoId"], "language": data["language"], "text": text}), flush=True)
