"""Accepts webhooks from Subtext, verifies them with the caller's function, and downloads the transcripts."""

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

# An event may arrive more than once. In production, use a table with a unique column, and queue the event in the same
# transaction. Otherwise, a crash loses events that were accepted.
SEEN = set()
SEEN_LOCK = threading.Lock()
WORKERS = ThreadPoolExecutor(max_workers=4)


def read_secrets():
    """Returns the signing secrets of your webhook endpoint: one, or the new and the old one during a rotation."""
    secrets = os.environ.get("SUBTEXT_WEBHOOK_SECRET", "").split()
    if not secrets:
        print("SUBTEXT_WEBHOOK_SECRET is missing: every webhook gets a 500 response", file=sys.stderr, flush=True)
    return secrets


def accept(verify, headers, body):
    """Returns the status of the response. Handles a new event in the background.

    `verify(headers, body)` returns the event, or None if the signature is invalid.
    """
    try:
        event = verify(headers, body)
    except Exception:
        # The service retries unless the status is 2xx. 500 means that the error is in this program.
        traceback.print_exc()
        return 500
    if event is None:
        return 400
    event_id = headers["webhook-id"]
    with SEEN_LOCK:
        is_new = event_id not in SEEN
        SEEN.add(event_id)
    # Respond first: processing may take longer than the service waits.
    if is_new:
        WORKERS.submit(handle_once, event_id, event)
    return 204


def listen(verify):
    """Runs the server."""

    class Receiver(BaseHTTPRequestHandler):
        # Applies to each read and write on the connection.
        timeout = TIMEOUT_SECONDS

        def do_POST(self):
            self.send_response(self.receive())
            self.end_headers()

        def receive(self):
            length = self.headers.get("content-length", "")
            if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
                return 413
            # The signature covers the raw bytes, so verify them before parsing.
            return accept(verify, self.headers, self.rfile.read(int(length)))

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver)
    print(json.dumps({"listening": {"port": server.server_port}}), flush=True)
    server.serve_forever()


def handle_once(event_id, event):
    try:
        handle_event(event)
    except Exception:
        # You can redeliver the event from the dashboard. In production, use a job queue that retries automatically.
        with SEEN_LOCK:
            SEEN.discard(event_id)
        traceback.print_exc()


def handle_event(event):
    if event["type"] != "transcriptions.transcription.completed":
        return
    data = event["data"]
    # The URLs expire after five minutes, so download the content now. urlopen raises on an error status.
    with urllib.request.urlopen(data["files"]["txt"]["url"], timeout=TIMEOUT_SECONDS) as response:
        text = response.read().decode()
    print(json.dumps({"videoId": data["videoId"], "language": data["language"], "text": text}), flush=True)
