"""The worker's side in Python: verify, perturb here, send, and send the same again.

It trusts no service and imports none; the service shares the tokens' format with it.
"""

from forsooth.client.campaign import WorkerCampaign, download_reports

__all__ = ["WorkerCampaign", "download_reports"]
