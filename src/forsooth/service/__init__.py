"""The collection service: campaigns, invitations, reports and truths, and never an answer.

Reports come in through `api_worker`, are checked by `payload` and kept by `writer`; requesters
work through `api_requester`; `analyst` infers in a process of its own; `run` starts it all.
"""
