"""Receives Subtext webhooks in Django: pip install django. A project has the same view in its own files."""

import json
import os

from django.conf import settings
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from listen import accept
from receiver_standard_library import verify

settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, MIDDLEWARE=[])


# The signature takes the place of the CSRF token.
@csrf_exempt
@require_POST
def webhook(request):
    # The signature covers the raw bytes, so verify them before parsing.
    return HttpResponse(status=accept(verify, request.headers, request.body))


urlpatterns = [path("webhooks/subtext", webhook)]

if __name__ == "__main__":
    # In production, use gunicorn or another WSGI server.
    server = ThreadedWSGIServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), WSGIRequestHandler)
    server.set_app(get_wsgi_application())
    print(json.dumps({"listening": {"port": server.server_port}}), flush=True)
    server.serve_forever()
