"""Receives webhooks of Subtext, verified with the Standard Webhooks library: pip install standardwebhooks"""

import os

from listen import listen
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

# Of your webhook endpoint. During a rotation, verify with the new one and then with the old one.
WEBHOOK = Webhook(os.environ["SUBTEXT_WEBHOOK_SECRET"])


def verify(headers, body):
    try:
        return WEBHOOK.verify(body, dict(headers))
    except WebhookVerificationError:
        return None


listen(verify)
