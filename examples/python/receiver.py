"""Receives Subtext webhooks and verifies them with the Standard Webhooks library: pip install standardwebhooks"""

from listen import listen, read_secrets
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

SECRETS = read_secrets()


def verify(headers, body):
    if not SECRETS:
        raise RuntimeError("SUBTEXT_WEBHOOK_SECRET is missing")
    for secret in SECRETS:
        try:
            return Webhook(secret).verify(body, dict(headers))
        except WebhookVerificationError:
            continue
    return None


listen(verify)
